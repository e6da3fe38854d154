#include "net/bind.h"

#include "net/handle.h"
#include "net/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A larger file is refused as a password file. */
#define PASSWORD_MAX 4096

typedef struct password {
    size_t len;
    char bytes[PASSWORD_MAX + 3]; /* with its newline, and one more to recognise a larger file */
} password;

typedef struct binding {
    LDAP *ld;
    skv_transport *transport;
    const skv_uri *uri;
    const skv_identity *identity;
    skv_reply *reply;
    skv_conn_failure failure;
} binding;

/* Reads the start of the file. Returns the number of bytes, or -1 with errno set. */
static ssize_t read_password_file(const char *path, char *bytes, size_t size)
{
    size_t used = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error_number;

    if (fd < 0)
        return -1;
    while (used < size && (got = read(fd, bytes + used, size - used)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
    }
    error_number = errno;
    close(fd);
    errno = error_number;
    return got < 0 ? -1 : (ssize_t)used;
}

/* Refuses an empty password: servers take it for an anonymous bind, and accept it. */
static bool read_password(binding *b, password *p)
{
    const char *path = b->identity->password_file;
    ssize_t got = read_password_file(path, p->bytes, sizeof p->bytes);

    p->len = got > 0 ? (size_t)got : 0;
    if (p->len && p->bytes[p->len - 1] == '\n')
        p->len -= p->len > 1 && p->bytes[p->len - 2] == '\r' ? 2 : 1;
    if (got < 0 && errno == ENOENT)
        skv_fail(b->reply, SKV_INVALID, "Configured 'admin_pw_file' %s does not exist", path);
    else if (got < 0)
        skv_fail_errno(b->reply, errno, "%s: cannot read '%s', the file of 'admin_pw_file'", b->uri->text, path);
    else if (!p->len)
        skv_fail(b->reply, SKV_INVALID, "%s: '%s', the file of 'admin_pw_file', holds no password", b->uri->text, path);
    else if (p->len > PASSWORD_MAX)
        skv_fail(b->reply, SKV_INVALID, "%s: '%s', the file of 'admin_pw_file', is longer than %d bytes", b->uri->text,
                 path, PASSWORD_MAX);
    b->failure = b->reply->status == SKV_OK ? SKV_CONN_OK : SKV_CONN_REJECTED;
    return b->failure == SKV_CONN_OK;
}

static bool fail_lost_bind(binding *b)
{
    bool no_certificate = skv_tls_is_wanted(b->uri, b->identity) && !b->identity->cert[0];
    bool may_want_one = no_certificate && skv_transport_failure(b->transport) == SKV_UNAVAILABLE;

    b->failure = skv_fail_lost(
        b->reply, b->transport, b->uri,
        may_want_one ? "binding: if it requires a client certificate, set 'tls_cert' and 'tls_key'" : "binding");
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
    return false;
}

/* Returns true if the file holds another password than the refused one in `p`, which becomes the new one. */
static bool reread_password(binding *b, password *p, password *again)
{
    bool changed = read_password(b, again) && (again->len != p->len || memcmp(again->bytes, p->bytes, p->len) != 0);

    if (changed)
        *p = *again;
    return changed;
}

static bool bind_with_password(binding *b)
{
    password p, again = {.len = 0};
    skv_response response = {.code = LDAP_OTHER};
    bool done = read_password(b, &p) && request_bind(b, p.bytes, p.len, &response);

    if (done && response.code == LDAP_INVALID_CREDENTIALS && reread_password(b, &p, &again))
        done = request_bind(b, p.bytes, p.len, &response);
    if (done && response.code != LDAP_SUCCESS)
        done = fail_bind(b, &response);
    explicit_bzero(&p, sizeof p);
    explicit_bzero(&again, sizeof again);
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
