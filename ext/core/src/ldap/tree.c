/*
 * Deletetree enumerates the DNs of a folder and everything below it, and deletes them from the innermost outwards, many
 * at once. Neither slapd nor 389-DS has a tree delete. Entries that other clients add meanwhile are found by
 * enumerating again.
 *
 * Two suppliers of 389-DS that create one entry at once keep one of the two under its name. The other becomes a
 * conflict entry, which searches leave out unless their filter asks for it. A folder with such entries cannot be
 * deleted without them.
 */
#include "ldap/confirm.h"
#include "ldap/entry.h"
#include "ldap/key.h"
#include "ldap/pipeline.h"
#include "ldap/search.h"
#include "ldap/version.h"

#include <stdlib.h>
#include <string.h>

/* The most rounds in which other clients may add entries. */
#define ROUNDS_MAX 8

/* The number of rounds in which an entry is deleted only in the version that was read: a request that reaches the
 * server late must not delete a later put. In later rounds, a key that other clients keep changing is deleted in any
 * version. */
#define COMPARING_ROUNDS 4

/* The most deletions in flight. Both servers level off between 8 and 32. More hide the delay of a network better. */
#define IN_FLIGHT_MAX 32

#define BUSY_PAUSE_NS (50 * SKV_NS_PER_MS)

typedef struct tree_call {
    skv_ldap_call call;
    bool keep;           /* the folder itself is not deleted */
    skv_buf names;       /* DNs, each followed by its version; both end in a NUL */
    size_t count;        /* of DNs */
    bool compares;       /* in this round, entries are deleted only in the version that was read */
    bool cannot_compare; /* the server's database lacks assertions */
    bool nonleaf;        /* the server did not delete an entry because of entries below it */
    size_t deleted;
    skv_ldap_pipeline pipeline;
    bool busy, others_added; /* in this round */
    bool existed;            /* the folder existed */
    bool *shown;             /* for each name: the server shows the entry after its deletion */
    size_t unconfirmed;      /* the number of names, innermost first, whose deletions are to be confirmed */
} tree_call;

static skv_status add_enumerated_name(tree_call *tree, LDAPMessage *message)
{
    skv_ldap_version version;
    skv_ldap_entry entry;
    skv_ldap_code error = skv_ldap_entry_read(&tree->call, message, &entry);

    if (error != LDAP_SUCCESS)
        return skv_ldap_fail(&tree->call, &(skv_ldap_response){.code = error});
    version = skv_ldap_version_of(&entry);
    skv_buf_put(&tree->names, entry.dn.bv_val, entry.dn.bv_len);
    skv_buf_put_char(&tree->names, '\0');
    skv_buf_put(&tree->names, version.text, strlen(version.text) + 1);
    tree->count++;
    if (skv_buf_failed(&tree->names))
        return tree->names.no_memory ? skv_fail_memory(tree->call.reply)
                                     : skv_ldap_refuse(&tree->call, SKV_TOO_LARGE, "it holds too many names");
    return SKV_OK;
}

/* Collects the names of the folder and everything below it; none if it does not exist. */
static skv_status enumerate_tree(tree_call *tree)
{
    skv_ldap_call *call = &tree->call;
    static const char *const csn[] = {"entryCSN", NULL};
    skv_ldap_search_state search = {.dn = call->dn,
                                    .scope = LDAP_SCOPE_SUBTREE,
                                    .filter = tree->nonleaf ? skv_ldap_any_entry(call) : NULL,
                                    .attributes = skv_ldap_asserts(call) ? csn : skv_ldap_no_attributes};
    skv_ldap_response response = {0};
    LDAPMessage *entry;

    skv_buf_clear(&tree->names);
    tree->count = 0;
    while (!search.over && call->reply->status == SKV_OK) {
        skv_conn_begin(call->conn, skv_ldap_round_trip(call));
        skv_ldap_search_next(call, &search, &response, &entry);
        if (entry)
            add_enumerated_name(tree, entry);
        else if (response.code == LDAP_NO_SUCH_OBJECT)
            search.over = true;
        else if (response.code == LDAP_PARTIAL_RESULTS)
            search.over = tree->others_added = true; /* another round looks for what is left */
        else if (response.code != LDAP_SUCCESS)
            skv_ldap_search_failed(call, &response);
        skv_ldap_response_free(&response);
    }
    skv_ldap_search_end(call, &search);
    return call->reply->status;
}

typedef struct name {
    const char *dn, *version;
    int depth;
} name;

static int innermost_first(const void *a, const void *b)
{
    return ((const name *)b)->depth - ((const name *)a)->depth;
}

static name *sort_innermost_first(const tree_call *tree)
{
    name *names = skv_alloc_zeroed(tree->count, sizeof *names);
    const char *dn = tree->names.bytes;

    if (!names)
        return NULL;
    for (size_t i = 0; i < tree->count; i++) {
        const char *version = dn + strlen(dn) + 1;

        names[i] = (name){dn, version, skv_dn_depth(dn, strlen(dn))};
        dn = version + strlen(version) + 1;
    }
    qsort(names, tree->count, sizeof *names, innermost_first);
    return names;
}

/* ---- Deleting --------------------------------------------------------------------------------------------------- */

/* 389-DS answers this for a half-deleted entry, which the confirmation removes. In the last rounds it is a failure. */
static void take_operations_error(tree_call *tree, skv_ldap_response *response)
{
    if (skv_ldap_needs_confirmation(&tree->call) && tree->compares)
        tree->others_added = true;
    else
        skv_ldap_fail(&tree->call, response);
}

/* Counts a response. The entry of a response does not matter: the next enumeration finds the entries that are left. */
static void take_deletion_response(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot, skv_ldap_response *response)
{
    tree_call *tree = (tree_call *)pipeline->call;

    (void)slot;
    switch (response->code) {
    case LDAP_SUCCESS:
        tree->deleted++;
        break;
    case LDAP_NO_SUCH_OBJECT:
        break;
    case LDAP_UNAVAILABLE_CRITICAL_EXTENSION:
        tree->cannot_compare = true;
        tree->others_added = true;
        break;
    case LDAP_NOT_ALLOWED_ON_NONLEAF:
        tree->nonleaf = true;
        tree->others_added = true;
        break;
    case LDAP_ASSERTION_FAILED:
        tree->others_added = true;
        break;
    case LDAP_OPERATIONS_ERROR:
        take_operations_error(tree, response);
        break;
    case LDAP_BUSY:
        tree->busy = true;
        break;
    default:
        skv_ldap_fail(&tree->call, response);
    }
}

static skv_status pipeline_deletion(tree_call *tree, const name *entry)
{
    skv_ldap_call *call = &tree->call;
    skv_ldap_response response = {.code = LDAP_USER_CANCELLED};
    int id = 0;

    if (!skv_ldap_pipeline_room(&tree->pipeline, 0))
        return skv_ldap_fail(call, &(skv_ldap_response){.code = tree->pipeline.error});
    if (call->reply->status != SKV_OK)
        return call->reply->status;
    if (skv_deadline_check_request(skv_ldap_round_trip(call)) == SKV_OK)
        response.code = skv_ldap_entry_start_delete(call, entry->dn, tree->compares ? entry->version : "", &id);
    if (response.code == LDAP_SUCCESS) {
        skv_ldap_pipeline_sent(&tree->pipeline, id, 0, 0);
        return SKV_OK;
    }
    response.code = skv_conn_send_error(call->conn, response.code);
    return skv_ldap_fail(call, &response);
}

/* Takes the outstanding responses; after an interrupt, gives the connection up instead. The next user of a connection
 * must not get a response of this call. */
static void drain_deletions(tree_call *tree)
{
    if (tree->call.reply->status == SKV_INTERRUPTED || !skv_conn_is_usable(tree->call.conn))
        skv_ldap_pipeline_give_up(&tree->pipeline);
    else if (!skv_ldap_pipeline_drain(&tree->pipeline))
        skv_ldap_fail(&tree->call, &(skv_ldap_response){.code = tree->pipeline.error});
}

/* ---- Confirming ------------------------------------------------------------------------------------------------- */

static void take_confirmation_response(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot,
                                       skv_ldap_response *response)
{
    tree_call *tree = (tree_call *)pipeline->call;

    tree->shown[slot->tag] = response->code == LDAP_SUCCESS;
    if (response->code != LDAP_SUCCESS && response->code != LDAP_NO_SUCH_OBJECT)
        skv_ldap_fail(&tree->call, response);
}

/* Reads the deleted entries, many at once. */
static skv_status read_deleted_entries(tree_call *tree, const name *names, size_t count)
{
    skv_ldap_call *call = &tree->call;

    skv_ldap_pipeline_begin(&tree->pipeline, call, count, IN_FLIGHT_MAX, IN_FLIGHT_MAX - 1, take_confirmation_response);
    for (size_t i = 0; i < count && call->reply->status == SKV_OK; i++) {
        skv_ldap_response response = {0};
        int id = 0;

        if (skv_ldap_pipeline_room(&tree->pipeline, 0))
            response.code = skv_ldap_search(call, names[i].dn, LDAP_SCOPE_BASE, NULL, skv_ldap_no_attributes, NULL,
                                            LDAP_NO_LIMIT, &id);
        else
            response.code = tree->pipeline.error;
        if (response.code == LDAP_SUCCESS)
            skv_ldap_pipeline_sent(&tree->pipeline, id, i, 0);
        else
            skv_ldap_fail(call, &response);
    }
    drain_deletions(tree);
    return call->reply->status;
}

/* Removes what 389-DS keeps of deleted entries (ldap/confirm.h). An entry that exists was added by another client. */
static skv_status confirm_deletions(tree_call *tree, const name *names)
{
    skv_ldap_call *call = &tree->call;
    size_t count = tree->unconfirmed;

    if (!count || !skv_ldap_needs_confirmation(call))
        return SKV_OK;
    tree->shown = skv_alloc_zeroed(count, sizeof *tree->shown);
    if (!tree->shown)
        return skv_fail_memory(call->reply);
    read_deleted_entries(tree, names, count);
    for (size_t i = 0; i < count && call->reply->status == SKV_OK; i++) {
        bool exists;

        if (tree->shown[i] && skv_ldap_remove_half_deleted(call, names[i].dn, &exists) == SKV_OK)
            tree->others_added |= exists;
    }
    skv_free(tree->shown);
    tree->shown = NULL;
    if (call->reply->status == SKV_OK)
        tree->unconfirmed = 0;
    return call->reply->status;
}

/* Confirms what an attempt has deleted before it failed. */
static skv_status confirm_earlier_deletions(tree_call *tree)
{
    name *names = tree->unconfirmed ? sort_innermost_first(tree) : NULL;

    if (!tree->unconfirmed)
        return SKV_OK;
    if (!names)
        return skv_fail_memory(tree->call.reply);
    confirm_deletions(tree, names);
    skv_free(names);
    return tree->call.reply->status;
}

/* Deletes the enumerated entries, one level after the other. */
static skv_status delete_enumerated(tree_call *tree)
{
    skv_ldap_call *call = &tree->call;
    int outermost = skv_dn_depth(call->dn, strlen(call->dn));
    size_t i = 0;
    name *names = sort_innermost_first(tree);

    if (!names)
        return skv_fail_memory(call->reply);
    skv_conn_begin(call->conn, skv_ldap_round_trip(call));
    skv_ldap_pipeline_begin(&tree->pipeline, call, tree->count + 1, IN_FLIGHT_MAX, IN_FLIGHT_MAX - 1,
                            take_deletion_response);
    for (; i < tree->count && call->reply->status == SKV_OK; i++) {
        if (tree->keep && names[i].depth == outermost)
            break;
        if (i > 0 && names[i].depth != names[i - 1].depth)
            drain_deletions(tree);
        if (call->reply->status == SKV_OK)
            pipeline_deletion(tree, &names[i]);
    }
    drain_deletions(tree);
    tree->unconfirmed = i;
    if (call->reply->status == SKV_OK)
        confirm_deletions(tree, names);
    skv_free(names);
    return call->reply->status;
}

/* ---- Rounds ----------------------------------------------------------------------------------------------------- */

/* Deletes the entries that it enumerates. `busy` and `others_added` tell if entries are left. */
static skv_status run_deletetree_round(tree_call *tree)
{
    static const skv_ldap_response busy = {.code = LDAP_BUSY};
    size_t before = tree->deleted;

    tree->busy = tree->others_added = false;
    if (enumerate_tree(tree) != SKV_OK || delete_enumerated(tree) != SKV_OK)
        return tree->call.reply->status;
    /* Many deletions can make the server busy for each other. While entries are deleted, that is no failure. */
    if (tree->busy && tree->deleted == before)
        return skv_ldap_fail(&tree->call, &busy);
    if (tree->busy && skv_deadline_sleep(skv_ldap_round_trip(&tree->call), BUSY_PAUSE_NS) == SKV_INTERRUPTED)
        return skv_ldap_refuse(&tree->call, SKV_INTERRUPTED, "interrupted");
    return SKV_OK;
}

static skv_status run_deletetree_rounds(tree_call *tree)
{
    skv_ldap_call *call = &tree->call;
    bool is_left;

    if (confirm_earlier_deletions(tree) != SKV_OK)
        return call->reply->status;
    if (skv_ldap_read_folder(call, tree->existed, &is_left) != SKV_OK)
        return call->reply->status;
    tree->existed |= tree->keep || is_left;
    for (int i = 0; i < ROUNDS_MAX && is_left; i += !tree->busy) {
        tree->compares = i < COMPARING_ROUNDS && !tree->cannot_compare;
        if (run_deletetree_round(tree) != SKV_OK)
            return call->reply->status;
        is_left = tree->busy || tree->others_added;
    }
    if (is_left)
        return skv_ldap_refuse(call, SKV_UNAVAILABLE, "others keep adding to it");
    call->reply->number = tree->existed;
    return SKV_OK;
}

static skv_status attempt_deletetree(skv_ldap_call *call)
{
    tree_call *tree = (tree_call *)call;
    skv_status status = run_deletetree_rounds(tree);

    skv_ldap_pipeline_end(&tree->pipeline);
    return status;
}

skv_status skv_ldap_deletetree(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply)
{
    tree_call tree = {.keep = skv_key_is_root(folder)};

    skv_buf_init(&tree.names, SKV_DATA_MAX);
    if (skv_ldap_begin(&tree.call, store, SKV_OP_DELETETREE, folder, SKV_KIND_FOLDER, deadline, reply) == SKV_OK) {
        tree.call.round_trip_ns = deadline->end_ns == INT64_MAX ? INT64_MAX : deadline->end_ns - skv_now_ns();
        skv_ldap_run(&tree.call, attempt_deletetree);
        if (reply->status > SKV_END && tree.deleted > 0)
            skv_reply_append(reply, "; %zu of its entries were deleted before that", tree.deleted);
        if (reply->status == SKV_INTERRUPTED)
            reply->number = tree.existed + (int64_t)tree.deleted;
    }
    skv_ldap_end(&tree.call);
    skv_buf_free(&tree.names);
    return reply->status;
}
