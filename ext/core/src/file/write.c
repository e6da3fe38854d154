#include "file/write.h"

#include "base/io.h"
#include "file/access.h"
#include "file/key.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static skv_status refuse_conflict(skv_file_call *call, const char *why)
{
    return skv_fail(call->reply, SKV_CONFLICT, "Key write to '%s/%s' failed: %s", call->root_path, call->key->path,
                    why);
}

skv_status skv_write_fail(skv_file_call *call, int error_number)
{
    bool denied = error_number == EACCES || error_number == EPERM || error_number == EROFS;

    call->what = denied ? "Cannot write to" : "Key write to";
    call->failed = denied ? "" : " failed";
    return skv_file_fail_write(call, error_number, "read and write permission on the file and on its folder");
}

/* The permissions that a put needs beside those on the file. */
#define MAY_MAKE "write permission on this folder, in which a put makes the key's new file"
#define MAY_REPLACE "to own the key's file, or a folder without the sticky bit"

static skv_status fail_folder_write(const skv_write *w, int error_number, const char *needed)
{
    skv_file_call *call = w->call;
    int len = (int)(w->base - call->path);

    if (error_number != EACCES && error_number != EPERM && error_number != EROFS)
        return skv_write_fail(call, error_number);
    skv_fail_errno(call->reply, error_number, "Cannot modify '%s/%.*s'", call->root_path, len ? len - 1 : 0,
                   call->path);
    return skv_file_advise(call->reply, error_number, needed);
}

/* Fails the reply because this process cannot give the new file the access rights of the old one. */
static skv_status refuse_access(const skv_write *w, const char *lacking)
{
    skv_file_call *call = w->call;

    return skv_fail(call->reply, SKV_DENIED, "Cannot write to '%s/%s': uid %u cannot give the new file %s",
                    call->root_path, call->key->path, (unsigned)geteuid(), lacking);
}

/* Opens the key's file. A file that may only be read can still have the same document already. */
static void open_old_file(skv_write *w)
{
    w->old = openat(w->folder, w->base, O_RDWR | SKV_KEY_FLAGS);
    w->old_error = w->old < 0 ? errno : 0;
    if (w->old_error == EACCES || w->old_error == EROFS)
        w->old = openat(w->folder, w->base, O_RDONLY | SKV_KEY_FLAGS);
}

/* Opens the folder that contains the key, or uses the sibling's. */
static void open_folder(skv_write *w, int how)
{
    const char *slash = strrchr(w->call->path, '/');

    if (!w->sibling) {
        w->folder = skv_folder_of(w->call, how, &w->base);
    } else {
        w->folder = w->sibling->folder;
        w->base = slash ? slash + 1 : w->call->path;
    }
}

static void close_folder(const skv_write *w)
{
    if (!w->sibling)
        skv_fd_close(w->folder);
}

/* Opens the folder, and the key's file if it exists. Makes the folder, unless the condition needs an existing key. */
static skv_status open_target(skv_write *w)
{
    int make = w->call->args->condition == SKV_PUT_EXPECT ? 0 : SKV_FOLDER_MAKE;
    skv_file_call *call = w->call;

    for (;;) {
        open_folder(w, SKV_FOLDER_READ | make);
        if (w->folder < 0 && errno == ENOTDIR) {
            call->what = "Key write to";
            call->failed = " failed";
            return skv_path_refuse_key(call, w->base > call->path ? (size_t)(w->base - call->path) - 1 : 0);
        }
        if (w->folder < 0 && errno == ENOENT)
            return make ? skv_file_stale(call) : refuse_conflict(call, "there is no such key");
        if (w->folder < 0)
            return skv_write_fail(call, errno);
        open_old_file(w);
        if (w->old >= 0 || w->old_error != ELOOP)
            return SKV_OK;
        if (call->is_batched)
            return skv_file_stale(call);
        if (skv_link_follow(call, w->folder, w->base) < 0)
            return skv_write_fail(call, errno);
        close_folder(w);
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
static skv_status rename_over(skv_write *w)
{
    if (renameat(w->folder, w->temp.name, w->folder, w->base) == 0)
        return SKV_OK;
    return has_lost_race(errno) ? skv_file_stale(w->call) : fail_folder_write(w, errno, MAY_REPLACE);
}

/* Gives the temporary file the key's name, unless another process has taken it meanwhile. */
static skv_status link_new_key(skv_write *w)
{
    if (linkat(w->folder, w->temp.name, w->folder, w->base, 0) < 0)
        return errno == EEXIST || has_lost_race(errno) ? skv_file_stale(w->call)
                                                       : fail_folder_write(w, errno, MAY_MAKE);
    /* If the second name cannot be removed, the next writer removes it. */
    (void)unlinkat(w->folder, w->temp.name, 0);
    return SKV_OK;
}

skv_status skv_write_name(skv_write *w)
{
    skv_status status = skv_file_stopped(w->call, skv_deadline_check(w->call->deadline));

    if (status == SKV_OK)
        status = w->old < 0 ? link_new_key(w) : rename_over(w);
    w->is_named = status == SKV_OK;
    w->call->reply->number = w->is_named;
    return status;
}

/* Gives the temporary file the access of the old file; of the folder, if there is no old file. */
static skv_status give_access(skv_write *w, int fd)
{
    const char *lacking;

    if (w->old < 0)
        skv_inherit_owner(w->folder, fd);
    else if (skv_access_copy(w->old, fd, &lacking) < 0)
        return lacking && (is_permission_error(errno) || errno == EOPNOTSUPP) ? refuse_access(w, lacking)
                                                                              : skv_write_fail(w->call, errno);
    return SKV_OK;
}

/* Writes the document into a temporary file, which becomes the key's. */
static skv_status write_document(skv_write *w, mode_t mode)
{
    const skv_put_args *args = w->call->args;
    skv_status status;

    skv_temp_init(&w->temp, w->folder, w->base);
    /* Until the file has the group of the old one, no other users may read it. */
    if (skv_temp_make(&w->temp, w->old, mode & 0660) < 0)
        return has_lost_race(errno) ? note_busy_temp(w->call, &w->temp) : fail_folder_write(w, errno, MAY_MAKE);
    status = give_access(w, w->temp.fd);
    if (status == SKV_OK && skv_temp_write(&w->temp, args->document, args->document_len) < 0)
        status = skv_write_fail(w->call, errno);
    return status;
}

/* Sets *same to true if the stored document has the same content as the new one. */
static skv_status compare_with_stored_file(const skv_write *w, bool *same)
{
    const skv_put_args *args = w->call->args;
    skv_reply *comparison;
    skv_status status;

    *same = w->stored.len == args->document_len && memcmp(w->stored.bytes, args->document, args->document_len) == 0;
    if (*same)
        return SKV_OK;
    comparison = skv_reply_new();
    if (!comparison)
        return skv_fail_memory(w->call->reply);
    status = skv_document_same(w->stored.bytes, w->stored.len, args->document, args->document_len, comparison);
    *same = comparison->number == 1;
    if (status != SKV_OK)
        skv_fail(w->call->reply, status, "%s", comparison->message);
    skv_reply_free(comparison);
    return status;
}

/* Finishes the work of a writer that died after it had linked the key's document: removes the second name. */
static skv_status finish_new_key(const skv_write *w)
{
    skv_temp temp;

    skv_temp_init(&temp, w->folder, w->base);
    if (skv_temp_sweep(&temp, w->old) > 0 && fsync(w->folder) < 0)
        return skv_write_fail(w->call, errno);
    return SKV_OK;
}

/* Replaces the file of an existing key. */
static skv_status replace_key_file(skv_write *w)
{
    const skv_put_args *args = w->call->args;
    skv_file_call *call = w->call;
    struct stat info;
    bool waited, same;

    if (skv_file_check(call, w->old, &info) != SKV_OK)
        return call->reply->status;
    if (args->condition == SKV_PUT_ABSENT)
        return skv_fail(call->reply, SKV_EXISTS, "Key write to '%s/%s' failed: the key exists already", call->root_path,
                        call->key->path);
    if (skv_file_lock(call, w->old, LOCK_EX, &waited) != SKV_OK)
        return call->reply->status;
    if (!skv_fd_is_at(w->old, w->folder, w->base))
        return skv_file_stale(call);
    if (skv_file_read_all(call, w->old, info.st_size, &w->stored) != SKV_OK)
        return call->reply->status;
    if (args->condition == SKV_PUT_EXPECT && !skv_is_expected(args, w->stored.bytes, w->stored.len))
        return refuse_conflict(call, "the stored document is not the expected one");
    if (compare_with_stored_file(w, &same) != SKV_OK)
        return call->reply->status;
    if (same)
        return info.st_nlink > 1 ? finish_new_key(w) : SKV_OK;
    if (skv_is_kept_encrypted(args, w->stored.bytes, w->stored.len)) {
        skv_fail(call->reply, SKV_DENIED, "Key write to '%s/%s' failed: %s", call->root_path, call->key->path,
                 SKV_KEPT_ENCRYPTED);
        return skv_reply_set_fault(call->reply, SKV_FAULT_ENCRYPTION_KEYS);
    }
    /* A batch goes on with other keys before it ends this write. */
    skv_buf_free(&w->stored);
    return w->old_error ? skv_write_fail(call, w->old_error) : write_document(w, info.st_mode);
}

void skv_write_begin(skv_write *w, skv_file_call *call, const skv_write *sibling)
{
    *w = (skv_write){.call = call, .sibling = sibling, .folder = -1, .old = -1, .temp = {.fd = -1}};
    skv_buf_init(&w->stored, SKV_DATA_MAX);
    call->what = "Cannot write to";
    call->failed = "";
}

skv_status skv_write_prepare(skv_write *w)
{
    skv_file_call *call = w->call;
    skv_status status = open_target(w);

    if (status != SKV_OK)
        return status;
    if (w->old >= 0)
        return replace_key_file(w);
    switch (w->old_error) {
    case ENOENT:
        return call->args->condition == SKV_PUT_EXPECT ? refuse_conflict(call, "there is no such key")
                                                       : write_document(w, 0660);
    case EISDIR:
        return skv_file_check_mode(call, S_IFDIR);
    case ENXIO:
        return skv_file_check_mode(call, S_IFSOCK);
    default:
        return skv_write_fail(call, w->old_error);
    }
}

void skv_write_end(skv_write *w)
{
    skv_buf_free(&w->stored);
    if (w->is_named)
        skv_temp_close(&w->temp);
    else
        skv_temp_discard(&w->temp);
    skv_lock_close(w->old);
    close_folder(w);
}

static void try_write(skv_write *w)
{
    if (skv_write_prepare(w) != SKV_OK || w->temp.fd < 0)
        return;
    if (fsync(w->temp.fd) < 0 || (skv_write_name(w) == SKV_OK && fsync(w->folder) < 0))
        skv_write_fail(w->call, errno);
}

skv_status skv_key_write(skv_file_call *call)
{
    do {
        skv_write w;

        skv_write_begin(&w, call, NULL);
        try_write(&w);
        skv_write_end(&w);
    } while (call->is_stale && skv_file_again(call) == SKV_OK);
    return call->reply->status;
}
