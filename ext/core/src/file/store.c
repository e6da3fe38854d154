/* The file store keeps one file a key. It holds no descriptor between calls, and closing it does no I/O. */
#include "file/store.h"

#include "file/key.h"
#include "file/list.h"
#include "file/path.h"
#include "file/watch.h"
#include "file/write.h"
#include "name/key.h"

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
    .put_many = skv_file_put_many,
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

typedef struct settings {
    const char *root_path;
    bool follow_links;
} settings;

static const skv_option_row rows[] = {
    {.name = "root_path",
     .type = SKV_OPTION_PATH,
     .offset = offsetof(settings, root_path),
     .usual = "",
     .meaning = "the folder that holds the keys; may be a symbolic link"},
    {.name = "follow_links",
     .type = SKV_OPTION_BOOLEAN,
     .offset = offsetof(settings, follow_links),
     .usual = "true",
     .meaning = "false: a folder that is a link, or is reached through one, is refused in the step that opens it; a "
                "link to a key is read, and deleted without its target"},
};

const skv_option_table skv_file_options = {"file", sizeof rows / sizeof *rows, rows};

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
    skv_file_store *store;
    settings s;

    if (skv_read_options(&skv_file_options, options, options_len, &s, reply) != SKV_OK)
        return NULL;
    if (s.root_path[0] != '/') {
        skv_fail(reply, SKV_INVALID, "a store of type 'file' needs 'root_path', an absolute path");
        return NULL;
    }
    if (strlen(s.root_path) >= PATH_MAX) {
        skv_fail(reply, SKV_TOO_LARGE, "'root_path' has more than %d bytes", PATH_MAX - 1);
        return NULL;
    }
    store = new_file_store(s.root_path, s.follow_links);
    if (!store)
        skv_fail_memory(reply);
    else if (skv_root_prepare(store->root_path, reply) == SKV_OK)
        return &store->store;
    skv_free(store);
    return NULL;
}
