#include "file/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

int skv_lock_now(int fd, int kind)
{
    int result;

    do
        result = flock(fd, kind | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result;
}

void skv_lock_drop(int fd)
{
    int saved = errno;

    flock(fd, LOCK_UN);
    errno = saved;
}

void skv_lock_close(int fd)
{
    if (fd >= 0)
        skv_lock_drop(fd);
    skv_fd_close(fd);
}

void skv_fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        close(fd);
    errno = saved;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool skv_fd_same(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && is_same_file(&first, &second);
}

bool skv_fd_is_at(int fd, int folder, const char *name)
{
    struct stat opened, there;

    return fstat(fd, &opened) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           is_same_file(&opened, &there);
}

static uint64_t to_ns(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t skv_mtime_ns(const struct stat *info)
{
    return to_ns(info->st_mtim);
}

uint64_t skv_wall_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return to_ns(now);
}
