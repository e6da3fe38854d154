#include "file/list.h"

#include "file/key.h"
#include "file/path.h"
#include "file/temp.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The most records of a page. */
#define PAGE_RECORDS 500

/*
 * Some file systems hide an entry that is renamed during a scan. A folder that changes is therefore scanned again, up
 * to this many times, and the names of all scans count. A change is invisible if the clock that dates it has not ticked
 * since the one before.
 */
#define SCANS_MAX 5
#define CLOCK_TICK_NS 20000000

/* The character that precedes a stored name. */
#define IS_FOLDER 'f'
#define IS_KEY 'k'
#define IS_OTHER '?'

typedef struct file_list {
    skv_list list;
    bool tree, names_only;
    skv_buf names;      /* of the current folder: kind, name and NUL of each, as scanned */
    const char **index; /* of the names, each once */
    size_t count;
    size_t next;
    skv_buf folders; /* of a tree: the paths of the folders to read, each followed by a NUL */
    skv_buf path;    /* of the current folder, then of the name that is read */
    size_t top_len;  /* of the list's own folder, with a slash at the end */
    skv_reply *read; /* of the document that is read */
} file_list;

static skv_status scan_folder(skv_file_call *call, file_list *list, DIR *dir)
{
    struct dirent *entry;
    skv_status status = SKV_OK;

    while (status == SKV_OK && (status = skv_folder_next(call, dir, &entry)) == SKV_OK && entry) {
        if (skv_temp_is_name(entry->d_name))
            continue;
        skv_buf_put_char(&list->names, entry->d_type == DT_DIR   ? IS_FOLDER
                                       : entry->d_type == DT_REG ? IS_KEY
                                                                 : IS_OTHER);
        skv_buf_put(&list->names, entry->d_name, strlen(entry->d_name) + 1);
        status = skv_file_stopped(call, skv_deadline_check(call->deadline));
    }
    return status;
}

/* Returns true if the folder may have changed since `started`, when it was as `before`. */
static bool may_have_changed(int fd, const struct stat *before, uint64_t started)
{
    struct stat after;

    return fstat(fd, &after) < 0 || skv_mtime_ns(&after) != skv_mtime_ns(before) ||
           (int64_t)(started - skv_mtime_ns(&after)) < CLOCK_TICK_NS;
}

/* Scans until the folder does not change during a scan. Sets *scans to the number of scans. */
static skv_status scan_until_settled(skv_file_call *call, file_list *list, DIR *dir, int *scans)
{
    struct stat before;
    uint64_t started;

    *scans = 0;
    do {
        started = skv_wall_clock_ns();
        rewinddir(dir);
        if (fstat(dirfd(dir), &before) < 0)
            return skv_file_fail(call, errno);
        if (scan_folder(call, list, dir) != SKV_OK)
            return call->reply->status;
        ++*scans;
    } while (*scans < SCANS_MAX && may_have_changed(dirfd(dir), &before, started));
    return SKV_OK;
}

static int compare_listed_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a + 1, *(const char *const *)b + 1);
}

/* Makes the index, which has each name once. */
static skv_status index_names(file_list *list, int scans, skv_reply *reply)
{
    size_t count = 0, kept = 0;
    const char *name = list->names.bytes;

    if (skv_buf_failed(&list->names))
        return list->names.no_memory ? skv_fail_memory(reply)
                                     : skv_fail(reply, SKV_TOO_LARGE, "the folder has too many names");
    for (size_t i = 0; i < list->names.len; i++)
        count += list->names.bytes[i] == '\0';
    list->index = skv_alloc_zeroed(count, sizeof *list->index);
    if (!list->index)
        return skv_fail_memory(reply);
    for (size_t i = 0; i < count; i++, name += strlen(name) + 1)
        list->index[i] = name;
    if (scans > 1) {
        qsort(list->index, count, sizeof *list->index, compare_listed_names);
        for (size_t i = 0; i < count; i++)
            if (i == 0 || compare_listed_names(&list->index[i], &list->index[kept - 1]) != 0)
                list->index[kept++] = list->index[i];
        count = kept;
    }
    list->count = count;
    return SKV_OK;
}

static void clear_names(file_list *list)
{
    skv_buf_clear(&list->names);
    skv_free(list->index);
    list->index = NULL;
    list->count = list->next = 0;
}

/* Reads the names in a folder, and closes it. */
static skv_status read_folder_names(skv_file_call *call, file_list *list, int fd)
{
    skv_status status;
    int scans;
    DIR *dir;

    clear_names(list);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return skv_fail(call->reply, SKV_NOT_FOUND, "Key folder '%s/%s' not found", call->root_path, call->key->path);
    if (fd < 0)
        return skv_file_fail(call, errno);
    dir = fdopendir(fd);
    if (!dir) {
        status = skv_file_fail(call, errno);
        skv_fd_close(fd);
        return status;
    }
    status = scan_until_settled(call, list, dir, &scans);
    closedir(dir);
    return status == SKV_OK ? index_names(list, scans, call->reply) : status;
}

static file_list *new_file_list(skv_store *store, const skv_list_args *args)
{
    file_list *list = skv_alloc_zeroed(1, sizeof *list);

    if (!list)
        return NULL;
    list->list.store = store;
    list->tree = args->tree;
    list->names_only = args->names_only;
    skv_buf_init(&list->names, SKV_DATA_MAX);
    skv_buf_init(&list->folders, SKV_DATA_MAX);
    skv_buf_init(&list->path, (size_t)2 * PATH_MAX);
    skv_buf_put(&list->path, args->folder.path, args->folder.len);
    if (args->folder.len)
        skv_buf_put_char(&list->path, '/');
    list->top_len = list->path.len;
    /* Reserves room for the longest name: keys point into the buffer, which must not move. */
    skv_buf_reserve(&list->path, NAME_MAX);
    list->read = skv_reply_new();
    if (!list->read || skv_buf_failed(&list->path)) {
        skv_file_list_close(&list->list);
        return NULL;
    }
    /* One document always fits into a page. */
    list->read->data.max = SKV_DATA_MAX / 2 + 1; /* one byte more shows the end of the file */
    return list;
}

skv_list *skv_file_list_open(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply)
{
    file_list *list = new_file_list(store, args);
    skv_file_call call;

    if (!list) {
        skv_fail_memory(reply);
        return NULL;
    }
    if (skv_file_begin(&call, store, &args->folder, deadline, reply) == SKV_OK) {
        call.what = "Cannot read";
        read_folder_names(&call, list, skv_folder_open(&call, call.path, call.path_len, SKV_FOLDER_READ));
    }
    skv_file_end(&call);
    if (reply->status == SKV_OK)
        return &list->list;
    skv_file_list_close(&list->list);
    return NULL;
}

/* ---- Pages ---- */

/* Sets another key or folder, which the call borrows, and a reply of its own. */
static void turn_to(skv_file_call *call, file_list *list, const skv_key *key)
{
    skv_reply_reset(list->read);
    skv_file_target(call, key);
    call->reply = list->read;
}

static void turn_back_to(skv_file_call *call, const skv_key *folder, skv_reply *page)
{
    skv_file_target(call, folder);
    call->reply = page;
}

/* Returns the status that reading the key would have: SKV_OK, SKV_IS_FOLDER, SKV_NOT_FOUND, or a failure. */
static skv_status status_of_kind(skv_file_call *call)
{
    static const skv_status statuses[] = {
        [SKV_KIND_NONE] = SKV_NOT_FOUND, [SKV_KIND_KEY] = SKV_OK, [SKV_KIND_FOLDER] = SKV_IS_FOLDER};

    return skv_key_kind(call) == SKV_OK ? statuses[call->reply->number] : call->reply->status;
}

/* Reads the key or folder at the path. */
static skv_status read_listed_path(skv_file_call *call, file_list *list, char kind)
{
    if (list->tree && list->path.len > SKV_KEY_MAX)
        return skv_file_fail(call, ENAMETOOLONG);
    if (kind == IS_FOLDER)
        return SKV_IS_FOLDER;
    if (!list->names_only)
        return skv_key_read(call);
    return kind == IS_KEY ? SKV_OK : status_of_kind(call);
}

/* Adds the record of the path, by the status of reading it. SKV_INTERRUPTED adds none. */
static skv_status add_path_record(file_list *list, skv_status status, skv_reply *page)
{
    const char *name = list->path.bytes + list->top_len, *why = list->read->message;
    size_t len = list->path.len - list->top_len;

    switch (status) {
    case SKV_OK:
        skv_list_add(page, 'k', name, len, skv_reply_data(list->read), skv_reply_size(list->read));
        break;
    case SKV_IS_FOLDER:
        skv_list_add(page, 'f', name, len, "", 0);
        if (list->tree)
            skv_buf_put(&list->folders, name, len + 1);
        break;
    case SKV_NOT_FOUND:
        break;
    case SKV_INTERRUPTED:
        return status;
    case SKV_NOMEM:
        return skv_fail(page, status, "%s", why);
    default:
        skv_list_add(page, 'e', name, len, why, strlen(why));
    }
    if (list->folders.too_large)
        return skv_fail(page, SKV_TOO_LARGE, "the tree has too many folders");
    return list->folders.no_memory ? skv_fail_memory(page) : skv_reply_done(page);
}

/* Adds the next name's record. */
static skv_status add_next_name(skv_file_call *call, file_list *list, skv_reply *page)
{
    const skv_key *folder = call->key;
    const char *entry = list->index[list->next];
    skv_key key;
    skv_status status = skv_deadline_check(call->deadline);

    if (status != SKV_OK)
        return status;
    skv_buf_put_string(&list->path, entry + 1);
    if (skv_buf_failed(&list->path))
        return skv_fail_memory(page);
    key = (skv_key){list->path.bytes, list->path.len};
    turn_to(call, list, &key);
    status = add_path_record(list, read_listed_path(call, list, entry[0]), page);
    skv_buf_truncate(&list->path, folder->len);
    turn_back_to(call, folder, page);
    if (status != SKV_INTERRUPTED)
        list->next++;
    return status;
}

/* ---- The folders of a tree ---- */

/* Reads the folder that was added last. A folder that was deleted meanwhile is empty. */
static skv_status enter_folder(skv_file_call *call, file_list *list, skv_reply *page)
{
    skv_key folder = {list->path.bytes, list->path.len};
    skv_status status;

    turn_to(call, list, &folder);
    status = read_folder_names(call, list,
                               skv_folder_open_below(call, folder.path, list->top_len, folder.path + list->top_len));
    call->reply = page;
    if (status != SKV_OK && status != SKV_NOT_FOUND)
        status = add_path_record(list, status, page);
    return status == SKV_NOT_FOUND ? SKV_OK : status;
}

/* Continues with the next folder of the tree. */
static skv_status enter_next_folder(skv_file_call *call, file_list *list, skv_key *folder, skv_reply *page)
{
    const char *names = list->folders.bytes, *before = memrchr(names, '\0', list->folders.len - 1);
    size_t start = before ? (size_t)(before - names) + 1 : 0;
    skv_status status = skv_deadline_check(call->deadline);

    if (status != SKV_OK)
        return status;
    skv_buf_truncate(&list->path, list->top_len);
    skv_buf_put_string(&list->path, names + start);
    skv_buf_reserve(&list->path, NAME_MAX + 1);
    if (skv_buf_failed(&list->path))
        return skv_fail_memory(page);
    status = enter_folder(call, list, page);
    skv_buf_put_char(&list->path, '/');
    *folder = (skv_key){list->path.bytes, list->path.len};
    skv_file_target(call, folder);
    if (status != SKV_INTERRUPTED)
        skv_buf_truncate(&list->folders, start);
    return status;
}

/* Adds the next record. Returns SKV_END if there is none. */
static skv_status add_next_record(skv_file_call *call, file_list *list, skv_key *folder, skv_reply *page)
{
    if (list->next < list->count)
        return add_next_name(call, list, page);
    return list->folders.len ? enter_next_folder(call, list, folder, page) : SKV_END;
}

/* Fills a page. Returns an interrupted page with its records, so that a list makes progress under any number of
 * interrupts; the handle fires again for the next page. */
static skv_status fill_page(skv_file_call *call, file_list *list, skv_key *folder, skv_reply *page)
{
    skv_status status = SKV_OK;

    while (status == SKV_OK && page->data.len < SKV_PAGE_BYTES && page->number < PAGE_RECORDS)
        status = add_next_record(call, list, folder, page);
    if (status == SKV_INTERRUPTED && page->number == 0)
        return skv_file_stopped(call, status);
    if (status == SKV_INTERRUPTED)
        skv_cancel_fire(call->deadline->cancel);
    if (skv_reply_done(page) == SKV_OK && page->number == 0)
        page->status = SKV_END;
    return page->status;
}

skv_status skv_file_list_next(skv_list *list, skv_deadline *deadline, skv_reply *reply)
{
    file_list *files = (file_list *)list;
    skv_key folder = {files->path.bytes, files->path.len};
    skv_file_call call;

    if (skv_file_begin(&call, list->store, &folder, deadline, reply) == SKV_OK) {
        call.what = "Cannot read";
        fill_page(&call, files, &folder, reply);
    }
    skv_file_end(&call);
    if (reply->status != SKV_OK && reply->status != SKV_INTERRUPTED) {
        clear_names(files);
        skv_buf_clear(&files->folders);
    }
    return reply->status;
}

void skv_file_list_close(skv_list *list)
{
    file_list *files = (file_list *)list;

    skv_buf_free(&files->names);
    skv_buf_free(&files->folders);
    skv_buf_free(&files->path);
    skv_free(files->index);
    skv_reply_free(files->read);
    skv_free(files);
}
