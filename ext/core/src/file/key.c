#include "file/key.h"

#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* The age from which on the next write changes a file's modification time: the clock that dates files ticks every 10 ms
 * or more often. */
#define SETTLED_NS 100000000

/* Fails the reply because the key could not be opened for reading. */
static skv_status fail_open(skv_file_call *call)
{
    switch (errno) {
    case ENOENT:
    case ENOTDIR:
        return skv_fail(call->reply, SKV_NOT_FOUND, "Key not found: '%s/%s'", call->root_path, call->key->path);
    case ENXIO:
        return skv_file_check_mode(call, S_IFSOCK);
    default:
        return skv_file_fail(call, errno);
    }
}

bool skv_key_is_current(skv_file_call *call, int fd)
{
    int now = skv_key_open(call, O_PATH);
    bool same = now >= 0 && skv_fd_same(now, fd);

    skv_fd_close(now);
    return same;
}

/* Takes the lock. Without a wait, the file was the key's when this call opened it. After a wait, another process may
 * have replaced it. */
static skv_status lock_current_file(skv_file_call *call, int fd, bool *waited)
{
    if (skv_file_lock(call, fd, LOCK_SH, waited) != SKV_OK)
        return call->reply->status;
    if (*waited && !skv_key_is_current(call, fd))
        return call->reply->status == SKV_OK ? skv_file_stale(call) : call->reply->status;
    return SKV_OK;
}

/* Returns true if the next write changes the file's modification time. */
static bool is_old_enough(const struct stat *info)
{
    return (int64_t)(skv_wall_clock_ns() - skv_mtime_ns(info)) > SETTLED_NS;
}

/* Returns true if the file was not written to since it was as `before`. */
static bool is_file_unchanged(int fd, const struct stat *before)
{
    struct stat after;

    return fstat(fd, &after) == 0 && skv_mtime_ns(&after) == skv_mtime_ns(before) && after.st_size == before->st_size;
}

/*
 * Waits for a process that has locked the key. A lock that many readers hold in turn would keep writers out forever,
 * so this call releases it before reading if it can: the bytes count if the file did not change meanwhile. Only a
 * program that writes in place changes it; then it is read again under the lock. Sets *locked to false if this call
 * holds no lock at its end.
 */
static skv_status read_open_file(skv_file_call *call, int fd, bool *locked)
{
    skv_buf *data = &call->reply->data;
    size_t used = data->len;
    struct stat before;
    bool waited;
    skv_status status;

    *locked = false;
    if (skv_file_check(call, fd, &before) != SKV_OK)
        return call->reply->status;
    *locked = true;
    status = lock_current_file(call, fd, &waited);
    if (status == SKV_OK && !waited && is_old_enough(&before)) {
        skv_lock_drop(fd);
        *locked = false;
        if (skv_file_read_unchanged(call, fd, before.st_size, data) != SKV_OK || is_file_unchanged(fd, &before))
            return call->reply->status;
        skv_buf_truncate(data, used);
        *locked = true;
        status = lock_current_file(call, fd, &waited);
        if (status == SKV_OK && lseek(fd, 0, SEEK_SET) < 0)
            status = skv_file_fail(call, errno);
    }
    return status == SKV_OK ? skv_file_read_all(call, fd, before.st_size, data) : status;
}

skv_status skv_key_read(skv_file_call *call)
{
    skv_status status;
    bool locked;
    int fd;

    call->what = "Cannot read";
    for (;;) {
        fd = skv_key_open(call, O_RDONLY);
        if (fd < 0)
            return fail_open(call);
        status = read_open_file(call, fd, &locked);
        if (locked)
            skv_lock_drop(fd);
        skv_fd_close(fd);
        if (!call->is_stale)
            return status;
        if (skv_file_again(call) != SKV_OK)
            return call->reply->status;
    }
}

skv_status skv_key_kind(skv_file_call *call)
{
    struct stat info;
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
    if (fstat(fd, &info) < 0)
        skv_file_fail(call, errno);
    else if (S_ISDIR(info.st_mode))
        call->reply->number = SKV_KIND_FOLDER;
    else if (S_ISREG(info.st_mode))
        call->reply->number = SKV_KIND_KEY;
    else
        skv_file_refuse(call, SKV_UNAVAILABLE, "it is neither a key file nor a folder");
    skv_fd_close(fd);
    return call->reply->status;
}
