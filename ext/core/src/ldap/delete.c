/*
 * A delete reads the entry first, to learn if the key exists. It then deletes only the version that it has read,
 * because after a lost connection the request may reach the server when another client has put the key again. If the
 * server cannot compare versions, a delete with an expected document reads what it has deleted, and puts another
 * document back (docs/adr/0038).
 */
#include "ldap/compare_and_swap.h"
#include "ldap/confirm.h"
#include "ldap/entry.h"
#include "ldap/key.h"

/* The number of deletions that 389-DS may refuse for an entry that it keeps half. */
#define HALF_DELETED_MAX 8

typedef struct delete_call {
    skv_ldap_call call;
    const skv_put_args *args;
    skv_ldap_versions versions;
    int half_deleted;      /* the number of deletions that the server refused so */
    struct berval **taken; /* a document that was deleted instead of the expected one; owned */
} delete_call;

static bool expects_document(const delete_call *del)
{
    return del->args->condition == SKV_PUT_EXPECT;
}

/* Ends the delete of a key that does not exist. After a lost response, this call may have deleted it. */
static skv_status finish_absent_delete(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    bool folder;

    if (call->in_doubt && expects_document(del))
        return skv_ldap_refuse(call, SKV_UNAVAILABLE,
                               "the outcome is unknown: the connection was lost, and the key does not exist any more: "
                               "this call has deleted it, or another client has");
    if (call->in_doubt) {
        call->reply->number = 1;
        return SKV_OK;
    }
    if (skv_ldap_has_twin(call, call->dn, &folder) == SKV_OK && folder)
        return skv_ldap_refuse_folder(call);
    return call->reply->status;
}

/* Sends the delete: on the condition that the entry has the version that was read, if the server can compare versions;
 * else so that another document than the expected one can be put back. */
static skv_ldap_code delete_entry(delete_call *del, const skv_ldap_entry *entry, skv_ldap_response *response)
{
    const char *version = skv_ldap_is_refused(&del->versions) ? "" : del->versions.read.text;

    if (expects_document(del) && !skv_ldap_version_is_assertable(&del->call, version))
        return skv_ldap_delete_and_compare(&del->call, &entry->document, &del->taken, response);
    return skv_ldap_entry_delete(&del->call, version, response);
}

/* Ends a deletion that the server has acknowledged, once it shows the deleted entry no more. */
static skv_status finish_deletion(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    bool exists;

    if (skv_ldap_remove_half_deleted(call, call->dn, &exists) == SKV_OK) {
        call->reply->number = !del->taken;
        return SKV_OK;
    }
    call->in_doubt = true;
    del->versions.in_doubt = del->versions.read;
    return call->reply->status;
}

/* Handles an operations error of 389-DS, which answers it for an entry that it keeps half. */
static skv_status delete_half_deleted(delete_call *del, const skv_ldap_response *response)
{
    skv_ldap_call *call = &del->call;
    bool exists;

    if (!skv_ldap_needs_confirmation(call))
        return skv_ldap_fail(call, response);
    if (skv_ldap_remove_half_deleted(call, call->dn, &exists) != SKV_OK)
        return call->reply->status;
    if (!exists)
        return finish_absent_delete(del);
    return ++del->half_deleted < HALF_DELETED_MAX ? skv_ldap_stale(call) : skv_ldap_refuse_half_deleted(call);
}

static skv_status delete_read_version(delete_call *del, const skv_ldap_entry *entry)
{
    skv_ldap_call *call = &del->call;
    bool is_refused = skv_ldap_is_refused(&del->versions);
    skv_ldap_response response;
    skv_ldap_code code = delete_entry(del, entry, &response);
    skv_status status = SKV_OK;

    if ((code == LDAP_ASSERTION_FAILED || code == LDAP_UNAVAILABLE_CRITICAL_EXTENSION) && !is_refused) {
        skv_ldap_response_free(&response);
        return skv_ldap_note_overtaken(call, &del->versions);
    }
    switch (code) {
    case LDAP_SUCCESS:
        status = finish_deletion(del);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? finish_absent_delete(del) : call->reply->status;
        break;
    case LDAP_OPERATIONS_ERROR:
        status = delete_half_deleted(del, &response);
        break;
    default:
        skv_ldap_note_lost(&del->versions, &response);
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status delete_present(delete_call *del, const skv_ldap_entry *entry)
{
    skv_ldap_call *call = &del->call;
    const struct berval *stored = &entry->document;
    int kind;

    if (skv_ldap_kind_of(call, call->dn, entry, &kind) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_FOLDER)
        return skv_ldap_refuse_folder(call);
    if (expects_document(del) && !stored->bv_val)
        return skv_ldap_refuse(call, SKV_DENIED, SKV_NO_DOCUMENT);
    if (expects_document(del) && !skv_is_expected(del->args, stored->bv_val, stored->bv_len))
        return call->in_doubt ? skv_ldap_refuse_in_doubt(call) : SKV_OK;
    if (skv_ldap_was_changed_in_doubt(call, &del->versions))
        return skv_ldap_refuse_in_doubt(call);
    return delete_read_version(del, entry);
}

/* Returns what a round reads: without entryCSN, the document stands for the version. */
static int attributes_to_read(const delete_call *del)
{
    bool asserts = skv_ldap_asserts(&del->call);

    return (asserts ? SKV_READ_CSN : 0) | (asserts && !expects_document(del) ? 0 : SKV_READ_DOCUMENT);
}

static skv_status run_delete_round(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    skv_ldap_entry entry = {0};
    skv_ldap_response response;
    skv_status status;

    del->versions.read = (skv_ldap_version){""};
    switch (skv_ldap_read(call, call->dn, skv_ldap_attributes(call, attributes_to_read(del)), &response)) {
    case LDAP_SUCCESS:
        if (skv_ldap_entry_of(call, &response, &entry) == LDAP_SUCCESS) {
            del->versions.read = skv_ldap_version_of(&entry);
            status = delete_present(del, &entry);
        } else {
            status = skv_ldap_fail(call, &response);
        }
        skv_ldap_entry_wipe(&entry);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? finish_absent_delete(del) : call->reply->status;
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

/* An attempt after a deletion that took another document only confirms it: the call must delete nothing else. */
static skv_status attempt_delete(skv_ldap_call *call)
{
    delete_call *del = (delete_call *)call;

    if (del->taken)
        return finish_deletion(del);
    do {
        call->is_stale = false;
        run_delete_round(del);
    } while (call->is_stale && skv_ldap_pause(call, del->versions.overtaken) == SKV_OK);
    return call->reply->status;
}

/* ---- Putting back ---- */

static skv_status attempt_put_back(skv_ldap_call *call)
{
    delete_call *del = (delete_call *)call;
    skv_ldap_response response;

    switch (skv_ldap_entry_add(call, call->dn, SKV_KIND_KEY, del->taken[0], &response)) {
    case LDAP_SUCCESS:
    case LDAP_ALREADY_EXISTS: /* another client has put the key meanwhile, or deleted its folder */
    case LDAP_NO_SUCH_OBJECT:
        break;
    default:
        skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

/* Puts back what this call has deleted by mistake, whatever became of its confirmation. An interrupt does not end this.
 */
static void put_taken_back(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    skv_deadline deadline = skv_ldap_put_back_deadline(call);

    call->deadline = &deadline;
    call->retries = call->store->retries;
    skv_reply_reset(call->reply);
    if (skv_ldap_run(call, attempt_put_back) != SKV_OK)
        skv_reply_append(call->reply, " (another client had changed the document at the same moment: it is deleted, "
                                      "and could not be put back)");
}

skv_status skv_ldap_delete_key(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                               skv_reply *reply)
{
    delete_call del = {.args = args, .versions = {.in_doubt_is_unknown = args->in_doubt}};

    if (skv_ldap_begin(&del.call, store, SKV_OP_DELETE, key, SKV_KIND_KEY, deadline, reply) == SKV_OK) {
        del.call.in_doubt = args->in_doubt;
        skv_ldap_run(&del.call, attempt_delete);
    }
    if (del.taken)
        put_taken_back(&del);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = del.call.in_doubt;
    skv_ldap_free_values(del.taken);
    skv_ldap_end(&del.call);
    return reply->status;
}
