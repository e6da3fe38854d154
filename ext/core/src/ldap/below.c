#include "ldap/below.h"

#include "name/key.h"

#include <string.h>

/* The kind of an orphan is an upper-case letter until its folder has come. */
#define RELEASED(kind) ((char)((kind) | 0x20))
#define WAITING(kind) ((char)((kind) & ~0x20))
#define IS_WAITING(kind) (!((kind)&0x20))

/* The path of an entry below the folder. It is built from its end, as a DN starts with the last name. */
typedef struct place {
    char *path; /* ends in a NUL */
    size_t len;
    size_t above_len; /* of the path of its folder; 0 for the top */
    bool above_is_hex;
    char buffer[SKV_KEY_MAX + 1 + SKV_RDN_VALUE_MAX + 1];
} place;

static int count_levels(const skv_key *key)
{
    const char *rest = key->path, *name;
    size_t len;
    int levels = 0;

    while (skv_key_next(&rest, key->path + key->len, &name, &len))
        levels++;
    return levels;
}

skv_status skv_ldap_below_begin(skv_ldap_below *below, const skv_ldap_store *store, const skv_key *folder,
                                const char *dn, bool notes_keys, skv_reply *reply)
{
    *below = (skv_ldap_below){.layout = store->layout,
                              .notes_keys = notes_keys,
                              .folder = folder,
                              .depth = skv_dn_depth(dn, strlen(dn)),
                              .level = count_levels(folder)};
    if (below->layout == SKV_LAYOUT_PLAIN)
        return SKV_OK;
    below->paths = json_object();
    below->orphans = skv_reply_new();
    return below->paths && below->orphans ? SKV_OK : skv_fail_memory(reply);
}

void skv_ldap_below_end(skv_ldap_below *below)
{
    json_decref(below->paths);
    skv_reply_free(below->orphans);
    below->paths = NULL;
    below->orphans = NULL;
}

static int count_levels_below(const skv_ldap_below *below, const struct berval *dn)
{
    return skv_dn_depth(dn->bv_val, dn->bv_len) - below->depth;
}

bool skv_ldap_below_is_top(const skv_ldap_below *below, const struct berval *dn)
{
    return count_levels_below(below, dn) == 0;
}

/* ---- Paths ---- */

static bool prepend_to_path(place *where, const char *name, size_t len)
{
    size_t room = (size_t)(where->path - where->buffer);

    if (len > room)
        return false;
    where->path -= len;
    where->len += len;
    memcpy(where->buffer + room - len, name, len);
    return true;
}

/* Returns the name of the root folder that an entry is, or is below; NULL if it is below neither. */
static const char *root_above(const skv_ldap_below *below, const struct berval *dn, int levels)
{
    const char *root = below->folder->path;
    skv_rdn rdn;

    if (!below->level) {
        root = skv_dn_above(dn->bv_val, dn->bv_len, levels - 1);
        if (!skv_rdn_next(&root, dn->bv_val + dn->bv_len, &rdn))
            return NULL;
        return skv_rdn_is_ou(&rdn, "environments") ? "environments" : skv_rdn_is_ou(&rdn, "globals") ? "globals" : NULL;
    }
    return strncmp(root, "environments", strlen("environments")) == 0 ? "environments" : "globals";
}

/* Returns true if the RDN is that of a folder at a level; the root folders are at level 1. Decodes a simpkvHexId. */
static bool is_folder_rdn(const skv_ldap_below *below, const char *root, int level, skv_rdn *rdn)
{
    bool named = level == 1 || (level == 2 && strcmp(root, "environments") == 0);

    if (below->layout == SKV_LAYOUT_HEX && !named)
        return skv_rdn_unhex(rdn) && skv_key_is_segment(rdn->value, rdn->len);
    return skv_rdn_is(rdn, "ou") && skv_key_is_segment(rdn->value, rdn->len);
}

/* Prepends the names of the folders between the top and the entry. Returns false if one is no folder of simpkv. */
static bool prepend_folders(const skv_ldap_below *below, const struct berval *dn, int levels, place *where)
{
    const char *root = root_above(below, dn, levels), *end = dn->bv_val + dn->bv_len;
    const char *rest = skv_dn_above(dn->bv_val, dn->bv_len, 1);
    skv_rdn rdn;

    for (int level = below->level + levels - 1; root && level > below->level; level--) {
        if (!skv_rdn_next(&rest, end, &rdn) || !is_folder_rdn(below, root, level, &rdn) ||
            !prepend_to_path(where, "/", 1))
            return false;
        if (level == below->level + levels - 1)
            where->above_is_hex = skv_rdn_is(&rdn, "simpkvHexId");
        if (level == 1 ? !prepend_to_path(where, root, strlen(root)) : !prepend_to_path(where, rdn.value, rdn.len))
            return false;
    }
    return root;
}

/* Returns true if a key below the folder can have a path of that length. */
static bool fits_key(const skv_key *folder, size_t len)
{
    return len + folder->len + (folder->len > 0) <= SKV_KEY_MAX;
}

/* Builds the path of an entry. Returns false if it has none, or is a root folder. */
static bool locate_entry(const skv_ldap_below *below, const struct berval *dn, const skv_rdn *leaf, place *where)
{
    int levels = count_levels_below(below, dn);

    where->path = where->buffer + sizeof where->buffer - 1;
    if (below->level + levels < 2 || levels < 1 || !prepend_to_path(where, leaf->value, leaf->len) ||
        !prepend_folders(below, dn, levels, where))
        return false;
    where->above_len = levels > 1 ? where->len - leaf->len - 1 : 0;
    return fits_key(below->folder, where->above_len);
}

/* ---- Folders, and the orphans that wait for them ---- */

/* Puts a NUL behind the path for jansson, and restores the byte. Returns what note_path() has noted, or NULL. */
static json_t *noted_path(const skv_ldap_below *below, char *path, size_t len)
{
    char end = path[len];
    json_t *noted;

    path[len] = '\0';
    noted = json_object_get(below->paths, path);
    path[len] = end;
    return noted;
}

static bool is_known_folder(const skv_ldap_below *below, char *path, size_t len)
{
    return json_is_true(noted_path(below, path, len));
}

/* Notes the path of a folder, or of a key if those are to be noted. */
static void note_path(skv_ldap_below *below, char kind, char *path, size_t len, skv_reply *page)
{
    char end = path[len];

    if (kind != 'f' && (kind != 'k' || !below->notes_keys))
        return;
    path[len] = '\0';
    if (json_object_set_new_nocheck(below->paths, path, json_boolean(kind == 'f')) < 0)
        skv_fail_memory(page);
    path[len] = end;
}

static void add_orphan(skv_ldap_below *below, const place *where, const skv_ldap_record *record, skv_reply *page)
{
    skv_list_add(below->orphans, WAITING(record->kind), where->path, where->len, record->body, record->len);
    if (skv_reply_done(below->orphans) != SKV_OK)
        skv_fail(page, below->orphans->status, "%s", below->orphans->message);
}

skv_ldap_record skv_ldap_checked_record(const skv_key *folder, const skv_ldap_record *record, const skv_rdn *leaf,
                                        size_t path_len)
{
    if (record->kind == 'e')
        return *record;
    if (!skv_key_is_segment(leaf->value, leaf->len))
        return skv_ldap_error_record("no key or folder can have its name");
    return fits_key(folder, path_len) ? *record : skv_ldap_error_record("its path is too long");
}

void skv_ldap_below_add(skv_ldap_below *below, const struct berval *dn, const skv_rdn *leaf,
                        const skv_ldap_record *record, skv_reply *page)
{
    skv_ldap_record listed;
    place where = {0};

    if (!locate_entry(below, dn, leaf, &where))
        return;
    listed = skv_ldap_checked_record(below->folder, record, leaf, where.len);
    if (where.above_is_hex && !is_known_folder(below, where.path, where.above_len)) {
        add_orphan(below, &where, &listed, page);
        return;
    }
    skv_list_add(page, listed.kind, where.path, where.len, listed.body, listed.len);
    if (skv_rdn_is(leaf, "simpkvHexId"))
        note_path(below, listed.kind, where.path, where.len, page);
}

/* An orphan, as skv_list_add() has packed it. */
typedef struct orphan {
    skv_page_record record;
    char *kind, *path; /* its own, which can be changed */
} orphan;

static bool next_orphan(const skv_ldap_below *below, size_t *at, orphan *out)
{
    const skv_reply *packed = below->orphans;
    size_t size = skv_page_read(skv_reply_data(packed) + *at, skv_reply_size(packed) - *at, &out->record);

    if (!size)
        return false;
    out->kind = packed->data.bytes + *at;
    out->path = out->kind + (out->record.name - out->kind);
    *at += size;
    return true;
}

/* Releases the orphans whose folder has come by now. Returns true if there are folders among them. */
static bool release_orphans(skv_ldap_below *below, skv_reply *page)
{
    bool folders = false;
    orphan each;

    for (size_t at = 0; next_orphan(below, &at, &each);) {
        const char *slash = memrchr(each.path, '/', each.record.name_len);

        if (!IS_WAITING(*each.kind) || !slash || !is_known_folder(below, each.path, (size_t)(slash - each.path)))
            continue;
        *each.kind = RELEASED(*each.kind);
        note_path(below, *each.kind, each.path, each.record.name_len, page);
        folders |= *each.kind == 'f';
    }
    return folders && page->status == SKV_OK;
}

/* Only another program adds entries below a key. */
static bool is_below_key(const skv_ldap_below *below, const orphan *each)
{
    const char *end = each->path + each->record.name_len, *slash = each->path;

    while ((slash = memchr(slash, '/', (size_t)(end - slash))) != NULL) {
        if (json_is_false(noted_path(below, each->path, (size_t)(slash - each->path))))
            return true;
        slash++;
    }
    return false;
}

/* Adds an orphan. One that still waits is an error: an access rule may hide a folder, and a list leaves out no key. */
static void add_settled_orphan(const skv_ldap_below *below, const orphan *each, skv_reply *page)
{
    static const char why[] = "a folder of its path cannot be read, or is not one of simpkv's";
    const skv_page_record *record = &each->record;

    if (!IS_WAITING(record->kind))
        skv_list_add(page, record->kind, record->name, record->name_len, record->body, record->body_len);
    else if (!is_below_key(below, each))
        skv_list_add(page, 'e', record->name, record->name_len, why, strlen(why));
}

void skv_ldap_below_drop_orphans(skv_ldap_below *below)
{
    if (below->orphans)
        skv_reply_reset(below->orphans);
    below->next = 0;
    below->settled = false;
}

void skv_ldap_below_add_rest(skv_ldap_below *below, size_t bytes, skv_reply *page)
{
    orphan each;

    if (!below->orphans)
        return;
    while (!below->settled)
        below->settled = !release_orphans(below, page);
    while (page->status == SKV_OK && page->data.len < bytes && next_orphan(below, &below->next, &each))
        add_settled_orphan(below, &each, page);
    skv_reply_done(page);
}
