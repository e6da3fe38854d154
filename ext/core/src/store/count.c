#include "store/count.h"

typedef struct below_counts {
    json_int_t keys, folders, unreadable;
} below_counts;

/* Counts the records of a page: see skv_list_next(). */
static void count_records(below_counts *counts, const char *page, size_t len)
{
    skv_page_record record;

    for (size_t at = 0, size; (size = skv_page_read(page + at, len - at, &record)) > 0; at += size) {
        counts->keys += record.kind == 'k';
        counts->folders += record.kind == 'f';
        counts->unreadable += record.kind == 'e';
    }
}

/* Reads the list to its end. Returns SKV_END, or the reply's failure. */
static skv_status count_pages(skv_list *list, below_counts *counts, int64_t timeout_ms, skv_deadline *deadline,
                              skv_reply *reply)
{
    const skv_store_ops *ops = list->store->ops;

    for (;;) {
        skv_reply_reset(reply);
        if (skv_deadline_init(deadline, timeout_ms, deadline->cancel, reply) != SKV_OK ||
            ops->list_next(list, deadline, reply) != SKV_OK)
            return reply->status;
        count_records(counts, skv_reply_data(reply), skv_reply_size(reply));
    }
}

skv_status skv_count_below(skv_store *store, const skv_key *folder, int64_t timeout_ms, json_t **facts,
                           skv_deadline *deadline, skv_reply *reply)
{
    const skv_list_args args = {.folder = *folder, .names_only = true};
    below_counts counts = {0};
    skv_status status;
    skv_list *list;

    skv_reply_reset(reply);
    list = store->ops->list_open(store, &args, deadline, reply);
    if (!list)
        return reply->status;
    status = count_pages(list, &counts, timeout_ms, deadline, reply);
    store->ops->list_close(list);
    if (status != SKV_END)
        return status;
    skv_json_put(facts, "keys", json_integer(counts.keys));
    skv_json_put(facts, "folders", json_integer(counts.folders));
    if (counts.unreadable)
        skv_json_put(facts, "unreadable", json_integer(counts.unreadable));
    skv_reply_reset(reply);
    return SKV_OK;
}
