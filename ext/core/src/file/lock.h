/* file/lock.h - locks on open files, and which file a name stands for. */
#ifndef SKV_FILE_LOCK_H
#define SKV_FILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Takes a lock (LOCK_SH, LOCK_EX) on an open file if that can be done at once. 0, or -1 with errno: EWOULDBLOCK when
 * somebody else has one that excludes it. */
int skv_lock_now(int fd, int kind);

/* Gives the lock back. A process that was forked meanwhile shares it with the descriptor, so that closing the one that
 * we have would not do. Keeps errno. */
void skv_lock_drop(int fd);

/* Gives the lock back, if there is one, and closes the file; nothing for -1. Keeps errno. */
void skv_lock_close(int fd);

/* Closes a descriptor that has no lock, or none (-1), and keeps errno. */
void skv_fd_close(int fd);

/* Whether two descriptors are of one file. */
bool skv_fd_same(int a, int b);

/* Whether the name in that folder stands for the open file. */
bool skv_fd_is_at(int fd, int folder, const char *name);

/* The time at which a file was last written to, and the clock that dates files. Both wrap: cast a difference to
 * int64_t.
 */
uint64_t skv_mtime_ns(const struct stat *info);
uint64_t skv_wall_clock_ns(void);

#endif
