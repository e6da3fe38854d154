#include "net/connect.h"

#include "net/resolve.h"
#include "net/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The time after which the next address is tried beside a silent one. */
#define NEXT_ADDRESS_NS (250 * SKV_NS_PER_MS)

/* The most attempts at the same time. */
#define ATTEMPTS_MAX 8

/* The kernel probes a peer after half a minute of silence, and gives it up half a minute later. */
#define KEEPALIVE_IDLE_S 30
#define KEEPALIVE_INTERVAL_S 10
#define KEEPALIVE_COUNT 3
#define USER_TIMEOUT_MS 30000

static skv_status fail_connect(skv_reply *reply, const skv_uri *uri, int error_number)
{
    switch (error_number) {
    case ECONNREFUSED:
        return skv_fail(reply, SKV_UNAVAILABLE,
                        uri->scheme == SKV_LDAPI ? "%s: connection refused: no server listens there any more; start it"
                                                 : "%s: connection refused: check that the server runs, and the port",
                        uri->text);
    case ENOENT:
        return skv_fail(reply, SKV_UNAVAILABLE,
                        "%s: there is no socket '%s': check that the server runs, and where it listens", uri->text,
                        uri->host);
    case EACCES:
    case EPERM:
        return skv_fail_errno(reply, error_number, "%s: this user may not connect", uri->text);
    default:
        return skv_fail_errno(reply, error_number, "%s: the server cannot be reached, check host, port and firewall",
                              uri->text);
    }
}

/* Returns the result of an attempt that has become ready: 0 or an errno. */
static int connect_result(int fd)
{
    int error_number = 0;
    socklen_t len = sizeof error_number;

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &len) < 0 ? errno : error_number;
}

typedef struct race {
    const struct addrinfo *next;
    struct pollfd attempt[ATTEMPTS_MAX];
    int count;
    int error_number; /* of the last attempt that failed */
} race;

/* Starts the next attempt. Returns its socket if it succeeded at once, else -1. */
static int race_start(race *r)
{
    const struct addrinfo *address = r->next;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);

    r->next = address->ai_next;
    if (fd < 0) {
        r->error_number = errno;
        return -1;
    }
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    if (errno == EINPROGRESS) {
        r->attempt[r->count++] = (struct pollfd){.fd = fd, .events = POLLOUT};
        return -1;
    }
    r->error_number = errno;
    close(fd);
    return -1;
}

/* Removes the attempts that have ended. Returns the socket of one that succeeded, else -1. */
static int race_collect(race *r)
{
    for (int i = r->count - 1; i >= 0; i--) {
        int fd = r->attempt[i].fd, error_number;

        if (!r->attempt[i].revents)
            continue;
        r->attempt[i] = r->attempt[--r->count];
        error_number = connect_result(fd);
        if (!error_number)
            return fd;
        r->error_number = error_number;
        close(fd);
    }
    return -1;
}

static bool may_start(const race *r)
{
    return r->next && r->count < ATTEMPTS_MAX;
}

static int connect_tcp(const struct addrinfo *addresses, const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    race r = {.next = addresses, .error_number = EHOSTUNREACH};
    int64_t next_at = INT64_MAX;
    skv_status status;
    int fd = -1;

    while (fd < 0 && (r.next || r.count)) {
        if (may_start(&r) && (r.count == 0 || skv_now_ns() >= next_at)) {
            fd = race_start(&r);
            next_at = skv_now_ns() + NEXT_ADDRESS_NS;
            continue;
        }
        for (int i = 0; i < r.count; i++)
            r.attempt[i].revents = 0;
        status = skv_deadline_poll(deadline, r.attempt, r.count, may_start(&r) ? next_at : INT64_MAX);
        if (status == SKV_OK) {
            fd = race_collect(&r);
        } else if (status != SKV_TIMEOUT || skv_now_ns() >= deadline->end_ns) {
            skv_fail_wait(reply, status, uri, "connecting: check host, port and firewall");
            break;
        }
    }
    while (r.count > 0)
        close(r.attempt[--r.count].fd);
    if (fd < 0)
        fail_connect(reply, uri, r.error_number);
    return fd;
}

/* The connection works without any of these, so that failures are ignored. */
static void set_tcp_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S},
        {IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S},
        {IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof options[i].value);
}

static int connect_unix(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    skv_status status = SKV_OK;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error_number;

    if (fd < 0) {
        fail_connect(reply, uri, errno);
        return -1;
    }
    /* skv_uris_parse() has refused a longer path. */
    memcpy(address.sun_path, uri->host, strnlen(uri->host, sizeof address.sun_path - 1));
    while (status == SKV_OK) {
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        error_number = errno;
        /* EAGAIN: the queue of the server is full. poll() does not report when it has room again. */
        if (error_number != EAGAIN && error_number != EINTR) {
            fail_connect(reply, uri, error_number);
            break;
        }
        status = skv_deadline_sleep(deadline, 5 * SKV_NS_PER_MS);
    }
    if (status != SKV_OK)
        skv_fail_wait(reply, status, uri, "connecting");
    close(fd);
    return -1;
}

int skv_connect(const skv_uri *uri, skv_deadline *deadline, skv_reply *reply)
{
    struct addrinfo *addresses;
    int fd;

    if (uri->scheme == SKV_LDAPI)
        return connect_unix(uri, deadline, reply);
    addresses = skv_resolve(uri, deadline, reply);
    if (!addresses)
        return -1;
    fd = connect_tcp(addresses, uri, deadline, reply);
    freeaddrinfo(addresses);
    if (fd >= 0)
        set_tcp_options(fd);
    return fd;
}
