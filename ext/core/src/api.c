#include "file/store.h"
#include "ldap/store.h"
#include "name/key.h"
#include "store/count.h"

#include <string.h>

/* Checks that the list consists of pairs, each part followed by a NUL, and that no name comes twice. */
static skv_status check_options(const char *options, size_t options_len, skv_reply *reply)
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

static const struct {
    const skv_option_table *options;
    skv_store *(*open)(const char *options, size_t options_len, skv_reply *reply);
} types[] = {{&skv_file_options, skv_file_open}, {&skv_ldap_options, skv_ldap_open}};

#define TYPES (sizeof types / sizeof *types)

skv_status skv_options(skv_reply *reply)
{
    json_t *tree;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    tree = json_object();
    for (size_t i = 0; i < TYPES; i++)
        skv_json_put(&tree, types[i].options->store_type, skv_describe_options(types[i].options));
    return skv_json_reply(tree, reply);
}

skv_store *skv_open(const char *type, size_t type_len, const char *options, size_t options_len, skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return NULL;
    if (!type) {
        skv_fail(reply, SKV_INVALID, "the store's type is NULL");
        return NULL;
    }
    if (check_options(options, options_len, reply) != SKV_OK)
        return NULL;
    for (size_t i = 0; i < TYPES; i++)
        if (type_len == strlen(types[i].options->store_type) &&
            memcmp(type, types[i].options->store_type, type_len) == 0)
            return types[i].open(options, options_len, reply);
    skv_fail(reply, SKV_INVALID, "unknown store type '%s': expected 'file' or 'ldap'", skv_quoted(type, type_len).text);
    return NULL;
}

void skv_close(skv_store *store)
{
    if (store)
        store->ops->close(store);
}

/* The state of a call on a key or a folder. */
typedef struct key_call {
    skv_key key;
    skv_deadline deadline;
    char path[SKV_KEY_MAX + 1];
} key_call;

static skv_status begin_call(key_call *call, const skv_store *store, const char *key, size_t key_len,
                             int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    call->key = (skv_key){call->path, 0};
    if (!store || !key)
        return skv_fail(reply, SKV_INVALID, "the store or the key is NULL");
    if (skv_key_normalise("", 0, key, key_len, call->path, &call->key.len, reply) != SKV_OK)
        return reply->status;
    return skv_deadline_init(&call->deadline, timeout_ms, cancel, reply);
}

skv_status skv_get(skv_store *store, const char *key, size_t key_len, int flags, int64_t timeout_ms, skv_cancel *cancel,
                   skv_reply *reply)
{
    key_call call;
    skv_status status = begin_call(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = skv_refuse_structure(&call.key, reply)) != SKV_OK)
        return status;
    if (flags & ~(SKV_GET_LATEST | SKV_GET_STORED))
        return skv_fail(reply, SKV_INVALID, "unknown flags %d", flags);
    return store->ops->get(store, &call.key, flags, &call.deadline, reply);
}

skv_status skv_exists(skv_store *store, const char *key, size_t key_len, int64_t timeout_ms, skv_cancel *cancel,
                      skv_reply *reply)
{
    key_call call;
    skv_status status = begin_call(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    return store->ops->exists(store, &call.key, &call.deadline, reply);
}

skv_status skv_stat(skv_store *store, const char *key, size_t key_len, int flags, int64_t timeout_ms,
                    skv_cancel *cancel, skv_reply *reply)
{
    json_t *facts = NULL;
    key_call call;
    skv_status status = begin_call(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    if (flags & ~SKV_STAT_COUNT)
        return skv_fail(reply, SKV_INVALID, "unknown flags %d", flags);
    status = store->ops->stat(store, &call.key, &facts, &call.deadline, reply);
    if (status == SKV_OK && flags & SKV_STAT_COUNT && reply->number == SKV_KIND_FOLDER)
        status = skv_count_below(store, &call.key, timeout_ms, &facts, &call.deadline, reply);
    if (status == SKV_OK)
        return skv_json_reply(facts, reply);
    json_decref(facts);
    return status;
}

skv_status skv_put(skv_store *store, const char *key, size_t key_len, const char *document, size_t document_len,
                   int condition, const char *expect, size_t expect_len, int64_t timeout_ms, skv_cancel *cancel,
                   skv_reply *reply)
{
    const skv_put_args args = skv_put_args_of(document, document_len, condition, expect, expect_len);
    key_call call;
    skv_status status = begin_call(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = skv_check_put(&call.key, &args, reply)) != SKV_OK)
        return status;
    return store->ops->put(store, &call.key, &args, &call.deadline, reply);
}

skv_status skv_delete(skv_store *store, const char *key, size_t key_len, int condition, const char *expect,
                      size_t expect_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    const skv_put_args args = skv_put_args_of(NULL, 0, condition, expect, expect_len);
    key_call call;
    skv_status status = begin_call(&call, store, key, key_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || (status = skv_check_delete(&call.key, &args, reply)) != SKV_OK)
        return status;
    return store->ops->del(store, &call.key, &args, &call.deadline, reply);
}

skv_status skv_create_folder(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                             skv_cancel *cancel, skv_reply *reply)
{
    key_call call;
    skv_status status = begin_call(&call, store, folder, folder_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    if (call.key.len && !skv_key_is_root(&call.key))
        return store->ops->create_folder(store, &call.key, &call.deadline, reply);
    /* Every store has these folders; a directory may still lack the entry above them. */
    status = store->ops->exists(store, &call.key, &call.deadline, reply);
    reply->number = 0;
    return status;
}

skv_status skv_delete_folder(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                             skv_cancel *cancel, skv_reply *reply)
{
    key_call call;
    skv_status status = begin_call(&call, store, folder, folder_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    if (!call.key.len || skv_key_is_root(&call.key))
        return skv_fail(reply, SKV_INVALID, "'%s' cannot be deleted: every store has it",
                        call.key.len ? call.key.path : "/");
    return store->ops->delete_folder(store, &call.key, &call.deadline, reply);
}

skv_status skv_deletetree(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                          skv_cancel *cancel, skv_reply *reply)
{
    key_call call;
    skv_status status = begin_call(&call, store, folder, folder_len, timeout_ms, cancel, reply);

    if (status != SKV_OK)
        return status;
    if (!call.key.len)
        return skv_fail(reply, SKV_INVALID, "'/' cannot be deleted: name one of its folders");
    return store->ops->deletetree(store, &call.key, &call.deadline, reply);
}

static skv_list *open_list(skv_store *store, const char *folder, size_t folder_len, bool tree, int flags,
                           int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    skv_list_args args = {.tree = tree && !(flags & SKV_TREE_ONE_LEVEL), .names_only = flags & SKV_TREE_NAMES};
    key_call call;

    if (begin_call(&call, store, folder, folder_len, timeout_ms, cancel, reply) != SKV_OK)
        return NULL;
    if (flags & ~(SKV_TREE_NAMES | SKV_TREE_ONE_LEVEL)) {
        skv_fail(reply, SKV_INVALID, "unknown flags %d", flags);
        return NULL;
    }
    args.folder = call.key;
    /* cppcheck-suppress returnDanglingLifetime ; the list copies what it needs of the key */
    return store->ops->list_open(store, &args, &call.deadline, reply);
}

skv_list *skv_list_open(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms, skv_cancel *cancel,
                        skv_reply *reply)
{
    return open_list(store, folder, folder_len, false, 0, timeout_ms, cancel, reply);
}

skv_list *skv_tree_open(skv_store *store, const char *folder, size_t folder_len, int flags, int64_t timeout_ms,
                        skv_cancel *cancel, skv_reply *reply)
{
    return open_list(store, folder, folder_len, true, flags, timeout_ms, cancel, reply);
}

skv_status skv_list_next(skv_list *list, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    skv_deadline deadline;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!list)
        return skv_fail(reply, SKV_INVALID, "the list is NULL");
    if (skv_deadline_init(&deadline, timeout_ms, cancel, reply) != SKV_OK)
        return reply->status;
    return list->store->ops->list_next(list, &deadline, reply);
}

void skv_list_close(skv_list *list)
{
    if (list)
        list->store->ops->list_close(list);
}

/* ---- Changes ---- */

/* Copies a cookie, which is printable ASCII. */
static skv_status take_cookie(char cookie[SKV_COOKIE_MAX + 1], const char *since, size_t len, skv_reply *reply)
{
    if (len > SKV_COOKIE_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the cookie has %zu bytes: %d are allowed", len, SKV_COOKIE_MAX);
    for (size_t i = 0; i < len; i++)
        if (since[i] <= ' ' || since[i] > '~')
            return skv_fail(reply, SKV_INVALID, "this is not a cookie that a watch has printed");
    memcpy(cookie, since, len);
    cookie[len] = '\0';
    return SKV_OK;
}

skv_changes *skv_changes_open(skv_store *store, const char *folder, size_t folder_len, const char *since,
                              size_t since_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    char cookie[SKV_COOKIE_MAX + 1];
    skv_changes_args args = {.since = since ? cookie : NULL};
    key_call call;

    if (begin_call(&call, store, folder, folder_len, timeout_ms, cancel, reply) != SKV_OK ||
        (since && take_cookie(cookie, since, since_len, reply) != SKV_OK))
        return NULL;
    args.folder = call.key;
    /* cppcheck-suppress returnDanglingLifetime ; the handle copies what it needs of the arguments */
    return store->ops->changes_open(store, &args, &call.deadline, reply);
}

skv_status skv_changes_next(skv_changes *changes, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    skv_deadline deadline;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!changes)
        return skv_fail(reply, SKV_INVALID, "the changes are NULL");
    if (skv_deadline_init(&deadline, timeout_ms, cancel, reply) != SKV_OK)
        return reply->status;
    return changes->store->ops->changes_next(changes, &deadline, reply);
}

void skv_changes_close(skv_changes *changes)
{
    if (changes)
        changes->store->ops->changes_close(changes);
}

/* ---- Entries ---- */

#define ENTRY_VERSION_MAX 63

typedef struct entry_call {
    skv_entry_args args;
    skv_deadline deadline;
    char dn[SKV_ENTRY_DN_MAX + 1], version[ENTRY_VERSION_MAX + 1];
} entry_call;

static skv_status check_entry_dn(const char *dn, size_t dn_len, skv_reply *reply)
{
    if (!dn)
        return skv_fail(reply, SKV_INVALID, "the DN is NULL");
    if (dn_len > SKV_ENTRY_DN_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the DN has %zu bytes: %d are allowed", dn_len, SKV_ENTRY_DN_MAX);
    if (memchr(dn, '\0', dn_len) || !skv_is_utf8(dn, dn_len))
        return skv_fail(reply, SKV_INVALID, "the DN holds a NUL byte, or is not UTF-8");
    return SKV_OK;
}

/* Checks a list of groups of `size` texts, of which only the last one may be empty, and counts its texts. */
static skv_status check_entry_texts(const char *texts, size_t len, size_t size, size_t *count, skv_reply *reply)
{
    size_t index = 0;

    if (len && (!texts || texts[len - 1] != '\0'))
        return skv_fail(reply, SKV_INVALID, "the list of attributes does not end in NUL");
    if (len > SKV_ENTRY_LIST_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the list of attributes has %zu bytes: %d are allowed", len,
                        SKV_ENTRY_LIST_MAX);
    for (size_t at = 0; at < len; at += strlen(texts + at) + 1, index++)
        if (!texts[at] && (size == 1 || index % size < size - 1))
            return skv_fail(reply, SKV_INVALID, "an attribute has no name");
    if (size > 1 && (!index || index % size))
        return skv_fail(reply, SKV_INVALID, "the list of attributes and values is empty, or a value is missing");
    if (index > SKV_ENTRY_TEXTS_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the list of attributes has %zu texts: %d are allowed", index,
                        SKV_ENTRY_TEXTS_MAX);
    *count = index;
    return SKV_OK;
}

/* Copies a version, which becomes a part of a filter. */
static skv_status take_entry_version(entry_call *call, const char *version, size_t len, skv_reply *reply)
{
    static const char allowed[] = "0123456789ABCDEFabcdefZz.#";

    for (size_t i = 0; i < len; i++)
        if (!version || !version[i] || !strchr(allowed, version[i]) || len > ENTRY_VERSION_MAX)
            return skv_fail(reply, SKV_INVALID, "the version is not the value of an entryCSN");
    if (len)
        memcpy(call->version, version, len);
    call->version[len] = '\0';
    return SKV_OK;
}

static skv_status begin_entry(entry_call *call, const skv_store *store, const char *dn, size_t dn_len,
                              int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!store)
        return skv_fail(reply, SKV_INVALID, "the store is NULL");
    if (!store->ops->entry_read)
        return skv_fail(reply, SKV_INVALID, "only a store of type 'ldap' has entries");
    if (skv_deadline_init(&call->deadline, timeout_ms, cancel, reply) != SKV_OK ||
        check_entry_dn(dn, dn_len, reply) != SKV_OK)
        return reply->status;
    memcpy(call->dn, dn, dn_len);
    call->dn[dn_len] = '\0';
    call->version[0] = '\0';
    call->args = (skv_entry_args){.dn = call->dn, .version = call->version};
    return SKV_OK;
}

/* Takes a list of groups of `size` texts into the arguments. */
static skv_status take_entry_texts(entry_call *call, const char *texts, size_t len, size_t size, skv_reply *reply)
{
    call->args.texts = texts;
    return check_entry_texts(texts, len, size, &call->args.count, reply);
}

skv_status skv_entry_read(skv_store *store, const char *dn, size_t dn_len, const char *attributes,
                          size_t attributes_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status == SKV_OK)
        status = take_entry_texts(&call, attributes, attributes_len, 1, reply);
    return status == SKV_OK ? store->ops->entry_read(store, &call.args, &call.deadline, reply) : status;
}

/* Takes a filter, a list of one text or of none. */
static skv_status take_entry_filter(entry_call *call, const char *filter, size_t len, skv_reply *reply)
{
    size_t count;

    if (check_entry_texts(filter, len, 1, &count, reply) != SKV_OK)
        return reply->status;
    if (count > 1 || (len && !skv_is_utf8(filter, len)))
        return skv_fail(reply, SKV_INVALID, "the filter is more than one text, or is not UTF-8");
    call->args.filter = count ? filter : NULL;
    return SKV_OK;
}

skv_status skv_entry_list(skv_store *store, const char *dn, size_t dn_len, const char *attributes,
                          size_t attributes_len, const char *filter, size_t filter_len, int64_t timeout_ms,
                          skv_cancel *cancel, skv_reply *reply)
{
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status == SKV_OK)
        status = take_entry_filter(&call, filter, filter_len, reply);
    if (status == SKV_OK)
        status = take_entry_texts(&call, attributes, attributes_len, 1, reply);
    return status == SKV_OK ? store->ops->entry_list(store, &call.args, &call.deadline, reply) : status;
}

skv_status skv_entry_add(skv_store *store, const char *dn, size_t dn_len, const char *values, size_t values_len,
                         int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status == SKV_OK)
        status = take_entry_texts(&call, values, values_len, 2, reply);
    return status == SKV_OK ? store->ops->entry_add(store, &call.args, &call.deadline, reply) : status;
}

skv_status skv_entry_modify(skv_store *store, const char *dn, size_t dn_len, const char *changes, size_t changes_len,
                            const char *version, size_t version_len, int64_t timeout_ms, skv_cancel *cancel,
                            skv_reply *reply)
{
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status == SKV_OK)
        status = take_entry_version(&call, version, version_len, reply);
    if (status == SKV_OK)
        status = take_entry_texts(&call, changes, changes_len, 3, reply);
    return status == SKV_OK ? store->ops->entry_modify(store, &call.args, &call.deadline, reply) : status;
}

skv_status skv_entry_delete(skv_store *store, const char *dn, size_t dn_len, const char *version, size_t version_len,
                            int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status == SKV_OK)
        status = take_entry_version(&call, version, version_len, reply);
    return status == SKV_OK ? store->ops->entry_delete(store, &call.args, &call.deadline, reply) : status;
}

/* Servers take an empty password, or an empty DN, for an anonymous bind. */
static skv_status check_password(size_t dn_len, const char *password, size_t len, skv_reply *reply)
{
    if (dn_len == 0)
        return skv_fail(reply, SKV_INVALID, "the DN is empty");
    if (!password || !len || memchr(password, '\0', len))
        return skv_fail(reply, SKV_INVALID, "the password is empty, or holds a NUL byte");
    if (len > SKV_ENTRY_DN_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the password has %zu bytes: %d are allowed", len, SKV_ENTRY_DN_MAX);
    return SKV_OK;
}

skv_status skv_entry_password(skv_store *store, const char *dn, size_t dn_len, const char *password,
                              size_t password_len, int operation, int64_t timeout_ms, skv_cancel *cancel,
                              skv_reply *reply)
{
    char copy[SKV_ENTRY_DN_MAX + 1];
    entry_call call;
    skv_status status = begin_entry(&call, store, dn, dn_len, timeout_ms, cancel, reply);

    if (status != SKV_OK || check_password(dn_len, password, password_len, reply) != SKV_OK)
        return reply ? reply->status : status;
    memcpy(copy, password, password_len);
    copy[password_len] = '\0';
    call.args.texts = copy;
    call.args.count = password_len;
    if (operation == SKV_PASSWORD_SET)
        status = store->ops->entry_set_password(store, &call.args, &call.deadline, reply);
    else if (operation == SKV_PASSWORD_CHECK)
        status = store->ops->entry_check_password(store, &call.args, &call.deadline, reply);
    else
        status = skv_fail(reply, SKV_INVALID, "the operation %d on a password is unknown", operation);
    explicit_bzero(copy, sizeof copy);
    return status;
}
