/* made.h - makes secrets in tests. */
#ifndef SKV_TEST_MADE_H
#define SKV_TEST_MADE_H

#include "base/buf.h"
#include "json_text.h"
#include "simpkv_secret.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdatomic.h>

/* The reply of the calls. */
static skv_reply *result;

/* Makes a secret by a request, which is freed. Returns the object, which the caller owns, or NULL. */
static inline json_t *made_of(json_t *request)
{
    char *text = json_dumps(request, 0);
    skv_status status = skv_secret_make(text, strlen(text), result);

    free(text);
    json_decref(request);
    return status == SKV_OK ? json_of(skv_reply_data(result)) : NULL;
}

/* The same for JSON with ' for ". */
static inline json_t *made(const char *request)
{
    return made_of(json_of(request));
}

/* Checks that a request was SKV_INVALID, with a message that has `part`. */
static inline void check_refused(const json_t *object, const char *part)
{
    CHECK(!object);
    CHECK_STATUS(result, SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), part);
}

static inline void refused(const char *request, const char *part)
{
    check_refused(made(request), part);
}

/* Return the secret, and what belongs to it; "" if it is missing. */
static inline const char *value_of(const json_t *object)
{
    const char *text = json_string_value(json_object_get(object, "value"));

    return text ? text : "";
}

static inline const char *part_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(object, "parts"), name));

    return text ? text : "";
}

/* In chaos, only one in so many of the thousands of allocations of libcrypto can fail, each run another one. */
#define SAMPLE 13

/* The memory of libcrypto: skv_alloc() fails when the test says so. */
static inline void *alloc_for_libcrypto(size_t size, const char *file, int line)
{
    static atomic_uint count;

    (void)file, (void)line;
    return count++ % SAMPLE ? malloc(size) : skv_alloc(size);
}

static inline void *realloc_for_libcrypto(void *memory, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return realloc(memory, size);
}

static inline void free_for_libcrypto(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    skv_free(memory);
}

/* Lets the allocations of libcrypto fail in chaos as well. Must come before the first of them. */
static inline void share_memory_with_libcrypto(void)
{
    CHECK(CRYPTO_set_mem_functions(alloc_for_libcrypto, realloc_for_libcrypto, free_for_libcrypto) == 1);
}

/* For chaos: returns true if the call succeeds. Otherwise memory has run out: libcrypto does not say why it fails, and
 * then neither does simpkv. The caller owns the reply, which is NULL after a failure. */
static inline bool succeeds_in_chaos(skv_status (*call)(const char *text, size_t len, skv_reply *reply),
                                     const char *text, skv_reply **reply)
{
    skv_status status;

    *reply = skv_reply_new();
    status = *reply ? call(text, strlen(text), *reply) : SKV_NOMEM;
    ERR_clear_error();
    if (status == SKV_OK)
        return true;
    CHECK(status == SKV_NOMEM || status == SKV_UNAVAILABLE || status == SKV_INVALID);
    CHECK(!*reply || skv_reply_size(*reply) == 0);
    skv_reply_free(*reply);
    *reply = NULL;
    return false;
}

#endif
