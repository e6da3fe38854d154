/*
 * Writing many keys. What may be there is read first, as a single put does; with SKV_PUT_ABSENT nothing is, and the
 * server's answer to an add tells. A folder that is missing is made by the first of its keys, which is put alone; then
 * the others go on together. In the hex layout, where a key can have entries below it, folders are looked at first.
 */
#include "ldap_key.h"
#include "ldap_many.h"

#include <stdlib.h>
#include <string.h>

/* How often a folder is looked for, or made. */
#define TRIES_MAX 3

typedef enum folder_state { UNSEEN, THERE, MISSING, UNUSUAL } folder_state;

/* The folder that keys are in. */
typedef struct folder {
    folder_state state;
    int tries;
} folder;

typedef struct put_many {
    skv_ldap_many many;
    skv_ldap_item **order; /* the items, sorted */
    char *names;
    folder *folders;
    size_t folder_count;
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
static bool is_unusual(const skv_ldap_many *many, const char *path)
{
    bool folds = many->call.store->fold_case, hex = is_hex(many);

    for (; *path && (folds || !hex); path++)
        if (*path <= ' ' || *path > '~' || (hex && *path >= 'A' && *path <= 'Z'))
            return true;
    return false;
}

static char small(char c)
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
            *name++ = is_hex(many) ? key->path[at] : small(key->path[at]);
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

static int by_name(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, strlen(one), other, strlen(other));
}

/* How long the part of a name is that is its folder's. */
static size_t parent_len(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static int by_folder(const void *a, const void *b)
{
    const char *one = (*(skv_ldap_item *const *)a)->name, *other = (*(skv_ldap_item *const *)b)->name;

    return compare_names(one, parent_len(one), other, parent_len(other));
}

static bool is_below(const char *name, const char *above)
{
    size_t len = strlen(above);

    return strncmp(name, above, len) == 0 && name[len] == '/';
}

static void leave_alone(skv_ldap_item *item)
{
    if (item->step < SKV_STEP_ALONE)
        item->step = SKV_STEP_ALONE;
}

/* What comes of one of these depends on the other: the same name twice; and where a name cannot be both, a key's and
 * that of a folder of another one. They are put alone, in their order. */
static void part_relatives(put_many *put)
{
    skv_ldap_many *many = &put->many;
    bool exclusive = is_hex(many) || many->call.store->strict_paths;

    qsort(put->order, many->count, sizeof(skv_ldap_item *), by_name);
    for (size_t i = 0; i < many->count; i++) {
        const char *name = put->order[i]->name;
        bool same = false;

        for (size_t j = i + 1; j < many->count && !same; j++) {
            same = strcmp(put->order[j]->name, name) == 0;
            if (!same && !(exclusive && is_below(put->order[j]->name, name)))
                break;
            leave_alone(put->order[i]);
            leave_alone(put->order[j]);
        }
    }
}

/* ---- Folders ---- */

/* In the hex layout, with an item to look at it. False when out of memory. */
static bool add_folder(put_many *put, const skv_ldap_item *key)
{
    skv_ldap_many *many = &put->many;
    folder *new = &put->folders[put->folder_count++];
    size_t len = parent_len(key->name);
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

    qsort(put->order, count, sizeof(skv_ldap_item *), by_folder);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || by_folder(&put->order[i - 1], &put->order[i]) != 0;

        put->order[i]->group = put->folder_count - !first;
        if (first && !add_folder(put, put->order[i]))
            return false;
    }
    return true;
}

/* Whether an add has to wait for its folder. */
static bool waits(const skv_ldap_many *many, const skv_ldap_item *item)
{
    return item->step == SKV_STEP_ADD && folder_of(many, item)->state != THERE;
}

/* Looks at folders that nothing is known of yet, or that were just made. */
static void look_again(skv_ldap_many *many)
{
    for (size_t i = many->batch->count; i < many->count; i++) {
        folder *in = folder_of(many, &many->items[i]);

        if (in->state != UNSEEN)
            continue;
        many->items[i].step = SKV_STEP_READ;
        if (++in->tries > TRIES_MAX)
            in->state = UNUSUAL;
    }
}

/* The first key of a missing folder makes it; those of one that is odd are all put alone. */
static void settle(skv_ldap_many *many)
{
    for (size_t i = 0; i < many->batch->count; i++) {
        skv_ldap_item *item = &many->items[i];
        folder *in = folder_of(many, item);

        if (item->step != SKV_STEP_ADD || in->state == THERE || in->state == UNSEEN)
            continue;
        item->step = SKV_STEP_ALONE;
        if (in->state == MISSING)
            in->state = is_hex(many) ? UNSEEN : THERE;
    }
    look_again(many);
}

/* ---- Answers ---- */

static skv_step step_of_absent(const skv_ldap_many *many)
{
    return many->call.store->strict_paths && !is_hex(many) ? SKV_STEP_TWIN : SKV_STEP_ADD;
}

static void take_folder(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    folder *seen = folder_of(many, item);
    skv_ldap_entry entry = {0};

    item->step = SKV_STEP_DONE;
    if (skv_ldap_many_is_absent(many, answer))
        seen->state = MISSING;
    else if (skv_ldap_many_entry(many, answer, &entry) && entry.is_folder && !entry.is_key)
        seen->state = THERE;
    else
        seen->state = UNUSUAL;
}

static void written(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_many_word(many, item)->reply->number = 1;
    skv_ldap_many_decide(many, item);
}

/* What is stored says the same, or is to be replaced. */
static void compare(skv_ldap_many *many, skv_ldap_item *item, const struct berval *stored)
{
    const skv_record *record = item->record;
    skv_reply *reply = skv_ldap_many_word(many, item)->reply;
    bool same = stored->bv_len == record->document_len && memcmp(stored->bv_val, record->document, stored->bv_len) == 0;

    if (!same &&
        skv_document_same(stored->bv_val, stored->bv_len, record->document, record->document_len, reply) != SKV_OK) {
        item->step = SKV_STEP_ALONE;
    } else if (same || reply->number == 1) {
        reply->number = many->batch->in_doubt;
        skv_ldap_many_decide(many, item);
    } else {
        item->step = SKV_STEP_REPLACE;
    }
}

static void take_key(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    skv_ldap_entry entry = {0};

    item->step = SKV_STEP_ALONE;
    if (skv_ldap_many_entry(many, answer, &entry) && (entry.is_key || !entry.is_folder) && entry.document.bv_val) {
        if (many->batch->condition == SKV_PUT_ANY) {
            compare(many, item, &entry.document);
        } else if (!many->batch->in_doubt) {
            skv_ldap_refuse_present(skv_ldap_many_word(many, item));
            skv_ldap_many_decide(many, item);
        }
    }
    skv_ldap_entry_wipe(&entry);
}

/* How much of the DN there is tells whether the folder is there; a server that does not say shows it by the add. */
static void take_absence(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_answer *answer)
{
    size_t len = answer->matched ? strlen(answer->matched) : 0;

    item->step = step_of_absent(many);
    if (len > 0 && skv_dn_depth(answer->matched, len) + 1 < skv_dn_depth(item->dn, strlen(item->dn)))
        folder_of(many, item)->state = MISSING;
}

static void take_added(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_answer *answer)
{
    bool again = !item->tried;

    item->tried = true;
    if (answer->code == LDAP_SUCCESS) {
        written(many, item);
    } else if (answer->code == LDAP_NO_SUCH_OBJECT && again) {
        folder_of(many, item)->state = MISSING;
    } else if (answer->code == LDAP_ALREADY_EXISTS && again && many->batch->condition == SKV_PUT_ABSENT) {
        item->step = SKV_STEP_READ;
    } else {
        item->step = SKV_STEP_ALONE;
    }
}

static void take(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_answer *answer)
{
    bool absent = skv_ldap_many_is_absent(many, answer);

    if (!item->record)
        take_folder(many, item, answer);
    else if (item->step == SKV_STEP_ADD)
        take_added(many, item, answer);
    else if (item->step == SKV_STEP_REPLACE && answer->code == LDAP_SUCCESS)
        written(many, item);
    else if (item->step == SKV_STEP_READ && absent && !item->tried)
        take_absence(many, item, answer);
    else if (item->step == SKV_STEP_READ)
        take_key(many, item, answer);
    else
        item->step = item->step == SKV_STEP_TWIN && absent ? SKV_STEP_ADD : SKV_STEP_ALONE;
}

static bool alone(skv_ldap_many *many, skv_ldap_item *item, skv_wait *wait)
{
    skv_put_args args = skv_batch_put_args(many->batch, item->record);

    args.in_doubt |= item->doubtful;
    return skv_ldap_put_one(&many->call.store->store, &item->record->key, &args, wait, many->batch->each);
}

/* ---- Calls ---- */

/* All in order, one after the other. */
static void leave_all_alone(skv_ldap_many *many)
{
    for (size_t i = 0; i < many->batch->count; i++)
        leave_alone(&many->items[i]);
}

static bool prepare(skv_ldap_many *many)
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
        unusual |= is_unusual(many, item->record->key.path);
        if (item->step == SKV_STEP_READ && many->batch->condition == SKV_PUT_ABSENT)
            item->step = step_of_absent(many);
    }
    part_relatives(put);
    if (!sort_into_folders(put))
        return false;
    if (unusual)
        leave_all_alone(many);
    return true;
}

void skv_ldap_put_many(skv_store *store, skv_batch *batch)
{
    static const skv_many_ops ops = {.op = SKV_OP_PUT, .waits = waits, .take = take, .alone = alone, .settle = settle};
    put_many put = {0};

    skv_ldap_many_run(&put.many, store, batch, &ops, batch->count, prepare);
    skv_free(put.order);
    skv_free(put.names);
    skv_free(put.folders);
}
