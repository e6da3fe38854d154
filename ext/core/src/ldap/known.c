#include "ldap/known.h"

#include <string.h>

typedef struct item {
    char name[SKV_KEY_MAX + 2]; /* the path; of a folder with a slash */
    const char *version;
    bool is_folder;
} item;

static bool is_folder_name(const char *name)
{
    size_t len = strlen(name);

    return len > 0 && name[len - 1] == '/';
}

/* ---- Names ---- */

/* Reads the first name of a DN. Returns false for an entry of another program. */
static bool read_leaf(const skv_ldap_call *call, const skv_ldap_entry *entry, skv_sync_change change, skv_rdn *leaf)
{
    if (!skv_rdn_first(entry->dn.bv_val, entry->dn.bv_len, leaf))
        return false;
    if (call->store->layout == SKV_LAYOUT_HEX && skv_rdn_is(leaf, "simpkvHexId"))
        return skv_rdn_unhex(leaf);
    return skv_rdn_is(leaf, "simpkvKey") ||
           (skv_rdn_is(leaf, "ou") && (entry->is_folder || change == SKV_SYNC_DELETED));
}

/* Finds the path of an entry. The entries of the hex layout may have to wait for their folder. */
static void find_entry(skv_ldap_known *known, skv_ldap_call *call, const skv_ldap_entry *entry, skv_sync_change change)
{
    skv_ldap_version version = skv_ldap_version_of(entry);
    skv_ldap_record record = {entry->is_folder && !entry->is_key ? 'f' : 'k', version.text, strlen(version.text)};
    skv_rdn leaf;

    skv_reply_reset(known->found);
    if (read_leaf(call, entry, change, &leaf))
        skv_ldap_below_add(&known->below, &entry->dn, &leaf, &record, known->found);
}

/* Takes the next record of `found`. Leaves out those that no key or folder can have as its name. */
static bool next_found(const skv_ldap_known *known, size_t *at, item *out, char *version)
{
    const char *found = skv_reply_data(known->found);
    skv_page_record record;
    size_t size;

    while ((size = skv_page_read(found + *at, skv_reply_size(known->found) - *at, &record)) > 0) {
        *at += size;
        if (record.kind == 'e' || record.name_len > SKV_KEY_MAX || record.body_len >= SKV_LDAP_VERSION_MAX)
            continue;
        out->is_folder = record.kind == 'f';
        memcpy(out->name, record.name, record.name_len);
        memcpy(out->name + record.name_len, out->is_folder ? "/" : "", 2 - !out->is_folder);
        memcpy(version, record.body, record.body_len);
        version[record.body_len] = '\0';
        out->version = version;
        return true;
    }
    return false;
}

/* ---- A refresh ---- */

static skv_status note_found(skv_ldap_known *known, skv_reply *page)
{
    char version[SKV_LDAP_VERSION_MAX];
    item each;

    if (skv_reply_done(known->found) != SKV_OK)
        return skv_fail(page, known->found->status, "%s", known->found->message);
    for (size_t at = 0; next_found(known, &at, &each, version);)
        if (json_object_set_new_nocheck(known->fresh, each.name, json_string_nocheck(each.version)) < 0)
            return skv_fail_memory(page);
    return SKV_OK;
}

skv_status skv_ldap_known_begin(skv_ldap_known *known, skv_ldap_call *call, const skv_key *folder, const char *dn)
{
    skv_ldap_below_end(&known->below);
    json_decref(known->fresh);
    known->fresh = json_object();
    known->is_behind = false;
    if (!known->found)
        known->found = skv_reply_new();
    if (!known->fresh || !known->found)
        return skv_fail_memory(call->reply);
    return skv_ldap_below_begin(&known->below, call->store, folder, dn, false, call->reply);
}

void skv_ldap_known_free(skv_ldap_known *known)
{
    skv_ldap_below_end(&known->below);
    json_decref(known->versions);
    json_decref(known->fresh);
    skv_reply_free(known->found);
}

skv_status skv_ldap_known_note(skv_ldap_known *known, skv_ldap_call *call, const skv_ldap_entry *entry)
{
    find_entry(known, call, entry, SKV_SYNC_SEEN);
    return note_found(known, call->reply);
}

static void add_change(skv_reply *page, char kind, const char *name, const char *cookie)
{
    skv_list_add(page, kind, name, strlen(name), cookie, strlen(cookie));
}

static const char *version_at(void *at)
{
    return json_string_value(json_object_iter_value(at));
}

static void add_deletions(json_t *before, const json_t *after, const char *cookie, skv_reply *page)
{
    for (void *at = json_object_iter(before); at; at = json_object_iter_next(before, at)) {
        const char *name = json_object_iter_key(at);

        if (!is_folder_name(name) && !json_object_get(after, name))
            add_change(page, SKV_CHANGE_DELETE, name, cookie);
    }
}

/* Returns false for a new key, whose old version is NULL. A version that the server does not show may be another one.
 */
static bool is_same_version(const char *old, const char *new)
{
    return old && *old && strcmp(old, new) == 0;
}

/* A folder that appeared comes before its keys. */
static void add_differences(json_t *before, json_t *after, const char *cookie, skv_reply *page)
{
    add_deletions(before, after, cookie, page);
    for (void *at = json_object_iter(after); at; at = json_object_iter_next(after, at)) {
        const char *name = json_object_iter_key(at);

        if (is_folder_name(name) && !json_object_get(before, name))
            add_change(page, SKV_CHANGE_FOLDER, name, cookie);
    }
    for (void *at = json_object_iter(after); at; at = json_object_iter_next(after, at)) {
        const char *name = json_object_iter_key(at), *old = json_string_value(json_object_get(before, name));

        if (!is_folder_name(name) && !is_same_version(old, version_at(at)))
            add_change(page, SKV_CHANGE_PUT, name, cookie);
    }
}

static void add_changes_since(json_t *after, const skv_csns *since, const char *cookie, skv_reply *page)
{
    for (void *at = json_object_iter(after); at; at = json_object_iter_next(after, at)) {
        const char *name = json_object_iter_key(at);

        if (!is_folder_name(name) && !skv_csns_are_after(since, version_at(at)))
            add_change(page, SKV_CHANGE_PUT, name, cookie);
    }
}

skv_status skv_ldap_known_settle(skv_ldap_known *known, skv_known_report report, const skv_csns *since,
                                 const char *cookie, skv_reply *page)
{
    skv_reply_reset(known->found);
    skv_ldap_below_add_rest(&known->below, SIZE_MAX, known->found);
    if (note_found(known, page) != SKV_OK)
        return page->status;
    skv_ldap_below_drop_orphans(&known->below);
    if (report == SKV_KNOWN_SINCE)
        add_changes_since(known->fresh, since, cookie, page);
    else if (report == SKV_KNOWN_DIFFERENCES)
        add_differences(known->versions, known->fresh, cookie, page);
    json_decref(known->versions);
    known->versions = known->fresh;
    known->fresh = NULL;
    return skv_reply_done(page);
}

void skv_ldap_known_forget(skv_ldap_known *known, const char *cookie, skv_reply *page)
{
    if (!known->versions)
        return;
    add_deletions(known->versions, NULL, cookie, page);
    json_object_clear(known->versions);
}

/* ---- A change ---- */

/* In the hex layout, the name of a deleted entry does not tell a folder from a key. */
static void delete_item(skv_ldap_known *known, item *deleted, const char *cookie, skv_reply *page)
{
    if (json_object_del(known->versions, deleted->name) == 0) {
        if (!deleted->is_folder)
            add_change(page, SKV_CHANGE_DELETE, deleted->name, cookie);
    } else if (!deleted->is_folder && known->below.layout == SKV_LAYOUT_HEX) {
        memcpy(deleted->name + strlen(deleted->name), "/", 2);
        json_object_del(known->versions, deleted->name);
    }
}

/* A change of an unknown entry is a move: of a folder, it moves all entries below it. A change that a list has shown
 * already makes no difference. */
static void put_item(skv_ldap_known *known, const item *changed, skv_sync_change change, const char *cookie,
                     skv_reply *page)
{
    const char *old = json_string_value(json_object_get(known->versions, changed->name));
    bool is_new = !old;

    if (is_same_version(old, changed->version))
        return;
    known->is_behind |= is_new && change == SKV_SYNC_CHANGED;
    if (json_object_set_new_nocheck(known->versions, changed->name, json_string_nocheck(changed->version)) < 0)
        skv_fail_memory(page);
    else if (!changed->is_folder)
        add_change(page, SKV_CHANGE_PUT, changed->name, cookie);
    else if (is_new)
        add_change(page, SKV_CHANGE_FOLDER, changed->name, cookie);
}

skv_status skv_ldap_known_change(skv_ldap_known *known, skv_ldap_call *call, const skv_ldap_entry *entry,
                                 skv_sync_change change, const char *cookie)
{
    char version[SKV_LDAP_VERSION_MAX];
    item each;

    if (skv_ldap_below_is_top(&known->below, &entry->dn)) {
        known->is_behind |= change == SKV_SYNC_DELETED;
        return SKV_OK;
    }
    known->is_behind |= change == SKV_SYNC_RENAMED;
    find_entry(known, call, entry, change);
    for (size_t at = 0; next_found(known, &at, &each, version);) {
        if (change == SKV_SYNC_DELETED)
            delete_item(known, &each, cookie, call->reply);
        else
            put_item(known, &each, change, cookie, call->reply);
    }
    skv_ldap_below_drop_orphans(&known->below);
    return skv_reply_done(call->reply);
}
