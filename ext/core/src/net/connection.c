#include "net/connection.h"

#include "net/bind.h"
#include "net/connect.h"
#include "net/handle.h"
#include "net/tls.h"

#include <string.h>
#include <strings.h>
#include <sys/time.h>

#define OID_ASSERTION "1.3.6.1.1.12"
#define OID_PRE_READ "1.3.6.1.1.13.1"
#define OID_PAGING "1.2.840.113556.1.4.319"

struct skv_conn {
    skv_uri uri;
    skv_features features;
    skv_tls_facts tls_facts;
    skv_message_limit message_limit;
    skv_transport *transport;
    LDAP *ld;
    void *owner;
    bool tls;
    bool usable;
};

static bool starts_with(const struct berval *value, const char *prefix)
{
    return value->bv_len >= strlen(prefix) && strncasecmp(value->bv_val, prefix, strlen(prefix)) == 0;
}

static bool value_equals(const struct berval *value, const char *text)
{
    return value->bv_len == strlen(text) && memcmp(value->bv_val, text, value->bv_len) == 0;
}

/* Replaces all but printable ASCII: programs show the vendor on terminals. */
static void note_vendor(skv_features *features, int rank, const char *text, size_t len)
{
    if (rank <= features->vendor_rank || !len)
        return;
    if (len >= sizeof features->vendor)
        len = sizeof features->vendor - 1;
    features->vendor_rank = rank;
    for (size_t i = 0; i < len; i++)
        features->vendor[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    features->vendor[len] = '\0';
}

/* slapd does not show a vendor, and is recognised by the object class of its root DSE. */
static void note_name(skv_features *features, const char *attribute, const struct berval *value)
{
    if (strcasecmp(attribute, "vendorVersion") == 0)
        note_vendor(features, 3, value->bv_val, value->bv_len);
    else if (strcasecmp(attribute, "vendorName") == 0)
        note_vendor(features, 2, value->bv_val, value->bv_len);
    else if (strcasecmp(attribute, "objectClass") == 0 && value_equals(value, "OpenLDAProotDSE"))
        note_vendor(features, 1, "OpenLDAP", strlen("OpenLDAP"));
}

static void note_attribute(skv_features *features, const char *name, struct berval **values)
{
    bool control = strcasecmp(name, "supportedControl") == 0,
         vendor = strcasecmp(name, "vendorName") == 0 || strcasecmp(name, "vendorVersion") == 0;

    for (int i = 0; values && values[i]; i++) {
        const struct berval *value = values[i];

        features->assertion = features->assertion || (control && value_equals(value, OID_ASSERTION));
        features->pre_read = features->pre_read || (control && value_equals(value, OID_PRE_READ));
        features->paging = features->paging || (control && value_equals(value, OID_PAGING));
        features->sync = features->sync || (control && value_equals(value, LDAP_CONTROL_SYNC));
        features->persistent_search =
            features->persistent_search || (control && value_equals(value, LDAP_CONTROL_PERSIST_REQUEST));
        features->is_389ds =
            features->is_389ds || (vendor && (starts_with(value, "389 ") || starts_with(value, "389-Directory/")));
        note_name(features, name, value);
    }
}

static void note_entry(skv_conn *conn, LDAPMessage *entry)
{
    BerElement *ber = NULL;

    for (char *name = ldap_first_attribute(conn->ld, entry, &ber); name;
         name = ldap_next_attribute(conn->ld, entry, ber)) {
        struct berval **values = ldap_get_values_len(conn->ld, entry, name);

        note_attribute(&conn->features, name, values);
        ldap_value_free_len(values);
        ldap_memfree(name);
    }
    ber_free(ber, 0);
}

/* Fails the attempt if the server answered with an error: without its features, conditions of writes would not hold. A
 * server that hides its root DSE from this identity, or from anybody who has not bound, counts as one without features.
 */
static bool check_root_dse(const skv_conn *conn, const skv_response *response, skv_reply *reply,
                           skv_conn_failure *failure)
{
    switch (response->code) {
    case LDAP_SUCCESS:
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_INSUFFICIENT_ACCESS:
    case LDAP_INAPPROPRIATE_AUTH:
    case LDAP_STRONG_AUTH_REQUIRED:
    case LDAP_CONFIDENTIALITY_REQUIRED:
        return true;
    default:
        *failure = SKV_CONN_UNREACHABLE;
        skv_fail(reply, SKV_UNAVAILABLE,
                 "%s: the server is not available now: it answered %d to the read of its root DSE, %s%s%s",
                 conn->uri.text, response->code, ldap_err2string(response->code), response->text[0] ? ": " : "",
                 response->text);
        return false;
    }
}

/* Notes the features of the server. */
static bool read_root_dse(skv_conn *conn, skv_reply *reply, skv_conn_failure *failure)
{
    static char *attributes[] = {"supportedControl", "vendorName", "vendorVersion", "objectClass", NULL};
    LDAPMessage *messages, *entry;
    skv_response response;
    int id = 0;
    int rc = ldap_search_ext(conn->ld, "", LDAP_SCOPE_BASE, "(objectClass=*)", attributes, 0, NULL, NULL, NULL, 0, &id);

    if (skv_response_wait(conn->ld, rc, id, &messages)) {
        entry = ldap_first_entry(conn->ld, messages);
        if (entry)
            note_entry(conn, entry);
        if (skv_response_read(conn->ld, messages, &response))
            return check_root_dse(conn, &response, reply, failure);
    }
    *failure = skv_fail_lost(reply, conn->transport, &conn->uri, "reading its root DSE");
    return false;
}

/* Connects a socket and makes a handle on it. */
static bool connect_handle(skv_conn *conn, skv_deadline *deadline, skv_reply *reply, skv_conn_failure *failure)
{
    int fd = skv_connect(&conn->uri, deadline, reply);

    *failure = skv_failure_of(reply->status);
    if (fd < 0)
        return false;
    *failure = SKV_CONN_STOPPED;
    conn->transport = skv_transport_new(fd);
    if (!conn->transport) {
        skv_fail_memory(reply);
        return false;
    }
    skv_transport_limit(conn->transport, deadline);
    conn->ld = skv_handle_new(conn->transport, &conn->uri, deadline, reply);
    /* The initialisation of libldap may have taken the time of the attempt, but not that of the call. */
    if (!conn->ld && reply->status == SKV_TIMEOUT)
        *failure = SKV_CONN_UNREACHABLE;
    return conn->ld != NULL;
}

skv_conn *skv_conn_open(const skv_uri *uri, const skv_identity *identity, skv_deadline *deadline, skv_reply *reply,
                        skv_conn_failure *failure)
{
    skv_conn *conn = skv_alloc_zeroed(1, sizeof *conn);

    *failure = SKV_CONN_STOPPED;
    if (!conn) {
        skv_fail_memory(reply);
        return NULL;
    }
    conn->uri = *uri;
    conn->tls = skv_tls_is_wanted(uri, identity);
    if (connect_handle(conn, deadline, reply, failure) &&
        (!conn->tls || skv_tls_start(conn->ld, conn->transport, uri, identity, deadline, reply, failure)) &&
        skv_bind(conn->ld, conn->transport, uri, identity, reply, failure) && read_root_dse(conn, reply, failure)) {
        skv_transport_limit(conn->transport, NULL);
        skv_transport_lift_budget(conn->transport);
        if (conn->tls)
            skv_tls_describe(conn->ld, &conn->tls_facts);
        conn->usable = true;
        *failure = SKV_CONN_OK;
        return conn;
    }
    skv_conn_discard(conn, false);
    return NULL;
}

static void free_connection(skv_conn *conn)
{
    skv_handle_free(conn->ld);
    skv_transport_free(conn->transport);
    skv_free(conn);
}

void skv_conn_close(skv_conn *conn)
{
    skv_transport_limit(conn->transport, NULL);
    free_connection(conn);
}

void skv_conn_discard(skv_conn *conn, bool forked)
{
    if (forked) {
        skv_transport_shut(conn->transport);
        conn->usable = false;
        return;
    }
    if (conn->transport)
        skv_transport_mute(conn->transport);
    free_connection(conn);
}

bool skv_conn_is_alive(const skv_conn *conn)
{
    return conn->usable && skv_transport_is_alive(conn->transport, conn->tls);
}

bool skv_conn_is_usable(const skv_conn *conn)
{
    return conn->usable && skv_transport_failure(conn->transport) == SKV_OK;
}

const skv_uri *skv_conn_uri(const skv_conn *conn)
{
    return &conn->uri;
}

const skv_features *skv_conn_features(const skv_conn *conn)
{
    return &conn->features;
}

const skv_tls_facts *skv_conn_tls(const skv_conn *conn)
{
    return &conn->tls_facts;
}

skv_message_limit *skv_conn_message_limit(skv_conn *conn)
{
    return &conn->message_limit;
}

void skv_conn_set_owner(skv_conn *conn, void *owner)
{
    conn->owner = owner;
}

void *skv_conn_owner(const skv_conn *conn)
{
    return conn->owner;
}

LDAP *skv_conn_handle(skv_conn *conn)
{
    return conn->ld;
}

void skv_conn_begin(skv_conn *conn, skv_deadline *deadline)
{
    skv_transport_limit(conn->transport, deadline);
}

void skv_conn_limit_silence(skv_conn *conn, int64_t ns)
{
    skv_transport_limit_silence(conn->transport, ns);
}

skv_ldap_code skv_conn_send_error(skv_conn *conn, skv_ldap_code code)
{
    skv_status status = skv_transport_failure(conn->transport);

    if (status != SKV_OK || code == LDAP_SERVER_DOWN)
        conn->usable = false;
    switch (status) {
    case SKV_OK:
        return code;
    case SKV_TIMEOUT:
        return LDAP_TIMEOUT;
    case SKV_INTERRUPTED:
        return LDAP_USER_CANCELLED;
    case SKV_NOMEM:
        return LDAP_NO_MEMORY;
    default:
        return LDAP_SERVER_DOWN;
    }
}

void skv_conn_invalidate(skv_conn *conn)
{
    conn->usable = false;
}

/* Waits for a message. With `patient`, the deadline leaves the connection usable. */
static skv_ldap_code receive_message(skv_conn *conn, int message_id, int all, bool patient, LDAPMessage **message)
{
    /* The transport waits, and libldap does not: 0 means that it has read a message, but not yet all of the response.
     */
    struct timeval at_once = {0};
    int rc, code = LDAP_SERVER_DOWN;

    *message = NULL;
    skv_transport_set_resumable(conn->transport, true, patient);
    do
        rc = ldap_result(conn->ld, message_id, all, &at_once, message);
    while (rc == 0 && skv_transport_paused(conn->transport) == SKV_OK);
    skv_transport_set_resumable(conn->transport, false, false);
    if (rc > 0)
        return LDAP_SUCCESS;
    ldap_msgfree(*message);
    *message = NULL;
    if (rc == 0)
        return skv_transport_paused(conn->transport) == SKV_TIMEOUT ? LDAP_TIMEOUT : LDAP_USER_CANCELLED;
    conn->usable = false;
    ldap_get_option(conn->ld, LDAP_OPT_RESULT_CODE, &code);
    return skv_conn_send_error(conn, code == LDAP_SUCCESS ? LDAP_LOCAL_ERROR : code);
}

skv_ldap_code skv_conn_result(skv_conn *conn, int message_id, int all, LDAPMessage **message)
{
    return receive_message(conn, message_id, all, false, message);
}

skv_ldap_code skv_conn_await(skv_conn *conn, int message_id, skv_deadline *deadline, LDAPMessage **message)
{
    skv_ldap_code code;

    skv_conn_begin(conn, deadline);
    code = receive_message(conn, message_id, LDAP_MSG_ONE, true, message);
    skv_conn_begin(conn, NULL);
    return code;
}

bool skv_conn_got_malformed(const skv_conn *conn)
{
    return skv_transport_failure(conn->transport) == SKV_MALFORMED;
}

bool skv_conn_has_sent(const skv_conn *conn)
{
    return skv_transport_has_sent(conn->transport);
}
