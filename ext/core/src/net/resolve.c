#include "net/resolve.h"

#include "base/io.h"
#include "base/thread.h"
#include "net/transport.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Shared by the thread and the waiting call. The last of the two frees it. */
typedef struct lookup {
    atomic_int users;
    atomic_bool done;
    int event; /* an eventfd: the thread writes to it at the end */
    int result;
    int error_number; /* for EAI_SYSTEM */
    struct addrinfo *addresses;
    char host[sizeof((skv_uri *)0)->host];
    char port[8];
} lookup;

static atomic_int running;

void skv_resolve_after_fork(void)
{
    atomic_store(&running, 0);
}

static int call_getaddrinfo(const char *host, const char *port, int flags, struct addrinfo **addresses)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags};

    *addresses = NULL;
    return getaddrinfo(host, port, &hints, addresses);
}

static void release_resolution(lookup *l)
{
    if (atomic_fetch_sub(&l->users, 1) > 1)
        return;
    if (l->addresses)
        freeaddrinfo(l->addresses);
    close(l->event);
    skv_free(l);
}

static void *run_resolution(void *argument)
{
    lookup *l = argument;

    l->result = call_getaddrinfo(l->host, l->port, 0, &l->addresses);
    l->error_number = errno;
    atomic_fetch_sub(&running, 1);
    atomic_store(&l->done, true);
    skv_event_signal(l->event);
    release_resolution(l);
    return NULL;
}

static lookup *new_resolution(const skv_uri *uri)
{
    lookup *l = skv_alloc_zeroed(1, sizeof *l);

    if (!l)
        return NULL;
    l->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->event < 0) {
        skv_free(l);
        return NULL;
    }
    atomic_init(&l->users, 2);
    memcpy(l->host, uri->host, sizeof l->host);
    snprintf(l->port, sizeof l->port, "%d", uri->port);
    return l;
}

/* Waits for one of SKV_RESOLVERS_MAX places. */
static skv_status take_resolver_place(skv_deadline *deadline)
{
    skv_status status;

    while (atomic_fetch_add(&running, 1) >= SKV_RESOLVERS_MAX) {
        atomic_fetch_sub(&running, 1);
        status = skv_deadline_sleep(deadline, 5 * SKV_NS_PER_MS);
        if (status != SKV_OK)
            return status;
    }
    return SKV_OK;
}

static skv_status fail_resolve(skv_reply *reply, const skv_uri *uri, int result, int error_number)
{
    if (result == EAI_SYSTEM)
        return skv_fail_errno(reply, error_number, "%s: the name '%s' could not be looked up", uri->text, uri->host);
    if (result == EAI_MEMORY)
        return skv_fail_memory(reply);
    return skv_fail(reply, SKV_UNAVAILABLE,
                    "%s: the name '%s' is unknown (%s): check 'ldap_uri' and this machine's name service", uri->text,
                    uri->host, gai_strerror(result));
}

static struct addrinfo *resolve_in_thread(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    struct addrinfo *addresses = NULL;
    struct pollfd event = {.events = POLLIN};
    skv_status status = take_resolver_place(deadline);
    int error_number;
    lookup *l;

    if (status != SKV_OK) {
        skv_fail_wait(reply, status, uri, "waiting to look up its name");
        return NULL;
    }
    l = new_resolution(uri);
    error_number = l ? skv_thread_start(NULL, run_resolution, l) : ENOMEM;
    if (error_number) {
        atomic_fetch_sub(&running, 1);
        if (l) {
            atomic_store(&l->users, 1);
            release_resolution(l);
        }
        skv_fail_errno(reply, error_number, "%s: no thread can be started to look up its name", uri->text);
        return NULL;
    }
    event.fd = l->event;
    status = skv_deadline_poll(deadline, &event, 1, INT64_MAX);
    if (atomic_load(&l->done)) {
        addresses = l->addresses;
        l->addresses = NULL;
        if (l->result)
            fail_resolve(reply, uri, l->result, l->error_number);
    } else {
        skv_fail_wait(reply, status, uri, "looking up its name");
    }
    release_resolution(l);
    return addresses;
}

struct addrinfo *skv_resolve(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    unsigned char address[sizeof(struct in6_addr)];
    struct addrinfo *addresses;
    char port[8];
    int result;

    if (inet_pton(AF_INET, uri->host, address) != 1 && inet_pton(AF_INET6, uri->host, address) != 1)
        return resolve_in_thread(uri, deadline, reply);
    snprintf(port, sizeof port, "%d", uri->port);
    result = call_getaddrinfo(uri->host, port, AI_NUMERICHOST, &addresses);
    if (result)
        fail_resolve(reply, uri, result, errno);
    return addresses;
}
