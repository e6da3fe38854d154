/* page.c - decrypts the documents of a page of a list. */
#include "base/record.h"
#include "crypt/decrypt.h"
#include "name/key.h"

#include <string.h>

typedef struct page_call {
    skv_decryption decryption;
    skv_span backend;
    int flags;
    skv_buf path; /* of the record, whose first `folder` bytes are those of the folder */
    size_t folder;
    skv_reply *out;  /* the page */
    skv_reply *each; /* the failure of a record */
} page_call;

/* Appends a record with the name of another one. */
static void put_record(skv_buf *page, char kind, const skv_page_record *named, const char *body, size_t body_len)
{
    skv_page_put(page, kind, named->name, named->name_len, body, body_len);
}

static bool has_plain_name(const skv_page_record *record)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._:/-";

    for (size_t i = 0; i < record->name_len; i++)
        if (!record->name[i] || !strchr(allowed, record->name[i]))
            return false;
    return true;
}

static skv_status open_record(page_call *call, const skv_page_record *record, const skv_jwe *jwe)
{
    skv_buf *data = &call->out->data;
    size_t start = data->len;
    skv_place place;

    skv_buf_truncate(&call->path, call->folder);
    skv_buf_put(&call->path, record->name, record->name_len);
    if (skv_buf_failed(&call->path))
        return skv_fail_memory(call->each);
    place = (skv_place){call->backend, {call->path.bytes, call->path.len}};
    put_record(data, 'k', record, "", 0);
    if (skv_buf_failed(data))
        return skv_reply_done(call->out);
    if (skv_decryption_run(&call->decryption, &place, jwe, data, call->each) != SKV_OK) {
        skv_buf_truncate(data, start);
        return call->each->status;
    }
    skv_page_end(data, start);
    return SKV_OK;
}

static void decrypt_document(page_call *call, const skv_page_record *record)
{
    skv_buf *data = &call->out->data;
    skv_jwe jwe;

    if (skv_jwe_find((skv_span){record->body, record->body_len}, &jwe, call->each) != SKV_OK)
        return;
    if (jwe.header.bytes && call->flags & SKV_PAGE_PLAIN_NAMES && !has_plain_name(record))
        put_record(data, 'x', record, record->body, record->body_len);
    else if (jwe.header.bytes)
        open_record(call, record, &jwe);
    else if (call->flags & SKV_PAGE_ENCRYPTED_ONLY)
        skv_fail(call->each, SKV_MALFORMED,
                 "its document is not encrypted, which 'encrypted_only' requires, or the estate: a process with other "
                 "options may have stored it. Correct them, read it, and run 'simpkv rekey'");
    else
        put_record(data, 'k', record, record->body, record->body_len);
}

static void decrypt_record(page_call *call, const skv_page_record *record)
{
    skv_reply_reset(call->each);
    if (record->kind == 'k')
        decrypt_document(call, record);
    else
        put_record(&call->out->data, record->kind, record, record->body, record->body_len);
    if (call->each->status == SKV_NOMEM)
        skv_fail_memory(call->out);
    else if (call->each->status != SKV_OK)
        put_record(&call->out->data, 'e', record, call->each->message, strlen(call->each->message));
}

static void decrypt_records(page_call *call, skv_span page)
{
    skv_page_record record;
    int64_t count = 0;

    for (size_t at = 0, size; at < page.len && call->out->status == SKV_OK; at += size) {
        size = skv_page_read(page.bytes + at, page.len - at, &record);
        if (!size) {
            skv_fail(call->out, SKV_INVALID, "this is not a page of a list");
            return;
        }
        decrypt_record(call, &record);
        count++;
    }
    if (skv_reply_done(call->out) == SKV_OK)
        call->out->number = count;
}

/* Puts the folder at the beginning of the path of each record. */
static skv_status set_folder(page_call *call, const char *folder, size_t len)
{
    char path[SKV_KEY_MAX + 1];
    size_t path_len;

    if (skv_key_normalise("", 0, folder, len, path, &path_len, call->out) != SKV_OK)
        return call->out->status;
    skv_buf_put(&call->path, path, path_len);
    skv_buf_put_string(&call->path, path_len ? "/" : "");
    call->folder = call->path.len;
    return skv_buf_failed(&call->path) ? skv_fail_memory(call->out) : SKV_OK;
}

skv_status skv_keyring_decrypt_page(skv_keyring *keyring, const char *backend, size_t backend_len, const char *folder,
                                    size_t folder_len, int flags, const char *page, size_t page_len, skv_reply *reply)
{
    page_call call = {.backend = {backend, backend_len}, .flags = flags, .out = reply};

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!keyring || !backend || !folder || (!page && page_len))
        return skv_fail(reply, SKV_INVALID, "the keyring, the backend, the folder or the page is NULL");
    skv_buf_init(&call.path, SIZE_MAX);
    call.each = skv_reply_new();
    if (!call.each)
        skv_fail_memory(reply);
    else if (set_folder(&call, folder, folder_len) == SKV_OK) {
        if (skv_decryption_begin(&call.decryption, keyring, reply) == SKV_OK)
            decrypt_records(&call, (skv_span){page, page_len});
        skv_decryption_end(&call.decryption);
    }
    skv_reply_free(call.each);
    skv_buf_free(&call.path);
    return reply->status;
}
