#include "store/batch.h"

#include "name/key.h"

#include <string.h>

/* The size of a record of the reply, without its text. */
#define HEADER (1 + sizeof(int32_t) + sizeof(uint32_t))

/* The start of a packed record; for skv_get_many(), its first number. */
typedef struct packed_record {
    uint32_t key_len, document_len, expect_len, condition;
} packed_record;

/* ---- Outcomes ---- */

/* Reserves room for `len` more bytes. Returns SKV_OK, or the reason why there is none. The buffer stays usable for
 * smaller texts. */
static skv_status make_room(skv_buf *buf, size_t len)
{
    skv_status status = skv_buf_reserve(buf, len) ? SKV_OK : buf->too_large ? SKV_TOO_LARGE : SKV_NOMEM;

    buf->no_memory = buf->too_large = false;
    return status;
}

/* Keeps a text, or none if there is no room. */
static skv_status keep_text(skv_batch *batch, skv_record *record, const char *text, size_t len)
{
    skv_status status = make_room(&batch->texts, len);

    record->text = batch->texts.len;
    record->text_len = status == SKV_OK ? len : 0;
    skv_buf_put(&batch->texts, text, record->text_len);
    return status;
}

void skv_batch_decide(skv_batch *batch, skv_record *record)
{
    const skv_reply *each = batch->each;

    record->is_decided = true;
    record->status = each->status;
    record->number = each->number != 0 || (each->status == SKV_INTERRUPTED && record->put.in_doubt);
    if (each->status != SKV_OK)
        keep_text(batch, record, each->message, strlen(each->message));
    else
        record->status = keep_text(batch, record, skv_reply_data(each), each->data.len);
}

void skv_batch_stop(skv_batch *batch)
{
    if (batch->status != SKV_OK)
        return;
    batch->status = batch->each->status;
    skv_buf_put_string(&batch->why, batch->each->message);
}

/* Decides the records that were not reached or were given up. */
static void decide_rest(skv_batch *batch)
{
    const char *why = batch->why.bytes ? batch->why.bytes : "";

    for (size_t i = 0; i < batch->count; i++) {
        skv_record *record = &batch->records[i];
        bool number = record->number || record->put.in_doubt;

        if (record->is_decided)
            continue;
        skv_reply_reset(batch->each);
        skv_fail(batch->each, batch->status, number ? "'%s' may have been written: %s" : "'%s' was not reached: %s",
                 record->key.path, why);
        skv_batch_decide(batch, record);
        record->number = number && batch->status == SKV_INTERRUPTED;
    }
}

/* Packs a record, without its text if there is no room. A document that is left out makes its record a failure. */
static void pack_record(skv_batch *batch, const skv_record *record)
{
    skv_status room = make_room(&batch->packed, HEADER * batch->count + record->text_len);
    int32_t status = (int32_t)(record->status == SKV_OK && record->text_len ? room : record->status);
    uint32_t len = room == SKV_OK ? (uint32_t)record->text_len : 0;

    skv_buf_put_char(&batch->packed, (char)record->number);
    skv_buf_put(&batch->packed, &status, sizeof status);
    skv_buf_put(&batch->packed, &len, sizeof len);
    if (len)
        skv_buf_put(&batch->packed, batch->texts.bytes + record->text, len);
}

/* ---- Parsing ---- */

/* Returns the number of bytes after the start. */
static size_t body_len(const packed_record *packed)
{
    return (size_t)packed->key_len + packed->document_len + packed->expect_len;
}

/* Reads the start of a record at *p, and moves *p to the key. Returns false if the record is cut off. */
static bool read_start(const char **p, const char *end, bool puts, packed_record *packed)
{
    size_t size = puts ? sizeof *packed : sizeof packed->key_len;

    *packed = (packed_record){0};
    if ((size_t)(end - *p) < size)
        return false;
    memcpy(packed, *p, size);
    *p += size;
    return (size_t)(end - *p) >= body_len(packed);
}

/* Counts the records, and the bytes of their keys with a NUL after each. */
static skv_status measure_records(skv_batch *batch, const char *bytes, size_t len, bool puts, size_t *paths_len,
                                  skv_reply *reply)
{
    packed_record packed;

    *paths_len = 0;
    for (const char *p = bytes, *end = bytes + len; p < end; p += body_len(&packed)) {
        if (!read_start(&p, end, puts, &packed))
            return skv_fail(reply, SKV_INVALID, "record %zu is cut off", batch->count);
        *paths_len += (size_t)packed.key_len + 1;
        batch->count++;
    }
    return SKV_OK;
}

/* Returns the arguments of a put of the record, whose documents follow the key. */
static skv_put_args read_put_args(const packed_record *packed, const char *document)
{
    const char *expect = document + packed->document_len;
    skv_put_args args =
        skv_put_args_of(document, packed->document_len, (int)packed->condition, expect, packed->expect_len);

    if (args.condition != SKV_PUT_EXPECT && !args.expect_len)
        args.expect = NULL;
    return args;
}

/* Writes the key to `path`, and returns the place for the next one. Decides a record whose key or condition is invalid.
 */
static char *read_record(skv_batch *batch, skv_record *record, const char *key, size_t key_len, char *path)
{
    char text[SKV_KEY_MAX + 1];

    skv_reply_reset(batch->each);
    record->key = (skv_key){path, 0};
    record->is_decided = false;
    *path = '\0';
    if (skv_key_normalise("", 0, key, key_len, text, &record->key.len, batch->each) == SKV_OK) {
        memcpy(path, text, record->key.len + 1);
        if (record->put.document)
            skv_check_put(&record->key, &record->put, batch->each);
        else
            skv_refuse_structure(&record->key, batch->each);
    }
    if (batch->each->status != SKV_OK)
        skv_batch_decide(batch, record);
    return path + strlen(path) + 1;
}

static void read_records(skv_batch *batch, const char *bytes, const char *end, bool puts)
{
    const char *p = bytes;
    char *path = batch->paths;
    packed_record packed = {0};

    for (size_t i = 0; i < batch->count; i++, p += body_len(&packed)) {
        skv_record *record = &batch->records[i];

        read_start(&p, end, puts, &packed);
        if (puts)
            record->put = read_put_args(&packed, p + packed.key_len);
        path = read_record(batch, record, p, packed.key_len, path);
    }
}

static skv_status begin_batch(skv_batch *batch, const skv_store *store, const char *bytes, size_t len, bool puts,
                              skv_reply *reply)
{
    size_t paths_len;

    skv_buf_init(&batch->texts, SKV_DATA_MAX);
    skv_buf_init(&batch->packed, SKV_DATA_MAX);
    skv_buf_init(&batch->why, SKV_MESSAGE_MAX);
    if (!store || (!bytes && len))
        return skv_fail(reply, SKV_INVALID, "the store or the records are NULL");
    if (batch->timeout_ms < 0)
        return skv_fail(reply, SKV_INVALID, "a timeout of %lld ms is negative: give 0 or more",
                        (long long)batch->timeout_ms);
    bytes = bytes ? bytes : "";
    if (measure_records(batch, bytes, len, puts, &paths_len, reply) != SKV_OK)
        return reply->status;
    batch->records = skv_alloc_zeroed(batch->count, sizeof *batch->records);
    batch->paths = skv_alloc(paths_len);
    batch->each = skv_reply_new();
    if (!batch->records || !batch->paths || !batch->each || !skv_buf_reserve(&batch->packed, HEADER * batch->count))
        return skv_fail_memory(reply);
    read_records(batch, bytes, bytes + len, puts);
    return SKV_OK;
}

/* Moves the records into the reply, and frees the rest. */
static skv_status end_batch(skv_batch *batch, skv_reply *reply)
{
    if (reply->status == SKV_OK) {
        decide_rest(batch);
        for (size_t i = 0; i < batch->count; i++)
            pack_record(batch, &batch->records[i]);
        if (batch->status != SKV_OK)
            skv_fail(reply, batch->status, "%s", batch->why.bytes ? batch->why.bytes : "");
        skv_buf_free(&reply->data);
        reply->data = batch->packed;
    } else {
        skv_buf_free(&batch->packed);
    }
    skv_free(batch->records);
    skv_free(batch->paths);
    skv_reply_free(batch->each);
    skv_buf_free(&batch->texts);
    skv_buf_free(&batch->why);
    return reply->status;
}

/* ---- Calls ---- */

skv_deadline skv_batch_deadline(skv_batch *batch)
{
    skv_deadline deadline;

    skv_reply_reset(batch->each);
    skv_deadline_init(&deadline, batch->timeout_ms, batch->cancel, batch->each);
    return deadline;
}

void skv_batch_settle(skv_batch *batch, skv_record *record)
{
    skv_batch_decide(batch, record);
    if (batch->each->status == SKV_INTERRUPTED || batch->each->status == SKV_NOMEM)
        skv_batch_stop(batch);
}

void skv_batch_run_one(skv_batch *batch, skv_store *store, skv_record *record)
{
    skv_deadline deadline = skv_batch_deadline(batch);

    /* An operation that does not wait does not look at the cancel handle. */
    if (skv_deadline_check(&deadline) != SKV_OK)
        skv_fail(batch->each, SKV_INTERRUPTED, "interrupted");
    else if (record->put.document)
        store->ops->put(store, &record->key, &record->put, &deadline, batch->each);
    else
        store->ops->get(store, &record->key, SKV_GET_ANY, &deadline, batch->each);
    skv_batch_settle(batch, record);
}

static void run_each(skv_store *store, skv_batch *batch)
{
    for (size_t i = 0; i < batch->count && batch->status == SKV_OK; i++)
        if (!batch->records[i].is_decided)
            skv_batch_run_one(batch, store, &batch->records[i]);
}

static skv_status run_batch(skv_batch *batch, skv_store *store, const char *bytes, size_t len, bool puts,
                            skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (begin_batch(batch, store, bytes, len, puts, reply) == SKV_OK) {
        void (*many)(skv_store *, skv_batch *) = puts ? store->ops->put_many : store->ops->get_many;

        if (many)
            many(store, batch);
        else
            run_each(store, batch);
    }
    return end_batch(batch, reply);
}

skv_status skv_put_many(skv_store *store, const char *records, size_t records_len, int64_t timeout_ms,
                        skv_cancel *cancel, skv_reply *reply)
{
    skv_batch batch = {.timeout_ms = timeout_ms, .cancel = cancel};

    return run_batch(&batch, store, records, records_len, true, reply);
}

skv_status skv_get_many(skv_store *store, const char *keys, size_t keys_len, int64_t timeout_ms, skv_cancel *cancel,
                        skv_reply *reply)
{
    skv_batch batch = {.timeout_ms = timeout_ms, .cancel = cancel};

    return run_batch(&batch, store, keys, keys_len, false, reply);
}
