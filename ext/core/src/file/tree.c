#include "file/key.h"
#include "file/lock.h"
#include "file/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest path below the root that a tree can have. Other programs may make longer paths than keys. */
#define PATH_LEN_MAX ((size_t)1 << 20)

/* The state of a deletion. Folders are opened by their path below the top, one at a time, and again after each folder
 * below. A deep tree therefore needs three descriptors and no recursion, and no link is followed. */
typedef struct tree {
    skv_file_call *call;
    skv_buf path;      /* below the root, starting with the key */
    skv_key entry;     /* the same, as the key in messages */
    size_t top_len;    /* of the key */
    size_t emptied;    /* the length of the path of the folder that was emptied last; 0 once that is deleted */
    bool busy;         /* another process uses a file of the folder */
    bool descends;     /* the folder at the end of the path is not empty: it is cleared next */
    int64_t deletions; /* so far */
} tree;

static skv_status point_at_entry(tree *t)
{
    if (skv_buf_failed(&t->path))
        return t->path.no_memory ? skv_fail_memory(t->call->reply) : skv_file_fail(t->call, ENAMETOOLONG);
    t->entry = (skv_key){t->path.bytes, t->path.len};
    t->call->key = &t->entry;
    return SKV_OK;
}

static skv_status push_name(tree *t, const char *name)
{
    skv_buf_put_char(&t->path, '/');
    skv_buf_put_string(&t->path, name);
    return point_at_entry(t);
}

static skv_status pop_name(tree *t)
{
    const char *slash = memrchr(t->path.bytes, '/', t->path.len);

    skv_buf_truncate(&t->path, (size_t)(slash - t->path.bytes));
    return point_at_entry(t);
}

/* Waits for processes that write into the tree, until the deadline. */
static skv_status pause_for_others(const tree *t)
{
    return skv_file_pause(t->call, t->path.bytes, t->path.len);
}

/* Deletes the folder at the end of the path if it is empty; else descends into it. */
static skv_status delete_empty_folder(tree *t, int parent, const char *name)
{
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0) {
        t->deletions++;
        t->emptied = 0;
        return SKV_OK;
    }
    t->descends = errno == ENOTEMPTY || errno == EEXIST;
    if (t->descends || errno == ENOENT || errno == ENOTDIR)
        return SKV_OK;
    return skv_file_fail_write(t->call, errno, "write permission on the folder above");
}

/* Deletes the file or folder at the end of the path. */
static skv_status delete_tree_entry(tree *t, int folder, const char *name)
{
    skv_status status = skv_name_delete(t->call, folder, name);

    if (t->call->is_stale) {
        t->call->is_stale = false;
        t->busy = true;
        return SKV_OK;
    }
    switch (status) {
    case SKV_OK:
        t->deletions++;
        return SKV_OK;
    case SKV_NOT_FOUND:
        return SKV_OK;
    case SKV_IS_FOLDER:
        return delete_empty_folder(t, folder, name);
    default:
        return status;
    }
}

static skv_status delete_folder_entries(tree *t, DIR *dir)
{
    struct dirent *entry;
    skv_status status = SKV_OK;

    while (status == SKV_OK && !t->descends && (status = skv_folder_next(t->call, dir, &entry)) == SKV_OK && entry) {
        status = skv_file_stopped(t->call, skv_deadline_check(t->call->deadline));
        if (status == SKV_OK)
            status = push_name(t, entry->d_name);
        if (status == SKV_OK)
            status = delete_tree_entry(t, dirfd(dir), entry->d_name);
        if (status == SKV_OK && !t->descends)
            status = pop_name(t);
    }
    return status;
}

/* Deletes the entries of the folder at the path. */
static skv_status clear_folder(tree *t)
{
    const char *below = t->path.len > t->top_len ? t->path.bytes + t->top_len + 1 : "";
    int fd = skv_folder_open(t->call, below, strlen(below), SKV_FOLDER_READ | SKV_FOLDER_LINKLESS);
    skv_status status;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    t->busy = false;
    t->call->busy = NULL;
    if (!dir) {
        status = errno == ENOENT || errno == ENOTDIR ? SKV_OK : skv_file_fail(t->call, errno);
        skv_fd_close(fd);
        return status;
    }
    status = delete_folder_entries(t, dir);
    closedir(dir);
    return status;
}

/* Deletes everything below the top. */
static skv_status clear_tree(tree *t)
{
    skv_status status;

    for (;;) {
        status = clear_folder(t);
        if (t->descends) {
            t->descends = false;
            t->call->busy = NULL;
            if (t->path.len == t->emptied && pause_for_others(t) != SKV_OK)
                return t->call->reply->status;
            continue;
        }
        if (status == SKV_OK && t->busy) {
            if (pause_for_others(t) != SKV_OK)
                return t->call->reply->status;
            continue;
        }
        if (status != SKV_OK || t->path.len == t->top_len)
            return status;
        t->emptied = t->path.len;
        if (pop_name(t) != SKV_OK)
            return t->call->reply->status;
    }
}

/* Empties the folder and deletes it; starts again if other processes put something into it. */
static skv_status clear_and_delete(tree *t, const skv_key *key, int parent, const char *base)
{
    skv_status status;

    for (;;) {
        status = clear_tree(t);
        if (status != SKV_OK || skv_key_is_root(key))
            return status;
        status = delete_empty_folder(t, parent, base);
        if (!t->descends)
            return status;
        t->descends = false;
        /* Another folder has the name now: the one that was to be deleted is deleted. */
        if (!skv_fd_is_at(t->call->root, parent, base))
            return SKV_OK;
        status = pause_for_others(t);
        if (status != SKV_OK)
            return status;
    }
}

static skv_status delete_folder_tree(skv_file_call *call, int parent, const char *base, int top)
{
    const skv_key *key = call->key;
    tree t = {.call = call, .top_len = key->len};
    skv_status status;
    int root = call->root;

    skv_buf_init(&t.path, PATH_LEN_MAX);
    skv_buf_put(&t.path, key->path, key->len);
    call->root = top;
    status = point_at_entry(&t);
    if (status == SKV_OK)
        status = clear_and_delete(&t, key, parent, base);
    call->root = root;
    call->key = key;
    if (status == SKV_OK)
        call->reply->number = 1;
    if (fsync(skv_key_is_root(key) ? top : parent) < 0)
        skv_file_fail(call, errno);
    if (call->reply->status != SKV_OK && t.deletions)
        skv_reply_append(call->reply, " (%lld names below it are deleted already)", (long long)t.deletions);
    skv_buf_free(&t.path);
    return call->reply->status;
}

/* The target of a link decides whether it is a folder. */
static skv_status check_link_to_folder(skv_file_call *call)
{
    int fd = skv_key_open(call, O_PATH);
    struct stat info;
    skv_status status = SKV_OK;

    if (fd < 0)
        return errno == ENOENT ? SKV_NOT_FOUND : skv_file_fail(call, errno);
    if (fstat(fd, &info) < 0)
        status = skv_file_fail(call, errno);
    else if (!S_ISDIR(info.st_mode))
        status = skv_file_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
    skv_fd_close(fd);
    return status;
}

static skv_status delete_tree_in(skv_file_call *call, int parent, const char *base)
{
    int top = openat(parent, base, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    skv_status status;

    if (top >= 0) {
        status = delete_folder_tree(call, parent, base, top);
        skv_fd_close(top);
        return status;
    }
    if (errno == ENOENT)
        return SKV_NOT_FOUND;
    if (errno != ENOTDIR && errno != ELOOP)
        return skv_file_fail(call, errno);
    status = check_link_to_folder(call);
    if (status != SKV_OK)
        return status;
    /* The link is deleted, not the folder. */
    if (unlinkat(parent, base, 0) < 0 || fsync(parent) < 0)
        return skv_file_fail(call, errno);
    call->reply->number = 1;
    return SKV_OK;
}

skv_status skv_tree_delete(skv_file_call *call)
{
    const char *base;
    skv_status status;
    int parent;

    call->what = "Folder delete of";
    call->failed = " failed";
    parent = skv_folder_of(call, SKV_FOLDER_READ, &base);
    if (parent < 0)
        return errno == ENOENT || errno == ENOTDIR ? SKV_OK : skv_file_fail(call, errno);
    status = delete_tree_in(call, parent, base);
    skv_fd_close(parent);
    return status == SKV_NOT_FOUND ? SKV_OK : status;
}
