/*
 * The folders of a batch of puts. Folders that are missing are added level by level, all folders of a level at once.
 * If it is unknown how much is missing, or 'strict_paths' forbids to share a name, the first key of the folder is put
 * alone and makes it. In the hex layout, where a key can have entries below it, each folder is read first.
 */
#include "ldap/put_many.h"

#include <string.h>

/* How often a folder is read. */
#define TRIES_MAX 3

static skv_put_folder *folder_of(const skv_put_batch *put, const skv_ldap_item *item)
{
    return &put->folders[item->group];
}

static int depth_of(const char *dn)
{
    return skv_dn_depth(dn, strlen(dn));
}

/* Returns the end of a DN, from the RDN at that depth on. */
static const char *dn_at_depth(const char *dn, int depth)
{
    return skv_dn_above(dn, strlen(dn), depth_of(dn) - depth);
}

/* Adds a folder; in the hex layout, with an item that reads it. Returns false when out of memory. */
static bool add_put_folder(skv_put_batch *put, const skv_ldap_item *key)
{
    skv_ldap_many *many = &put->many;
    skv_put_folder *new = &put->folders[put->folder_count++];
    size_t len = skv_put_folder_len(key->name);
    char *dn;

    new->state = SKV_FOLDER_EXISTS;
    if (!put->hex || !len)
        return true;
    skv_reply_reset(many->call.reply);
    dn = skv_ldap_dn(many->call.store, SKV_KIND_FOLDER, key->record->key.path, len, many->call.reply);
    new->state = dn ? SKV_FOLDER_UNKNOWN : SKV_FOLDER_UNUSABLE;
    if (dn)
        many->items[many->count++] = (skv_ldap_item){.step = SKV_STEP_READ, .group = key->group, .dn = dn};
    return many->call.reply->status != SKV_NOMEM;
}

bool skv_put_find_folders(skv_put_batch *put)
{
    size_t count = put->many.count;

    skv_put_sort_by_folder(put);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || !skv_put_is_same_folder(put->order[i - 1], put->order[i]);

        put->order[i]->group = put->folder_count - !first;
        if (first && !add_put_folder(put, put->order[i]))
            return false;
    }
    put->own_count = put->many.count;
    return true;
}

/* Returns true for an add whose folder does not exist yet. */
bool skv_put_must_wait(const skv_ldap_many *many, const skv_ldap_item *item)
{
    return item->step == SKV_STEP_ADD && folder_of((const skv_put_batch *)many, item)->state != SKV_FOLDER_EXISTS;
}

void skv_put_note_missing(skv_put_batch *put, const skv_ldap_item *item, const char *dn,
                          const skv_ldap_response *response)
{
    skv_put_folder *missing = folder_of(put, item);

    missing->state = SKV_FOLDER_MISSING;
    missing->dn = dn;
    missing->above_depth = skv_ldap_matched_depth(response);
    missing->checked = missing->sound = false;
}

/* ---- Plans ---- */

/* Adds an item for the DN at that depth above a missing folder. Returns false if it cannot. */
static bool add_item_above(skv_put_batch *put, const skv_put_folder *missing, skv_step step, int depth)
{
    skv_ldap_many *many = &put->many;
    const char *dn = dn_at_depth(missing->dn, depth);
    const skv_ldap_item *last = &many->items[many->count - 1];
    char *copy;

    /* Folders are sorted: those below one folder follow one another. */
    if (!last->record && last->step == step && strcmp(last->dn, dn) == 0)
        return true;
    copy = many->count < many->batch->count * SKV_PUT_ITEMS_MAX ? skv_copy_string(dn, strlen(dn)) : NULL;
    if (copy)
        many->items[many->count++] =
            (skv_ldap_item){.step = step, .group = (size_t)(missing - put->folders), .dn = copy};
    return copy;
}

/* Returns true if the deepest existing DN is one of the two roots or an environment's folder, which no layout stores as
 * a key. */
static bool is_below_structure(const skv_ldap_store *store, const skv_put_folder *missing)
{
    int instance_depth = depth_of(store->instance_dn), level = missing->above_depth - instance_depth;
    const char *root = dn_at_depth(missing->dn, instance_depth + 1);

    return level <= (strncmp(root, "ou=environments,", strlen("ou=environments,")) == 0 ? 2 : 1);
}

/* Adds the next item for a missing folder. Returns false if there is none. */
static bool plan_folder(skv_put_batch *put, skv_put_folder *missing)
{
    const skv_ldap_store *store = put->many.call.store;

    if (missing->above_depth < store->base_depth || put->contested || (store->strict_paths && !put->hex))
        return false;
    if (put->hex && !missing->sound && !is_below_structure(store, missing)) {
        if (missing->checked)
            return false;
        missing->checked = true;
        return add_item_above(put, missing, SKV_STEP_READ, missing->above_depth);
    }
    missing->sound = true;
    if (missing->above_depth == depth_of(missing->dn)) {
        missing->state = SKV_FOLDER_EXISTS;
        return false;
    }
    if (!add_item_above(put, missing, SKV_STEP_MAKE, missing->above_depth + 1))
        return false;
    missing->above_depth++;
    return true;
}

bool skv_put_plan_folders(skv_ldap_many *many)
{
    skv_put_batch *put = (skv_put_batch *)many;
    bool has_items = false;

    for (size_t i = 0; i < many->batch->count; i++)
        folder_of(put, &many->items[i])->wanted |= skv_put_must_wait(many, &many->items[i]);
    for (size_t i = 0; i < put->folder_count; i++)
        if (put->folders[i].state == SKV_FOLDER_MISSING && put->folders[i].wanted)
            has_items |= plan_folder(put, &put->folders[i]);
    return has_items;
}

/* Reads the folders that are unknown, or that a single put has just made. */
static void read_folders_again(skv_put_batch *put)
{
    for (size_t i = put->many.batch->count; i < put->own_count; i++) {
        skv_put_folder *folder = folder_of(put, &put->many.items[i]);

        if (folder->state != SKV_FOLDER_UNKNOWN)
            continue;
        put->many.items[i].step = SKV_STEP_READ;
        if (++folder->tries > TRIES_MAX)
            folder->state = SKV_FOLDER_UNUSABLE;
    }
}

/* Leaves the first key of a missing folder to a put of its own, which makes the folder. Leaves all keys of an unusable
 * folder to such puts. */
void skv_put_settle_folders(skv_ldap_many *many)
{
    skv_put_batch *put = (skv_put_batch *)many;

    for (size_t i = 0; i < many->batch->count; i++) {
        skv_ldap_item *item = &many->items[i];
        skv_put_folder *folder = folder_of(put, item);

        if (item->step != SKV_STEP_ADD || folder->state == SKV_FOLDER_EXISTS || folder->state == SKV_FOLDER_UNKNOWN)
            continue;
        item->step = SKV_STEP_SINGLE;
        if (folder->state == SKV_FOLDER_MISSING)
            folder->state = put->hex ? SKV_FOLDER_UNKNOWN : SKV_FOLDER_EXISTS;
    }
    read_folders_again(put);
}

/* ---- Responses ---- */

static bool is_folder_response(skv_ldap_many *many, skv_ldap_response *response)
{
    skv_ldap_entry entry = {0};

    return response->code == LDAP_SUCCESS && skv_ldap_entry_of(&many->call, response, &entry) == LDAP_SUCCESS &&
           entry.is_folder && !entry.is_key;
}

/* Takes the response to the read of a folder that holds keys of the batch. */
static void take_own_folder(skv_put_batch *put, const skv_ldap_item *item, skv_ldap_response *response)
{
    if (skv_ldap_many_is_absent(&put->many, response))
        skv_put_note_missing(put, item, item->dn, response);
    else
        folder_of(put, item)->state =
            is_folder_response(&put->many, response) ? SKV_FOLDER_EXISTS : SKV_FOLDER_UNUSABLE;
}

/* Takes the response to the read of the entry above missing folders, for all folders that wait for it. */
static void take_folder_above(skv_put_batch *put, const skv_ldap_item *item, skv_ldap_response *response)
{
    bool sound = is_folder_response(&put->many, response);

    for (size_t i = 0; i < put->folder_count; i++) {
        skv_put_folder *folder = &put->folders[i];

        if (folder->state != SKV_FOLDER_MISSING || !folder->checked || folder->sound ||
            folder->above_depth != depth_of(item->dn) ||
            strcmp(dn_at_depth(folder->dn, folder->above_depth), item->dn) != 0)
            continue;
        folder->sound = sound;
        if (!sound)
            folder->state = SKV_FOLDER_UNUSABLE;
    }
}

/* Takes the response to the add of a folder. In the hex layout, an entry that exists already may be a key. */
static void take_made_folder(skv_put_batch *put, const skv_ldap_item *item, const skv_ldap_response *response)
{
    if (response->code == LDAP_ALREADY_EXISTS)
        put->contested |= put->hex;
    else if (response->code != LDAP_SUCCESS)
        folder_of(put, item)->state = SKV_FOLDER_UNUSABLE;
}

void skv_put_take_folder_response(skv_put_batch *put, skv_ldap_item *item, skv_ldap_response *response)
{
    if (item->step == SKV_STEP_MAKE)
        take_made_folder(put, item, response);
    else if ((size_t)(item - put->many.items) >= put->own_count)
        take_folder_above(put, item, response);
    else
        take_own_folder(put, item, response);
    item->step = SKV_STEP_DONE;
}
