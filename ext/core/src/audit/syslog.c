/* syslog.c - an audit log that goes to the syslog daemon of this machine. */
#include "audit/log.h"
#include "base/deadline.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

static skv_status fail_socket(const skv_audit *audit, int error, skv_reply *reply)
{
    return skv_fail_errno(reply, error, "cannot write the audit log to syslog at '%s'", audit->path);
}

/* Returns 0, or an errno. */
static int connect_syslog(skv_audit *audit)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error;

    memcpy(address.sun_path, audit->path, strlen(audit->path) + 1);
    audit->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (audit->fd >= 0 && connect(audit->fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        snprintf(audit->prefix, sizeof audit->prefix, "<%d>simpkv[%d]: ", LOG_AUTHPRIV | LOG_INFO, (int)getpid());
        return 0;
    }
    error = errno;
    skv_audit_forget(audit);
    return error;
}

/* Waits until the daemon takes more messages, or until the time is over. */
static void wait_for_room(const skv_audit *audit, int64_t end_ns)
{
    struct pollfd socket = {.fd = audit->fd, .events = POLLOUT};
    int64_t left_ms = (end_ns - skv_now_ns() + SKV_NS_PER_MS - 1) / SKV_NS_PER_MS;

    if (left_ms > 0)
        poll(&socket, 1, (int)left_ms);
}

static ssize_t send_once(const skv_audit *audit, const char *text, size_t len)
{
    struct iovec parts[] = {{(void *)audit->prefix, strlen(audit->prefix)}, {(void *)text, len}};
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    return sendmsg(audit->fd, &message, MSG_NOSIGNAL);
}

/* Returns 0, or an errno. A daemon that was started again has another socket. */
static int send_message(skv_audit *audit, const char *text, size_t len, int64_t end_ns)
{
    bool connected = false;

    for (;;) {
        if (audit->fd < 0) {
            int error = connect_syslog(audit);

            if (error)
                return error;
            connected = true;
        }
        if (send_once(audit, text, len) >= 0)
            return 0;
        if (errno == EAGAIN || errno == ENOBUFS) {
            if (skv_now_ns() >= end_ns)
                return EAGAIN;
            wait_for_room(audit, end_ns);
        } else if (errno == EMSGSIZE || (connected && errno != EINTR)) {
            return errno;
        } else if (errno != EINTR) {
            skv_audit_forget(audit);
        }
    }
}

skv_status skv_audit_send(skv_audit *audit, const char *lines, size_t len, int64_t end_ns, skv_reply *reply)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(lines + at, '\n', len - at);
        size_t line = end ? (size_t)(end - lines) - at : len - at;
        int error = send_message(audit, lines + at, line, end_ns);

        if (error == EAGAIN)
            return skv_fail(reply, SKV_TIMEOUT, "syslog at '%s' takes no more messages of the audit log", audit->path);
        if (error)
            return fail_socket(audit, error, reply);
        at += line + 1;
    }
    return SKV_OK;
}
