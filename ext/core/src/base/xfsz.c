#include "base/xfsz.h"

#include <errno.h>
#include <time.h>

static sigset_t xfsz_set(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

void skv_xfsz_block(skv_xfsz *xfsz)
{
    const sigset_t set = xfsz_set();
    sigset_t pending;

    pthread_sigmask(SIG_BLOCK, &set, &xfsz->previous);
    xfsz->was_pending =
        sigismember(&xfsz->previous, SIGXFSZ) && sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
}

void skv_xfsz_restore(const skv_xfsz *xfsz)
{
    const sigset_t set = xfsz_set();
    const struct timespec at_once = {0};
    int saved = errno, taken = -1;

    if (saved == EFBIG && !xfsz->was_pending)
        do
            taken = sigtimedwait(&set, NULL, &at_once);
        while (taken < 0 && errno == EINTR);
    pthread_sigmask(SIG_SETMASK, &xfsz->previous, NULL);
    errno = saved;
}
