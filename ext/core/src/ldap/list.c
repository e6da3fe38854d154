#include "ldap/below.h"
#include "ldap/entry.h"
#include "ldap/key.h"
#include "ldap/search.h"

#include <string.h>

typedef struct ldap_list {
    skv_ldap_call call; /* its connection is borrowed from the first page to the last */
    skv_list list;
    skv_key folder;
    const char *dn; /* of the search */
    bool tree, names_only;
    skv_ldap_below below; /* of a tree */
    skv_ldap_search_state search;
    LDAPMessage *first; /* the entry that was read when the list was opened; owned by the search */
    skv_conn *kept;
    int64_t spent_ns; /* the time of the list so far, without the time between pages */
    int64_t since_ns; /* the start of the current page; 0 between pages */
    bool roots;       /* the two root folders have to be added */
    char path[SKV_KEY_MAX + 1];
} ldap_list;

static ldap_list *ldap_list_of(skv_list *list)
{
    return (ldap_list *)((char *)list - offsetof(ldap_list, list));
}

static void stop_list_clock(ldap_list *list)
{
    if (list->since_ns)
        list->spent_ns += skv_now_ns() - list->since_ns;
    list->since_ns = 0;
}

/* Returns the connection as soon as no more entries are to come. */
static void return_list_connection(ldap_list *list)
{
    skv_conn *conn = list->call.conn;

    skv_ldap_search_end(&list->call, &list->search);
    list->call.conn = NULL;
    if (!conn)
        return;
    stop_list_clock(list);
    skv_pool_count(list->call.pool, conn, SKV_OP_LIST, list->spent_ns);
    skv_pool_return(list->call.pool, conn);
}

/* ---- Opening ---- */

/* Fails the reply for a folder without an entry, unless it is a root folder, which exists before its entry. */
static skv_status check_missing_folder(ldap_list *list)
{
    return list->folder.len == 0 || skv_key_is_root(&list->folder) ? SKV_OK
                                                                   : skv_ldap_refuse_missing_folder(&list->call);
}

/* Checks that a folder without entries below it exists, and is no key. 389-DS responds to a paged search of a missing
 * entry in the same way, and in the hex layout the entry may be a key. */
static skv_status check_empty_folder(ldap_list *list)
{
    skv_ldap_call *call = &list->call;
    int kind;

    if (skv_ldap_read_kind(call, list->dn, &kind) != SKV_OK || kind == SKV_KIND_FOLDER)
        return call->reply->status;
    return kind == SKV_KIND_KEY ? skv_ldap_refuse_missing_folder(call) : check_missing_folder(list);
}

/* Returns an LDAP result; LDAP_SUCCESS with list->first NULL if no page has an entry. */
static skv_ldap_code read_first_entry(ldap_list *list, skv_ldap_response *response)
{
    skv_ldap_code code;

    do
        code = skv_ldap_search_next(&list->call, &list->search, response, &list->first);
    while (code == LDAP_SUCCESS && !list->first && !list->search.over);
    return code;
}

/* Checks that the top of a tree, which the search returns too, is no key: in the hex layout it may be one. */
static skv_status check_first_entry(ldap_list *list)
{
    skv_ldap_entry entry;
    skv_ldap_code error;

    if (!list->tree)
        return SKV_OK;
    error = skv_ldap_entry_read(&list->call, list->first, &entry);
    if (error != LDAP_SUCCESS)
        return skv_ldap_fail(&list->call, &(skv_ldap_response){.code = error});
    if (entry.is_key && !entry.is_folder && skv_ldap_below_is_top(&list->below, &entry.dn))
        skv_ldap_refuse_missing_folder(&list->call);
    return list->call.reply->status;
}

/* 389-DS returns the entries that the identity sees, also below a folder that it does not see: such a list would be
 * incomplete. So this checks the folder for an identity that does not see the base DN. */
static skv_status check_folder_is_visible(ldap_list *list)
{
    skv_ldap_call *call = &list->call;
    bool is_visible;
    int kind;

    if (!skv_conn_features(call->conn)->is_389ds || skv_ldap_look_at_base(call, &is_visible) != SKV_OK || is_visible)
        return call->reply->status;
    return skv_ldap_read_kind(call, list->dn, &kind);
}

/* Checks the first entry, if there is one, and the folder. */
static skv_status check_list(ldap_list *list)
{
    if (!list->first)
        return check_empty_folder(list);
    return check_first_entry(list) == SKV_OK ? check_folder_is_visible(list) : list->call.reply->status;
}

static skv_ldap_search_state new_list_search(const ldap_list *list)
{
    const skv_ldap_call *call = &list->call;

    return (skv_ldap_search_state){.dn = list->dn,
                                   .scope = list->tree ? LDAP_SCOPE_SUBTREE : LDAP_SCOPE_ONELEVEL,
                                   .attributes =
                                       skv_ldap_attributes(call, list->names_only ? SKV_READ_KIND : SKV_READ_DOCUMENT)};
}

/* Reads the first entry, which tells if the folder exists. Keeps the connection if more entries may come. */
static skv_status attempt_list_open(skv_ldap_call *call)
{
    ldap_list *list = (ldap_list *)call;
    skv_ldap_response response;

    list->search = new_list_search(list);
    switch (read_first_entry(list, &response)) {
    case LDAP_SUCCESS:
        if (check_list(list) != SKV_OK || !list->first)
            break;
        list->kept = call->conn;
        call->conn = NULL;
        return SKV_OK;
    case LDAP_NO_SUCH_OBJECT:
        if (skv_ldap_check_base(call, &response) == SKV_OK)
            check_missing_folder(list);
        break;
    default:
        skv_ldap_search_failed(call, &response);
    }
    skv_ldap_response_free(&response);
    skv_ldap_search_end(call, &list->search);
    return call->reply->status;
}

/* Starts the search. A list of the two root folders alone needs none. */
static void start_list(ldap_list *list, skv_deadline *deadline, skv_reply *reply)
{
    skv_ldap_call *call = &list->call;

    if (skv_ldap_begin(call, list->list.store, SKV_OP_LIST, &list->folder, SKV_KIND_FOLDER, deadline, reply) != SKV_OK)
        return;
    list->dn = list->roots ? call->store->instance_dn : call->dn;
    if (list->tree && skv_ldap_below_begin(&list->below, call->store, &list->folder, list->dn, true, reply) != SKV_OK)
        return;
    if (list->tree || !list->roots)
        skv_ldap_run(call, attempt_list_open);
}

skv_list *skv_ldap_list_open(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply)
{
    ldap_list *list = skv_alloc_zeroed(1, sizeof *list);

    if (!list) {
        skv_fail_memory(reply);
        return NULL;
    }
    list->list.store = store;
    list->since_ns = skv_now_ns();
    list->tree = args->tree;
    list->names_only = args->names_only;
    list->roots = args->folder.len == 0;
    memcpy(list->path, args->folder.path, args->folder.len + 1);
    list->folder = (skv_key){list->path, args->folder.len};
    start_list(list, deadline, reply);
    list->call.conn = list->kept;
    stop_list_clock(list);
    if (reply->status == SKV_OK)
        return &list->list;
    skv_ldap_list_close(&list->list);
    return NULL;
}

/* ---- Pages ---- */

/* Returns the record of a key or folder by its object class. */
static skv_ldap_record record_of_entry(const ldap_list *list, const skv_ldap_entry *entry)
{
    if (!entry->is_key && !entry->is_folder)
        return skv_ldap_error_record("its objectClass cannot be read, or is not one of simpkv's");
    if (!entry->is_key)
        return (skv_ldap_record){'f', "", 0};
    if (list->names_only)
        return (skv_ldap_record){'k', "", 0};
    if (!entry->document.bv_val)
        return skv_ldap_error_record(SKV_NO_DOCUMENT);
    return (skv_ldap_record){'k', entry->document.bv_val, entry->document.bv_len};
}

/* Returns true for a folder, and for an entry whose object class the server does not show. */
static bool may_be_folder(const skv_ldap_entry *entry)
{
    return entry->is_folder || !entry->has_class;
}

/* Adds the record of an entry, unless it belongs to another program. */
static void add_entry_record(ldap_list *list, const skv_ldap_entry *entry, skv_reply *page)
{
    skv_ldap_record record;
    skv_rdn rdn;
    bool hex;

    if (!skv_rdn_first(entry->dn.bv_val, entry->dn.bv_len, &rdn))
        return;
    hex = list->call.store->layout == SKV_LAYOUT_HEX && skv_rdn_is(&rdn, "simpkvHexId");
    if (hex && !skv_rdn_unhex(&rdn))
        record = skv_ldap_error_record("its simpkvHexId is not made of hex digits");
    else if (hex || skv_rdn_is(&rdn, "simpkvKey") || (skv_rdn_is(&rdn, "ou") && may_be_folder(entry)))
        record = record_of_entry(list, entry);
    else
        return;
    if (list->tree) {
        skv_ldap_below_add(&list->below, &entry->dn, &rdn, &record, page);
        return;
    }
    record = skv_ldap_checked_record(&list->folder, &record, &rdn, rdn.len);
    skv_list_add(page, record.kind, rdn.value, rdn.len, record.body, record.len);
}

static skv_status add_message_record(ldap_list *list, LDAPMessage *message, skv_reply *page)
{
    skv_ldap_entry entry;
    skv_ldap_code error = skv_ldap_entry_read(&list->call, message, &entry);

    if (error != LDAP_SUCCESS)
        return skv_ldap_fail(&list->call, &(skv_ldap_response){.code = error});
    add_entry_record(list, &entry, page);
    skv_ldap_entry_wipe(&entry);
    return skv_reply_done(page);
}

/* Adds the next entry. Returns true if the page may have more. */
static bool add_next_entry(ldap_list *list, skv_reply *page)
{
    skv_ldap_response response = {0};
    LDAPMessage *entry = list->first;
    bool interrupted, at_end;

    list->first = NULL;
    if (!entry)
        skv_ldap_search_next(&list->call, &list->search, &response, &entry);
    at_end = !entry && page->number;
    interrupted = response.code == LDAP_USER_CANCELLED;
    /* Records that are on the page already are returned first; the handle fires again for the next page. */
    if (interrupted && page->number)
        skv_cancel_fire(list->call.deadline->cancel);
    else if (response.code != LDAP_SUCCESS)
        skv_ldap_search_failed(&list->call, &response);
    else if (entry)
        add_message_record(list, entry, page);
    skv_ldap_response_free(&response);
    if (list->search.over || (page->status != SKV_OK && !interrupted))
        return_list_connection(list);
    return list->call.conn && !interrupted && !at_end && page->data.len < SKV_PAGE_BYTES;
}

static void add_root_records(ldap_list *list, skv_reply *page)
{
    skv_list_add(page, 'f', "environments", strlen("environments"), "", 0);
    skv_list_add(page, 'f', "globals", strlen("globals"), "", 0);
    list->roots = false;
    skv_reply_done(page);
}

skv_status skv_ldap_list_next(skv_list *handle, skv_deadline *deadline, skv_reply *reply)
{
    ldap_list *list = ldap_list_of(handle);

    list->call.deadline = deadline;
    list->call.reply = reply;
    if (list->roots)
        add_root_records(list, reply);
    if (list->call.conn) {
        list->since_ns = skv_now_ns();
        skv_conn_begin(list->call.conn, deadline);
        while (add_next_entry(list, reply))
            ;
        stop_list_clock(list);
    }
    if (!list->call.conn && reply->status == SKV_OK)
        skv_ldap_below_add_rest(&list->below, SKV_PAGE_BYTES, reply);
    if (!list->call.conn && reply->status != SKV_OK)
        skv_ldap_below_end(&list->below);
    if (reply->status == SKV_OK && reply->number == 0)
        reply->status = SKV_END;
    return reply->status;
}

void skv_ldap_list_close(skv_list *handle)
{
    ldap_list *list = ldap_list_of(handle);

    return_list_connection(list);
    skv_ldap_below_end(&list->below);
    skv_ldap_end(&list->call);
    skv_free(list);
}
