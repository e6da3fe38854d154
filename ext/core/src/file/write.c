#include "base/io.h"
#include "file/access.h"
#include "file/key.h"
#include "file/path.h"
#include "file/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* One attempt at a put. */
typedef struct attempt {
    skv_file_call *call;
    int folder;       /* that contains the key; owned */
    const char *base; /* the last name of the key */
    int old;          /* its file, or -1; owned */
    int old_error;    /* why it could not be opened for writing; 0 if it could */
    skv_buf stored;   /* its document */
} attempt;

static skv_status refuse_conflict(skv_file_call *call, const char *why)
{
    return skv_fail(call->reply, SKV_CONFLICT, "Key write to '%s/%s' failed: %s", call->root_path, call->key->path,
                    why);
}

/* Fails the reply for a failed write: "Cannot write to" if permission is missing, else "Key write to". */
static skv_status fail_write(skv_file_call *call, int error_number)
{
    bool denied = error_number == EACCES || error_number == EPERM || error_number == EROFS;

    call->what = denied ? "Cannot write to" : "Key write to";
    call->failed = denied ? "" : " failed";
    return skv_file_fail_write(call, error_number, "read and write permission on the file and on its folder");
}

/* The permissions that a put needs beside those on the file. */
#define MAY_MAKE "write permission on this folder, in which a put makes the key's new file"
#define MAY_REPLACE "to own the key's file, or a folder without the sticky bit"

static skv_status fail_folder_write(const attempt *a, int error_number, const char *needed)
{
    skv_file_call *call = a->call;
    int len = (int)(a->base - call->path);

    if (error_number != EACCES && error_number != EPERM && error_number != EROFS)
        return fail_write(call, error_number);
    skv_fail_errno(call->reply, error_number, "Cannot modify '%s/%.*s'", call->root_path, len ? len - 1 : 0,
                   call->path);
    return skv_file_advise(call->reply, error_number, needed);
}

/* Fails the reply because this process cannot give the new file the access rights of the old one. */
static skv_status refuse_access(const attempt *a, const char *lacking)
{
    skv_file_call *call = a->call;

    return skv_fail(call->reply, SKV_DENIED, "Cannot write to '%s/%s': uid %u cannot give the new file %s",
                    call->root_path, call->key->path, (unsigned)geteuid(), lacking);
}

/* Opens the key's file. A file that may only be read can still have the same document already. */
static void open_old_file(attempt *a)
{
    a->old = openat(a->folder, a->base, O_RDWR | SKV_KEY_FLAGS);
    a->old_error = a->old < 0 ? errno : 0;
    if (a->old_error == EACCES || a->old_error == EROFS)
        a->old = openat(a->folder, a->base, O_RDONLY | SKV_KEY_FLAGS);
}

/* Opens the folder, and the key's file if it exists. Makes the folder, unless the condition needs an existing key. */
static skv_status open_target(attempt *a)
{
    int make = a->call->args->condition == SKV_PUT_EXPECT ? 0 : SKV_FOLDER_MAKE;
    skv_file_call *call = a->call;

    for (;;) {
        a->folder = skv_folder_of(call, SKV_FOLDER_READ | make, &a->base);
        if (a->folder < 0 && errno == ENOTDIR) {
            call->what = "Key write to";
            call->failed = " failed";
            return skv_path_refuse_key(call, a->base > call->path ? (size_t)(a->base - call->path) - 1 : 0);
        }
        if (a->folder < 0 && errno == ENOENT)
            return make ? skv_file_stale(call) : refuse_conflict(call, "there is no such key");
        if (a->folder < 0)
            return fail_write(call, errno);
        open_old_file(a);
        if (a->old >= 0 || a->old_error != ELOOP)
            return SKV_OK;
        if (skv_link_follow(call, a->folder, a->base) < 0)
            return fail_write(call, errno);
        close(a->folder);
    }
}

static bool is_permission_error(int error_number)
{
    return error_number == EACCES || error_number == EPERM;
}

static bool has_lost_race(int error_number)
{
    return error_number == EAGAIN || error_number == ENOENT;
}

/* Waits or starts again, because another process uses the temporary file. */
static skv_status note_busy_temp(skv_file_call *call, const skv_temp *temp)
{
    return temp->busy ? skv_file_busy(call, temp->name, temp->busy) : skv_file_stale(call);
}

/* Renames the temporary file over the key's. */
static skv_status rename_over(attempt *a, skv_temp *temp)
{
    if (renameat(a->folder, temp->name, a->folder, a->base) == 0) {
        a->call->reply->number = 1;
        /* The lock is released last: a reader gets no document that a crash could still undo. */
        if (fsync(a->folder) < 0)
            fail_write(a->call, errno);
        skv_temp_close(temp);
        return a->call->reply->status;
    }
    return has_lost_race(errno) ? skv_file_stale(a->call) : fail_folder_write(a, errno, MAY_REPLACE);
}

/* Gives the temporary file the key's name, unless another process has taken it meanwhile. */
static skv_status link_new_key(attempt *a, skv_temp *temp)
{
    if (linkat(a->folder, temp->name, a->folder, a->base, 0) < 0)
        return errno == EEXIST || has_lost_race(errno) ? skv_file_stale(a->call)
                                                       : fail_folder_write(a, errno, MAY_MAKE);
    a->call->reply->number = 1;
    /* If the second name cannot be removed, the next writer removes it. */
    (void)unlinkat(a->folder, temp->name, 0);
    if (fsync(a->folder) < 0)
        fail_write(a->call, errno);
    skv_temp_close(temp);
    return a->call->reply->status;
}

/* Gives the temporary file the access of the old file; of the folder, if there is no old file. */
static skv_status give_access(attempt *a, int fd)
{
    const char *lacking;

    if (a->old < 0)
        skv_inherit_owner(a->folder, fd);
    else if (skv_access_copy(a->old, fd, &lacking) < 0)
        return lacking && (is_permission_error(errno) || errno == EOPNOTSUPP) ? refuse_access(a, lacking)
                                                                              : fail_write(a->call, errno);
    return SKV_OK;
}

/* Writes the document into a temporary file, which becomes the key's. */
static skv_status write_document(attempt *a, mode_t mode)
{
    const skv_put_args *args = a->call->args;
    skv_temp temp;
    skv_status status;

    skv_temp_init(&temp, a->folder, a->base);
    /* Until the file has the group of the old one, no other users may read it. */
    if (skv_temp_make(&temp, a->old, mode & 0660) < 0)
        return has_lost_race(errno) ? note_busy_temp(a->call, &temp) : fail_folder_write(a, errno, MAY_MAKE);
    status = give_access(a, temp.fd);
    if (status == SKV_OK && skv_temp_write(&temp, args->document, args->document_len) < 0)
        status = fail_write(a->call, errno);
    if (status == SKV_OK)
        status = skv_file_stopped(a->call, skv_deadline_check(a->call->deadline));
    if (status == SKV_OK)
        status = a->old < 0 ? link_new_key(a, &temp) : rename_over(a, &temp);
    skv_temp_discard(&temp);
    return status;
}

/* Sets *same to true if the stored document has the same content as the new one. */
static skv_status compare_with_stored_file(const attempt *a, bool *same)
{
    const skv_put_args *args = a->call->args;
    skv_reply *comparison;
    skv_status status;

    *same = a->stored.len == args->document_len && memcmp(a->stored.bytes, args->document, args->document_len) == 0;
    if (*same)
        return SKV_OK;
    comparison = skv_reply_new();
    if (!comparison)
        return skv_fail_memory(a->call->reply);
    status = skv_document_same(a->stored.bytes, a->stored.len, args->document, args->document_len, comparison);
    *same = comparison->number == 1;
    if (status != SKV_OK)
        skv_fail(a->call->reply, status, "%s", comparison->message);
    skv_reply_free(comparison);
    return status;
}

/* Finishes the work of a writer that died after it had linked the key's document: removes the second name. */
static skv_status finish_new_key(const attempt *a)
{
    skv_temp temp;

    skv_temp_init(&temp, a->folder, a->base);
    if (skv_temp_sweep(&temp, a->old) > 0 && fsync(a->folder) < 0)
        return fail_write(a->call, errno);
    return SKV_OK;
}

/* Replaces the file of an existing key. */
static skv_status replace_key_file(attempt *a)
{
    const skv_put_args *args = a->call->args;
    skv_file_call *call = a->call;
    struct stat info;
    bool waited, same;

    if (skv_file_check(call, a->old, &info) != SKV_OK)
        return call->reply->status;
    if (args->condition == SKV_PUT_ABSENT)
        return skv_fail(call->reply, SKV_EXISTS, "Key write to '%s/%s' failed: the key exists already", call->root_path,
                        call->key->path);
    if (skv_file_lock(call, a->old, LOCK_EX, &waited) != SKV_OK)
        return call->reply->status;
    if (!skv_fd_is_at(a->old, a->folder, a->base))
        return skv_file_stale(call);
    if (skv_file_read_all(call, a->old, info.st_size, &a->stored) != SKV_OK)
        return call->reply->status;
    if (args->condition == SKV_PUT_EXPECT && !skv_is_expected(args, a->stored.bytes, a->stored.len))
        return refuse_conflict(call, "the stored document is not the expected one");
    if (compare_with_stored_file(a, &same) != SKV_OK)
        return call->reply->status;
    if (same)
        return info.st_nlink > 1 ? finish_new_key(a) : SKV_OK;
    if (skv_is_kept_encrypted(args, a->stored.bytes, a->stored.len)) {
        skv_fail(call->reply, SKV_DENIED, "Key write to '%s/%s' failed: %s", call->root_path, call->key->path,
                 SKV_KEPT_ENCRYPTED);
        return skv_reply_set_fault(call->reply, SKV_FAULT_ENCRYPTION_KEYS);
    }
    return a->old_error ? fail_write(call, a->old_error) : write_document(a, info.st_mode);
}

static skv_status try_write(attempt *a)
{
    skv_file_call *call = a->call;
    skv_status status = open_target(a);

    if (status != SKV_OK)
        return status;
    if (a->old >= 0)
        return replace_key_file(a);
    switch (a->old_error) {
    case ENOENT:
        return call->args->condition == SKV_PUT_EXPECT ? refuse_conflict(call, "there is no such key")
                                                       : write_document(a, 0660);
    case EISDIR:
        return skv_file_check_mode(call, S_IFDIR);
    case ENXIO:
        return skv_file_check_mode(call, S_IFSOCK);
    default:
        return fail_write(call, a->old_error);
    }
}

skv_status skv_key_write(skv_file_call *call)
{
    call->what = "Cannot write to";
    do {
        attempt a = {.call = call, .folder = -1, .old = -1};

        skv_buf_init(&a.stored, SKV_DATA_MAX);
        try_write(&a);
        skv_buf_free(&a.stored);
        skv_lock_close(a.old);
        skv_fd_close(a.folder);
    } while (call->is_stale && skv_file_again(call) == SKV_OK);
    return call->reply->status;
}
