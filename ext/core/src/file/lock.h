/* file/lock.h - locks on open files, the identity of files, and their times. */
#ifndef SKV_FILE_LOCK_H
#define SKV_FILE_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Takes a lock (LOCK_SH, LOCK_EX) on an open file without waiting. Returns 0, or -1 with errno: EWOULDBLOCK if another
 * lock excludes it. */
int skv_lock_now(int fd, int kind);

/* Releases the lock. Closing the descriptor is not enough: a process that was forked meanwhile shares the lock. Keeps
 * errno. */
void skv_lock_drop(int fd);

/* Releases the lock, if there is one, and closes the file; does nothing for -1. Keeps errno. */
void skv_lock_close(int fd);

/* Closes a descriptor without a lock; does nothing for -1. Keeps errno. */
void skv_fd_close(int fd);

/* Returns true if both descriptors refer to one file. */
bool skv_fd_same(int a, int b);

/* Returns true if the name in the folder refers to the open file. */
bool skv_fd_is_at(int fd, int folder, const char *name);

/* The time of the last write to a file, and the clock that dates files. Both wrap: cast a difference to int64_t. */
uint64_t skv_mtime_ns(const struct stat *info);
uint64_t skv_wall_clock_ns(void);

#endif
