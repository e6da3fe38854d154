/* base/xfsz.h - writes beyond RLIMIT_FSIZE. The kernel sends SIGXFSZ to the thread that writes, which ends the process
 * by default, beside the error EFBIG. */
#ifndef SKV_BASE_XFSZ_H
#define SKV_BASE_XFSZ_H

#include <signal.h>
#include <stdbool.h>

typedef struct skv_xfsz {
    sigset_t previous; /* the signal mask of the thread */
    bool was_pending;  /* a signal of the caller waits already */
} skv_xfsz;

/* Blocks SIGXFSZ in this thread. Other threads, and what the process does on the signal, stay as they are. */
void skv_xfsz_block(skv_xfsz *xfsz);

/* Discards the signal of a write that failed with EFBIG in between, and restores the mask. Keeps errno. */
void skv_xfsz_restore(const skv_xfsz *xfsz);

#endif
