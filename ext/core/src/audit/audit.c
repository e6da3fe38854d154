/* audit.c - opens audit logs, and writes lines for one caller at a time. */
#include "audit/log.h"
#include "base/deadline.h"

#include <errno.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

#define SYSLOG "syslog"
#define SYSLOG_SOCKET "/dev/log"

/* The longest wait for other writers or for the daemon after a wait in vain. Operations then go on almost as usual, and
 * few lines are lost if the reason ends soon. */
#define FURTHER_WAIT_MS 10

#define SOCKET_PATH_MAX sizeof(((struct sockaddr_un *)NULL)->sun_path)

/* ---- Forks ---- */

/* All logs of the process, for a forked child: another thread of the parent may hold the lock of a log at the fork, and
 * the lock of a file belongs to the open file, which the child would share. */
static skv_audit *all_logs;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t log_forks_are_watched = PTHREAD_ONCE_INIT;

static void lock_list(void)
{
    pthread_mutex_lock(&list_lock);
}

static void unlock_list(void)
{
    pthread_mutex_unlock(&list_lock);
}

static void renew_logs(void)
{
    for (skv_audit *audit = all_logs; audit; audit = audit->next) {
        pthread_mutex_init(&audit->lock, NULL);
        skv_audit_forget(audit);
    }
    unlock_list();
}

static void watch_forks_of_logs(void)
{
    pthread_atfork(lock_list, unlock_list, renew_logs);
}

static void add_to_list(skv_audit *audit)
{
    lock_list();
    audit->next = all_logs;
    if (all_logs)
        all_logs->previous = audit;
    all_logs = audit;
    unlock_list();
}

static void remove_from_list(skv_audit *audit)
{
    lock_list();
    if (audit->next)
        audit->next->previous = audit->previous;
    if (audit->previous)
        audit->previous->next = audit->next;
    else
        all_logs = audit->next;
    unlock_list();
}

/* ---- Opening and closing ---- */

/* Returns the path in the target, which ends where the target does, or the path of the usual socket. NULL for an
 * invalid target. */
static const char *path_of_target(const char *target, size_t len, size_t *path_len, bool *syslog)
{
    const size_t word = strlen(SYSLOG);

    if (!target || memchr(target, '\0', len))
        return NULL;
    *syslog = len >= word && memcmp(target, SYSLOG, word) == 0;
    *path_len = strlen(SYSLOG_SOCKET);
    if (*syslog && len == word)
        return SYSLOG_SOCKET;
    if (*syslog) {
        if (target[word] != ':' || len - word > SOCKET_PATH_MAX)
            return NULL;
        target += word + 1;
        len -= word + 1;
    }
    *path_len = len;
    return len && target[0] == '/' ? target : NULL;
}

static skv_audit *new_audit(const char *path, size_t path_len, bool syslog)
{
    skv_audit *audit = skv_alloc_zeroed(1, sizeof *audit);

    if (!audit)
        return NULL;
    audit->path = skv_copy_string(path, path_len);
    audit->syslog = syslog;
    audit->fd = -1;
    if (!audit->path || pthread_mutex_init(&audit->lock, NULL) != 0) {
        skv_free(audit->path);
        skv_free(audit);
        return NULL;
    }
    return audit;
}

skv_audit *skv_audit_open(const char *target, size_t target_len, skv_reply *reply)
{
    skv_audit *audit;
    const char *path;
    size_t path_len = 0;
    bool syslog = false;

    if (skv_reply_begin(reply) != SKV_OK)
        return NULL;
    path = path_of_target(target, target_len, &path_len, &syslog);
    if (!path) {
        skv_fail(reply, SKV_INVALID,
                 "the target of an audit log must be 'syslog', 'syslog:' and the path of a socket, "
                 "or the absolute path of a file");
        return NULL;
    }
    pthread_once(&log_forks_are_watched, watch_forks_of_logs);
    audit = new_audit(path, path_len, syslog);
    if (audit)
        add_to_list(audit);
    else
        skv_fail_memory(reply);
    return audit;
}

void skv_audit_close(skv_audit *audit)
{
    if (!audit)
        return;
    remove_from_list(audit);
    skv_audit_forget(audit);
    pthread_mutex_destroy(&audit->lock);
    skv_free(audit->path);
    skv_free(audit);
}

/* ---- Calls, one at a time ---- */

/* Waits for other threads until that time of CLOCK_MONOTONIC; a change of the clock may shorten or lengthen it. */
static bool take_lock(skv_audit *audit, int64_t end_ns)
{
    struct timespec until;
    int64_t ns;

    if (pthread_mutex_trylock(&audit->lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    ns = until.tv_nsec + (end_ns - skv_now_ns());
    if (ns <= until.tv_nsec)
        return false;
    until.tv_sec += ns / (1000 * SKV_NS_PER_MS);
    until.tv_nsec = ns % (1000 * SKV_NS_PER_MS);
    return pthread_mutex_timedlock(&audit->lock, &until) == 0;
}

/* Begins a call: checks its arguments, and takes the lock. */
static skv_status begin_audit(skv_audit *audit, int64_t timeout_ms, int64_t *end_ns, skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!audit || timeout_ms < 0)
        return skv_fail(reply, SKV_INVALID, "the audit log is NULL, or its timeout is negative");
    if (audit->waits_in_vain && timeout_ms > FURTHER_WAIT_MS)
        timeout_ms = FURTHER_WAIT_MS;
    *end_ns = skv_now_plus_ns(skv_ms_to_ns(timeout_ms));
    if (!take_lock(audit, *end_ns))
        return skv_fail(reply, SKV_TIMEOUT, "another thread keeps the audit log '%s' locked", audit->path);
    return SKV_OK;
}

skv_status skv_audit_reserve(skv_audit *audit, size_t bytes, int64_t timeout_ms, skv_reply *reply)
{
    int64_t end_ns = 0;
    skv_status status = begin_audit(audit, timeout_ms, &end_ns, reply);

    if (status != SKV_OK)
        return status;
    if (audit->syslog)
        skv_fail(reply, SKV_INVALID, "syslog cannot reserve disk space");
    else if (bytes > SKV_DATA_MAX)
        skv_fail(reply, SKV_INVALID, "an audit log cannot reserve more than %d bytes", SKV_DATA_MAX);
    else
        skv_audit_reserve_file(audit, bytes, reply);
    pthread_mutex_unlock(&audit->lock);
    return reply->status;
}

static void write_lines(skv_audit *audit, const char *lines, size_t len, int64_t end_ns, skv_reply *reply)
{
    if (!lines || !len || lines[len - 1] != '\n')
        skv_fail(reply, SKV_INVALID, "the lines of an audit log must end in a newline");
    else if (audit->syslog)
        skv_audit_send(audit, lines, len, end_ns, reply);
    else
        skv_audit_append(audit, lines, len, end_ns, reply);
    audit->waits_in_vain = reply->status == SKV_TIMEOUT;
}

skv_status skv_audit_write(skv_audit *audit, const char *lines, size_t lines_len, int64_t timeout_ms, skv_reply *reply)
{
    int64_t end_ns = 0;
    skv_status status = begin_audit(audit, timeout_ms, &end_ns, reply);

    if (status != SKV_OK)
        return status;
    write_lines(audit, lines, lines_len, end_ns, reply);
    pthread_mutex_unlock(&audit->lock);
    return reply->status;
}
