/*
 * A batch of puts takes the steps of single puts (file/write.h) for several records at once. It holds the locks of
 * several keys then, and never waits for another lock: two batches could wait for each other. A record that has to
 * wait or to start again, or whose name depends on one of these records, is put by itself after them; so is one with a
 * link in its path, because names do not tell what it depends on.
 */
#include "base/thread.h"
#include "file/path.h"
#include "file/write.h"
#include "store/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The most records at once, and the size of their documents from which on no more are added: each needs up to four
 * descriptors, and other processes wait for its lock. */
#define RECORDS_MAX 32
#define BYTES_MAX ((size_t)4 << 20)

/* A file or folder, and the errno of its sync, 0 after a success. */
typedef struct to_sync {
    int fd; /* borrowed */
    int error_number;
} to_sync;

/* A record whose document is in a temporary file. */
typedef struct prepared {
    skv_record *record;
    skv_file_call call;
    skv_deadline deadline;
    skv_write write;
} prepared;

typedef struct file_batch {
    skv_store *store;
    skv_batch *batch;
    prepared *items;
    size_t count, bytes;
    to_sync files[RECORDS_MAX]; /* one an item */
    to_sync folders[RECORDS_MAX];
    size_t folder_count;
    bool has_old_files;
    bool is_crowded; /* half of the descriptors that the process may have are in use */
} file_batch;

/* Returns true for one name, and for the names of a folder and of a key below it. */
static bool are_related(const skv_key *a, const skv_key *b)
{
    size_t len = a->len < b->len ? a->len : b->len;

    return memcmp(a->path, b->path, len) == 0 && (a->path[len] == '\0' || a->path[len] == '/') &&
           (b->path[len] == '\0' || b->path[len] == '/');
}

static bool depends_on_prepared(const file_batch *b, const skv_key *key)
{
    for (size_t i = 0; i < b->count; i++)
        if (are_related(key, &b->items[i].record->key))
            return true;
    return false;
}

/* Returns the length of the key's folder, with the slash. */
static size_t folder_len(const skv_key *key)
{
    const char *slash = memrchr(key->path, '/', key->len);

    return slash ? (size_t)(slash - key->path) + 1 : 0;
}

/* Returns the first write in the key's folder, or NULL. */
static const skv_write *find_sibling(const file_batch *b, const skv_key *key)
{
    size_t len = folder_len(key);

    for (size_t i = 0; i < b->count; i++) {
        const prepared *item = &b->items[i];

        if (!item->write.sibling && folder_len(&item->record->key) == len &&
            memcmp(item->record->key.path, key->path, len) == 0)
            return &item->write;
    }
    return NULL;
}

static void end_item(prepared *item)
{
    skv_write_end(&item->write);
    skv_file_end(&item->call);
}

/* Returns true if the record needs room that others of the batch take: two files a key, until they replace old ones. */
static bool lacks_room(const skv_batch *batch, size_t others)
{
    return others > 0 && batch->each->status == SKV_FULL;
}

/* Returns true if half of the descriptors that the process may have are in use: a new one has the lowest free number.
 * The others are for other threads, which may run batches, too. */
static bool is_crowded(int new_descriptor)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)new_descriptor >= limit.rlim_cur / 2;
}

/* Prepares the put of a record, or decides the record. Returns false if it has to be put by itself. */
static bool prepare_record(file_batch *b, skv_record *record)
{
    prepared *item = &b->items[b->count];
    skv_file_call *call = &item->call;
    bool is_alone;

    if (depends_on_prepared(b, &record->key))
        return false;
    item->record = record;
    item->deadline = skv_batch_deadline(b->batch);
    skv_write_begin(&item->write, call, find_sibling(b, &record->key));
    if (skv_file_begin(call, b->store, &record->key, &item->deadline, b->batch->each) == SKV_OK) {
        call->args = &record->put;
        call->is_batched = true;
        if (skv_write_prepare(&item->write) == SKV_OK && item->write.temp.fd >= 0) {
            /* The disk starts with this file while the next ones are written. Where that fails, the sync does it. */
            (void)sync_file_range(item->write.temp.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
            b->files[b->count].fd = item->write.temp.fd;
            b->bytes += record->put.document_len;
            b->has_old_files |= item->write.old >= 0;
            b->is_crowded = is_crowded(item->write.temp.fd);
            b->count++;
            return true;
        }
    }
    /* The other records hold descriptors, too. */
    is_alone =
        call->is_stale || lacks_room(b->batch, b->count) || (b->count > 0 && b->batch->each->status == SKV_UNAVAILABLE);
    if (!is_alone)
        skv_batch_settle(b->batch, record);
    end_item(item);
    return !is_alone;
}

/* Returns the sync of an item's folder, which may be a new one. */
static to_sync *sync_of_folder(file_batch *b, const prepared *item)
{
    size_t i = 0;

    while (i < b->folder_count && b->folders[i].fd != item->write.folder)
        i++;
    if (i == b->folder_count)
        b->folders[b->folder_count++].fd = item->write.folder;
    return &b->folders[i];
}

/* Gives each synced file the key's name. */
static void name_items(file_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        prepared *item = &b->items[i];

        skv_reply_reset(b->batch->each);
        if (b->files[i].error_number)
            skv_write_fail(&item->call, b->files[i].error_number);
        else if (skv_write_name(&item->write) == SKV_OK)
            sync_of_folder(b, item);
        if (b->batch->each->status != SKV_OK && !lacks_room(b->batch, b->count - 1))
            skv_batch_settle(b->batch, item->record);
    }
}

static void decide_named_items(file_batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        prepared *item = &b->items[i];
        int error_number;

        if (!item->write.is_named)
            continue;
        skv_reply_reset(b->batch->each);
        b->batch->each->number = 1;
        error_number = sync_of_folder(b, item)->error_number;
        if (error_number)
            skv_write_fail(&item->call, error_number);
        skv_batch_settle(b->batch, item->record);
    }
}

static void sync_one(void *argument, size_t index)
{
    to_sync *one = (to_sync *)argument + index;

    one->error_number = fsync(one->fd) < 0 ? errno : 0;
}

static void close_old_file(void *argument, size_t index)
{
    skv_write *write = &((prepared *)argument)[index].write;

    skv_lock_close(write->old);
    write->old = -1;
}

/*
 * Writes what is prepared. Puts the records that have lost a race, or lack room, by themselves.
 *
 * Several files are synced, and closed, at once, so that the kernel and the disk combine what they write. The last
 * close of an old file frees its blocks, and waits for the disk if it is told so (the mount option discard).
 */
static void write_prepared(file_batch *b)
{
    skv_thread_each(b->count, sync_one, b->files);
    name_items(b);
    skv_thread_each(b->folder_count, sync_one, b->folders);
    decide_named_items(b);
    if (b->has_old_files)
        skv_thread_each(b->count, close_old_file, b->items);
    for (size_t i = b->count; i > 0; i--)
        end_item(&b->items[i - 1]);
    for (size_t i = 0; i < b->count && b->batch->status == SKV_OK; i++)
        if (!b->items[i].record->is_decided)
            skv_batch_run_one(b->batch, b->store, b->items[i].record);
    b->count = b->bytes = b->folder_count = 0;
    b->has_old_files = b->is_crowded = false;
}

void skv_file_put_many(skv_store *store, skv_batch *batch)
{
    size_t max = batch->count < RECORDS_MAX ? batch->count : RECORDS_MAX;
    file_batch b = {.store = store, .batch = batch, .items = skv_alloc_zeroed(max, sizeof *b.items)};

    if (!b.items) {
        skv_fail_memory(batch->each);
        skv_batch_stop(batch);
        return;
    }
    for (size_t i = 0; i < batch->count && batch->status == SKV_OK; i++) {
        skv_record *record = &batch->records[i];
        bool is_alone = !record->is_decided && !prepare_record(&b, record);

        if (is_alone || b.count == max || b.bytes >= BYTES_MAX || b.is_crowded)
            write_prepared(&b);
        if (is_alone && batch->status == SKV_OK)
            skv_batch_run_one(batch, store, record);
    }
    write_prepared(&b);
    skv_free(b.items);
}
