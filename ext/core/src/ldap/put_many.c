/*
 * Writing many keys. What may be there is read first, as a single put does; with SKV_PUT_ABSENT nothing is, and the
 * server's answer to an add tells. Folders that are missing are made together, level by level; where that is not
 * known, or may not be, by the first of their keys, which is put alone, and then the others go on together. In the hex
 * layout, where a key can have entries below it, folders are looked at first.
 */
#include "ldap/key.h"
#include "ldap/many.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often a folder is looked for, or made. */
#define TRIES_MAX 3

/* Items for each record, at the most: itself, its folder, and what is above that. */
#define ITEMS_MAX 5

typedef enum folder_state { UNSEEN, THERE, MISSING, UNUSUAL } folder_state;

/* The folder that keys are in. */
typedef struct folder {
    folder_state state;
    int tries;
    const char *dn;      /* of one that is missing; an item's */
    int there;           /* so deep is the DN above it that is there, or is being made; 0: that is not known */
    bool wanted;         /* by keys that wait for it */
    bool checked, sound; /* in the hex layout, whether that is a folder: it was asked for, and is */
} folder;

typedef struct put_many {
    skv_ldap_many many;
    skv_ldap_item **order; /* the items, sorted */
    char *names;
    folder *folders;
    size_t folder_count;
    size_t own_count; /* of items, when there are only those of records and of the folders that they are in */
    bool contested;   /* another one makes entries where folders are being made */
} put_many;

static bool is_hex(const skv_ldap_many *many)
{
    return many->call.store->layout == SKV_LAYOUT_HEX;
}

static folder *folder_of(const skv_ldap_many *many, const skv_ldap_item *item)
{
    return &((const put_many *)many)->folders[item->group];
}

/* ---- Names ---- */

/* Characters that a directory takes for others, or ignores, so that two names may be one: who has such keys waits. */
static bool has_folded_characters(const skv_ldap_many *many, const char *path)
{
    bool folds = many->call.store->fold_case, hex = is_hex(many);

    for (; *path && (folds || !hex); path++)
        if (*path <= ' ' || *path > '~' || (hex && *path >= 'A' && *path <= 'Z'))
            return true;
    return false;
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Gives each item its name. False when out of memory. */
static bool name_items(put_many *put)
{
    skv_ldap_many *many = &put->many;
    size_t size = 0;
    char *name;

    for (size_t i = 0; i < many->count; i++)
        size += many->items[i].record->key.len + 1;
    name = put->names = skv_alloc(size);
    if (!name)
        return false;
    for (size_t i = 0; i < many->count; i++) {
        const skv_key *key = &many->items[i].record->key;

        many->items[i].name = name;
        for (size_t at = 0; at <= key->len; at++)
            *name++ = is_hex(many) ? key->path[at] : to_lower(key->path[at]);
    }
    return true;
}

/* The slash sorts before all else, so that what is below a name follows it at once. */
static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t i = 0;

    while (i < a_len && i < b_len && a[i] == b[i])
        i++;
    if (i == a_len || i == b_len)
        return (a_len > b_len) - (a_len < b_len);
    return a[i] == '/' ? -1 : b[i] == '/' ? 1 : (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
}

static int compare_item_names(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, strlen(one), other, strlen(other));
}

/* How long the part of a name is that is its folder's. */
static size_t folder_name_len(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static int compare_item_folders(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, folder_name_len(one), other, folder_name_len(other));
}

static bool is_name_below(const char *name, const char *above)
{
    size_t len = strlen(above);

    return strncmp(name, above, len) == 0 && name[len] == '/';
}

static void leave_to_single_put(skv_ldap_item *item)
{
    if (item->step < SKV_STEP_SINGLE)
        item->step = SKV_STEP_SINGLE;
}

/* What comes of one of these depends on the other: the same name twice; and where a name cannot be both, a key's and
 * that of a folder of another one. They are put alone, in their order. */
static void separate_related_keys(put_many *put)
{
    skv_ldap_many *many = &put->many;
    bool exclusive = is_hex(many) || many->call.store->strict_paths;

    qsort(put->order, many->count, sizeof(skv_ldap_item *), compare_item_names);
    for (size_t i = 0; i < many->count; i++) {
        const char *name = put->order[i]->name;
        bool same = false;

        for (size_t j = i + 1; j < many->count && !same; j++) {
            same = strcmp(put->order[j]->name, name) == 0;
            if (!same && !(exclusive && is_name_below(put->order[j]->name, name)))
                break;
            leave_to_single_put(put->order[i]);
            leave_to_single_put(put->order[j]);
        }
    }
}

/* ---- Folders ---- */

/* In the hex layout, with an item to look at it. False when out of memory. */
static bool add_folder(put_many *put, const skv_ldap_item *key)
{
    skv_ldap_many *many = &put->many;
    folder *new = &put->folders[put->folder_count++];
    size_t len = folder_name_len(key->name);
    char *dn;

    new->state = THERE;
    if (!is_hex(many) || !len)
        return true;
    skv_reply_reset(many->call.reply);
    dn = skv_ldap_dn(many->call.store, SKV_KIND_FOLDER, key->record->key.path, len, many->call.reply);
    new->state = dn ? UNSEEN : UNUSUAL;
    if (dn)
        many->items[many->count++] = (skv_ldap_item){.step = SKV_STEP_READ, .group = key->group, .dn = dn};
    return many->call.reply->status != SKV_NOMEM;
}

static bool sort_into_folders(put_many *put)
{
    size_t count = put->many.count;

    qsort(put->order, count, sizeof(skv_ldap_item *), compare_item_folders);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || compare_item_folders(&put->order[i - 1], &put->order[i]) != 0;

        put->order[i]->group = put->folder_count - !first;
        if (first && !add_folder(put, put->order[i]))
            return false;
    }
    return true;
}

/* Whether an add has to wait for its folder. */
static bool must_wait_for_folder(const skv_ldap_many *many, const skv_ldap_item *item)
{
    return item->step == SKV_STEP_ADD && folder_of(many, item)->state != THERE;
}

/* What is above a missing folder tells how much of it is missing. */
static void note_missing_folder(folder *missing, const char *dn, const skv_ldap_answer *answer)
{
    missing->state = MISSING;
    missing->dn = dn;
    missing->there = answer->matched ? skv_dn_depth(answer->matched, strlen(answer->matched)) : 0;
    missing->checked = missing->sound = false;
}

static int dn_depth(const char *dn)
{
    return skv_dn_depth(dn, strlen(dn));
}

/* An item for the DN of that depth at the end of a folder's. */
static bool add_item_above(put_many *put, const folder *below, skv_step step, int depth)
{
    skv_ldap_many *many = &put->many;
    const char *dn = skv_dn_above(below->dn, strlen(below->dn), dn_depth(below->dn) - depth);
    const skv_ldap_item *last = &many->items[many->count - 1];
    char *copy;

    /* Folders are in order: those that share what is above them follow one another. */
    if (!last->record && last->step == step && strcmp(last->dn, dn) == 0)
        return true;
    copy = many->count < many->batch->count * ITEMS_MAX ? skv_copy_string(dn, strlen(dn)) : NULL;
    if (copy)
        many->items[many->count++] = (skv_ldap_item){.step = step, .group = (size_t)(below - put->folders), .dn = copy};
    return copy;
}

/* The two roots and the folders of environments are no keys in any layout. */
static bool is_structure_level(const skv_ldap_many *many, const folder *missing)
{
    const skv_ldap_store *store = many->call.store;
    const char *root =
        skv_dn_above(missing->dn, strlen(missing->dn), dn_depth(missing->dn) - dn_depth(store->instance_dn) - 1);
    int level = missing->there - dn_depth(store->instance_dn);

    return level <= (strncmp(root, "ou=environments,", strlen("ou=environments,")) == 0 ? 2 : 1);
}

/* Adds what is to be done next for a missing folder; nothing when there is no saying. */
static bool plan_folder(put_many *put, folder *missing)
{
    skv_ldap_many *many = &put->many;
    const skv_ldap_store *store = many->call.store;

    if (missing->there < store->base_depth || put->contested || (store->strict_paths && !is_hex(many)))
        return false;
    if (is_hex(many) && !missing->sound && !is_structure_level(many, missing)) {
        if (missing->checked)
            return false;
        missing->checked = true;
        return add_item_above(put, missing, SKV_STEP_READ, missing->there);
    }
    missing->sound = true;
    if (missing->there == dn_depth(missing->dn)) {
        missing->state = THERE;
        return false;
    }
    if (!add_item_above(put, missing, SKV_STEP_MAKE, missing->there + 1))
        return false;
    missing->there++;
    return true;
}

static bool plan_folders(skv_ldap_many *many)
{
    put_many *put = (put_many *)many;
    bool any = false;

    for (size_t i = 0; i < many->batch->count; i++)
        folder_of(many, &many->items[i])->wanted |= must_wait_for_folder(many, &many->items[i]);
    for (size_t i = 0; i < put->folder_count; i++)
        if (put->folders[i].state == MISSING && put->folders[i].wanted)
            any |= plan_folder(put, &put->folders[i]);
    return any;
}

/* Looks at folders that nothing is known of yet, or that were just made. */
static void read_folders_again(skv_ldap_many *many)
{
    for (size_t i = many->batch->count; i < ((put_many *)many)->own_count; i++) {
        folder *in = folder_of(many, &many->items[i]);

        if (in->state != UNSEEN)
            continue;
        many->items[i].step = SKV_STEP_READ;
        if (++in->tries > TRIES_MAX)
            in->state = UNUSUAL;
    }
}

/* The first key of a missing folder makes it; those of one that is odd are all put alone. */
static void settle_waiting_keys(skv_ldap_many *many)
{
    for (size_t i = 0; i < many->batch->count; i++) {
        skv_ldap_item *item = &many->items[i];
        folder *in = folder_of(many, item);

        if (item->step != SKV_STEP_ADD || in->state == THERE || in->state == UNSEEN)
            continue;
        item->step = SKV_STEP_SINGLE;
        if (in->state == MISSING)
            in->state = is_hex(many) ? UNSEEN : THERE;
    }
    read_folders_again(many);
}

/* ---- Answers ---- */

static skv_step step_for_absent_key(const skv_ldap_many *many)
{
    return many->call.store->strict_paths && !is_hex(many) ? SKV_STEP_TWIN : SKV_STEP_ADD;
}

static bool is_folder_answer(skv_ldap_many *many, skv_ldap_answer *answer)
{
    skv_ldap_entry entry = {0};

    return skv_ldap_many_entry(many, answer, &entry) && entry.is_folder && !entry.is_key;
}

static void take_folder_answer(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    folder *seen = folder_of(many, item);

    item->step = SKV_STEP_DONE;
    if (skv_ldap_many_is_absent(many, answer))
        note_missing_folder(seen, item->dn, answer);
    else
        seen->state = is_folder_answer(many, answer) ? THERE : UNUSUAL;
}

/* What is above folders that are missing: all those that it is above have asked for it. */
static void take_above_answer(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    put_many *put = (put_many *)many;
    bool sound = is_folder_answer(many, answer);

    item->step = SKV_STEP_DONE;
    for (size_t i = 0; i < put->folder_count; i++) {
        folder *below = &put->folders[i];

        if (below->state != MISSING || !below->checked || below->sound || below->there != dn_depth(item->dn) ||
            strcmp(skv_dn_above(below->dn, strlen(below->dn), dn_depth(below->dn) - below->there), item->dn) != 0)
            continue;
        below->sound = sound;
        if (!sound)
            below->state = UNUSUAL;
    }
}

/* In the hex layout, what is there may be a key. */
static void take_made_answer(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_answer *answer)
{
    put_many *put = (put_many *)many;

    item->step = SKV_STEP_DONE;
    if (answer->code == LDAP_ALREADY_EXISTS)
        put->contested |= is_hex(many);
    else if (answer->code != LDAP_SUCCESS)
        folder_of(many, item)->state = UNUSUAL;
}

static void decide_written(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_many_word(many, item)->reply->number = 1;
    skv_ldap_many_decide(many, item);
}

/* Has the document replaced on condition that the entry is as it was read, if the server can compare that. */
static void plan_replacement(skv_ldap_item *item, const skv_ldap_entry *entry)
{
    skv_ldap_version version = skv_ldap_version_of(entry);

    skv_free(item->version);
    item->version = skv_copy_string(version.text, strlen(version.text));
    item->step = item->version ? SKV_STEP_REPLACE : SKV_STEP_SINGLE;
}

/* What is stored says the same, or is to be replaced. */
static void decide_by_stored_document(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_entry *entry)
{
    const struct berval *stored = &entry->document;
    const skv_record *record = item->record;
    skv_reply *reply = skv_ldap_many_word(many, item)->reply;
    bool same = stored->bv_len == record->document_len && memcmp(stored->bv_val, record->document, stored->bv_len) == 0;

    if (!same &&
        skv_document_same(stored->bv_val, stored->bv_len, record->document, record->document_len, reply) != SKV_OK) {
        item->step = SKV_STEP_SINGLE;
    } else if (same || reply->number == 1) {
        reply->number = many->batch->in_doubt;
        skv_ldap_many_decide(many, item);
    } else {
        plan_replacement(item, entry);
    }
}

static void take_key_answer(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    skv_ldap_entry entry = {0};

    item->step = SKV_STEP_SINGLE;
    if (skv_ldap_many_entry(many, answer, &entry) && (entry.is_key || !entry.is_folder) && entry.document.bv_val) {
        if (many->batch->condition == SKV_PUT_ANY) {
            decide_by_stored_document(many, item, &entry);
        } else if (!many->batch->in_doubt) {
            skv_ldap_refuse_present(skv_ldap_many_word(many, item));
            skv_ldap_many_decide(many, item);
        }
    }
    skv_ldap_entry_wipe(&entry);
}

/* How much of the DN there is tells whether the folder is there; a server that does not say shows it by the add. */
static void take_absent_answer(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_answer *answer)
{
    size_t len = answer->matched ? strlen(answer->matched) : 0;

    item->step = step_for_absent_key(many);
    if (len > 0 && skv_dn_depth(answer->matched, len) + 1 < dn_depth(item->dn) && !is_hex(many))
        note_missing_folder(folder_of(many, item), skv_dn_above(item->dn, strlen(item->dn), 1), answer);
}

static void take_added_answer(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_answer *answer)
{
    bool again = !item->tried;

    item->tried = true;
    if (answer->code == LDAP_SUCCESS) {
        decide_written(many, item);
    } else if (answer->code == LDAP_NO_SUCH_OBJECT && again) {
        note_missing_folder(folder_of(many, item), skv_dn_above(item->dn, strlen(item->dn), 1), answer);
    } else if (answer->code == LDAP_ALREADY_EXISTS && again && many->batch->condition == SKV_PUT_ABSENT) {
        item->step = SKV_STEP_READ;
    } else {
        item->step = SKV_STEP_SINGLE;
    }
}

static void take_put_answer(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    bool absent = skv_ldap_many_is_absent(many, answer);

    if (item->step == SKV_STEP_MAKE)
        take_made_answer(many, item, answer);
    else if (!item->record && (size_t)(item - many->items) >= ((put_many *)many)->own_count)
        take_above_answer(many, item, answer);
    else if (!item->record)
        take_folder_answer(many, item, answer);
    else if (item->step == SKV_STEP_ADD)
        take_added_answer(many, item, answer);
    else if (item->step == SKV_STEP_REPLACE && answer->code == LDAP_SUCCESS)
        decide_written(many, item);
    else if (item->step == SKV_STEP_READ && absent && !item->tried)
        take_absent_answer(many, item, answer);
    else if (item->step == SKV_STEP_READ)
        take_key_answer(many, item, answer);
    else
        item->step = item->step == SKV_STEP_TWIN && absent ? SKV_STEP_ADD : SKV_STEP_SINGLE;
}

static bool put_single_item(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline)
{
    skv_put_args args = skv_batch_put_args(many->batch, item->record);
    bool is_known = item->in_doubt && !args.in_doubt;
    skv_ldap_version doubt = {""};

    if (item->version)
        snprintf(doubt.text, sizeof doubt.text, "%s", item->version);
    args.in_doubt |= item->in_doubt;
    return skv_ldap_put_one(&many->call.store->store, &item->record->key, &args, is_known ? &doubt : NULL, deadline,
                            many->batch->each);
}

/* ---- Calls ---- */

/* All in order, one after the other. */
static void leave_all_to_single_puts(skv_ldap_many *many)
{
    for (size_t i = 0; i < many->batch->count; i++)
        leave_to_single_put(&many->items[i]);
}

static bool prepare_puts(skv_ldap_many *many)
{
    put_many *put = (put_many *)many;
    bool unusual = false;

    put->order = skv_alloc_zeroed(many->count, sizeof(skv_ldap_item *));
    put->folders = skv_alloc_zeroed(many->count, sizeof *put->folders);
    if (!put->order || !put->folders || !name_items(put))
        return false;
    for (size_t i = 0; i < many->count; i++) {
        skv_ldap_item *item = &many->items[i];

        put->order[i] = item;
        unusual |= has_folded_characters(many, item->record->key.path);
        if (item->step == SKV_STEP_READ && many->batch->condition == SKV_PUT_ABSENT)
            item->step = step_for_absent_key(many);
    }
    separate_related_keys(put);
    if (!sort_into_folders(put))
        return false;
    put->own_count = many->count;
    if (unusual)
        leave_all_to_single_puts(many);
    return true;
}

void skv_ldap_put_many(skv_store *store, skv_batch *batch)
{
    static const skv_many_ops ops = {.op = SKV_OP_PUT,
                                     .waits = must_wait_for_folder,
                                     .plan = plan_folders,
                                     .take = take_put_answer,
                                     .single = put_single_item,
                                     .settle = settle_waiting_keys};
    put_many put = {0};

    skv_ldap_many_run(&put.many, store, batch, &ops, batch->count * (ITEMS_MAX - 1), prepare_puts);
    skv_free(put.order);
    skv_free(put.names);
    skv_free(put.folders);
}
