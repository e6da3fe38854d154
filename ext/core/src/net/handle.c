#include "net/handle.h"

#include "base/thread.h"
#include "net/gate.h"
#include "net/transport.h"

#include <openldap.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/*
 * The first use initialises libldap: it reads its configuration files, which is not thread-safe, and resolves this
 * machine's own name, which may hang. A detached thread does that, and callers wait for it within their deadlines.
 */
enum { UNUSED, BEGUN, DONE, BROKEN };
static atomic_int initialised = UNUSED;

static void *initialise_libldap(void *unused)
{
    LDAPAPIInfo info = {.ldapai_info_version = LDAP_API_INFO_VERSION};

    if (ldap_get_option(NULL, LDAP_OPT_API_INFO, &info) == LDAP_OPT_SUCCESS) {
        ldap_memfree(info.ldapai_vendor_name);
        ldap_memvfree((void **)info.ldapai_extensions);
    }
    atomic_store(&initialised, DONE);
    return unused;
}

/* Returns false with the reply filled. */
static bool wait_until_initialised(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    skv_status status;
    int state = UNUSED;

    if (atomic_compare_exchange_strong(&initialised, &state, BEGUN) &&
        skv_thread_start(NULL, initialise_libldap, NULL) != 0)
        initialise_libldap(NULL);
    while ((state = atomic_load(&initialised)) == BEGUN) {
        status = skv_deadline_sleep(deadline, SKV_NS_PER_MS);
        if (status != SKV_OK) {
            skv_fail_wait(reply, status, uri, "libldap looks up this machine's own name");
            return false;
        }
    }
    if (state == BROKEN)
        skv_fail(reply, SKV_UNAVAILABLE,
                 "%s: this process was forked while libldap was looking up this machine's own name, and cannot use "
                 "libldap: check this machine's name service, and start the process again",
                 uri->text);
    return state == DONE;
}

void skv_handle_before_fork(void)
{
    static int64_t left_ns = SKV_FORK_WAIT_MS * SKV_NS_PER_MS; /* under the pool's lock for forks */
    const struct timespec pause = {.tv_nsec = SKV_NS_PER_MS};
    const int64_t end = skv_now_ns() + left_ns;

    while (atomic_load(&initialised) == BEGUN && left_ns > 0) {
        nanosleep(&pause, NULL);
        left_ns = end - skv_now_ns();
    }
}

void skv_handle_after_fork(void)
{
    int begun = BEGUN;

    atomic_compare_exchange_strong(&initialised, &begun, BROKEN);
}

/* Sets the options that ldap.conf, ldaprc and the LDAP* variables may have set. Without timeouts of its own, libldap
 * leaves all waiting to the transport. */
static bool set_handle_options(LDAP *ld)
{
    static const int version = LDAP_VERSION3, deref = LDAP_DEREF_NEVER, none = 0;
    static const struct timeval unset = {.tv_sec = -1};

    return ldap_set_option(ld, LDAP_OPT_PROTOCOL_VERSION, &version) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_DEREF, &deref) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_SIZELIMIT, &none) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_TIMELIMIT, &none) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_NETWORK_TIMEOUT, &unset) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_TIMEOUT, &unset) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_CONNECT_ASYNC, LDAP_OPT_OFF) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_RESTART, LDAP_OPT_ON) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_SERVER_CONTROLS, NULL) == LDAP_OPT_SUCCESS &&
           ldap_set_option(ld, LDAP_OPT_CLIENT_CONTROLS, NULL) == LDAP_OPT_SUCCESS;
}

skv_ldap_code skv_handle_attach(skv_transport *transport, const char *uri, LDAP **ld)
{
    Sockbuf *sockbuf = NULL;
    /* libldap uses the descriptor for poll() only, and never calls it here. */
    skv_ldap_code rc = ldap_init_fd(skv_transport_fd(transport), LDAP_PROTO_EXT, uri, ld);

    if (rc != LDAP_SUCCESS)
        return rc;
    if (ldap_get_option(*ld, LDAP_OPT_SOCKBUF, &sockbuf) == LDAP_OPT_SUCCESS && sockbuf &&
        skv_transport_attach(transport, sockbuf) == 0 && skv_gate_attach(transport, sockbuf) == 0)
        return LDAP_SUCCESS;
    skv_handle_free(*ld);
    return LDAP_NO_MEMORY;
}

LDAP *skv_handle_new(skv_transport *transport, const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    LDAP *ld;
    skv_ldap_code rc;

    if (!wait_until_initialised(uri, deadline, reply))
        return NULL;
    rc = skv_handle_attach(transport, uri->text, &ld);
    if (rc != LDAP_SUCCESS) {
        skv_fail(reply, rc == LDAP_NO_MEMORY ? SKV_NOMEM : SKV_UNAVAILABLE, "%s: libldap cannot make a handle: %s",
                 uri->text, ldap_err2string(rc));
        return NULL;
    }
    if (set_handle_options(ld))
        return ld;
    skv_fail(reply, SKV_UNAVAILABLE, "%s: libldap refuses an option", uri->text);
    skv_transport_mute(transport);
    skv_handle_free(ld);
    return NULL;
}

void skv_handle_free(LDAP *ld)
{
    if (ld)
        ldap_unbind_ext(ld, NULL, NULL);
}

static void copy_truncated(char *out, size_t size, const char *text)
{
    size_t len = text ? strnlen(text, size - 1) : 0;

    if (len)
        memcpy(out, text, len);
    out[len] = '\0';
}

bool skv_response_read(LDAP *ld, LDAPMessage *message, skv_response *response)
{
    char *text = NULL, **referrals = NULL;
    int code = LDAP_OTHER;
    int rc = ldap_parse_result(ld, message, &code, NULL, &text, &referrals, NULL, 1);

    response->code = code;
    copy_truncated(response->text, sizeof response->text, text);
    copy_truncated(response->referral, sizeof response->referral, referrals ? referrals[0] : NULL);
    ldap_memfree(text);
    ldap_memvfree((void **)referrals);
    return rc == LDAP_SUCCESS;
}

bool skv_response_wait(LDAP *ld, int rc, int message_id, LDAPMessage **message)
{
    *message = NULL;
    if (rc != LDAP_SUCCESS)
        return false;
    if (ldap_result(ld, message_id, LDAP_MSG_ALL, NULL, message) > 0)
        return true;
    ldap_msgfree(*message);
    *message = NULL;
    return false;
}
