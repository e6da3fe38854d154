/*
 * base/io.h - reads and writes that signals do not cut short.
 *
 * For a write beyond RLIMIT_FSIZE, the kernel sends SIGXFSZ to the thread, which ends the process by default, beside
 * the error EFBIG.
 */
#ifndef SKV_BASE_IO_H
#define SKV_BASE_IO_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Reads up to `size` bytes, fewer at the end of the file only. Returns their number, or -1 with errno. */
ssize_t skv_read_bytes(int fd, char *bytes, size_t size);

/* Writes the bytes at that offset; at the descriptor's own if it is negative. Returns the number of bytes that it could
 * write, with errno if these are not all. No SIGXFSZ is left. */
size_t skv_write_bytes(int fd, const char *bytes, size_t len, off_t at);

/*
 * Gives `fd`, a new file or folder, the owner and group of its folder, if this process runs as root: other users could
 * not use it otherwise. Ignores failures. Keeps errno.
 */
void skv_inherit_owner(int folder, int fd);

/* Makes an eventfd readable. Async-signal-safe. */
void skv_event_signal(int event);

typedef struct skv_xfsz {
    sigset_t previous; /* the signal mask of the thread */
    bool was_pending;  /* a signal of the caller waits already */
} skv_xfsz;

/* Blocks SIGXFSZ in this thread. Other threads, and what the process does on the signal, stay as they are. */
void skv_xfsz_block(skv_xfsz *xfsz);

/* Discards the signal of a write that failed with EFBIG in between, and restores the mask. Keeps errno. */
void skv_xfsz_restore(const skv_xfsz *xfsz);

#endif
