/*
 * A watch has a watch of inotify on each folder of the tree. It watches a folder first and lists it then, so that a
 * name that appears meanwhile is seen twice rather than not at all. If the kernel drops events, the watch starts again
 * from the top, and says so.
 */
#include "file/watch.h"

#include "file/key.h"
#include "file/path.h"
#include "file/temp.h"
#include "file/watched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

#define PAGE_RECORDS 500

/* A cookie is a time at which no event was left. The files of later changes are dated after it, unless the kernel stops
 * a writer between the date and the event. */
#define COOKIE "file:"
#define SLACK_NS INT64_C(2000000000)

typedef struct file_changes {
    skv_changes changes;
    skv_watched watched;
    skv_buf pending; /* the paths of folders to enter, from the top on, each followed by a NUL */
    skv_buf path;    /* of the top, with a slash at the end; then of the name that is looked at */
    size_t top_len;
    char *top;    /* owned: the path of the top */
    dev_t device; /* of the top */
    ino_t inode;
    int64_t since_ns; /* the keys that were changed from then on are reported; INT64_MAX for none */
    char ready;       /* the kind of the record that tells that all folders are watched; 0 after it */
    bool is_lost;     /* events were lost, or the top is gone: the watch starts again */
    char cookie[sizeof COOKIE + 20];
} file_changes;

/* ---- Records ---- */

static void set_file_cookie(file_changes *w, uint64_t now)
{
    snprintf(w->cookie, sizeof w->cookie, COOKIE "%lld", (long long)(int64_t)now);
}

static void add_change(const file_changes *w, skv_reply *page, char kind, const char *name)
{
    skv_list_add(page, kind, name, strlen(name), w->cookie, strlen(w->cookie));
}

/* Reports a folder, whose keys follow. The path of the change ends in it. */
static void add_folder_change(const file_changes *w, skv_reply *page, const char *folder)
{
    char name[SKV_KEY_MAX + 2];
    int len = snprintf(name, sizeof name, "%s/", folder);

    if (len < 0 || (size_t)len >= sizeof name)
        skv_fail(page, SKV_TOO_LARGE, "the path of a folder has more than %d bytes", SKV_KEY_MAX);
    else
        add_change(w, page, SKV_CHANGE_FOLDER, name);
}

/* Sets the path to a name in a folder, and returns the path from the top on; NULL when out of memory. */
static const char *point_at_name(file_changes *w, const char *folder, const char *name, skv_reply *page)
{
    skv_buf_truncate(&w->path, w->top_len);
    skv_buf_put_string(&w->path, folder);
    if (*folder && *name)
        skv_buf_put_char(&w->path, '/');
    skv_buf_put_string(&w->path, name);
    if (!skv_buf_failed(&w->path))
        return w->path.bytes + w->top_len;
    skv_fail(page, w->path.no_memory ? SKV_NOMEM : SKV_TOO_LARGE, "a path in the folder is too long");
    return NULL;
}

/* ---- Entering folders ---- */

static void add_pending(file_changes *w, const char *path, skv_reply *page)
{
    skv_buf_put(&w->pending, path, strlen(path) + 1);
    if (skv_buf_failed(&w->pending))
        skv_fail(page, w->pending.no_memory ? SKV_NOMEM : SKV_TOO_LARGE, "there are too many folders to watch");
}

static int64_t change_time_ns(const struct stat *info)
{
    return (int64_t)info->st_ctim.tv_sec * 1000000000 + info->st_ctim.tv_nsec;
}

/* Returns true for a key, or for a name that cannot be looked at: the caller then learns why by reading it. A folder
 * that is reached through a link is not part of a tree. */
static bool is_key_at_path(const file_changes *w, skv_file_call *call)
{
    const skv_key *top = call->key;
    skv_key key = {w->path.bytes, w->path.len};
    skv_reply *page = call->reply, *looked = skv_reply_new();
    bool is_key;

    if (!looked)
        return true;
    call->reply = looked;
    skv_file_target(call, &key);
    is_key = key.len > SKV_KEY_MAX || skv_key_kind(call) != SKV_OK || looked->number == SKV_KIND_KEY;
    skv_file_target(call, top);
    call->reply = page;
    skv_reply_free(looked);
    return is_key;
}

/* Looks at a name of a folder that is entered. */
static void enter_name(file_changes *w, skv_file_call *call, DIR *dir, const struct dirent *entry, const char *folder)
{
    const char *path = point_at_name(w, folder, entry->d_name, call->reply);
    struct stat info = {.st_mode = entry->d_type == DT_DIR ? S_IFDIR : S_IFREG};

    if (!path)
        return;
    if ((entry->d_type == DT_UNKNOWN || (w->ready && w->since_ns < INT64_MAX)) &&
        fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISDIR(info.st_mode))
        add_pending(w, path, call->reply);
    else if ((!w->ready || change_time_ns(&info) >= w->since_ns) && is_key_at_path(w, call))
        add_change(w, call->reply, SKV_CHANGE_PUT, path);
}

static skv_status enter_names(file_changes *w, skv_file_call *call, DIR *dir, const char *folder)
{
    struct dirent *entry;

    while (call->reply->status == SKV_OK && skv_folder_next(call, dir, &entry) == SKV_OK && entry) {
        if (!skv_temp_is_name(entry->d_name))
            enter_name(w, call, dir, entry, folder);
    }
    return call->reply->status;
}

/* Watches an open folder, which it closes, and lists it then. Deletions may be unknown if the names in it have changed
 * since the cookie. */
static skv_status enter_open_folder(file_changes *w, skv_file_call *call, int fd, const char *folder)
{
    skv_status status = skv_watched_add(&w->watched, call, fd, folder);
    DIR *dir = status == SKV_OK ? fdopendir(fd) : NULL;
    struct stat info;

    if (!dir) {
        status = status == SKV_OK ? skv_file_fail(call, errno) : status;
        skv_fd_close(fd);
        return status;
    }
    if (w->ready == SKV_CHANGE_READY && (fstat(dirfd(dir), &info) < 0 || (int64_t)skv_mtime_ns(&info) >= w->since_ns))
        w->ready = SKV_CHANGE_PART;
    status = enter_names(w, call, dir, folder);
    closedir(dir);
    return status;
}

/* Enters the folder that was added last. A folder that was deleted meanwhile is empty; the caller may know keys of it.
 */
static skv_status enter_pending(file_changes *w, skv_file_call *call)
{
    const char *before = memrchr(w->pending.bytes, '\0', w->pending.len - 1);
    size_t start = before ? (size_t)(before - w->pending.bytes) + 1 : 0;
    char *folder = skv_copy_string(w->pending.bytes + start, w->pending.len - 1 - start);
    int fd;

    if (!folder)
        return skv_fail_memory(call->reply);
    skv_buf_truncate(&w->pending, start);
    if (!w->ready)
        add_folder_change(w, call->reply, folder);
    fd = *folder ? skv_folder_open_below(call, call->path, call->path_len, folder)
                 : skv_folder_open(call, call->path, call->path_len, SKV_FOLDER_READ);
    if (fd >= 0)
        enter_open_folder(w, call, fd, folder);
    else if (errno != ENOENT && errno != ENOTDIR)
        skv_file_fail(call, errno);
    skv_free(folder);
    return call->reply->status;
}

/* ---- Starting ---- */

/* Begins to watch from the top on. Notes which folder that is. */
static skv_status start_watch(file_changes *w, skv_file_call *call)
{
    int top = skv_folder_open(call, call->path, call->path_len, SKV_FOLDER_READ);
    struct stat info;

    skv_watched_end(&w->watched);
    skv_buf_clear(&w->pending);
    if (top < 0 && (errno == ENOENT || errno == ENOTDIR))
        return skv_fail(call->reply, SKV_NOT_FOUND, "Key folder '%s/%s' not found", call->root_path, call->key->path);
    if (top < 0 || fstat(top, &info) < 0) {
        skv_file_fail(call, errno);
        skv_fd_close(top);
        return call->reply->status;
    }
    w->device = info.st_dev;
    w->inode = info.st_ino;
    skv_fd_close(top);
    set_file_cookie(w, skv_wall_clock_ns());
    if (skv_watched_begin(&w->watched, call) == SKV_OK)
        add_pending(w, "", call->reply);
    return call->reply->status;
}

/* Starts again after events were lost. */
static skv_status restart_watch(file_changes *w, skv_file_call *call)
{
    w->ready = SKV_CHANGE_RESYNC;
    w->since_ns = INT64_MAX;
    w->is_lost = start_watch(w, call) != SKV_OK;
    return call->reply->status;
}

/* Returns true if the path of the top still leads to the folder that is watched, or cannot be followed. */
static bool is_top_watched(const file_changes *w, skv_file_call *call)
{
    int top = skv_folder_open(call, call->path, call->path_len, SKV_FOLDER_LOOK);
    struct stat info;
    bool same = top >= 0 && fstat(top, &info) == 0 && info.st_dev == w->device && info.st_ino == w->inode;

    skv_fd_close(top);
    return same;
}

static bool read_file_cookie(file_changes *w, const char *since)
{
    char *end;
    long long ns;

    errno = 0;
    if (strncmp(since, COOKIE, strlen(COOKIE)) != 0 || since[strlen(COOKIE)] < '0' || since[strlen(COOKIE)] > '9')
        return false;
    ns = strtoll(since + strlen(COOKIE), &end, 10);
    if (*end || errno)
        return false;
    w->since_ns = ns - SLACK_NS;
    /* The clock was set back. */
    if (ns > (int64_t)skv_wall_clock_ns()) {
        w->since_ns = INT64_MAX;
        w->ready = SKV_CHANGE_RESYNC;
    }
    return true;
}

static file_changes *new_file_changes(skv_store *store, const skv_key *folder)
{
    file_changes *w = skv_alloc_zeroed(1, sizeof *w);

    if (!w)
        return NULL;
    w->changes.store = store;
    w->watched.inotify = -1;
    w->since_ns = INT64_MAX;
    w->ready = SKV_CHANGE_READY;
    skv_buf_init(&w->pending, SKV_DATA_MAX);
    skv_buf_init(&w->path, SKV_DATA_MAX);
    skv_buf_put(&w->path, folder->path, folder->len);
    if (folder->len)
        skv_buf_put_char(&w->path, '/');
    w->top_len = w->path.len;
    w->top = skv_copy_string(folder->path, folder->len);
    if (w->top && !skv_buf_failed(&w->path))
        return w;
    skv_file_changes_close(&w->changes);
    return NULL;
}

skv_changes *skv_file_changes_open(skv_store *store, const skv_changes_args *args, skv_deadline *deadline,
                                   skv_reply *reply)
{
    file_changes *w = new_file_changes(store, &args->folder);
    skv_file_call call;

    if (!w) {
        skv_fail_memory(reply);
        return NULL;
    }
    if (skv_file_begin(&call, store, &args->folder, deadline, reply) == SKV_OK) {
        call.what = "Cannot watch";
        if (args->since && !read_file_cookie(w, args->since))
            skv_fail(reply, SKV_INVALID, "this is not a cookie of a store in files");
        else
            start_watch(w, &call);
    }
    skv_file_end(&call);
    if (reply->status == SKV_OK)
        return &w->changes;
    skv_file_changes_close(&w->changes);
    return NULL;
}

/* ---- Events ---- */

static void handle_folder_event(file_changes *w, skv_file_call *call, const struct inotify_event *event,
                                const char *path)
{
    if (event->mask & (IN_CREATE | IN_MOVED_TO))
        add_pending(w, path, call->reply);
    if (event->mask & IN_MOVED_FROM) {
        skv_watched_drop(&w->watched, path);
        add_folder_change(w, call->reply, path);
    }
}

static void handle_key_event(file_changes *w, skv_file_call *call, const struct inotify_event *event, const char *path)
{
    if (event->mask & (IN_DELETE | IN_MOVED_FROM))
        add_change(w, call->reply, SKV_CHANGE_DELETE, path);
    else if (is_key_at_path(w, call))
        add_change(w, call->reply, SKV_CHANGE_PUT, path);
}

/* An event of a folder that was moved away has no path any more: a folder that it was moved to is entered anew. */
static skv_status handle_event(file_changes *w, skv_file_call *call, const struct inotify_event *event)
{
    const char *folder = skv_watched_path(&w->watched, event->wd), *path;

    w->is_lost = event->mask & (IN_Q_OVERFLOW | IN_UNMOUNT) || (event->mask & IN_IGNORED && folder && !*folder);
    if (event->mask & IN_IGNORED)
        skv_watched_forget(&w->watched, event->wd);
    if (event->mask & IN_IGNORED || !folder || !event->len || skv_temp_is_name(event->name))
        return SKV_OK;
    path = point_at_name(w, folder, event->name, call->reply);
    if (path && event->mask & IN_ISDIR)
        handle_folder_event(w, call, event, path);
    else if (path)
        handle_key_event(w, call, event, path);
    return call->reply->status;
}

static bool has_room(const skv_reply *page)
{
    return page->status == SKV_OK && page->number < PAGE_RECORDS && page->data.len < SKV_PAGE_BYTES;
}

/* Enters the folders that are left, then handles the events that were read. */
static skv_status work_on_page(file_changes *w, skv_file_call *call)
{
    const struct inotify_event *event;

    while (has_room(call->reply) && !w->is_lost) {
        if (call->reply->number == 0 && skv_file_stopped(call, skv_deadline_check(call->deadline)) != SKV_OK)
            break;
        if (w->pending.len) {
            enter_pending(w, call);
        } else if (w->ready) {
            add_change(w, call->reply, w->ready, "");
            w->ready = '\0';
        } else if ((event = skv_watched_next(&w->watched))) {
            handle_event(w, call, event);
        } else {
            break;
        }
    }
    return call->reply->status;
}

/* Works on what has come. The cookie moves on when nothing is left: it must not be later than a change that the caller
 * has not got yet. */
static skv_status work_on_events(file_changes *w, skv_file_call *call)
{
    uint64_t now = skv_wall_clock_ns();

    if (w->is_lost && restart_watch(w, call) != SKV_OK)
        return call->reply->status;
    if (w->pending.len || w->ready)
        return work_on_page(w, call);
    if (skv_watched_read(&w->watched, call) != SKV_OK)
        return call->reply->status;
    if (!w->watched.len)
        set_file_cookie(w, now);
    return work_on_page(w, call);
}

/* Waits for events. Starts again if they were lost, or if another folder has the path of the top: the events of the
 * former one come first. */
static skv_status await_events(file_changes *w, skv_file_call *call)
{
    struct pollfd fd = {.fd = w->watched.inotify, .events = POLLIN};
    skv_status status;

    if (w->is_lost)
        return work_on_events(w, call);
    if (!is_top_watched(w, call)) {
        if (call->reply->status == SKV_OK && work_on_events(w, call) == SKV_OK)
            w->is_lost = true;
        return call->reply->status;
    }
    status = skv_deadline_poll(call->deadline, &fd, 1, INT64_MAX);
    if (status == SKV_TIMEOUT)
        return SKV_END;
    return skv_file_stopped(call, status) == SKV_OK ? work_on_events(w, call) : call->reply->status;
}

skv_status skv_file_changes_next(skv_changes *changes, skv_deadline *deadline, skv_reply *reply)
{
    file_changes *w = (file_changes *)changes;
    const skv_key top = {w->top, strlen(w->top)};
    skv_file_call call;

    if (skv_file_begin(&call, changes->store, &top, deadline, reply) == SKV_OK) {
        call.what = "Cannot watch";
        work_on_events(w, &call);
        while (reply->status == SKV_OK && reply->number == 0 && await_events(w, &call) == SKV_OK)
            ;
    }
    skv_file_end(&call);
    return skv_reply_done(reply);
}

void skv_file_changes_close(skv_changes *changes)
{
    file_changes *w = (file_changes *)changes;

    skv_watched_end(&w->watched);
    skv_buf_free(&w->pending);
    skv_buf_free(&w->path);
    skv_free(w->top);
    skv_free(w);
}
