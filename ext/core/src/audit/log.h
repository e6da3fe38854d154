/* audit/log.h - an audit log, and the two places that its lines may go to. */
#ifndef SKV_AUDIT_LOG_H
#define SKV_AUDIT_LOG_H

#include "base/reply.h"

#include "simpkv_audit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

struct skv_audit {
    skv_audit *next, *previous; /* in the list of all logs */
    char *path;                 /* of the file or the socket */
    bool syslog;
    char prefix[40];      /* of each message, such as "<86>simpkv[4194304]: ", while the socket is open */
    pthread_mutex_t lock; /* guards the rest, and is held while a line is written */
    int fd;               /* of the open file or socket, or -1 */
    dev_t device;         /* of the open file */
    ino_t inode;
    off_t reserved;            /* the end of the disk space that this process has reserved in it */
    off_t end;                 /* the end of the last line that it has written, or -1 */
    atomic_bool waits_in_vain; /* the last wait for other writers or for the daemon has failed; read without the lock */
};

/* Closes the file or the socket. The next call opens it again. */
void skv_audit_forget(skv_audit *audit);

/* The two calls for a file: see simpkv_audit.h. The caller holds the lock. `end_ns` is the end of their time, of
 * CLOCK_MONOTONIC. */
skv_status skv_audit_reserve_file(skv_audit *audit, size_t bytes, skv_reply *reply);
skv_status skv_audit_append(skv_audit *audit, const char *lines, size_t len, int64_t end_ns, skv_reply *reply);

/* Sends each line as one message. The caller holds the lock. */
skv_status skv_audit_send(skv_audit *audit, const char *lines, size_t len, int64_t end_ns, skv_reply *reply);

#endif
