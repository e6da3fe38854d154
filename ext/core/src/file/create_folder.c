#include "file/folder.h"
#include "file/key.h"
#include "file/path.h"

#include <errno.h>

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
