#include "batches.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

test_record batch[BATCH_MAX];
test_outcome outcomes[BATCH_MAX];
size_t batch_count;

void batch_clear(void)
{
    for (size_t i = 0; i < BATCH_MAX; i++) {
        free(outcomes[i].text);
        outcomes[i] = (test_outcome){0};
    }
    batch_count = 0;
}

void batch_add_bytes(const char *key, const char *document, size_t len)
{
    test_record *record = &batch[batch_count++];

    snprintf(record->key, sizeof record->key, "%s", key);
    record->document = document;
    record->document_len = len;
    record->expect = NULL;
}

void batch_add(const char *key, const char *document)
{
    batch_add_bytes(key, document, strlen(document));
}

void batch_add_expecting(const char *key, const char *document, const char *expect)
{
    batch_add(key, document);
    batch[batch_count - 1].expect = expect;
}

static size_t expect_len(const test_record *record)
{
    return record->expect ? strlen(record->expect) : 0;
}

static int condition_of(const test_record *record, int condition)
{
    return record->expect ? (condition & (SKV_PUT_IN_DOUBT | SKV_PUT_NON_UNIQUE)) | SKV_PUT_EXPECT : condition;
}

static char *append(char *p, const void *bytes, size_t len)
{
    if (len)
        memcpy(p, bytes, len);
    return p + len;
}

/* Packs the records, or with the condition -1 only their keys. The caller frees it. */
static char *pack(int condition, size_t *len)
{
    char *packed, *p;

    *len = 0;
    for (size_t i = 0; i < batch_count; i++)
        *len += 16 + strlen(batch[i].key) + batch[i].document_len + expect_len(&batch[i]);
    p = packed = malloc(*len + 1);
    for (size_t i = 0; i < batch_count; i++) {
        const test_record *record = &batch[i];
        const uint32_t numbers[] = {(uint32_t)strlen(record->key), (uint32_t)record->document_len,
                                    (uint32_t)expect_len(record), (uint32_t)condition_of(record, condition)};

        p = append(p, numbers, condition < 0 ? sizeof *numbers : sizeof numbers);
        p = append(p, record->key, numbers[0]);
        if (condition < 0)
            continue;
        p = append(p, record->document, numbers[1]);
        p = append(p, record->expect, numbers[2]);
    }
    *len = (size_t)(p - packed);
    return packed;
}

static void unpack(void)
{
    const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);
    size_t count = 0;

    for (; p < end && count < BATCH_MAX; count++) {
        test_outcome *outcome = &outcomes[count];
        int32_t status;
        uint32_t len;

        memcpy(&status, p + 1, 4);
        memcpy(&len, p + 5, 4);
        free(outcome->text);
        *outcome = (test_outcome){status, *p, len, malloc(len + 1)};
        memcpy(outcome->text, p + 9, len);
        outcome->text[len] = '\0';
        p += 9 + len;
    }
    CHECK(p == end);
    CHECK(count == batch_count);
}

int batch_put(skv_store *to, int condition, int64_t timeout_ms, skv_cancel *cancel)
{
    size_t len;
    char *packed = pack(condition, &len);
    int status = skv_put_many(to, packed, len, timeout_ms, cancel, reply);

    free(packed);
    if (status != SKV_NOMEM || skv_reply_size(reply) > 0)
        unpack();
    return status;
}

int batch_get(skv_store *from, int64_t timeout_ms, skv_cancel *cancel)
{
    size_t len;
    char *packed = pack(-1, &len);
    int status = skv_get_many(from, packed, len, timeout_ms, cancel, reply);

    free(packed);
    unpack();
    return status;
}

size_t batch_tally(int status, int number)
{
    size_t count = 0;

    for (size_t i = 0; i < batch_count; i++)
        count += outcomes[i].status == status && outcomes[i].number == number;
    return count;
}

/* Replaces the names of the two roots, which end in 0 and 1. */
static const char *masked(const char *text, char *copy, size_t size)
{
    static const char root[] = "/tmp/simpkv-many-XXXXXX/";
    char *found = copy;

    snprintf(copy, size, "%s", text);
    while ((found = strstr(found, "/tmp/simpkv-many-")) && strlen(found) > strlen(root)) {
        found += strlen(root);
        *found = '*';
    }
    return copy;
}

static void compare_outcome(size_t i, const char *text)
{
    static char mine[1 << 20], theirs[1 << 20];
    const test_outcome *outcome = &outcomes[i];

    if (CHECK((skv_status)outcome->status == skv_reply_status(reply)) &
        CHECK_STR(masked(outcome->text, mine, sizeof mine), masked(text, theirs, sizeof theirs)))
        return;
    printf("  record %zu of %zu: '%s' with %zu bytes came to %d, '%s', one by one to %d\n", i, batch_count,
           batch[i].key, batch[i].document_len, outcome->status, outcome->text, skv_reply_status(reply));
}

/* A batch of gets returns the documents of single gets, from both stores. */
static void compare_contents(skv_store *one, skv_store *many)
{
    skv_store *const stores[] = {one, many};

    CHECK(batch_get(many, LONG_MS, NULL) == SKV_OK);
    for (size_t i = 0; i < batch_count; i++)
        for (size_t j = 0; j < 2; j++) {
            int status = skv_get(stores[j], batch[i].key, strlen(batch[i].key), SKV_GET_ANY, LONG_MS, NULL, reply);

            compare_outcome(i, status == SKV_OK ? skv_reply_data(reply) : skv_reply_message(reply));
        }
}

void batch_compare(skv_store *one, skv_store *many, int condition)
{
    CHECK(batch_put(many, condition, LONG_MS, NULL) == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    for (size_t i = 0; i < batch_count; i++) {
        skv_put(one, batch[i].key, strlen(batch[i].key), batch[i].document, batch[i].document_len,
                condition_of(&batch[i], condition), batch[i].expect, expect_len(&batch[i]), LONG_MS, NULL, reply);
        compare_outcome(i, skv_reply_message(reply));
        CHECK(outcomes[i].number == skv_reply_number(reply));
    }
    compare_contents(one, many);
}
