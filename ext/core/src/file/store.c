/* The file store keeps one file a key. It holds no descriptor between calls, and closing it does no I/O. */
#include "file/store.h"

#include "file/key.h"
#include "file/list.h"
#include "file/path.h"
#include "file/watch.h"
#include "name/key.h"
#include "store/batch.h"

#include <string.h>

static void close_file_store(skv_store *store)
{
    skv_free(store);
}

static skv_status run_file_call(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                                skv_reply *reply, skv_status (*run)(skv_file_call *call))
{
    skv_file_call call;

    if (skv_file_begin(&call, store, key, deadline, reply) == SKV_OK) {
        call.args = args;
        run(&call);
    }
    skv_file_end(&call);
    return reply->status;
}

static skv_status get_from_file(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline,
                                skv_reply *reply)
{
    (void)flags;
    return run_file_call(store, key, NULL, deadline, reply, skv_key_read);
}

static skv_status exists_in_files(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply)
{
    return run_file_call(store, key, NULL, deadline, reply, skv_key_kind);
}

static skv_status put_into_file(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                                skv_reply *reply)
{
    return run_file_call(store, key, args, deadline, reply, skv_key_write);
}

static skv_status delete_from_files(skv_store *store, const skv_key *key, const skv_put_args *args,
                                    skv_deadline *deadline, skv_reply *reply)
{
    return run_file_call(store, key, args, deadline, reply, skv_key_delete);
}

static skv_status create_folder_in_files(skv_store *store, const skv_key *folder, skv_deadline *deadline,
                                         skv_reply *reply)
{
    return run_file_call(store, folder, NULL, deadline, reply, skv_key_create_folder);
}

static skv_status delete_folder_in_files(skv_store *store, const skv_key *folder, skv_deadline *deadline,
                                         skv_reply *reply)
{
    return run_file_call(store, folder, NULL, deadline, reply, skv_key_delete_folder);
}

static skv_status deletetree_in_files(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply)
{
    return run_file_call(store, folder, NULL, deadline, reply, skv_tree_delete);
}

static const skv_store_ops ops = {
    .close = close_file_store,
    .get = get_from_file,
    .exists = exists_in_files,
    .stat = skv_file_stat,
    .put = put_into_file,
    .del = delete_from_files,
    .create_folder = create_folder_in_files,
    .delete_folder = delete_folder_in_files,
    .deletetree = deletetree_in_files,
    .list_open = skv_file_list_open,
    .list_next = skv_file_list_next,
    .list_close = skv_file_list_close,
    .changes_open = skv_file_changes_open,
    .changes_next = skv_file_changes_next,
    .changes_close = skv_file_changes_close,
};

static skv_status check_file_options(const char *options, size_t options_len, skv_reply *reply)
{
    for (const char *name = options; name < options + options_len;) {
        const char *value = name + strlen(name) + 1;

        if (strcmp(name, "root_path") != 0 && strcmp(name, "follow_links") != 0)
            return skv_fail(reply, SKV_INVALID,
                            "unknown option '%s' of a store of type 'file': expected 'root_path' or 'follow_links'",
                            skv_quoted(name, strlen(name)).text);
        name = value + strlen(value) + 1;
    }
    return SKV_OK;
}

/* Makes a store, with empty segments removed from the path. */
static skv_file_store *new_file_store(const char *root_path, bool follow_links)
{
    size_t size = strlen(root_path) + 1, len, used = 0;
    const char *rest = root_path, *segment;
    skv_file_store *store = skv_alloc(sizeof *store + size);

    if (!store)
        return NULL;
    store->store.ops = &ops;
    store->follow_links = follow_links;
    while (skv_key_next(&rest, root_path + size - 1, &segment, &len)) {
        store->root_path[used++] = '/';
        memcpy(store->root_path + used, segment, len);
        used += len;
    }
    store->root_path[used] = '\0';
    return store;
}

skv_store *skv_file_open(const char *options, size_t options_len, skv_reply *reply)
{
    const char *root_path = skv_option(options, options_len, "root_path");
    const char *links = skv_option(options, options_len, "follow_links");
    bool follow_links = true;
    skv_file_store *store;

    if (check_file_options(options, options_len, reply) != SKV_OK)
        return NULL;
    if (!root_path || root_path[0] != '/') {
        skv_fail(reply, SKV_INVALID, "a store of type 'file' needs 'root_path', an absolute path");
        return NULL;
    }
    if (strlen(root_path) >= PATH_MAX) {
        skv_fail(reply, SKV_TOO_LARGE, "'root_path' has more than %d bytes", PATH_MAX - 1);
        return NULL;
    }
    if (links && !skv_option_flag(links, &follow_links)) {
        skv_fail(reply, SKV_INVALID, "option 'follow_links' of a store of type 'file' must be 'true' or 'false'");
        return NULL;
    }
    store = new_file_store(root_path, follow_links);
    if (!store)
        skv_fail_memory(reply);
    else if (skv_root_prepare(store->root_path, reply) == SKV_OK)
        return &store->store;
    skv_free(store);
    return NULL;
}
