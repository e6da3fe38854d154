#include "net/transport.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_AHEAD 16384

struct skv_transport {
    int fd;
    skv_status failure;
    skv_deadline *deadline;
    int64_t silence_ns; /* the longest wait for bytes of the peer */
    bool has_sent;
    bool resumable;    /* an interrupt does not fail a read, */
    bool patient;      /* and neither does the deadline */
    skv_status paused; /* why a read ended in that way: SKV_OK (none did), SKV_INTERRUPTED, SKV_TIMEOUT */
    bool response_due; /* nothing was read since the last write: the next read waits first */
    bool has_read;     /* something was read since the last write or the last limit */
    size_t budget;     /* the bytes of messages that the server may send; SIZE_MAX: any number */
    size_t from, to;   /* the bytes that were read ahead and not handed out yet */
    char ahead[READ_AHEAD];
};

skv_transport *skv_transport_new(int fd)
{
    skv_transport *transport = skv_alloc(sizeof *transport);

    if (!transport) {
        close(fd);
        return NULL;
    }
    transport->fd = fd;
    transport->failure = SKV_OK;
    transport->deadline = NULL;
    transport->silence_ns = INT64_MAX;
    transport->has_sent = transport->resumable = transport->patient = false;
    transport->response_due = transport->has_read = false;
    transport->budget = SKV_OPENING_MAX;
    transport->paused = SKV_OK;
    transport->from = transport->to = 0;
    return transport;
}

void skv_transport_shut(skv_transport *transport)
{
    if (transport->fd >= 0)
        close(transport->fd);
    transport->fd = -1;
    skv_transport_mute(transport);
}

void skv_transport_free(skv_transport *transport)
{
    if (!transport)
        return;
    skv_transport_shut(transport);
    skv_free(transport);
}

int skv_transport_fd(const skv_transport *transport)
{
    return transport->fd;
}

void skv_transport_limit(skv_transport *transport, skv_deadline *deadline)
{
    transport->deadline = deadline;
    transport->silence_ns = INT64_MAX;
    transport->has_sent = transport->has_read = false;
    transport->paused = SKV_OK;
}

void skv_transport_limit_silence(skv_transport *transport, int64_t ns)
{
    transport->silence_ns = ns;
}

skv_status skv_transport_paused(const skv_transport *transport)
{
    return transport->paused;
}

void skv_transport_lift_budget(skv_transport *transport)
{
    transport->budget = SIZE_MAX;
}

bool skv_transport_spend(skv_transport *transport, size_t bytes)
{
    if (bytes > transport->budget)
        return false;
    if (transport->budget != SIZE_MAX)
        transport->budget -= bytes;
    return true;
}

void skv_transport_set_resumable(skv_transport *transport, bool resumable, bool patient)
{
    transport->resumable = resumable;
    transport->patient = patient;
}

void skv_transport_mute(skv_transport *transport)
{
    if (transport->failure == SKV_OK)
        transport->failure = SKV_UNAVAILABLE;
}

skv_status skv_transport_failure(const skv_transport *transport)
{
    return transport->failure;
}

bool skv_transport_has_sent(const skv_transport *transport)
{
    return transport->has_sent;
}

bool skv_transport_is_alive(const skv_transport *transport, bool tls)
{
    struct pollfd fd = {.fd = transport->fd, .events = POLLIN | POLLRDHUP};

    if (transport->failure || (!tls && transport->from < transport->to))
        return false;
    if (poll(&fd, 1, 0) <= 0)
        return true;
    return tls && !(fd.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

/* Sets errno, but not to EAGAIN or EINTR, after which libldap would continue. wait_to_read() is the exception. */
ber_slen_t skv_transport_fail(skv_transport *transport, skv_status status)
{
    transport->failure = status;
    errno = status == SKV_TIMEOUT ? ETIMEDOUT : status == SKV_INTERRUPTED ? ECANCELED : ECONNRESET;
    return -1;
}

/* Waits until the socket is ready. */
static skv_status wait_for_events(skv_transport *transport, short events)
{
    struct pollfd fd = {.fd = transport->fd, .events = events};

    if (!transport->deadline)
        return SKV_TIMEOUT;
    return skv_deadline_poll_response(transport->deadline, &fd, skv_now_plus_ns(transport->silence_ns));
}

static ber_slen_t hand_out(skv_transport *transport, void *out, ber_len_t len)
{
    size_t there = transport->to - transport->from;

    if (len > there)
        len = there;
    memcpy(out, transport->ahead + transport->from, len);
    transport->from += len;
    return (ber_slen_t)len;
}

/* Checks the limits of a read that follows another one: there is never a wait in which a call could end, if the server
 * sends without a pause. A first read takes a response that is there, even if the deadline has passed. */
static skv_status check_limits(skv_transport *transport)
{
    if (!transport->has_read || !transport->deadline)
        return SKV_OK;
    return skv_deadline_left(transport->deadline) > 0 ? skv_deadline_check_request(transport->deadline) : SKV_TIMEOUT;
}

/* Returns 0 if there is something to read, or may be. */
static ber_slen_t wait_to_read(skv_transport *transport)
{
    skv_status status = check_limits(transport);

    if (status == SKV_OK && transport->response_due)
        status = wait_for_events(transport, POLLIN);
    if (status == SKV_OK)
        return 0;
    if (!(status == SKV_INTERRUPTED && transport->resumable) && !(status == SKV_TIMEOUT && transport->patient))
        return skv_transport_fail(transport, status);
    transport->paused = status;
    errno = EAGAIN;
    return -1;
}

/* Large reads go directly to libldap's buffer. */
static ber_slen_t sb_read(Sockbuf_IO_Desc *desc, void *out, ber_len_t len)
{
    skv_transport *transport = desc->sbiod_pvt;
    bool direct = len >= READ_AHEAD;

    if (transport->failure)
        return skv_transport_fail(transport, transport->failure);
    if (transport->from < transport->to)
        return hand_out(transport, out, len);
    for (;;) {
        ssize_t got;

        if (wait_to_read(transport) != 0)
            return -1;
        got = recv(transport->fd, direct ? out : transport->ahead, direct ? len : READ_AHEAD, MSG_DONTWAIT);
        transport->response_due = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        transport->has_read |= got > 0;
        if (got > 0 && direct)
            return got;
        if (got > 0) {
            transport->from = 0;
            transport->to = (size_t)got;
            return hand_out(transport, out, len);
        }
        if (!transport->response_due && (got == 0 || errno != EINTR))
            return skv_transport_fail(transport, SKV_UNAVAILABLE);
    }
}

/* Writes all bytes or fails: GnuTLS would repeat a partial write. */
static ber_slen_t sb_write(Sockbuf_IO_Desc *desc, void *bytes, ber_len_t len)
{
    skv_transport *transport = desc->sbiod_pvt;
    const char *rest = bytes;
    ber_len_t left = len;

    if (transport->failure)
        return skv_transport_fail(transport, transport->failure);
    while (left > 0) {
        ssize_t sent = send(transport->fd, rest, left, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent >= 0) {
            transport->has_sent = transport->has_sent || sent > 0;
            rest += sent;
            left -= (ber_len_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            skv_status status = wait_for_events(transport, POLLOUT);
            if (status != SKV_OK)
                return skv_transport_fail(transport, status);
        } else if (errno != EINTR) {
            return skv_transport_fail(transport, SKV_UNAVAILABLE);
        }
    }
    transport->response_due = true;
    transport->has_read = false;
    return (ber_slen_t)len;
}

static int sb_setup(Sockbuf_IO_Desc *desc, void *transport)
{
    desc->sbiod_pvt = transport;
    return 0;
}

static int sb_remove(Sockbuf_IO_Desc *desc)
{
    desc->sbiod_pvt = NULL;
    return 0;
}

/* Always reports that data are ready. libldap then reads at once, and waits in sb_read() and not in its own poll(). */
static int sb_ctrl(Sockbuf_IO_Desc *desc, int option, void *argument)
{
    (void)desc;
    (void)argument;
    return option == LBER_SB_OPT_DATA_READY;
}

/* skv_transport_free() closes the socket. */
static int sb_close(Sockbuf_IO_Desc *desc)
{
    (void)desc;
    return 0;
}

int skv_transport_attach(skv_transport *transport, Sockbuf *sockbuf)
{
    static Sockbuf_IO provider = {
        .sbi_setup = sb_setup,
        .sbi_remove = sb_remove,
        .sbi_ctrl = sb_ctrl,
        .sbi_read = sb_read,
        .sbi_write = sb_write,
        .sbi_close = sb_close,
    };

    return ber_sockbuf_add_io(sockbuf, &provider, LBER_SBIOD_LEVEL_PROVIDER, transport);
}

/* ---- Failures ---- */

skv_conn_failure skv_failure_of(skv_status status)
{
    return status == SKV_INTERRUPTED || status == SKV_NOMEM ? SKV_CONN_STOPPED : SKV_CONN_UNREACHABLE;
}

skv_status skv_fail_wait(skv_reply *reply, skv_status status, const skv_uri *uri, const char *doing)
{
    switch (status) {
    case SKV_TIMEOUT:
        return skv_fail(reply, status, "%s: timed out while %s", uri->text, doing);
    case SKV_INTERRUPTED:
        return skv_fail(reply, status, "%s: interrupted while %s", uri->text, doing);
    case SKV_NOMEM:
        return skv_fail_memory(reply);
    case SKV_MALFORMED:
        return skv_fail(reply, SKV_UNAVAILABLE,
                        "%s: the server sent malformed LDAP while %s: check that a directory server listens there",
                        uri->text, doing);
    default:
        return skv_fail(reply, status, "%s: the server closed the connection while %s", uri->text, doing);
    }
}

skv_conn_failure skv_fail_lost(skv_reply *reply, const skv_transport *transport, const skv_uri *uri, const char *doing)
{
    skv_status status = skv_transport_failure(transport);

    skv_fail_wait(reply, status == SKV_OK ? SKV_UNAVAILABLE : status, uri, doing);
    if (status == SKV_TIMEOUT)
        skv_reply_append(reply, ": it accepts connections, and does not answer: check that it does not hang");
    return skv_failure_of(status);
}
