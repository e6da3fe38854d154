#include "ldap/limit.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Every server accepts a request of this size. */
#define SMALL ((size_t)256 << 10)

/* The settings in the entry cn=config, and their defaults. Few identities may read that entry. */
#define DS389_SETTING "nsslapd-maxbersize"
#define DS389_DEFAULT ((size_t)2 << 20)
#define SLAPD_SETTING "olcSockbufMaxIncomingAuth"
#define SLAPD_DEFAULT (((size_t)16 << 20) - 1)

static bool read_size_setting(LDAP *ld, LDAPMessage *entry, const char *name, size_t *number)
{
    struct berval **values = ldap_get_values_len(ld, entry, name);
    bool has_value = values && values[0];

    if (has_value)
        *number = strtoull(values[0]->bv_val, NULL, 10);
    ldap_value_free_len(values);
    return has_value;
}

static void read_message_limit(skv_conn *conn, LDAPMessage *messages, skv_message_limit *limit)
{
    LDAP *ld = skv_conn_handle(conn);
    LDAPMessage *entry = messages ? ldap_first_entry(ld, messages) : NULL;
    bool is_389ds = skv_conn_features(conn)->is_389ds;

    limit->is_announced =
        entry && read_size_setting(ld, entry, is_389ds ? DS389_SETTING : SLAPD_SETTING, &limit->bytes);
    if (!limit->is_announced || (is_389ds && !limit->bytes))
        limit->bytes = is_389ds ? DS389_DEFAULT : SLAPD_DEFAULT;
    /* In slapd, 0 stands for no limit. */
    if (!limit->bytes)
        limit->bytes = SIZE_MAX;
}

static skv_status look_up_message_limit(skv_ldap_call *call, skv_message_limit *limit)
{
    static const char *const settings[] = {DS389_SETTING, SLAPD_SETTING, NULL};
    skv_ldap_response response;

    if (skv_ldap_read(call, "cn=config", settings, &response) < 0)
        skv_ldap_fail(call, &response);
    else
        read_message_limit(call->conn, response.message, limit);
    skv_ldap_response_free(&response);
    return call->reply->status;
}

static skv_status fail_message_too_large(skv_ldap_call *call, const skv_message_limit *limit, size_t len)
{
    bool is_389ds = skv_conn_features(call->conn)->is_389ds;
    const char *setting = is_389ds ? DS389_SETTING : SLAPD_SETTING;

    if (limit->is_announced)
        return skv_fail(call->reply, SKV_TOO_LARGE,
                        "%s '%s'%s: its message has %zu bytes, and %s accepts at most %zu ('%s' of cn=config)",
                        call->what, call->name, call->failed, len, skv_ldap_server(call), limit->bytes, setting);
    return skv_fail(call->reply, SKV_TOO_LARGE,
                    "%s '%s'%s: its message has %zu bytes, and servers like %s accept %zu by default: "
                    "if '%s' of cn=config is higher, let '%s' read it (%s)",
                    call->what, call->name, call->failed, len, skv_ldap_server(call), limit->bytes, setting,
                    call->store->identity, is_389ds ? "schema/389ds/limits.ldif" : "schema/openldap/limits.conf");
}

skv_status skv_ldap_check_size(skv_ldap_call *call, size_t documents_len)
{
    skv_message_limit *limit = skv_conn_message_limit(call->conn);
    size_t len = documents_len + strlen(call->dn) + SKV_LDAP_OVERHEAD;

    if (len <= SMALL || (!limit->bytes && look_up_message_limit(call, limit) != SKV_OK) || len <= limit->bytes)
        return call->reply->status;
    return fail_message_too_large(call, limit, len);
}

/* Returns true if the connection probably broke because the server's limit is lower than skv_ldap_check_size() assumed.
 */
static bool is_probably_too_large(const skv_ldap_call *call, const skv_ldap_response *response, size_t document_len)
{
    return response->code < 0 && response->code != LDAP_TIMEOUT && response->code != LDAP_USER_CANCELLED &&
           document_len >= SMALL && !skv_conn_is_usable(call->conn) &&
           !skv_conn_message_limit(call->conn)->is_announced && !skv_conn_got_malformed(call->conn);
}

skv_status skv_ldap_fail_write(skv_ldap_call *call, const skv_ldap_response *response, size_t document_len)
{
    if (!is_probably_too_large(call, response, document_len))
        return skv_ldap_fail(call, response);
    return skv_fail(call->reply, SKV_TOO_LARGE,
                    "%s '%s'%s: %s closed the connection while the document's %zu bytes were sent: they probably "
                    "exceed its limit (389-DS: nsslapd-maxbersize, slapd: sockbuf_max_incoming_auth)",
                    call->what, call->name, call->failed, skv_ldap_server(call), document_len);
}
