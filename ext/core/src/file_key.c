#include "file_key.h"

#include "file_path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Says why the key could not be opened for reading. */
static int cannot_open(skv_file_call *call)
{
    switch (errno) {
    case ENOENT:
    case ENOTDIR:
        return skv_fail(call->reply, SKV_NOT_FOUND, "Key not found: '%s/%s'", call->root_path, call->key->path);
    case ENXIO:
        return skv_file_refuse(call, SKV_UNAVAILABLE, "it is not a regular file");
    default:
        return skv_file_fail(call, errno);
    }
}

static int check_is_file(skv_file_call *call, int fd)
{
    struct stat found;

    if (fstat(fd, &found) < 0)
        return skv_file_fail(call, errno);
    if (S_ISDIR(found.st_mode))
        return skv_fail(call->reply, SKV_IS_FOLDER, "Key specifies a folder: '%s/%s'", call->root_path,
                        call->key->path);
    if (!S_ISREG(found.st_mode))
        return skv_file_refuse(call, SKV_UNAVAILABLE, "it is not a regular file");
    return SKV_OK;
}

/* Whether the key's file is still the one that is open. */
static bool is_current(skv_file_call *call, int fd)
{
    struct stat opened, there;
    int now = skv_key_open(call, O_PATH);
    bool same = now >= 0 && fstat(now, &there) == 0 && fstat(fd, &opened) == 0 && opened.st_dev == there.st_dev &&
                opened.st_ino == there.st_ino;

    skv_fd_close(now);
    return same;
}

/* Whoever gets the lock at once reads what was the key's document when it was opened, during this very call. After a
 * wait that can be long ago. */
static int read_locked(skv_file_call *call, int fd)
{
    bool waited;

    if (check_is_file(call, fd) != SKV_OK || skv_file_lock(call, fd, LOCK_SH, &waited) != SKV_OK)
        return call->reply->status;
    if (waited && !is_current(call, fd))
        return call->reply->status == SKV_OK ? SKV_AGAIN : call->reply->status;
    return skv_file_read_all(call, fd, &call->reply->data);
}

int skv_key_read(skv_file_call *call)
{
    int fd, status;

    call->what = "Cannot read";
    for (;;) {
        fd = skv_key_open(call, O_RDONLY);
        if (fd < 0)
            return cannot_open(call);
        status = read_locked(call, fd);
        skv_fd_close(fd);
        if (status != SKV_AGAIN)
            return status;
        if (skv_file_again(call) != SKV_OK)
            return call->reply->status;
    }
}

int skv_key_kind(skv_file_call *call)
{
    struct stat found;
    int fd;

    if (!call->path_len) {
        call->reply->number = SKV_KIND_FOLDER;
        return SKV_OK;
    }
    fd = skv_key_open(call, O_PATH);
    if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
        return skv_file_fail(call, errno);
    call->reply->number = SKV_KIND_NONE;
    if (fd < 0)
        return SKV_OK;
    if (fstat(fd, &found) < 0)
        skv_file_fail(call, errno);
    else if (S_ISDIR(found.st_mode))
        call->reply->number = SKV_KIND_FOLDER;
    else if (S_ISREG(found.st_mode))
        call->reply->number = SKV_KIND_KEY;
    else
        skv_file_refuse(call, SKV_UNAVAILABLE, "it is neither a key file nor a folder");
    skv_fd_close(fd);
    return call->reply->status;
}
