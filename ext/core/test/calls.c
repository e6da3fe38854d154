#include "calls.h"

#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

skv_store *store;
skv_reply *reply;

static atomic_long made;

long calls_made(void)
{
    return made;
}

int put_if(const char *key, const char *document, int condition, const char *expect)
{
    made++;
    return skv_put(store, key, strlen(key), document, strlen(document), condition, expect, expect ? strlen(expect) : 0,
                   LONG_MS, NULL, reply);
}

int put(const char *key, const char *document)
{
    return put_if(key, document, SKV_PUT_ANY, NULL);
}

int get_within(const char *key, int64_t timeout_ms)
{
    made++;
    return skv_get(store, key, strlen(key), SKV_GET_ANY, timeout_ms, NULL, reply);
}

int get(const char *key)
{
    return get_within(key, LONG_MS);
}

int del(const char *key)
{
    made++;
    return skv_delete(store, key, strlen(key), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, reply);
}

int del_if(const char *key, const char *expect)
{
    made++;
    return skv_delete(store, key, strlen(key), SKV_PUT_EXPECT, expect, strlen(expect), LONG_MS, NULL, reply);
}

int create_folder(const char *folder)
{
    made++;
    return skv_create_folder(store, folder, strlen(folder), LONG_MS, NULL, reply);
}

int delete_folder(const char *folder)
{
    made++;
    return skv_delete_folder(store, folder, strlen(folder), LONG_MS, NULL, reply);
}

int deletetree(const char *folder)
{
    made++;
    return skv_deletetree(store, folder, strlen(folder), LONG_MS, NULL, reply);
}

int64_t kind(const char *key)
{
    made++;
    return skv_exists(store, key, strlen(key), LONG_MS, NULL, reply) == SKV_OK ? skv_reply_number(reply) : -1;
}

int describe(const char *key, int flags)
{
    made++;
    return skv_stat(store, key, strlen(key), flags, LONG_MS, NULL, reply);
}

void get_gives(const char *key, const char *document)
{
    get(key);
    if (CHECK_STATUS(reply, SKV_OK))
        CHECK_STR(skv_reply_data(reply), document);
}

void put_gives(const char *key, const char *document, int64_t number)
{
    put(key, document);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

void del_if_gives(const char *key, const char *expect, int64_t number)
{
    del_if(key, expect);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

void create_folder_gives(const char *folder, int64_t number)
{
    create_folder(folder);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

void delete_folder_gives(const char *folder, int64_t number)
{
    delete_folder(folder);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

#define RECORDS 64
typedef char record[256];

size_t next_record(size_t at, skv_page_record *each)
{
    return skv_page_read(skv_reply_data(reply) + at, skv_reply_size(reply) - at, each);
}

/* Adds the records of a page. */
static size_t add_records(record *records, size_t count)
{
    skv_page_record each;

    for (size_t at = 0, size; count < RECORDS && (size = next_record(at, &each)) > 0; at += size)
        snprintf(records[count++], sizeof *records, "%c%.*s%s%.*s ", each.kind, (int)each.name_len, each.name,
                 each.kind == 'f' ? "" : "=", each.kind == 'k' ? (int)each.body_len : 0, each.body);
    return count;
}

const char *listed(const char *folder)
{
    return listed_within(folder, LONG_MS);
}

/* Closes the list. */
static const char *records_of(skv_list *list, int64_t timeout_ms)
{
    static char text[RECORDS * sizeof(record)];
    static record records[RECORDS];
    size_t count = 0;

    made++;
    text[0] = '\0';
    while (list && skv_list_next(list, timeout_ms, NULL, reply) == SKV_OK)
        count = add_records(records, count);
    skv_list_close(list);
    if (skv_reply_status(reply) != SKV_END)
        return skv_status_name(skv_reply_status(reply));
    qsort(records, count, sizeof *records, (int (*)(const void *, const void *))strcmp);
    for (size_t i = 0; i < count; i++)
        strcat(text, records[i]);
    return text;
}

const char *listed_within(const char *folder, int64_t timeout_ms)
{
    return records_of(skv_list_open(store, folder, strlen(folder), timeout_ms, NULL, reply), timeout_ms);
}

static const char *tree_with(const char *folder, int flags)
{
    return records_of(skv_tree_open(store, folder, strlen(folder), flags, LONG_MS, NULL, reply), LONG_MS);
}

const char *tree_of(const char *folder)
{
    return tree_with(folder, 0);
}

const char *names_below(const char *folder)
{
    return tree_with(folder, SKV_TREE_NAMES);
}

const char *names_of_one_level(const char *folder)
{
    return tree_with(folder, SKV_TREE_NAMES | SKV_TREE_ONE_LEVEL);
}

int count_of(skv_list *list)
{
    int count = 0;

    made++;
    while (list && skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK)
        count += (int)skv_reply_number(reply);
    skv_list_close(list);
    return skv_reply_status(reply) == SKV_END ? count : -(int)skv_reply_status(reply);
}
