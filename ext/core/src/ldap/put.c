/*
 * A put reads the entry first. It leaves a document with the same content alone. Without the read, it would try an
 * add, and on 389-DS an add of an existing entry costs as much as 300 searches. The replacement is conditional on the
 * version that was read (docs/adr/0022): a change by another client makes it fail, and the put starts again; a request
 * that reaches the server after its call has been repeated fails as well. No cache of folders exists: the matchedDN of
 * the read says which folders exist.
 */
#include "ldap/put.h"

#include "ldap/compare_and_swap.h"
#include "ldap/confirm.h"
#include "ldap/key.h"
#include "ldap/limit.h"
#include "ldap/new_folders.h"

#include <string.h>

/* The most rounds in which another client may change the key, unless the versions show that it did. */
#define ROUNDS_MAX 32

/* The largest document that a single put replaces by "delete the old value, add the new one" without a condition of the
 * caller's. */
#define SWAP_MAX ((size_t)64 << 10)

void skv_put_begin(skv_put_state *put, const skv_put_args *args, const char *dn)
{
    *put = (skv_put_state){
        .args = args, .dn = dn, .in_doubt = args->in_doubt, .versions = {.in_doubt_is_unknown = args->in_doubt}};
}

void skv_put_end(skv_put_state *put)
{
    skv_free(put->old.bv_val);
}

/* SKV_KIND_* of the entry. */
static int kind_of(const skv_put_state *put)
{
    return put->args->document ? SKV_KIND_KEY : SKV_KIND_FOLDER;
}

static struct berval new_document(const skv_put_state *put)
{
    return (struct berval){put->args->document_len, SKV_LDAP_TEXT(put->args->document)};
}

/* ---- Requests ---- */

static skv_ldap_code send_replace(skv_ldap_call *call, skv_put_state *put, struct berval *document, int *id)
{
    bool exact = put->args->condition == SKV_PUT_EXPECT;

    return put->old.bv_val ? skv_ldap_start_swap(call, put->dn, &put->old, document, exact, id)
                           : skv_ldap_entry_start_replace(call, put->dn, document, put->version, id);
}

static skv_ldap_code send_read(skv_ldap_call *call, const skv_put_state *put, int *id)
{
    int wanted = SKV_READ_DOCUMENT | (skv_ldap_asserts(call) ? SKV_READ_CSN : 0);

    return put->is_unindexed ? skv_ldap_entry_start_read(call, put->dn, wanted, id)
                             : skv_ldap_start_indexed_read(call, put->dn, wanted, id);
}

skv_ldap_code skv_put_send(skv_ldap_call *call, skv_put_state *put, int *id)
{
    struct berval document = new_document(put);
    skv_ldap_code error;

    if (put->step == SKV_STEP_CONFIRM || (put->step == SKV_STEP_READ && !put->args->document))
        return skv_ldap_entry_start_read(call, put->dn, SKV_READ_KIND, id);
    if (put->step == SKV_STEP_READ)
        return send_read(call, put, id);
    error = skv_ldap_start(call);
    if (error != LDAP_SUCCESS)
        return error;
    return put->step == SKV_STEP_ADD ? skv_ldap_entry_start_add(call, put->dn, kind_of(put), &document, id)
                                     : send_replace(call, put, &document, id);
}

/* ---- The key exists ---- */

/* Returns true if the stored document has the bytes of the new one. */
static bool is_stored(const skv_put_state *put, const struct berval *stored)
{
    const skv_put_args *args = put->args;

    return stored->bv_len == args->document_len && memcmp(stored->bv_val, args->document, args->document_len) == 0;
}

/* Ends a put whose condition does not hold. After a lost response, the stored document (NULL: none) tells whether an
 * earlier attempt has written. */
static void fail_condition(skv_ldap_call *call, const skv_put_state *put, const struct berval *stored)
{
    const skv_put_args *args = put->args;
    bool is_ours = stored && is_stored(put, stored);

    if (call->in_doubt && is_ours && !args->non_unique)
        call->reply->number = 1;
    else if (call->in_doubt && is_ours)
        skv_ldap_refuse(call, SKV_UNAVAILABLE,
                        "the outcome is unknown: the connection was lost, and what is stored now may have been "
                        "written by this call, or by another one");
    else if (call->in_doubt)
        skv_ldap_refuse_in_doubt(call);
    else if (args->condition == SKV_PUT_ABSENT)
        skv_ldap_refuse_present(call);
    else if (stored)
        skv_ldap_refuse_unexpected(call);
    else
        skv_ldap_refuse(call, SKV_CONFLICT, "there is no such key");
}

/* Sets the reply's number to 1 if the stored document has the same content as the new one. */
static skv_status compare_with_stored_document(skv_ldap_call *call, const skv_put_state *put,
                                               const struct berval *stored)
{
    const skv_put_args *args = put->args;

    call->reply->number = is_stored(put, stored);
    if (call->reply->number)
        return SKV_OK;
    return skv_document_same(stored->bv_val, stored->bv_len, args->document, args->document_len, call->reply);
}

/* Plans to replace the version that was read. If the server does not compare versions, plans to compare the documents.
 * A put without a condition then replaces any document if the server has refused the comparison, or one of the two
 * documents is large. */
static void plan_replacement(skv_ldap_call *call, skv_put_state *put, const struct berval *stored)
{
    bool is_refused = skv_ldap_is_refused(&put->versions), must_compare = put->args->condition == SKV_PUT_EXPECT;
    bool is_large = stored->bv_len > put->swap_max || put->args->document_len > put->swap_max;
    bool asserts = !is_refused && skv_ldap_version_is_assertable(call, put->versions.read.text);
    bool compares = !asserts && (must_compare || !(is_refused || is_large));

    if (skv_ldap_check_size(call, put->args->document_len + (compares ? stored->bv_len : 0)) != SKV_OK)
        return;
    put->version = asserts ? put->versions.read.text : "";
    skv_free(put->old.bv_val);
    put->old = (struct berval){stored->bv_len, compares ? skv_copy_string(stored->bv_val, stored->bv_len) : NULL};
    if (compares && !put->old.bv_val)
        skv_fail_memory(call->reply);
    else
        put->step = SKV_STEP_REPLACE;
}

static void take_present(skv_ldap_call *call, skv_put_state *put, const skv_ldap_entry *entry)
{
    const skv_put_args *args = put->args;
    const struct berval *stored = &entry->document;

    if (entry->is_folder && !entry->is_key)
        skv_ldap_refuse_folder(call);
    else if (!stored->bv_val)
        skv_ldap_refuse(call, SKV_DENIED, SKV_NO_DOCUMENT);
    else if (args->condition == SKV_PUT_ABSENT ||
             (args->condition == SKV_PUT_EXPECT && !skv_is_expected(args, stored->bv_val, stored->bv_len)))
        fail_condition(call, put, stored);
    else if (compare_with_stored_document(call, put, stored) != SKV_OK)
        return;
    else if (call->reply->number == 1)
        call->reply->number = call->in_doubt;
    else if (skv_is_kept_encrypted(args, stored->bv_val, stored->bv_len)) {
        skv_ldap_refuse(call, SKV_DENIED, SKV_KEPT_ENCRYPTED);
        skv_reply_set_fault(call->reply, SKV_FAULT_ENCRYPTION_KEYS);
    } else if (skv_ldap_was_changed_in_doubt(call, &put->versions))
        skv_ldap_refuse_in_doubt(call);
    else
        plan_replacement(call, put, stored);
}

/* A folder that exists has no document to be replaced. After a lost response, this call may have added it. */
static void take_present_folder(skv_ldap_call *call, const skv_ldap_entry *entry)
{
    int kind;

    if (skv_ldap_kind_of(call, call->dn, entry, &kind) != SKV_OK)
        return;
    if (kind == SKV_KIND_KEY)
        skv_ldap_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
    else
        call->reply->number = call->in_doubt;
}

/* Takes an acknowledged replacement, which is in doubt until it is confirmed. */
static void take_acknowledged(skv_ldap_call *call, skv_put_state *put)
{
    if (!skv_ldap_needs_confirmation(call)) {
        call->reply->number = 1;
        return;
    }
    put->was_in_doubt = call->in_doubt;
    call->in_doubt = true;
    put->versions.in_doubt = put->versions.read;
    put->step = SKV_STEP_CONFIRM;
}

/* Returns true if another client has changed the entry since it was read. slapd offers assertions that some of its
 * databases (back-ldif) lack: they are not used when the entry is read again. */
static bool is_overtaken(const skv_put_state *put, skv_ldap_code code)
{
    return code == LDAP_ASSERTION_FAILED || code == LDAP_NO_SUCH_ATTRIBUTE || code == LDAP_TYPE_OR_VALUE_EXISTS ||
           (code == LDAP_UNAVAILABLE_CRITICAL_EXTENSION && !skv_ldap_is_refused(&put->versions));
}

static void take_replaced(skv_ldap_call *call, skv_put_state *put, skv_ldap_response *response)
{
    struct berval document = new_document(put);

    if (put->old.bv_val && skv_ldap_finish_swap(call, put->dn, &put->old, &document, response) != SKV_OK)
        return;
    if (response->code == LDAP_SUCCESS) {
        take_acknowledged(call, put);
    } else if (is_overtaken(put, response->code)) {
        skv_ldap_note_overtaken(call, &put->versions);
        put->step = SKV_STEP_READ;
    } else {
        put->step = response->code == LDAP_NO_SUCH_OBJECT ? SKV_STEP_READ : SKV_STEP_SINGLE;
    }
}

/* If the entry is missing after a replacement, a put without a condition starts again. */
static void take_confirmation(skv_ldap_call *call, skv_put_state *put, const skv_ldap_response *response)
{
    bool is_gone = response->code == LDAP_NO_SUCH_OBJECT;

    if (is_gone)
        call->in_doubt = put->was_in_doubt;
    if (response->code == LDAP_SUCCESS)
        call->reply->number = 1;
    else if (is_gone && put->args->condition != SKV_PUT_ANY)
        skv_ldap_refuse_vanished(call);
    else
        put->step = is_gone ? SKV_STEP_READ : SKV_STEP_SINGLE;
}

/* ---- The key does not exist ---- */

static void take_absent(skv_ldap_call *call, skv_put_state *put, const skv_ldap_response *response)
{
    put->existing_depth = skv_ldap_matched_depth(response);
    if (skv_ldap_check_base(call, response) != SKV_OK)
        return;
    if (put->args->condition == SKV_PUT_EXPECT)
        fail_condition(call, put, NULL);
    else if (skv_ldap_was_changed_in_doubt(call, &put->versions))
        skv_ldap_refuse_in_doubt(call);
    else if (skv_ldap_check_size(call, put->args->document_len) == SKV_OK)
        put->step = SKV_STEP_ADD;
}

static void take_added(skv_ldap_call *call, skv_put_state *put, const skv_ldap_response *response)
{
    bool lacks_folder = response->code == LDAP_NO_SUCH_OBJECT;

    if (response->code == LDAP_SUCCESS) {
        call->reply->number = 1;
    } else if (!lacks_folder || skv_ldap_check_base(call, response) == SKV_OK) {
        put->hidden += response->code == LDAP_ALREADY_EXISTS;
        put->make_all_folders |= lacks_folder && skv_ldap_matched_depth(response) == 0;
        put->step = lacks_folder || response->code == LDAP_ALREADY_EXISTS ? SKV_STEP_READ : SKV_STEP_SINGLE;
    }
}

/* ---- Responses ---- */

/* Returns true if the index may lack the entry. The next read tells. */
static bool is_missing_in_index(const skv_ldap_call *call, const skv_put_state *put, const skv_ldap_response *response)
{
    return response->code == LDAP_INSUFFICIENT_ACCESS && put->args->document && skv_ldap_needs_confirmation(call);
}

/* Takes an entry that the index lacks. Removes a half-deleted one; the put then starts again. */
static void take_unindexed(skv_ldap_call *call, skv_put_state *put, const skv_ldap_entry *entry)
{
    bool in_doubt = call->in_doubt, exists;

    if (skv_ldap_remove_half_deleted(call, put->dn, &exists) != SKV_OK)
        return;
    call->in_doubt = in_doubt;
    if (exists)
        take_present(call, put, entry);
    else
        put->step = SKV_STEP_READ;
}

static void take_read(skv_ldap_call *call, skv_put_state *put, skv_ldap_response *response)
{
    bool was_unindexed = put->is_unindexed;
    skv_ldap_entry entry = {0};

    put->versions.read = (skv_ldap_version){""};
    put->is_unindexed = !was_unindexed && is_missing_in_index(call, put, response);
    if (put->is_unindexed) {
        put->step = SKV_STEP_READ;
    } else if (response->code == LDAP_NO_SUCH_OBJECT) {
        take_absent(call, put, response);
    } else if (response->code != LDAP_SUCCESS || skv_ldap_entry_of(call, response, &entry) != LDAP_SUCCESS) {
        put->step = SKV_STEP_SINGLE;
    } else {
        put->hidden = 0;
        put->versions.read = skv_ldap_version_of(&entry);
        if (!put->args->document)
            take_present_folder(call, &entry);
        else if (was_unindexed)
            take_unindexed(call, put, &entry);
        else
            take_present(call, put, &entry);
    }
    skv_ldap_entry_wipe(&entry);
}

void skv_put_take(skv_ldap_call *call, skv_put_state *put, skv_ldap_response *response)
{
    skv_step step = put->step;

    put->step = SKV_STEP_DONE;
    if (step == SKV_STEP_READ)
        take_read(call, put, response);
    else if (step == SKV_STEP_ADD)
        take_added(call, put, response);
    else if (step == SKV_STEP_REPLACE)
        take_replaced(call, put, response);
    else
        take_confirmation(call, put, response);
}

/* ---- Single puts ---- */

typedef struct put_call {
    skv_ldap_call call;
    skv_put_state *put;
} put_call;

static void run_put_step(skv_ldap_call *call, skv_put_state *put)
{
    bool writes = skv_put_is_write(put->step);
    skv_ldap_response response;
    skv_ldap_code error;
    int id = 0;

    if (put->step == SKV_STEP_ADD && skv_ldap_make_place(call, put->existing_depth, put->make_all_folders) != SKV_OK) {
        put->step = call->is_stale ? SKV_STEP_READ : SKV_STEP_DONE;
        return;
    }
    error = skv_put_send(call, put, &id);
    if (writes)
        skv_ldap_finish_change(call, error, id, &response);
    else
        skv_ldap_finish_read(call, error, id, &response);
    skv_put_take(call, put, &response);
    if (put->step == SKV_STEP_SINGLE) {
        put->step = SKV_STEP_DONE;
        if (writes)
            skv_ldap_note_lost(&put->versions, &response);
        skv_ldap_fail_write(call, &response, writes ? put->args->document_len : 0);
    }
    skv_ldap_response_free(&response);
}

static skv_status attempt_put(skv_ldap_call *call)
{
    skv_put_state *put = ((put_call *)call)->put;

    for (int i = 0; i < ROUNDS_MAX; i++) {
        int overtaken = put->versions.overtaken;

        put->step = SKV_STEP_READ;
        do
            run_put_step(call, put);
        while (put->step != SKV_STEP_READ && put->step != SKV_STEP_DONE);
        if (put->step == SKV_STEP_DONE)
            return call->reply->status;
        if (put->hidden >= ROUNDS_MAX)
            return skv_ldap_refuse(call, SKV_DENIED,
                                   "it exists, but an access rule of the directory hides it: give this identity the "
                                   "right to read and search the entry");
        /* A folder has no versions. */
        put->versions.overtaken += !put->args->document;
        if (put->versions.overtaken == overtaken)
            continue;
        /* In each round, one of the clients that write the key at the same time succeeds. */
        if (put->args->condition == SKV_PUT_ANY)
            i--;
        if (skv_ldap_pause(call, put->versions.overtaken) != SKV_OK)
            return call->reply->status;
    }
    return skv_ldap_refuse(call, SKV_UNAVAILABLE, "others keep changing it");
}

/* Checks that a directory can keep the document. Both servers return 21 (invalidAttributeSyntax) if it cannot. */
static skv_status check_document(skv_ldap_call *call, const skv_put_args *args)
{
    if (args->document && args->document_len == 0)
        return skv_ldap_refuse(call, SKV_INVALID, "the document is empty, which a directory does not keep");
    if (args->document && !skv_is_utf8(args->document, args->document_len))
        return skv_ldap_refuse(call, SKV_INVALID, "the document is not UTF-8, as a directory requires");
    return SKV_OK;
}

bool skv_ldap_put_one(skv_store *store, const skv_key *key, skv_put_state *put, skv_deadline *deadline,
                      skv_reply *reply)
{
    put_call one = {.put = put};
    skv_ldap_call *call = &one.call;
    skv_op op = put->args->document ? SKV_OP_PUT : SKV_OP_CREATE_FOLDER;

    if (skv_ldap_begin(call, store, op, key, kind_of(put), deadline, reply) == SKV_OK &&
        check_document(call, put->args) == SKV_OK) {
        put->dn = call->dn;
        put->swap_max = SWAP_MAX;
        call->in_doubt = put->in_doubt;
        skv_ldap_run(call, attempt_put);
    }
    if (reply->status == SKV_INTERRUPTED)
        reply->number = call->in_doubt;
    skv_ldap_end(call);
    return reply->status == SKV_OK || !call->server_failed;
}

skv_status skv_ldap_put(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                        skv_reply *reply)
{
    skv_put_state put;

    skv_put_begin(&put, args, NULL);
    skv_ldap_put_one(store, key, &put, deadline, reply);
    skv_put_end(&put);
    return reply->status;
}

skv_status skv_ldap_create_folder(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply)
{
    static const skv_put_args without_document = {.condition = SKV_PUT_ANY};

    return skv_ldap_put(store, folder, &without_document, deadline, reply);
}
