/*
 * Folders are made with those above them, and deleted if they are empty. The kernel checks in the same step that a
 * folder is empty. Before that, temporary files and folders that dead writers left are deleted; those of live writers
 * are waited for.
 */
#include "file/key.h"
#include "file/new_folder.h"
#include "file/path.h"
#include "name/key.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Creation ---- */

/* Fails the reply because the folder, or one above it, cannot be opened or made. */
static skv_status fail_folder(skv_file_call *call)
{
    if (errno == ENOTDIR)
        return skv_path_refuse_key(call, call->path_len);
    if (errno == ENOENT)
        return skv_file_stale(call);
    return skv_file_fail_write(call, errno, "write permission on the folder above");
}

static skv_status make_missing_folder(skv_file_call *call)
{
    const char *base;
    int parent = skv_folder_of(call, SKV_FOLDER_READ | SKV_FOLDER_MAKE, &base), made;

    if (parent < 0)
        return fail_folder(call);
    made = skv_folder_make(parent, base);
    skv_fd_close(parent);
    if (made < 0)
        return fail_folder(call);
    call->reply->number = made;
    /* Another process took the name first, for a folder or for a key. */
    return made ? SKV_OK : skv_file_stale(call);
}

static skv_status try_create_folder(skv_file_call *call)
{
    int fd = skv_folder_open(call, call->path, call->path_len, SKV_FOLDER_LOOK);

    if (fd < 0)
        return errno == ENOENT ? make_missing_folder(call) : fail_folder(call);
    skv_fd_close(fd);
    return SKV_OK;
}

skv_status skv_key_create_folder(skv_file_call *call)
{
    call->what = "Cannot make folder";
    do
        try_create_folder(call);
    while (call->is_stale && skv_file_again(call) == SKV_OK);
    return call->reply->status;
}

/* ---- Deletion ---- */

static skv_status refuse_key(skv_file_call *call)
{
    return skv_file_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
}

/* Fails the reply for a folder with that name in it. */
static skv_status refuse_nonempty(skv_file_call *call, int folder, const char *name)
{
    const char *kind = "key";
    struct stat info;

    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(info.st_mode))
        kind = S_ISDIR(info.st_mode) ? "folder" : "file";
    return skv_fail(call->reply, SKV_CONFLICT,
                    "%s '%s/%s'%s: it is not empty, the %s '%s' is in it: delete its contents first", call->what,
                    call->root_path, call->key->path, call->failed, kind, skv_quoted(name, strlen(name)).text);
}

static skv_status delete_temporary_folder(skv_file_call *call, int folder, const char *name)
{
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENOTDIR)
        return SKV_OK;
    /* simpkv's temporary folders are empty: this is another program's. */
    if (errno == ENOTEMPTY || errno == EEXIST)
        return refuse_nonempty(call, folder, name);
    return skv_file_fail_write(call, errno, "write permission on the folder");
}

/* Deletes a temporary file or folder. The call is stale if a live writer uses it. */
static skv_status delete_temporary(skv_file_call *call, int folder, const char *name)
{
    skv_status status = skv_name_delete(call, folder, name);

    if (status == SKV_IS_FOLDER)
        return delete_temporary_folder(call, folder, name);
    return call->reply->status;
}

/* Calls `visit` for the names in the folder that are temporary, or for those that are not. */
static skv_status each_name(skv_file_call *call, DIR *dir, bool temporary,
                            skv_status (*visit)(skv_file_call *call, int folder, const char *name))
{
    struct dirent *entry;
    skv_status status = SKV_OK;

    rewinddir(dir);
    while (status == SKV_OK && (status = skv_folder_next(call, dir, &entry)) == SKV_OK && entry) {
        status = skv_file_stopped(call, skv_deadline_check(call->deadline));
        if (status == SKV_OK && skv_temp_is_name(entry->d_name) == temporary)
            status = visit(call, dirfd(dir), entry->d_name);
    }
    return status;
}

/* Deletes the temporary names in the folder, or in the target of the link, unless there are others. */
static skv_status delete_temporary_names(skv_file_call *call)
{
    int fd = skv_folder_open(call, call->path, call->path_len, SKV_FOLDER_READ);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    skv_status status;

    if (!dir) {
        skv_fd_close(fd);
        if (errno == ENOENT)
            return skv_file_stale(call);
        return errno == ENOTDIR ? refuse_key(call) : skv_file_fail_write(call, errno, "read permission on the folder");
    }
    status = each_name(call, dir, false, refuse_nonempty);
    if (status == SKV_OK)
        status = each_name(call, dir, true, delete_temporary);
    closedir(dir);
    return status;
}

/* Removes the name if the folder is empty. Returns SKV_CONFLICT, without touching the reply, if it is not. For a link,
 * the caller has seen that the target is empty: the link is deleted, not the target. */
static skv_status remove_folder(skv_file_call *call, int parent, const char *base, bool is_link)
{
    if (unlinkat(parent, base, is_link ? 0 : AT_REMOVEDIR) == 0) {
        call->reply->number = 1;
        return fsync(parent) < 0 ? skv_file_fail(call, errno) : SKV_OK;
    }
    switch (errno) {
    case ENOENT:
        return SKV_OK;
    case ENOTDIR:
        return refuse_key(call);
    case ENOTEMPTY:
    case EEXIST:
        return SKV_CONFLICT;
    default:
        return skv_file_fail_write(call, errno, "write permission on the folder above");
    }
}

static void delete_folder_in(skv_file_call *call, int parent, const char *base)
{
    bool is_link = skv_is_link_at(parent, base);

    if (!is_link && remove_folder(call, parent, base, false) != SKV_CONFLICT)
        return;
    if (delete_temporary_names(call) != SKV_OK || call->is_stale)
        return;
    if (remove_folder(call, parent, base, is_link) == SKV_CONFLICT)
        skv_file_stale(call);
}

static void try_delete_folder(skv_file_call *call)
{
    const char *base;
    int parent = skv_folder_of(call, SKV_FOLDER_READ, &base);

    call->is_stale = false;
    call->busy = NULL;
    call->links = 0;
    if (parent < 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            skv_file_fail(call, errno);
        return;
    }
    delete_folder_in(call, parent, base);
    skv_fd_close(parent);
}

skv_status skv_key_delete_folder(skv_file_call *call)
{
    call->what = "Folder delete of";
    call->failed = " failed";
    do
        try_delete_folder(call);
    while (call->is_stale && skv_file_pause(call, call->path, call->path_len) == SKV_OK);
    return call->reply->status;
}
