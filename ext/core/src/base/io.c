#include "base/io.h"

#include <errno.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

ssize_t skv_read_bytes(int fd, char *bytes, size_t size)
{
    size_t done = 0;
    ssize_t got = 0;

    while (done < size && ((got = read(fd, bytes + done, size - done)) > 0 || (got < 0 && errno == EINTR)))
        done += got > 0 ? (size_t)got : 0;
    return got < 0 ? -1 : (ssize_t)done;
}

size_t skv_write_bytes(int fd, const char *bytes, size_t len, off_t at)
{
    size_t done = 0;
    ssize_t n = 0;
    skv_xfsz xfsz;

    skv_xfsz_block(&xfsz);
    while (done < len && (n >= 0 || errno == EINTR)) {
        n = at < 0 ? write(fd, bytes + done, len - done) : pwrite(fd, bytes + done, len - done, at + (off_t)done);
        done += n > 0 ? (size_t)n : 0;
    }
    skv_xfsz_restore(&xfsz);
    return done;
}

void skv_event_signal(int event)
{
    const uint64_t one = 1;

    while (write(event, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void skv_inherit_owner(int folder, int fd)
{
    int saved = errno;
    struct stat above;

    if (geteuid() == 0 && fstat(folder, &above) == 0 && above.st_uid != 0)
        (void)!fchown(fd, above.st_uid, above.st_gid);
    errno = saved;
}
