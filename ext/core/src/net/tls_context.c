#include "net/tls_context.h"

#include "base/io.h"
#include "base/stamp.h"
#include "net/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <openldap.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Without TLS 1.0 and 1.1. libldap's PROTOCOL_MIN has an effect with OpenSSL only. */
#define GNUTLS_PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* A TLS context, and the handle that owns it. Both are NULL until it is made. */
typedef struct shared {
    LDAP *holder;
    void *context;
} shared;

struct skv_tls_context {
    pthread_mutex_t lock;
    skv_transport *nowhere; /* the muted transport of the holders */
    shared made[SKV_TLS_PURPOSES];
    skv_stamp files[3]; /* of the identity: CA, certificate and key */
};

skv_tls_context *skv_tls_context_new(void)
{
    skv_tls_context *context = skv_alloc_zeroed(1, sizeof *context);

    if (!context)
        return NULL;
    context->nowhere = skv_transport_new(-1);
    if (context->nowhere && pthread_mutex_init(&context->lock, NULL) == 0) {
        skv_transport_mute(context->nowhere);
        return context;
    }
    skv_transport_free(context->nowhere);
    skv_free(context);
    return NULL;
}

/* Connections hold references to the contexts that they use. */
static void forget_contexts(skv_tls_context *context)
{
    for (int i = 0; i < SKV_TLS_PURPOSES; i++)
        if (context->made[i].holder)
            ldap_unbind_ext(context->made[i].holder, NULL, NULL);
    memset(context->made, 0, sizeof context->made);
}

void skv_tls_context_free(skv_tls_context *context)
{
    if (!context)
        return;
    forget_contexts(context);
    skv_transport_free(context->nowhere);
    pthread_mutex_destroy(&context->lock);
    skv_free(context);
}

void skv_tls_context_lock(skv_tls_context *context)
{
    pthread_mutex_lock(&context->lock);
}

void skv_tls_context_unlock(skv_tls_context *context)
{
    pthread_mutex_unlock(&context->lock);
}

static bool is_set(const char *text)
{
    return text[0] != '\0';
}

/* ---- Files ------------------------------------------------------------------------------------------------------ */

/* Returns true if the file exists, is readable, and holds a PEM block of that kind; else fails the reply. */
static bool check_pem_file(const skv_uri *uri, const char *option, const char *path, const char *kind, skv_reply *reply)
{
    char bytes[16384];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        skv_fail_errno(reply, errno, "%s: cannot open '%s', the file of '%s'", uri->text, path, option);
        return false;
    }
    got = skv_read_bytes(fd, bytes, sizeof bytes);
    if (got < 0)
        skv_fail_errno(reply, errno, "%s: cannot read '%s', the file of '%s'", uri->text, path, option);
    else if (!memmem(bytes, (size_t)got, kind, strlen(kind)))
        skv_fail(reply, SKV_INVALID, "%s: '%s', the file of '%s', holds no %s in PEM", uri->text, path, option, kind);
    explicit_bzero(bytes, sizeof bytes);
    close(fd);
    return reply->status == SKV_OK;
}

static bool check_pem_files(const skv_uri *uri, const skv_identity *identity, skv_reply *reply)
{
    if (!is_set(identity->cacert)) {
        skv_fail(reply, SKV_INVALID, "%s: TLS configuration incomplete: 'tls_cacert' is missing", uri->text);
        return false;
    }
    if (is_set(identity->cert) != is_set(identity->key)) {
        skv_fail(reply, SKV_INVALID, "%s: TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
                 uri->text);
        return false;
    }
    return check_pem_file(uri, "tls_cacert", identity->cacert, "CERTIFICATE", reply) &&
           (!is_set(identity->cert) || (check_pem_file(uri, "tls_cert", identity->cert, "CERTIFICATE", reply) &&
                                        check_pem_file(uri, "tls_key", identity->key, "PRIVATE KEY", reply)));
}

/* ---- Settings --------------------------------------------------------------------------------------------------- */

static bool uses_gnutls(void)
{
    char *package = NULL;
    bool gnutls;

    ldap_get_option(NULL, LDAP_OPT_X_TLS_PACKAGE, &package);
    gnutls = package && strcasecmp(package, "GnuTLS") == 0;
    ldap_memfree(package);
    return gnutls;
}

/* Sets the numeric options: each handle inherits them from ldap.conf, ldaprc and LDAPTLS_*. */
static bool set_number_options(LDAP *ld, int require)
{
    static const int never = LDAP_OPT_X_TLS_NEVER, minimum = LDAP_OPT_X_TLS_PROTOCOL_TLS1_2;
    static const int crl = LDAP_OPT_X_TLS_CRL_NONE;
#ifdef LDAP_OPT_X_TLS_REQUIRE_SAN
    /* Refuses alternative names that do not match, even if the common name does. libldap 2.4 lacks the option. */
    static const int san = LDAP_OPT_X_TLS_TRY;

    if (ldap_set_option(ld, LDAP_OPT_X_TLS_REQUIRE_SAN, &san) != 0)
        return false;
#endif
#ifdef LDAP_OPT_X_TLS_PROTOCOL_MAX
    static const int any = 0;

    if (ldap_set_option(ld, LDAP_OPT_X_TLS_PROTOCOL_MAX, &any) != 0)
        return false;
#endif
#ifdef LDAP_OPT_X_TLS_PEERKEY_HASH
    if (ldap_set_option(ld, LDAP_OPT_X_TLS_PEERKEY_HASH, NULL) != 0)
        return false;
#endif
    /* Exists with OpenSSL only. */
    ldap_set_option(ld, LDAP_OPT_X_TLS_CRLCHECK, &crl);
    return ldap_set_option(ld, LDAP_OPT_X_TLS, &never) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_REQUIRE_CERT, &require) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_PROTOCOL_MIN, &minimum) == 0;
}

/* Sets the options and files, and makes the context last: they have an effect on a new context only. */
static bool make_context(LDAP *ld, const skv_identity *identity, int require, bool with_key)
{
    static const int client = 0;
    const char *priority = uses_gnutls() ? GNUTLS_PRIORITY : NULL;
    const char *cert = with_key && is_set(identity->cert) ? identity->cert : NULL;
    const char *key = with_key && is_set(identity->key) ? identity->key : NULL;

    return set_number_options(ld, require) && ldap_set_option(ld, LDAP_OPT_X_TLS_CIPHER_SUITE, priority) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_CACERTDIR, NULL) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_CRLFILE, NULL) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_CACERTFILE, identity->cacert) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_CERTFILE, cert) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_KEYFILE, key) == 0 &&
           ldap_set_option(ld, LDAP_OPT_X_TLS_NEWCTX, &client) == 0;
}

/* The first context of a process initialises the TLS library, which is not safe in several threads at once. */
static void initialise_tls_library(void)
{
    static const int client = 0;
    LDAP *ld = NULL;

    if (ldap_initialize(&ld, NULL) != LDAP_SUCCESS)
        return;
    ldap_set_option(ld, LDAP_OPT_X_TLS_NEWCTX, &client);
    ldap_unbind_ext(ld, NULL, NULL);
}

static bool make_verifying_context(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_reply *reply)
{
    if (!check_pem_files(uri, identity, reply))
        return false;
    if (make_context(ld, identity, LDAP_OPT_X_TLS_DEMAND, true))
        return true;
    if (is_set(identity->cert) && make_context(ld, identity, LDAP_OPT_X_TLS_DEMAND, false))
        skv_fail(reply, SKV_INVALID,
                 "%s: the key '%s' ('tls_key') does not belong to the certificate '%s' ('tls_cert'), or is locked by a "
                 "passphrase",
                 uri->text, identity->key, identity->cert);
    else
        skv_fail(reply, SKV_INVALID, "%s: the file of 'tls_cacert', '%s', cannot be used: it is damaged", uri->text,
                 identity->cacert);
    return false;
}

static int note_context(LDAP *ld, void *session, void *context, void *out)
{
    (void)ld;
    (void)session;
    *(void **)out = context;
    return 0;
}

/*
 * Returns the context of a handle on a muted transport; it stays the handle's. ldap_get_option() adds a reference that
 * no public function of libldap releases. A handshake passes the context to a callback without a reference, and fails
 * then.
 */
static void *context_of_handle(LDAP *ld)
{
    void *context = NULL;

    if (ldap_set_option(ld, LDAP_OPT_X_TLS_CONNECT_CB, (void *)note_context) == 0 &&
        ldap_set_option(ld, LDAP_OPT_X_TLS_CONNECT_ARG, &context) == 0)
        ldap_install_tls(ld);
    ldap_set_option(ld, LDAP_OPT_X_TLS_CONNECT_CB, NULL);
    ldap_set_option(ld, LDAP_OPT_X_TLS_CONNECT_ARG, NULL);
    return context;
}

static bool make_context_for(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                             skv_reply *reply)
{
    if (purpose == SKV_TLS_TO_USE)
        return make_verifying_context(ld, uri, identity, reply);
    return make_context(ld, identity, purpose == SKV_TLS_TO_LOOK ? LDAP_OPT_X_TLS_DEMAND : LDAP_OPT_X_TLS_ALLOW, false);
}

/* Makes a shared context. Under the lock. */
static bool add_shared_context(skv_tls_context *context, const skv_uri *uri, const skv_identity *identity,
                               skv_tls_purpose purpose, skv_reply *reply)
{
    shared *made = &context->made[purpose];

    if (skv_handle_attach(context->nowhere, "ldap://nowhere", &made->holder) != LDAP_SUCCESS) {
        made->holder = NULL;
        skv_fail_memory(reply);
        return false;
    }
    if (make_context_for(made->holder, uri, identity, purpose, reply) &&
        (made->context = context_of_handle(made->holder)))
        return true;
    skv_fail(reply, SKV_UNAVAILABLE, "%s: libldap has no TLS context", uri->text);
    ldap_unbind_ext(made->holder, NULL, NULL);
    made->holder = NULL;
    return false;
}

/* Forgets the contexts if a file has changed since they were made. */
static void forget_outdated(skv_tls_context *context, const skv_identity *identity)
{
    const skv_stamp files[] = {skv_stamp_of(identity->cacert), skv_stamp_of(identity->cert),
                               skv_stamp_of(identity->key)};

    if (memcmp(files, context->files, sizeof files) != 0)
        forget_contexts(context);
    memcpy(context->files, files, sizeof files);
}

/* Gives the handle a shared context of the current files. */
static bool share_context(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                          skv_reply *reply)
{
    skv_tls_context *context = identity->tls;
    bool done;

    skv_tls_context_lock(context);
    forget_outdated(context, identity);
    done = context->made[purpose].holder || add_shared_context(context, uri, identity, purpose, reply);
    if (done && ldap_set_option(ld, LDAP_OPT_X_TLS_CTX, context->made[purpose].context) != 0) {
        skv_fail(reply, SKV_UNAVAILABLE, "%s: libldap refuses a TLS context", uri->text);
        done = false;
    }
    skv_tls_context_unlock(context);
    return done;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

bool skv_tls_configure(LDAP *ld, const skv_uri *uri, const skv_identity *identity, skv_tls_purpose purpose,
                       skv_reply *reply)
{
    pthread_once(&once, initialise_tls_library);
    if (!(identity->tls ? share_context : make_context_for)(ld, uri, identity, purpose, reply))
        return false;
    /* The context keeps the requirement of the time when it was made. The check of the host name uses the current one.
     */
    if (set_number_options(ld, purpose == SKV_TLS_TO_USE ? LDAP_OPT_X_TLS_DEMAND : LDAP_OPT_X_TLS_ALLOW))
        return true;
    skv_fail(reply, SKV_UNAVAILABLE, "%s: libldap refuses a TLS option", uri->text);
    return false;
}
