#include "store/store.h"

#include "base/record.h"
#include "crypt/jwe.h"

#include <string.h>

/* Half of the size of a reply: a page of a list has room for any document beside others. */
#define DOCUMENT_MAX (SKV_DATA_MAX / 2)

skv_put_args skv_put_args_of(const char *document, size_t document_len, int condition, const char *expect,
                             size_t expect_len)
{
    return (skv_put_args){.document = document,
                          .document_len = document_len,
                          .condition = condition & ~(SKV_PUT_IN_DOUBT | SKV_PUT_NON_UNIQUE | SKV_PUT_KEEP_ENCRYPTED),
                          .expect = expect,
                          .expect_len = expect_len,
                          .in_doubt = condition & SKV_PUT_IN_DOUBT,
                          .non_unique = condition & SKV_PUT_NON_UNIQUE,
                          .keep_encrypted = condition & SKV_PUT_KEEP_ENCRYPTED};
}

static skv_status check_condition(const skv_put_args *args, bool is_known, skv_reply *reply)
{
    if (!is_known)
        return skv_fail(reply, SKV_INVALID, "unknown condition %d", args->condition);
    if ((args->condition == SKV_PUT_EXPECT) != (args->expect != NULL))
        return skv_fail(reply, SKV_INVALID,
                        "an expected document comes with the condition SKV_PUT_EXPECT, and only then");
    return SKV_OK;
}

skv_status skv_check_put(const skv_key *key, const skv_put_args *args, skv_reply *reply)
{
    bool is_known = args->condition >= SKV_PUT_ANY && args->condition <= SKV_PUT_EXPECT;

    if (!args->document)
        return skv_fail(reply, SKV_INVALID, "the document is NULL");
    if (check_condition(args, is_known, reply) != SKV_OK)
        return reply->status;
    if (args->document_len > DOCUMENT_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the document has %zu bytes: %d are allowed", args->document_len,
                        DOCUMENT_MAX);
    return skv_refuse_structure(key, reply);
}

skv_status skv_check_delete(const skv_key *key, const skv_put_args *args, skv_reply *reply)
{
    bool is_known = (args->condition == SKV_PUT_ANY || args->condition == SKV_PUT_EXPECT) && !args->keep_encrypted;

    return check_condition(args, is_known, reply) == SKV_OK ? skv_refuse_structure(key, reply) : reply->status;
}

bool skv_is_expected(const skv_put_args *args, const char *document, size_t len)
{
    return len == args->expect_len && memcmp(document, args->expect, len) == 0;
}

bool skv_is_kept_encrypted(const skv_put_args *args, const char *stored, size_t len)
{
    return args->keep_encrypted && !skv_jwe_is_plain((skv_span){stored, len}) &&
           skv_jwe_is_plain((skv_span){args->document, args->document_len});
}

bool skv_key_is_root(const skv_key *key)
{
    return strcmp(key->path, "globals") == 0 || strcmp(key->path, "environments") == 0;
}

skv_status skv_refuse_structure(const skv_key *key, skv_reply *reply)
{
    if (key->len && !skv_key_is_root(key))
        return SKV_OK;
    return skv_fail(reply, SKV_IS_FOLDER, "Key specifies a folder: '%s'", key->len ? key->path : "/");
}

void skv_list_add(skv_reply *reply, char kind, const char *name, size_t name_len, const char *body, size_t body_len)
{
    skv_page_put(&reply->data, kind, name, name_len, body, body_len);
    reply->number++;
}
