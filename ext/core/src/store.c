#include "store.h"

#include "key.h"
#include "pool.h"

#include <string.h>

/* Half of what a reply holds, so that a list's page has room for any document beside others. */
#define DOCUMENT_MAX (SKV_DATA_MAX / 2)

/* Checks that the list is made of pairs, each part followed by a NUL, and that no name comes twice. */
static int check_options(const char *options, size_t options_len, skv_reply *reply)
{
    size_t nuls = 0;

    if (options_len && (!options || options[options_len - 1] != '\0'))
        return skv_fail(reply, SKV_INVALID, "the options do not end in NUL");
    for (size_t i = 0; i < options_len; i++)
        nuls += options[i] == '\0';
    if (nuls % 2)
        return skv_fail(reply, SKV_INVALID, "an option has no value, or contains a NUL byte");
    for (const char *name = options; name < options + options_len;) {
        const char *value = name + strlen(name) + 1;

        if (skv_option(options, options_len, name) != value)
            return skv_fail(reply, SKV_INVALID, "option '%s' is given twice", skv_quoted(name, strlen(name)).text);
        name = value + strlen(value) + 1;
    }
    return SKV_OK;
}

const char *skv_option(const char *options, size_t options_len, const char *name)
{
    for (const char *p = options; p < options + options_len;) {
        const char *value = p + strlen(p) + 1;

        if (strcmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

skv_store *skv_open(const char *type, size_t type_len, const char *options, size_t options_len, skv_reply *reply)
{
    if (!reply)
        return NULL;
    skv_reply_reset(reply);
    if (!type) {
        skv_fail(reply, SKV_INVALID, "the store's type is NULL");
        return NULL;
    }
    if (check_options(options, options_len, reply) != SKV_OK)
        return NULL;
    if (type_len == strlen("file") && memcmp(type, "file", type_len) == 0)
        return skv_file_open(options, options_len, reply);
    if (type_len == strlen("ldap") && memcmp(type, "ldap", type_len) == 0)
        return skv_ldap_open(options, options_len, reply);
    skv_fail(reply, SKV_INVALID, "unknown store type '%s': expected 'file' or 'ldap'", skv_quoted(type, type_len).text);
    return NULL;
}

void skv_close(skv_store *store)
{
    if (store)
        store->ops->close(store);
}

int skv_stats(skv_reply *reply)
{
    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    return skv_pool_stats(reply);
}

/* What each call on a key or folder starts with. */
typedef struct key_call {
    skv_key key;
    skv_wait wait;
    char path[SKV_KEY_MAX + 1];
} key_call;

static int begin(key_call *call, const skv_store *store, const char *key, size_t key_len, int64_t timeout_ms,
                 skv_cancel *cancel, skv_reply *reply)
{
    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    call->key = (skv_key){call->path, 0};
    if (!store || !key)
        return skv_fail(reply, SKV_INVALID, "the store or the key is NULL");
    if (skv_key_normalise("", 0, key, key_len, call->path, &call->key.len, reply) != SKV_OK)
        return reply->status;
    return skv_wait_init(&call->wait, timeout_ms, cancel, reply);
}

/* The root and its two folders are there by construction: a key cannot have their names. */
static int refuse_structure(const skv_key *key, skv_reply *reply)
{
    if (key->len && strcmp(key->path, "globals") != 0 && strcmp(key->path, "environments") != 0)
        return SKV_OK;
    return skv_fail(reply, SKV_IS_FOLDER, "Key specifies a folder: '%s'", key->len ? key->path : "/");
}

int skv_get(skv_store *store, const char *key, size_t key_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    key_call call;
    int status = begin(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = refuse_structure(&call.key, reply)) != SKV_OK)
        return status;
    return store->ops->get(store, &call.key, &call.wait, reply);
}

int skv_exists(skv_store *store, const char *key, size_t key_len, int64_t timeout_ms, skv_cancel *cancel,
               skv_reply *reply)
{
    key_call call;
    int status = begin(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    return store->ops->exists(store, &call.key, &call.wait, reply);
}

static int check_put(const skv_put_args *args, skv_reply *reply)
{
    if (!args->document)
        return skv_fail(reply, SKV_INVALID, "the document is NULL");
    if (args->condition < SKV_PUT_ANY || args->condition > SKV_PUT_EXPECT)
        return skv_fail(reply, SKV_INVALID, "unknown condition %d", args->condition);
    if ((args->condition == SKV_PUT_EXPECT) != (args->expect != NULL))
        return skv_fail(reply, SKV_INVALID,
                        "an expected document comes with the condition SKV_PUT_EXPECT, and only then");
    if (args->document_len > DOCUMENT_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the document has %zu bytes: %zu are allowed", args->document_len,
                        DOCUMENT_MAX);
    return SKV_OK;
}

int skv_put(skv_store *store, const char *key, size_t key_len, const char *document, size_t document_len, int condition,
            const char *expect, size_t expect_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    skv_put_args args = {document, document_len, condition & ~SKV_PUT_IN_DOUBT,
                         expect,   expect_len,   condition & SKV_PUT_IN_DOUBT};
    key_call call;
    int status = begin(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = check_put(&args, reply)) != SKV_OK ||
        (status = refuse_structure(&call.key, reply)) != SKV_OK)
        return status;
    return store->ops->put(store, &call.key, &args, &call.wait, reply);
}

int skv_delete(skv_store *store, const char *key, size_t key_len, int64_t timeout_ms, skv_cancel *cancel,
               skv_reply *reply)
{
    key_call call;
    int status = begin(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = refuse_structure(&call.key, reply)) != SKV_OK)
        return status;
    return store->ops->del(store, &call.key, &call.wait, reply);
}

int skv_deletetree(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms, skv_cancel *cancel,
                   skv_reply *reply)
{
    key_call call;
    int status = begin(&call, store, folder, folder_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    if (!call.key.len)
        return skv_fail(reply, SKV_INVALID, "'/' cannot be deleted: name one of its folders");
    return store->ops->deletetree(store, &call.key, &call.wait, reply);
}

skv_list *skv_list_open(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms, skv_cancel *cancel,
                        skv_reply *reply)
{
    key_call call;

    if (begin(&call, store, folder, folder_len, timeout_ms, cancel, reply) != SKV_OK)
        return NULL;
    /* cppcheck-suppress returnDanglingLifetime ; the list copies what it needs of the key */
    return store->ops->list_open(store, &call.key, &call.wait, reply);
}

int skv_list_next(skv_list *list, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    skv_wait wait;

    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    if (!list)
        return skv_fail(reply, SKV_INVALID, "the list is NULL");
    if (skv_wait_init(&wait, timeout_ms, cancel, reply) != SKV_OK)
        return reply->status;
    return list->store->ops->list_next(list, &wait, reply);
}

void skv_list_close(skv_list *list)
{
    if (list)
        list->store->ops->list_close(list);
}

void skv_list_add(skv_reply *reply, char kind, const char *name, size_t name_len, const char *body, size_t body_len)
{
    const uint32_t lengths[] = {(uint32_t)name_len, (uint32_t)body_len};

    if (name_len > UINT32_MAX || body_len > UINT32_MAX) {
        reply->data.too_large = true;
        return;
    }
    skv_buf_put_char(&reply->data, kind);
    skv_buf_put(&reply->data, lengths, sizeof lengths);
    skv_buf_put(&reply->data, name, name_len);
    skv_buf_put(&reply->data, body, body_len);
    reply->number++;
}
