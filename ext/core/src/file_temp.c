#include "file_temp.h"

#include "file_call.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 8

bool skv_temp_is_name(const char *name)
{
    return strncmp(name, SKV_TEMP_PREFIX, strlen(SKV_TEMP_PREFIX)) == 0;
}

/* FNV-1a. Two keys with one hash only take turns. */
static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037U;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211U;
    return h;
}

static int try_lock(int fd)
{
    int result;

    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result;
}

static bool same_file(int a, int b)
{
    struct stat first, second;

    return fstat(a, &first) == 0 && fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Unlinks a temporary file that is open and in nobody's hands. Through a second descriptor, the caller's own lock on
 * its key would be in the way: that file has this name as well when its writer died just after it linked the key. */
static int sweep_open(const skv_temp *temp, int fd, int held)
{
    if (held < 0 || !same_file(fd, held)) {
        if (try_lock(fd) < 0)
            return -1;
        if (!skv_file_is_at(fd, temp->folder, temp->name))
            return 0;
    }
    return unlinkat(temp->folder, temp->name, 0);
}

int skv_temp_sweep(const skv_temp *temp, int held)
{
    int fd = openat(temp->folder, temp->name, O_RDWR | SKV_KEY_FLAGS), result;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0) {
        /* Another user's, from the moment before it gets its mode. */
        errno = errno == EACCES ? EAGAIN : errno;
        return -1;
    }
    result = sweep_open(temp, fd, held);
    skv_fd_close(fd);
    return result;
}

void skv_temp_init(skv_temp *temp, int folder, const char *base)
{
    temp->folder = folder;
    temp->fd = -1;
    snprintf(temp->name, sizeof temp->name, SKV_TEMP_PREFIX "%016" PRIx64, hash(base));
}

int skv_temp_make(skv_temp *temp, int held)
{
    for (int i = 0; i < TRIES; i++) {
        temp->fd = openat(temp->folder, temp->name, O_RDWR | O_CREAT | O_EXCL | SKV_KEY_FLAGS, 0600);
        if (temp->fd >= 0) {
            if (try_lock(temp->fd) == 0 && skv_file_is_at(temp->fd, temp->folder, temp->name))
                return 0;
            close(temp->fd);
            temp->fd = -1;
        } else if (errno != EEXIST || skv_temp_sweep(temp, held) < 0) {
            return -1;
        }
    }
    errno = EAGAIN;
    return -1;
}

int skv_file_write_all(int fd, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, bytes + done, len - done, (off_t)done);

        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int skv_temp_write(const skv_temp *temp, const char *bytes, size_t len)
{
    return skv_file_write_all(temp->fd, bytes, len) < 0 ? -1 : fsync(temp->fd);
}

void skv_temp_discard(skv_temp *temp)
{
    int saved = errno;

    if (temp->fd >= 0 && skv_file_is_at(temp->fd, temp->folder, temp->name))
        (void)unlinkat(temp->folder, temp->name, 0);
    errno = saved;
    skv_temp_close(temp);
}

void skv_temp_close(skv_temp *temp)
{
    skv_fd_close(temp->fd);
    temp->fd = -1;
}
