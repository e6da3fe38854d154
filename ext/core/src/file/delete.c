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

/* ---- The expected document ---- */

/* Opens the file of the key; of the target, if the key is a link. A file that may only be read can be compared, too. */
static int open_to_compare(skv_file_call *call)
{
    int fd = skv_key_open(call, O_RDWR);

    return fd < 0 && (errno == EACCES || errno == EROFS) ? skv_key_open(call, O_RDONLY) : fd;
}

/* Compares the document of the locked file with the expected one. */
static skv_status compare_with_expected(skv_file_call *call, int fd, bool *same)
{
    struct stat info;
    skv_buf stored;

    *same = false;
    if (skv_file_check(call, fd, &info) != SKV_OK || info.st_size < 0 || (size_t)info.st_size != call->args->expect_len)
        return call->reply->status;
    skv_buf_init(&stored, SKV_DATA_MAX);
    if (skv_file_read_all(call, fd, info.st_size, &stored) == SKV_OK)
        *same = skv_is_expected(call->args, stored.bytes, stored.len);
    skv_buf_free(&stored);
    return call->reply->status;
}

/* Unlinks the name if the file, which is the key's, has the expected document. Else returns SKV_NOT_FOUND. */
static skv_status delete_if_expected(skv_file_call *call, int folder, const char *base, int fd)
{
    bool waited, same;

    if (skv_file_lock(call, fd, LOCK_EX, &waited) != SKV_OK)
        return call->reply->status;
    if (!skv_key_is_current(call, fd))
        return call->reply->status == SKV_OK ? skv_file_stale(call) : call->reply->status;
    if (compare_with_expected(call, fd, &same) != SKV_OK)
        return call->reply->status;
    if (!same)
        return SKV_NOT_FOUND;
    drop_second_name(folder, base, fd);
    return unlink_name(call, folder, base);
}

static skv_status delete_expected(skv_file_call *call, int folder, const char *base)
{
    int fd = open_to_compare(call);
    skv_status status;

    if (fd < 0 && errno == ENOENT)
        return SKV_NOT_FOUND;
    if (fd < 0)
        return skv_file_fail_write(call, errno, "read permission on the file, whose document it compares");
    status = delete_if_expected(call, folder, base, fd);
    skv_lock_close(fd);
    return status;
}

/* ---- Keys ---- */

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
    if (call->args->condition == SKV_PUT_EXPECT)
        return delete_expected(call, folder, base);
    return skv_name_delete(call, folder, base);
}

/* Returns SKV_NOT_FOUND, without touching the reply, if the key does not exist, or has not the expected document. */
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
