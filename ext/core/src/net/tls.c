#include "net/tls.h"

#include "net/certificate.h"
#include "net/connect.h"
#include "net/handle.h"
#include "net/tls_context.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The arguments of skv_tls_start(). */
typedef struct handshake {
    LDAP *ld;
    skv_transport *transport;
    const skv_uri *uri;
    const skv_identity *identity;
    skv_deadline *deadline;
    skv_reply *reply;
    skv_conn_failure failure;
} handshake;

bool skv_tls_is_wanted(const skv_uri *uri, const skv_identity *identity)
{
    return uri->scheme == SKV_LDAPS || (uri->scheme == SKV_LDAP && identity->starttls);
}

/* Copies a text of libldap, "" if it has none. */
static void read_text_option(LDAP *ld, int option, char *out, size_t size)
{
    char *text = NULL;

    ldap_get_option(ld, option, &text);
    snprintf(out, size, "%s", text ? text : "");
    ldap_memfree(text);
}

/* ---- StartTLS --------------------------------------------------------------------------------------------------- */

static bool request_starttls(handshake *h)
{
    skv_response response;
    LDAPMessage *message;
    int id = 0, rc = ldap_start_tls(h->ld, NULL, NULL, &id);

    if (!skv_response_wait(h->ld, rc, id, &message) || !skv_response_read(h->ld, message, &response)) {
        h->failure = skv_fail_lost(h->reply, h->transport, h->uri, "asking for StartTLS");
        return false;
    }
    if (response.code == LDAP_SUCCESS)
        return true;
    h->failure = SKV_CONN_UNREACHABLE;
    skv_fail(h->reply, response.code == LDAP_BUSY ? SKV_UNAVAILABLE : SKV_DENIED,
             "%s: the server refuses StartTLS (%d, %s%s%s): give it a certificate and key, or use ldaps://",
             h->uri->text, response.code, ldap_err2string(response.code), response.text[0] ? ": " : "", response.text);
    skv_reply_set_fault(h->reply, response.code == LDAP_BUSY ? SKV_FAULT_NONE : SKV_FAULT_TLS);
    return false;
}

/* ---- Diagnosis of a certificate --------------------------------------------------------------------------------- */

/*
 * Repeats a failed handshake on another connection with less verification, because libldap does not say why the
 * handshake failed. Offers no client certificate, and sends nothing else there. Returns false if it fails as well.
 */
static bool probe_handshake(handshake *h, skv_tls_purpose purpose, skv_validity *validity)
{
    struct berval certificate = {0, NULL};
    handshake again = *h;
    skv_reply *reply = skv_reply_new();
    int fd = reply ? skv_connect(h->uri, h->deadline, reply) : -1;
    bool done = false;

    again.reply = reply;
    again.ld = NULL;
    again.transport = fd >= 0 ? skv_transport_new(fd) : NULL;
    if (again.transport) {
        skv_transport_limit(again.transport, h->deadline);
        again.ld = skv_handle_new(again.transport, h->uri, h->deadline, reply);
    }
    if (again.ld && skv_tls_configure(again.ld, h->uri, h->identity, purpose, reply))
        done = (h->uri->scheme == SKV_LDAPS || request_starttls(&again)) && ldap_install_tls(again.ld) == LDAP_SUCCESS;
#ifdef LDAP_OPT_X_TLS_PEERCERT
    if (done && ldap_get_option(again.ld, LDAP_OPT_X_TLS_PEERCERT, &certificate) == 0 && certificate.bv_val)
        skv_validity_read(&certificate, validity);
#else
    (void)validity;
#endif
    ber_memfree(certificate.bv_val);
    if (again.transport)
        skv_transport_mute(again.transport);
    skv_handle_free(again.ld);
    skv_transport_free(again.transport);
    skv_reply_free(reply);
    return done;
}

static skv_fault fail_certificate(handshake *h, const skv_validity *validity)
{
    char now[15];
    time_t seconds = time(NULL);
    struct tm tm;

    strftime(now, sizeof now, "%Y%m%d%H%M%S", gmtime_r(&seconds, &tm));
    if (validity->to[0] && strcmp(now, validity->to) > 0) {
        skv_fail(h->reply, SKV_DENIED, "%s: the server's certificate expired on %.4s-%.2s-%.2s: renew it", h->uri->text,
                 validity->to, validity->to + 4, validity->to + 6);
        return SKV_FAULT_CERTIFICATE_EXPIRED;
    }
    if (validity->from[0] && strcmp(now, validity->from) < 0) {
        skv_fail(h->reply, SKV_DENIED,
                 "%s: the server's certificate is not valid before %.4s-%.2s-%.2s: check the clocks", h->uri->text,
                 validity->from, validity->from + 4, validity->from + 6);
        return SKV_FAULT_CERTIFICATE_EARLY;
    }
    skv_fail(h->reply, SKV_DENIED,
             "%s: the server's certificate is not signed by a CA in '%s', the file of 'tls_cacert', or that CA's "
             "certificate has expired",
             h->uri->text, h->identity->cacert);
    return SKV_FAULT_CERTIFICATE;
}

static skv_fault fail_host_name(handshake *h)
{
    bool is_localhost = strcasecmp(h->uri->host, "localhost") == 0;

    skv_fail(h->reply, SKV_DENIED,
             "%s: the server's certificate is for another host name than '%s'%s: put a name of the certificate into "
             "'ldap_uri', or that one into the certificate",
             h->uri->text, h->uri->host, is_localhost ? ", for which libldap expects this machine's own name" : "");
    return SKV_FAULT_CERTIFICATE_NAME;
}

static bool fail_handshake(handshake *h)
{
    skv_validity validity = {"", ""};
    skv_status status = skv_transport_failure(h->transport);
    char said[256];

    read_text_option(h->ld, LDAP_OPT_DIAGNOSTIC_MESSAGE, said, sizeof said);
    skv_transport_mute(h->transport);
    if (status != SKV_OK) {
        h->failure = skv_fail_lost(h->reply, h->transport, h->uri, "doing the TLS handshake");
        skv_reply_append(h->reply, "%s check that it speaks TLS on that port", status == SKV_TIMEOUT ? ", or" : ":");
        skv_reply_set_fault(h->reply, status == SKV_UNAVAILABLE ? SKV_FAULT_TLS : SKV_FAULT_NONE);
        return false;
    }
    h->failure = SKV_CONN_UNREACHABLE;
    if (probe_handshake(h, SKV_TLS_TO_LOOK, &validity))
        skv_reply_set_fault(h->reply, fail_host_name(h));
    else if (probe_handshake(h, SKV_TLS_TO_LOOK_AT_ANY, &validity))
        skv_reply_set_fault(h->reply, fail_certificate(h, &validity));
    else
        skv_fail(h->reply, SKV_DENIED, "%s: the TLS handshake failed: %s", h->uri->text,
                 said[0] ? said : "no reason given");
    skv_reply_set_fault(h->reply, SKV_FAULT_TLS);
    return false;
}

bool skv_tls_start(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity,
                   skv_deadline *deadline, skv_reply *reply, skv_conn_failure *failure)
{
    handshake h = {ld, transport, uri, identity, deadline, reply, SKV_CONN_OK};
    bool done = skv_tls_configure(ld, uri, identity, SKV_TLS_TO_USE, reply);

    if (!done) {
        h.failure = reply->status == SKV_NOMEM ? SKV_CONN_STOPPED : SKV_CONN_REJECTED;
        skv_reply_set_fault(reply, reply->status == SKV_NOMEM ? SKV_FAULT_NONE : SKV_FAULT_TLS);
    }
    done = done && (uri->scheme == SKV_LDAPS || request_starttls(&h));

    if (done && ldap_install_tls(ld) != LDAP_SUCCESS)
        done = fail_handshake(&h);
    if (!done) {
        skv_transport_mute(transport);
        *failure = h.failure;
    }
    return done;
}

/* ---- Results ---------------------------------------------------------------------------------------------------- */

void skv_tls_describe(LDAP *ld, skv_tls_facts *facts)
{
    *facts = (skv_tls_facts){.is_on = true};
    /* libldap 2.4 has none of these. */
#ifdef LDAP_OPT_X_TLS_PEERCERT
    struct berval certificate = {0, NULL};
    skv_validity validity = {"", ""};

    read_text_option(ld, LDAP_OPT_X_TLS_VERSION, facts->protocol, sizeof facts->protocol);
    read_text_option(ld, LDAP_OPT_X_TLS_CIPHER, facts->cipher, sizeof facts->cipher);
    if (ldap_get_option(ld, LDAP_OPT_X_TLS_PEERCERT, &certificate) == LDAP_OPT_SUCCESS && certificate.bv_val &&
        skv_validity_read(&certificate, &validity)) {
        facts->certificate_ends = skv_validity_seconds(validity.to);
        facts->is_dated = true;
    }
    ber_memfree(certificate.bv_val);
#else
    (void)ld;
#endif
}
