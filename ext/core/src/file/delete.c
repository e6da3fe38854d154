#include "file/key.h"
#include "file/path.h"
#include "file/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAY_DELETE "write permission on its folder, and to own the file if the folder has the sticky bit"

static skv_status unlink_name(skv_file_call *call, int folder, const char *name)
{
    if (unlinkat(folder, name, 0) == 0)
        return SKV_OK;
    return errno == ENOENT ? skv_file_stale(call) : skv_file_fail_write(call, errno, MAY_DELETE);
}

/* Removes the second name that a writer leaves if it dies just after it has linked a new key. */
static void drop_second_name(int folder, const char *name, int fd)
{
    struct stat info;
    skv_temp temp;

    if (fstat(fd, &info) < 0 || info.st_nlink < 2)
        return;
    skv_temp_init(&temp, folder, name);
    (void)skv_temp_sweep(&temp, fd);
}

static skv_status delete_locked_file(skv_file_call *call, int folder, const char *name, int fd)
{
    bool waited;

    if (skv_temp_is_name(name)) {
        if (skv_lock_now(fd, LOCK_EX) < 0)
            return errno == EWOULDBLOCK ? skv_file_busy(call, name, skv_temp_busy(errno)) : skv_file_fail(call, errno);
    } else if (skv_file_lock(call, fd, LOCK_EX, &waited) != SKV_OK) {
        return call->reply->status;
    }
    if (!skv_fd_is_at(fd, folder, name))
        return skv_file_stale(call);
    drop_second_name(folder, name, fd);
    return unlink_name(call, folder, name);
}

skv_status skv_name_delete(skv_file_call *call, int folder, const char *name)
{
    bool temp = skv_temp_is_name(name);
    int fd = temp ? skv_temp_open(folder, name) : openat(folder, name, O_RDWR | SKV_KEY_FLAGS);
    skv_status status;
    struct stat info;

    if (fd < 0 && errno == ENOENT)
        return SKV_NOT_FOUND;
    if (fd < 0 && errno == EISDIR)
        return SKV_IS_FOLDER;
    if (fd < 0 && errno == EACCES && temp)
        return skv_file_busy(call, name, skv_temp_busy(errno));
    /* A link or a socket, or a file that cannot be opened and so not locked: the folder's permissions decide. */
    if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EACCES))
        return unlink_name(call, folder, name);
    if (fd < 0)
        return skv_file_fail_write(call, errno, MAY_DELETE);
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        status = delete_locked_file(call, folder, name, fd);
    else
        status = unlink_name(call, folder, name);
    skv_lock_close(fd);
    return status;
}

/* The target of a link decides whether it is a key. The link is deleted, not the target. */
static skv_status check_link_to_key(skv_file_call *call)
{
    int fd = skv_key_open(call, O_PATH);
    struct stat info;

    if (fd < 0)
        return skv_file_fail(call, errno);
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
        skv_file_check_mode(call, info.st_mode);
    skv_fd_close(fd);
    return call->reply->status;
}

static skv_status delete_key_in(skv_file_call *call, int folder, const char *base)
{
    struct stat info;

    if (fstatat(folder, base, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? SKV_NOT_FOUND : skv_file_fail(call, errno);
    if ((S_ISLNK(info.st_mode) ? check_link_to_key(call) : skv_file_check_mode(call, info.st_mode)) != SKV_OK)
        return call->reply->status;
    return skv_name_delete(call, folder, base);
}

/* Returns SKV_NOT_FOUND, without touching the reply, if the key does not exist. */
static skv_status try_delete(skv_file_call *call)
{
    const char *base;
    int folder = skv_folder_of(call, SKV_FOLDER_READ, &base);
    skv_status status;

    if (folder < 0)
        return errno == ENOENT || errno == ENOTDIR ? SKV_NOT_FOUND : skv_file_fail(call, errno);
    status = delete_key_in(call, folder, base);
    if (status == SKV_OK) {
        call->reply->number = 1;
        if (fsync(folder) < 0)
            status = skv_file_fail(call, errno);
    }
    skv_fd_close(folder);
    return status;
}

skv_status skv_key_delete(skv_file_call *call)
{
    skv_status status;

    call->what = "Delete of";
    call->failed = " failed";
    do
        status = try_delete(call);
    while (call->is_stale && skv_file_again(call) == SKV_OK);
    if (status == SKV_IS_FOLDER)
        skv_file_check_mode(call, S_IFDIR);
    return call->reply->status;
}
