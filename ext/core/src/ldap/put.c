/*
 * A put reads the entry first. It leaves a document with the same content alone. Without the read, it would try an
 * add, and on 389-DS an add of an existing entry costs as much as 300 searches. The replacement is conditional on the
 * version that was read (docs/adr/0022): a change by another client makes it fail, and the put starts again; a request
 * that reaches the server after its call has been repeated fails as well. No cache of folders exists: the matchedDN of
 * the read says which folders exist.
 */
#include "ldap/compare_and_swap.h"
#include "ldap/confirm.h"
#include "ldap/entry.h"
#include "ldap/key.h"
#include "ldap/limit.h"
#include "ldap/new_folders.h"

#include <string.h>

/* The most rounds in which another client may change the key, unless the versions show that it did. */
#define ROUNDS_MAX 32

/* The largest document that is replaced by "delete the old value, add the new one" without a condition of the caller's.
 */
#define SWAP_MAX ((size_t)64 << 10)

typedef struct put_call {
    skv_ldap_call call;
    const skv_put_args *args;
    struct berval document;
    bool make_all_folders; /* the server does not say which folders exist */
    skv_ldap_versions versions;
} put_call;

/* Returns true if the stored document has the bytes of the new one. */
static bool is_stored(const put_call *put, const struct berval *stored)
{
    const skv_put_args *args = put->args;

    return stored->bv_len == args->document_len && memcmp(stored->bv_val, args->document, args->document_len) == 0;
}

static skv_status fail_put_write(put_call *put, const skv_ldap_response *response)
{
    skv_ldap_note_lost(&put->versions, response);
    return skv_ldap_fail_write(&put->call, response, put->document.bv_len);
}

static skv_status mark_written(put_call *put)
{
    put->call.reply->number = 1;
    return SKV_OK;
}

/* Ends a replacement that the server has acknowledged. If the entry is missing all the same, a put without a condition
 * starts again. */
static skv_status finish_replacement(put_call *put)
{
    skv_ldap_call *call = &put->call;
    skv_ldap_response response;
    skv_status status;

    switch (skv_ldap_confirm_replacement(call, &response)) {
    case LDAP_SUCCESS:
        status = mark_written(put);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = put->args->condition == SKV_PUT_ANY ? skv_ldap_stale(call) : skv_ldap_refuse_vanished(call);
        break;
    default:
        call->in_doubt = true;
        put->versions.in_doubt = put->versions.read;
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

/* ---- The key exists ---- */

static skv_status finish_conditional_write(put_call *put, const skv_ldap_response *response)
{
    switch (response->code) {
    case LDAP_SUCCESS:
        return finish_replacement(put);
    case LDAP_ASSERTION_FAILED:
    case LDAP_NO_SUCH_ATTRIBUTE:
    case LDAP_TYPE_OR_VALUE_EXISTS:
        return skv_ldap_note_overtaken(&put->call, &put->versions);
    case LDAP_UNAVAILABLE_CRITICAL_EXTENSION:
        /* slapd offers assertions that some of its databases (back-ldif) lack. */
        return skv_ldap_is_refused(&put->versions) ? fail_put_write(put, response)
                                                   : skv_ldap_note_overtaken(&put->call, &put->versions);
    case LDAP_NO_SUCH_OBJECT:
        return skv_ldap_stale(&put->call);
    default:
        return fail_put_write(put, response);
    }
}

/* Replaces the document if the entry has that version; with "", whatever version it has. */
static skv_status replace_document(put_call *put, const char *version)
{
    skv_ldap_response response;
    skv_status status;

    skv_ldap_entry_replace(&put->call, &put->document, version, &response);
    status = finish_conditional_write(put, &response);
    skv_ldap_response_free(&response);
    return status;
}

/* Replaces the document if it is the one that was read. */
static skv_status swap_document(put_call *put, struct berval *stored)
{
    bool exact = put->args->condition == SKV_PUT_EXPECT;
    skv_ldap_response response;
    skv_status status = skv_ldap_compare_and_swap(&put->call, put->call.dn, stored, &put->document, exact, &response);

    if (status == SKV_OK)
        status = finish_conditional_write(put, &response);
    skv_ldap_response_free(&response);
    return status;
}

/* Sets the reply's number to 1 if the stored document has the same content as the new one. */
static skv_status compare_with_stored_document(put_call *put, const struct berval *stored)
{
    const skv_put_args *args = put->args;

    if (is_stored(put, stored))
        return mark_written(put);
    return skv_document_same(stored->bv_val, stored->bv_len, args->document, args->document_len, put->call.reply);
}

/* Ends a put whose condition does not hold. After a lost response, the stored document (NULL: none) tells whether an
 * earlier attempt has written. */
static skv_status fail_condition(put_call *put, const struct berval *stored)
{
    skv_ldap_call *call = &put->call;
    const skv_put_args *args = put->args;
    bool is_ours = stored && is_stored(put, stored);

    if (call->in_doubt && is_ours && !args->non_unique)
        return mark_written(put);
    if (call->in_doubt && is_ours)
        return skv_ldap_refuse(call, SKV_UNAVAILABLE,
                               "the outcome is unknown: the connection was lost, and what is stored now may have been "
                               "written by this call, or by another one");
    if (call->in_doubt)
        return skv_ldap_refuse_in_doubt(call);
    if (args->condition == SKV_PUT_ABSENT)
        return skv_ldap_refuse_present(call);
    return stored ? skv_ldap_refuse_unexpected(call) : skv_ldap_refuse(call, SKV_CONFLICT, "there is no such key");
}

typedef enum replacement { REPLACE_ANY, REPLACE_VERSION, COMPARE_AND_SWAP } replacement;

/* Chooses how to replace the document. A put without a condition replaces any document if the server compares neither
 * the version nor a document of that size. A put with a condition compares the document if the server does not compare
 * the version. */
static replacement choose_replacement(const put_call *put, const struct berval *stored)
{
    bool must_compare = put->args->condition == SKV_PUT_EXPECT;
    bool is_large = stored->bv_len > SWAP_MAX || put->document.bv_len > SWAP_MAX;

    if (skv_ldap_is_refused(&put->versions))
        return must_compare ? COMPARE_AND_SWAP : REPLACE_ANY;
    if (skv_ldap_version_is_assertable(&put->call, put->versions.read.text))
        return REPLACE_VERSION;
    return is_large && !must_compare ? REPLACE_ANY : COMPARE_AND_SWAP;
}

static skv_status put_present(put_call *put, skv_ldap_entry *entry)
{
    const skv_put_args *args = put->args;
    skv_ldap_call *call = &put->call;
    struct berval *stored = &entry->document;
    replacement how;

    if (entry->is_folder && !entry->is_key)
        return skv_ldap_refuse_folder(call);
    if (!stored->bv_val)
        return skv_ldap_refuse(call, SKV_DENIED, SKV_NO_DOCUMENT);
    if (args->condition == SKV_PUT_ABSENT ||
        (args->condition == SKV_PUT_EXPECT && !skv_is_expected(args, stored->bv_val, stored->bv_len)))
        return fail_condition(put, stored);
    if (compare_with_stored_document(put, stored) != SKV_OK)
        return call->reply->status;
    if (call->reply->number == 1) {
        call->reply->number = call->in_doubt;
        return SKV_OK;
    }
    if (skv_is_kept_encrypted(args, stored->bv_val, stored->bv_len))
        return skv_ldap_refuse(call, SKV_DENIED, SKV_KEPT_ENCRYPTED);
    if (skv_ldap_was_changed_in_doubt(call, &put->versions))
        return skv_ldap_refuse_in_doubt(call);
    how = choose_replacement(put, stored);
    if (skv_ldap_check_size(call, args->document_len + (how == COMPARE_AND_SWAP ? stored->bv_len : 0)) != SKV_OK)
        return call->reply->status;
    if (how == COMPARE_AND_SWAP)
        return swap_document(put, stored);
    return replace_document(put, how == REPLACE_VERSION ? put->versions.read.text : "");
}

/* ---- The key does not exist ---- */

static skv_status add_key(put_call *put)
{
    skv_ldap_call *call = &put->call;
    skv_ldap_response response;
    skv_status status;

    switch (skv_ldap_entry_add(call, call->dn, SKV_KIND_KEY, &put->document, &response)) {
    case LDAP_SUCCESS:
        status = mark_written(put);
        break;
    case LDAP_ALREADY_EXISTS:
        status = skv_ldap_stale(call);
        break;
    case LDAP_NO_SUCH_OBJECT:
        put->make_all_folders |= skv_ldap_matched_depth(&response) == 0;
        status = skv_ldap_check_base(call, &response) == SKV_OK ? skv_ldap_stale(call) : call->reply->status;
        break;
    default:
        status = fail_put_write(put, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status put_absent(put_call *put, const skv_ldap_response *response)
{
    skv_ldap_call *call = &put->call;
    int depth = skv_ldap_matched_depth(response), base = call->store->base_depth;
    skv_status status;
    bool folders_are_missing = depth && depth < skv_dn_depth(call->dn, strlen(call->dn)) - 1;

    if (skv_ldap_check_base(call, response) != SKV_OK)
        return call->reply->status;
    if (put->args->condition == SKV_PUT_EXPECT)
        return fail_condition(put, NULL);
    if (skv_ldap_was_changed_in_doubt(call, &put->versions))
        return skv_ldap_refuse_in_doubt(call);
    if (skv_ldap_check_size(call, put->args->document_len) != SKV_OK)
        return call->reply->status;
    if (folders_are_missing || put->make_all_folders)
        status = skv_ldap_make_folders(call, depth ? depth - base : 0);
    else
        status = skv_ldap_check_new_name(call, call->dn);
    return status == SKV_OK ? add_key(put) : status;
}

/* ---- Rounds ---- */

static skv_status run_put_round(put_call *put)
{
    skv_ldap_call *call = &put->call;
    skv_ldap_entry entry = {0};
    int wanted = SKV_READ_DOCUMENT | (skv_ldap_asserts(call) ? SKV_READ_CSN : 0);
    skv_ldap_response response;
    skv_ldap_code code;
    skv_status status;

    put->versions.read = (skv_ldap_version){""};
    switch (skv_ldap_read(call, call->dn, skv_ldap_attributes(call, wanted), &response)) {
    case LDAP_SUCCESS:
        code = skv_ldap_entry_of(call, &response, &entry);
        put->versions.read = skv_ldap_version_of(&entry);
        status = code == LDAP_SUCCESS ? put_present(put, &entry) : skv_ldap_fail(call, &response);
        skv_ldap_entry_wipe(&entry);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = put_absent(put, &response);
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status attempt_put(skv_ldap_call *call)
{
    put_call *put = (put_call *)call;

    for (int i = 0; i < ROUNDS_MAX; i++) {
        int overtaken = put->versions.overtaken;

        call->is_stale = false;
        run_put_round(put);
        if (!call->is_stale)
            return call->reply->status;
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
static skv_status check_document(put_call *put)
{
    if (put->args->document_len == 0)
        return skv_ldap_refuse(&put->call, SKV_INVALID, "the document is empty, which a directory does not keep");
    if (!skv_is_utf8(put->args->document, put->args->document_len))
        return skv_ldap_refuse(&put->call, SKV_INVALID, "the document is not UTF-8, as a directory requires");
    return SKV_OK;
}

bool skv_ldap_put_one(skv_store *store, const skv_key *key, const skv_put_args *args, const skv_ldap_version *in_doubt,
                      skv_deadline *deadline, skv_reply *reply)
{
    put_call put = {.args = args, .versions = {.in_doubt_is_unknown = args->in_doubt && !in_doubt}};

    if (in_doubt)
        put.versions.in_doubt = *in_doubt;
    if (skv_ldap_begin(&put.call, store, SKV_OP_PUT, key, SKV_KIND_KEY, deadline, reply) == SKV_OK &&
        check_document(&put) == SKV_OK) {
        put.document = (struct berval){args->document_len, SKV_LDAP_TEXT(args->document)};
        put.call.in_doubt = args->in_doubt;
        skv_ldap_run(&put.call, attempt_put);
    }
    if (reply->status == SKV_INTERRUPTED)
        reply->number = put.call.in_doubt;
    skv_ldap_end(&put.call);
    return reply->status == SKV_OK || !put.call.server_failed;
}

skv_status skv_ldap_put(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                        skv_reply *reply)
{
    skv_ldap_put_one(store, key, args, NULL, deadline, reply);
    return reply->status;
}
