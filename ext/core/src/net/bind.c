#include "net/bind.h"

#include "net/handle.h"
#include "net/tls.h"

#include <string.h>

typedef struct binding {
    LDAP *ld;
    skv_transport *transport;
    const skv_uri *uri;
    const skv_identity *identity;
    skv_reply *reply;
    skv_conn_failure failure;
} binding;

static bool fail_lost_bind(binding *b)
{
    bool no_certificate = skv_tls_is_wanted(b->uri, b->identity) && !b->identity->cert[0];
    bool may_want_one = no_certificate && skv_transport_failure(b->transport) == SKV_UNAVAILABLE;

    b->failure = skv_fail_lost(
        b->reply, b->transport, b->uri,
        may_want_one ? "binding: if it requires a client certificate, set 'tls_cert' and 'tls_key'" : "binding");
    skv_reply_set_fault(b->reply, may_want_one ? SKV_FAULT_TLS : SKV_FAULT_NONE);
    return false;
}

/* Sends the bind and waits for its response. `bytes` is NULL for EXTERNAL. */
static bool request_bind(binding *b, const char *bytes, size_t len, skv_response *response)
{
    struct berval credentials = {.bv_len = len, .bv_val = bytes ? (char *)(uintptr_t)bytes : ""};
    LDAPMessage *message;
    int id = 0;
    int rc = ldap_sasl_bind(b->ld, bytes ? b->identity->bind_dn : "", bytes ? LDAP_SASL_SIMPLE : "EXTERNAL",
                            &credentials, NULL, NULL, &id);

    return (skv_response_wait(b->ld, rc, id, &message) && skv_response_read(b->ld, message, response)) ||
           fail_lost_bind(b);
}

static const char *bind_advice(skv_ldap_code code, bool external)
{
    switch (code) {
    case LDAP_INVALID_CREDENTIALS:
        return external
                   ? "the server does not accept this process's user: set 'admin_dn' and 'admin_pw_file', or map it"
                   : "wrong password or bind DN: check 'admin_dn' and the file of 'admin_pw_file'";
    case LDAP_NO_SUCH_OBJECT:
        return "there is no such bind DN: check 'admin_dn'";
    case LDAP_INVALID_DN_SYNTAX:
        return "the bind DN is malformed: check 'admin_dn'";
    case LDAP_INAPPROPRIATE_AUTH:
        return "the bind DN has no password: check 'admin_dn'";
    case LDAP_CONSTRAINT_VIOLATION:
    case LDAP_UNWILLING_TO_PERFORM:
        return "the server is unwilling to let the bind DN in: is the account locked, or is TLS required?";
    case LDAP_CONFIDENTIALITY_REQUIRED:
    case LDAP_STRONG_AUTH_REQUIRED:
        return "the server requires TLS: set 'enable_tls', or use ldaps://";
    case LDAP_AUTH_METHOD_NOT_SUPPORTED:
        return external ? "the server does not offer SASL EXTERNAL: set 'admin_dn' and 'admin_pw_file'"
                        : "the server does not offer simple binds";
    case LDAP_INSUFFICIENT_ACCESS:
        return "the bind DN may not log in";
    default:
        return NULL;
    }
}

static skv_fault bind_fault(skv_ldap_code code)
{
    switch (code) {
    case LDAP_CONSTRAINT_VIOLATION:
    case LDAP_UNWILLING_TO_PERFORM:
        return SKV_FAULT_BIND_REFUSED;
    case LDAP_CONFIDENTIALITY_REQUIRED:
    case LDAP_STRONG_AUTH_REQUIRED:
        return SKV_FAULT_TLS;
    default:
        return SKV_FAULT_CREDENTIALS;
    }
}

static bool fail_bind(binding *b, const skv_response *response)
{
    bool external = !b->identity->password && !b->identity->password_file[0];
    const char *who = external ? "SASL EXTERNAL" : b->identity->bind_dn,
               *advice = bind_advice(response->code, external);
    const char *colon = response->text[0] ? ": " : "";

    b->failure = advice ? SKV_CONN_REFUSED : SKV_CONN_UNREACHABLE;
    if (b->identity->password && response->code == LDAP_INVALID_CREDENTIALS)
        b->failure = SKV_CONN_WRONG_PASSWORD;
    if (advice)
        skv_fail(b->reply, SKV_DENIED, "%s: bind as '%s' refused: %s (%d, %s%s%s)", b->uri->text, who, advice,
                 response->code, ldap_err2string(response->code), colon, response->text);
    else
        skv_fail(b->reply, SKV_UNAVAILABLE, "%s: bind as '%s' failed: the server is not available now (%d, %s%s%s)",
                 b->uri->text, who, response->code, ldap_err2string(response->code), colon, response->text);
    skv_reply_set_fault(b->reply, advice ? bind_fault(response->code) : SKV_FAULT_NONE);
    return false;
}

static bool is_wrong_password(bool has_response, const skv_response *response)
{
    return has_response && response->code == LDAP_INVALID_CREDENTIALS;
}

static bool read_password(binding *b, skv_password *p)
{
    skv_password_read(b->identity->password_file, b->uri->text, p, b->reply);
    b->failure = b->reply->status == SKV_OK ? SKV_CONN_OK : SKV_CONN_REJECTED;
    return b->failure == SKV_CONN_OK;
}

static void note_accepted(skv_rotation *rotation, const skv_password *p)
{
    rotation->last = *p;
    rotation->is_file_refused = rotation->is_last_refused = false;
}

/* Binds with the password of the file, which is in `p` afterwards, unless the server has just refused `refused` and the
 * file has the same. If the server refuses the password and the file holds another one by then, binds with that. */
static bool bind_with_file(binding *b, const skv_password *refused, skv_password *p, skv_response *response)
{
    skv_password again = {.len = 0};
    bool done = read_password(b, p);

    if (!done || (refused && skv_password_equals(p, refused)))
        return done;
    done = request_bind(b, p->bytes, p->len, response);
    if (is_wrong_password(done, response)) {
        done = read_password(b, &again);
        if (done && !skv_password_equals(&again, p)) {
            *p = again;
            done = request_bind(b, p->bytes, p->len, response);
        }
    }
    explicit_bzero(&again, sizeof again);
    if (done && response->code == LDAP_SUCCESS && b->identity->rotation)
        note_accepted(b->identity->rotation, p);
    return done;
}

/* Binds with the last accepted password. If it may not be used, the response stays as it is. */
static bool bind_with_last(binding *b, skv_response *response)
{
    skv_rotation *rotation = b->identity->rotation;
    bool done;

    if (!rotation->last.len || rotation->is_last_refused)
        return true;
    done = request_bind(b, rotation->last.bytes, rotation->last.len, response);
    rotation->is_last_refused = is_wrong_password(done, response);
    return done;
}

/* Returns true if the file holds no password, and there is another one that the server has not refused: an
 * administrator may be writing the file. */
static bool is_file_unfinished(const binding *b)
{
    const skv_rotation *rotation = b->identity->rotation;

    return b->failure == SKV_CONN_REJECTED && b->reply->status == SKV_INVALID && rotation->last.len &&
           !rotation->is_last_refused;
}

/* Binds with the last password in place of an unfinished file's, which counts as refused if the server accepts it. If
 * the server refuses it, the failure is the file's, unless the file is finished by then. */
static bool bind_without_file(binding *b, skv_password *p, skv_response *response)
{
    skv_rotation *rotation = b->identity->rotation;
    bool done;

    skv_reply_reset(b->reply);
    b->failure = SKV_CONN_OK;
    done = bind_with_last(b, response);
    if (is_wrong_password(done, response))
        return bind_with_file(b, &rotation->last, p, response);
    rotation->is_file_refused = done && response->code == LDAP_SUCCESS;
    return done;
}

/* Binds with the file's password, then with the last one. */
static bool bind_with_new_file(binding *b, skv_password *p, skv_response *response)
{
    skv_rotation *rotation = b->identity->rotation;
    bool done = bind_with_file(b, NULL, p, response);

    if (!done && is_file_unfinished(b))
        return bind_without_file(b, p, response);
    if (!is_wrong_password(done, response) || skv_password_equals(&rotation->last, p))
        return done;
    done = bind_with_last(b, response);
    rotation->is_file_refused = done && response->code == LDAP_SUCCESS;
    return done;
}

/* Binds with the last password, then with the file's. */
static bool bind_with_known_file(binding *b, skv_password *p, skv_response *response)
{
    skv_rotation *rotation = b->identity->rotation;
    bool was_refused = rotation->is_last_refused, done = bind_with_last(b, response);

    if (is_wrong_password(done, response))
        done = bind_with_file(b, was_refused ? NULL : &rotation->last, p, response);
    return done;
}

static bool bind_with_password(binding *b)
{
    skv_password p = {.len = 0};
    skv_response response = {.code = LDAP_INVALID_CREDENTIALS};
    bool done;

    if (!b->identity->rotation)
        done = bind_with_file(b, NULL, &p, &response);
    else if (b->identity->rotation->begins_with_last)
        done = bind_with_known_file(b, &p, &response);
    else
        done = bind_with_new_file(b, &p, &response);
    if (done && response.code != LDAP_SUCCESS)
        done = fail_bind(b, &response);
    explicit_bzero(&p, sizeof p);
    return done;
}

bool skv_bind(LDAP *ld, skv_transport *transport, const skv_uri *uri, const skv_identity *identity, skv_reply *reply,
              skv_conn_failure *failure)
{
    binding b = {ld, transport, uri, identity, reply, SKV_CONN_OK};
    skv_response response = {.code = LDAP_OTHER};
    bool done;

    if (identity->password)
        done = request_bind(&b, identity->password, strlen(identity->password), &response) &&
               (response.code == LDAP_SUCCESS || fail_bind(&b, &response));
    else if (identity->password_file[0])
        done = bind_with_password(&b);
    else if (strcmp(identity->bind_dn, SKV_ANONYMOUS) == 0)
        done = true;
    else
        done = request_bind(&b, NULL, 0, &response) && (response.code == LDAP_SUCCESS || fail_bind(&b, &response));
    if (!done)
        *failure = b.failure;
    return done;
}
