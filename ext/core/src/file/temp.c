#include "file/temp.h"

#include "base/hash.h"
#include "base/io.h"
#include "file/call.h"

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

/* Unlinks an open temporary file, and returns 1, unless another process has locked it. If a writer died just after it
 * linked its key, the file is the key's own, which the caller has locked: to lock it through a second descriptor would
 * fail. */
static int sweep_open_temp(const skv_temp *temp, int fd, int held)
{
    if (held < 0 || !skv_fd_same(fd, held)) {
        if (skv_lock_now(fd, LOCK_EX) < 0)
            return -1;
        if (!skv_fd_is_at(fd, temp->folder, temp->name))
            return 0;
    }
    return unlinkat(temp->folder, temp->name, 0) < 0 ? -1 : 1;
}

int skv_temp_open(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDWR | SKV_KEY_FLAGS);

    /* A lock needs write permission on NFS only. */
    return fd < 0 && errno == EACCES ? openat(folder, name, O_RDONLY | SKV_KEY_FLAGS) : fd;
}

const char *skv_temp_busy(int error_number)
{
    return error_number == EWOULDBLOCK
               ? "another process has locked it"
               : "it cannot be opened (permission denied): delete it if the process that wrote it is dead";
}

int skv_temp_sweep(skv_temp *temp, int held)
{
    int fd = skv_temp_open(temp->folder, temp->name), result;

    if (fd < 0 && errno == ENOENT)
        return 0;
    result = fd < 0 ? -1 : sweep_open_temp(temp, fd, held);
    /* A file that cannot be opened may belong to a running writer that has not set its mode yet. */
    if (result < 0 && (errno == EWOULDBLOCK || (fd < 0 && errno == EACCES))) {
        temp->busy = skv_temp_busy(errno);
        errno = EAGAIN;
    }
    skv_lock_close(fd);
    return result;
}

/* Writes the name of a temporary file. Keys with the same hash share it: their writers wait for each other. */
static void format_temp_name(char name[SKV_TEMP_NAME_SIZE], const char *kind, const char *base)
{
    snprintf(name, SKV_TEMP_NAME_SIZE, SKV_TEMP_PREFIX "%s%016" PRIx64, kind, skv_hash(base, strlen(base)));
}

void skv_temp_name_folder(char name[SKV_TEMP_NAME_SIZE], const char *base)
{
    format_temp_name(name, "d", base);
}

void skv_temp_init(skv_temp *temp, int folder, const char *base)
{
    temp->folder = folder;
    temp->fd = -1;
    temp->busy = NULL;
    format_temp_name(temp->name, "", base);
}

int skv_temp_make(skv_temp *temp, int held, mode_t mode)
{
    temp->busy = NULL;
    for (int i = 0; i < TRIES; i++) {
        temp->fd = openat(temp->folder, temp->name, O_RDWR | O_CREAT | O_EXCL | SKV_KEY_FLAGS, mode);
        if (temp->fd < 0 && (errno != EEXIST || skv_temp_sweep(temp, held) < 0))
            return -1;
        if (temp->fd < 0)
            continue;
        if (skv_lock_now(temp->fd, LOCK_EX) == 0 && skv_fd_is_at(temp->fd, temp->folder, temp->name)) {
            if (fchmod(temp->fd, mode) == 0)
                return 0;
            skv_temp_discard(temp);
            return -1;
        }
        skv_temp_close(temp);
    }
    errno = EAGAIN;
    return -1;
}

int skv_temp_write(const skv_temp *temp, const char *bytes, size_t len)
{
    return skv_write_bytes(temp->fd, bytes, len, 0) < len ? -1 : 0;
}

void skv_temp_discard(skv_temp *temp)
{
    int saved = errno;

    if (temp->fd >= 0 && skv_fd_is_at(temp->fd, temp->folder, temp->name))
        (void)unlinkat(temp->folder, temp->name, 0);
    errno = saved;
    skv_temp_close(temp);
}

void skv_temp_close(skv_temp *temp)
{
    skv_lock_close(temp->fd);
    temp->fd = -1;
}
