/*
 * simpkv_audit.h - the audit log of simpkv: lines of text, appended to a file or sent to syslog.
 *
 * Many threads and processes may write to one log. A line is written whole, or not at all, even if the disk is full or
 * a writer is killed. The caller makes the lines, one JSON object each.
 *
 * The rules of simpkv.h hold here as well.
 */
#ifndef SKV_AUDIT_H
#define SKV_AUDIT_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct skv_audit skv_audit;

/*
 * Makes an audit log. The target is the absolute path of a file; "syslog", for the socket /dev/log; or "syslog:" and
 * the absolute path of another datagram socket. Opens nothing yet. Release with skv_audit_close(), while no call uses
 * it. Returns NULL on failure: SKV_INVALID (another target), SKV_NOMEM. Thread-safe. A forked child process may use the
 * logs of its parent.
 */
SKV_API skv_audit *skv_audit_open(const char *target, size_t target_len, skv_reply *reply);
SKV_API void skv_audit_close(skv_audit *audit);

/*
 * The functions below open the file or the socket if that is necessary: a file that was renamed or deleted is replaced
 * by a new one with the mode 0660, and a syslog daemon may start again. They wait for at most timeout_ms for other
 * writers or for the daemon. After a wait in vain, calls wait for at most 10 ms each, until one of them succeeds.
 * Thread-safe.
 * They return SKV_OK, or
 *   SKV_DENIED       no permission
 *   SKV_INVALID      the target is a link, or no regular file; a line does not end in a newline
 *   SKV_TIMEOUT      another process keeps the file locked; the daemon takes no more messages
 *   SKV_TOO_LARGE    the file would be larger than the process may write (RLIMIT_FSIZE) or the file system can store
 *   SKV_FULL         the disk is full
 *   SKV_UNAVAILABLE  there is no such folder, or no daemon
 */

/* Reserves disk space for lines of that many bytes in all, and some more for other processes, so that a following
 * skv_audit_write() does not fail for lack of space. The size of the file stays the same. SKV_INVALID also for syslog,
 * and for a file system that cannot reserve space. */
SKV_API skv_status skv_audit_reserve(skv_audit *audit, size_t bytes, int64_t timeout_ms, skv_reply *reply);

/* Appends lines, each of which ends in a newline, to the file: all of them or none. Sends each as a message of its own
 * to syslog, with the facility authpriv and the severity info, until one fails. */
SKV_API skv_status skv_audit_write(skv_audit *audit, const char *lines, size_t lines_len, int64_t timeout_ms,
                                   skv_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
