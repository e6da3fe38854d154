#include "ldap_entry.h"
#include "ldap_key.h"
#include "ldap_search.h"

#include <string.h>

/* A page ends with one of the server's, or when it has this much. */
#define PAGE_BYTES ((size_t)256 << 10)

typedef struct ldap_list {
    skv_ldap_call call; /* its conn is borrowed from the first page to the last */
    skv_list list;
    skv_key folder;
    skv_ldap_search_state search;
    LDAPMessage *first; /* the entry that was read when the list was opened; the search's */
    skv_conn *kept;
    int64_t spent_ns; /* on it so far, but for what happens between pages */
    int64_t since_ns; /* since when it is worked on; 0: it is not */
    bool roots;       /* the list is that of the two roots */
    char path[SKV_KEY_MAX + 1];
} ldap_list;

static ldap_list *list_of(skv_list *list)
{
    return (ldap_list *)((char *)list - offsetof(ldap_list, list));
}

static void stop_clock(ldap_list *list)
{
    if (list->since_ns)
        list->spent_ns += skv_now_ns() - list->since_ns;
    list->since_ns = 0;
}

/* Gives the connection back as soon as nothing more is to come. */
static void let_go(ldap_list *list)
{
    skv_conn *conn = list->call.conn;

    skv_ldap_search_end(&list->call, &list->search);
    list->call.conn = NULL;
    if (!conn)
        return;
    stop_clock(list);
    skv_pool_count(list->call.pool, conn, SKV_OP_LIST, list->spent_ns);
    skv_pool_return(list->call.pool, conn);
}

/* ---- Opening ---- */

static int not_found(skv_ldap_call *call)
{
    return skv_fail(call->reply, SKV_NOT_FOUND, "Key folder '%s' not found (%s)", call->name, skv_ldap_server(call));
}

/* The two roots are there from the first on, though their entries come with the first key. */
static int no_folder(ldap_list *list)
{
    return strchr(list->path, '/') || !skv_ldap_is_structure(&list->folder) ? not_found(&list->call) : SKV_OK;
}

/* There is nothing below it; when asked for pages, 389-DS says that of an entry that is not there, too. And in the hex
 * layout it may be a key. */
static int check_empty(ldap_list *list)
{
    skv_ldap_call *call = &list->call;
    int kind;

    if (skv_ldap_kind_of(call, call->dn, &kind) != SKV_OK || kind == SKV_KIND_FOLDER)
        return call->reply->status;
    return kind == SKV_KIND_KEY ? not_found(call) : no_folder(list);
}

/* An LDAP result; LDAP_SUCCESS without an entry if there is none on any page. */
static int read_first(ldap_list *list, skv_ldap_answer *answer)
{
    int code;

    do
        code = skv_ldap_search_next(&list->call, &list->search, answer, &list->first);
    while (code == LDAP_SUCCESS && !list->first && !list->search.over);
    return code;
}

/* Reads the first entry, which tells whether there is such a folder, and keeps the connection if more may come. */
static int attempt(skv_ldap_call *call)
{
    ldap_list *list = (ldap_list *)call;
    skv_ldap_answer answer;

    list->search = (skv_ldap_search_state){
        .dn = call->dn, .scope = LDAP_SCOPE_ONELEVEL, .attributes = skv_ldap_document_attributes(call, false)};
    switch (read_first(list, &answer)) {
    case LDAP_SUCCESS:
        if (!list->first) {
            check_empty(list);
            break;
        }
        list->kept = call->conn;
        call->conn = NULL;
        return SKV_OK;
    case LDAP_NO_SUCH_OBJECT:
        if (skv_ldap_check_base(call, &answer) == SKV_OK)
            no_folder(list);
        break;
    default:
        skv_ldap_search_failed(call, &answer);
    }
    skv_ldap_answer_free(&answer);
    skv_ldap_search_end(call, &list->search);
    return call->reply->status;
}

skv_list *skv_ldap_list_open(skv_store *store, const skv_key *folder, skv_wait *wait, skv_reply *reply)
{
    ldap_list *list = skv_alloc_zeroed(1, sizeof *list);

    if (!list) {
        skv_fail_memory(reply);
        return NULL;
    }
    list->list.store = store;
    list->since_ns = skv_now_ns();
    list->roots = folder->len == 0;
    memcpy(list->path, folder->path, folder->len + 1);
    list->folder = (skv_key){list->path, folder->len};
    if (skv_ldap_begin(&list->call, store, SKV_OP_LIST, &list->folder, SKV_KIND_FOLDER, wait, reply) == SKV_OK &&
        !list->roots)
        skv_ldap_run(&list->call, attempt);
    list->call.conn = list->kept;
    stop_clock(list);
    if (reply->status == SKV_OK)
        return &list->list;
    skv_ldap_list_close(&list->list);
    return NULL;
}

/* ---- Pages ---- */

static void add_problem(skv_reply *page, const skv_rdn *rdn, const char *why)
{
    skv_list_add(page, 'e', rdn->value, rdn->len, why, strlen(why));
}

/* Adds the record of a key or folder by its object class. */
static void add_record(const skv_ldap_entry *entry, const skv_rdn *rdn, skv_reply *page)
{
    if (!entry->is_key && !entry->is_folder)
        add_problem(page, rdn, "its objectClass may not be read, or is none of simpkv's");
    else if (!entry->is_key)
        skv_list_add(page, 'f', rdn->value, rdn->len, "", 0);
    else if (!entry->document.bv_val)
        add_problem(page, rdn, "its simpkvJsonValue may not be read");
    else
        skv_list_add(page, 'k', rdn->value, rdn->len, entry->document.bv_val, entry->document.bv_len);
}

/* Adds the record of an entry, unless it is something else's than simpkv's. */
static void add_entry(const skv_ldap_store *store, const skv_ldap_entry *entry, skv_reply *page)
{
    bool hex;
    skv_rdn rdn;

    if (!skv_rdn_first(entry->dn.bv_val, entry->dn.bv_len, &rdn))
        return;
    hex = store->layout == SKV_LAYOUT_HEX && skv_rdn_is(&rdn, "simpkvHexId");
    if (hex && !skv_rdn_unhex(&rdn))
        add_problem(page, &rdn, "its simpkvHexId is not made of hex digits");
    else if (hex || skv_rdn_is(&rdn, "simpkvKey") || (skv_rdn_is(&rdn, "ou") && entry->is_folder))
        add_record(entry, &rdn, page);
}

static int take_entry(ldap_list *list, LDAPMessage *message, skv_reply *page)
{
    skv_ldap_entry entry;
    int error = skv_ldap_entry_read(&list->call, message, &entry);

    if (error != LDAP_SUCCESS)
        return skv_ldap_fail(&list->call, &(skv_ldap_answer){.code = error});
    add_entry(list->call.store, &entry, page);
    skv_ldap_entry_wipe(&entry);
    return skv_reply_done(page);
}

/* Adds the next entry. Whether there may be more on the page. */
static bool next_entry(ldap_list *list, skv_reply *page)
{
    skv_ldap_answer answer = {0};
    LDAPMessage *entry = list->first;
    bool interrupted, at_end;

    list->first = NULL;
    if (!entry)
        skv_ldap_search_next(&list->call, &list->search, &answer, &entry);
    at_end = !entry && page->number;
    interrupted = answer.code == LDAP_USER_CANCELLED;
    /* What is on the page already is handed out first. */
    if (answer.code != LDAP_SUCCESS && !(interrupted && page->number))
        skv_ldap_search_failed(&list->call, &answer);
    else if (entry)
        take_entry(list, entry, page);
    skv_ldap_answer_free(&answer);
    if (list->search.over || (page->status != SKV_OK && !interrupted))
        let_go(list);
    return list->call.conn && !interrupted && !at_end && page->data.len < PAGE_BYTES;
}

static void add_roots(ldap_list *list, skv_reply *page)
{
    skv_list_add(page, 'f', "environments", strlen("environments"), "", 0);
    skv_list_add(page, 'f', "globals", strlen("globals"), "", 0);
    list->roots = false;
    skv_reply_done(page);
}

int skv_ldap_list_next(skv_list *handle, skv_wait *wait, skv_reply *reply)
{
    ldap_list *list = list_of(handle);

    list->call.wait = wait;
    list->call.reply = reply;
    if (list->roots)
        add_roots(list, reply);
    if (list->call.conn) {
        list->since_ns = skv_now_ns();
        skv_conn_begin(list->call.conn, wait);
        while (next_entry(list, reply))
            ;
        stop_clock(list);
    }
    if (reply->status == SKV_OK && reply->number == 0)
        reply->status = SKV_END;
    return reply->status;
}

void skv_ldap_list_close(skv_list *handle)
{
    ldap_list *list = list_of(handle);

    let_go(list);
    skv_ldap_end(&list->call);
    skv_free(list);
}
