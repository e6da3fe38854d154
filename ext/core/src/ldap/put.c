/*
 * Writing a key. It is read first: what says the same already is left alone, and on 389-DS an add of what exists costs
 * as much as 300 searches. A replacement is made on condition that the entry is as it was read (docs/adr/0022):
 * whatever others do between reading and writing shows in the result of the write, and then it starts again; and a
 * request that reaches the server after its call has been repeated fails. There is no cache of folders: the read tells
 * which are there, by its matchedDN.
 */
#include "ldap/compare_and_swap.h"
#include "ldap/entry.h"
#include "ldap/key.h"
#include "ldap/limit.h"

#include <string.h>

/* How often others may get in between, unless what was read shows that they did. */
#define ROUNDS_MAX 32

/* The largest documents that are replaced by "delete the old value, add the new one", where there are no assertions. */
#define SWAP_MAX ((size_t)64 << 10)

/* From this size on, a connection that breaks while a document is sent is put down to the server's limit for a message,
 * which is lower then than what skv_ldap_check_size() took it for. */
#define LARGE ((size_t)256 << 10)

/* libldap takes texts that it does not change without const. */
#define TEXT(text) ((char *)(uintptr_t)(text))

typedef struct put_call {
    skv_ldap_call call;
    const skv_put_args *args;
    struct berval document;
    bool make_all;            /* the server does not say which folders are there: make each of them */
    skv_ldap_version version; /* of the entry that was read */
    skv_ldap_version refused; /* the version for which the server did not replace the document */
    int overtaken;            /* for how many versions it did not */
    skv_ldap_version doubt;   /* with call.in_doubt: the version for which the write was made */
    bool doubt_is_known;      /* not after an interrupt */
} put_call;

static bool is_document(const struct berval *stored, const char *bytes, size_t len)
{
    return stored->bv_len == len && memcmp(stored->bv_val, bytes, len) == 0;
}

/* What a write came to, when that is not one of the things that are dealt with. */
static int fail_put_write(put_call *put, const skv_ldap_answer *answer)
{
    skv_ldap_call *call = &put->call;

    if (answer->code < 0)
        put->doubt = put->version;
    if (answer->code >= 0 || put->document.bv_len < LARGE || skv_conn_is_usable(call->conn) ||
        skv_conn_message_limit(call->conn)->is_told || answer->code == LDAP_TIMEOUT ||
        answer->code == LDAP_USER_CANCELLED)
        return skv_ldap_fail(call, answer);
    return skv_fail(
        call->reply, SKV_TOO_LARGE,
        "%s '%s'%s: %s hung up while the document's %zu bytes were sent: they are probably more than it takes "
        "at once (389-DS: nsslapd-maxbersize, slapd: sockbuf_max_incoming_auth)",
        call->what, call->name, call->failed, skv_ldap_server(call), (size_t)put->document.bv_len);
}

static int mark_written(put_call *put)
{
    put->call.reply->number = 1;
    return SKV_OK;
}

/* ---- The key is there ---- */

/* Returns true if the server has not replaced this very version: then it cannot compare it. */
static bool is_replace_refused(const put_call *put)
{
    return strcmp(put->refused.text, put->version.text) == 0;
}

/* The server has not replaced this version. Reading again tells whether another client was faster. */
static int note_overtaken(put_call *put)
{
    put->overtaken += !is_replace_refused(put);
    put->refused = put->version;
    return SKV_LDAP_AGAIN;
}

/* The outcome of a conditional modification. */
static int finish_conditional_write(put_call *put, const skv_ldap_answer *answer)
{
    switch (answer->code) {
    case LDAP_SUCCESS:
        return mark_written(put);
    case LDAP_ASSERTION_FAILED:
    case LDAP_NO_SUCH_ATTRIBUTE:
    case LDAP_TYPE_OR_VALUE_EXISTS:
        return note_overtaken(put);
    case LDAP_UNAVAILABLE_CRITICAL_EXTENSION:
        /* Some databases of slapd (back-ldif) lack the assertions that it offers. */
        return is_replace_refused(put) ? fail_put_write(put, answer) : note_overtaken(put);
    case LDAP_NO_SUCH_OBJECT:
        return SKV_LDAP_AGAIN;
    default:
        return fail_put_write(put, answer);
    }
}

/* On condition that the entry has that version; "": whatever it has. */
static int replace_document(put_call *put, const char *version)
{
    struct berval *values[] = {&put->document, NULL};
    LDAPMod mod = {LDAP_MOD_REPLACE | LDAP_MOD_BVALUES, TEXT("simpkvJsonValue"), {.modv_bvals = values}};
    LDAPMod *mods[] = {&mod, NULL};
    skv_ldap_answer answer = {0};
    LDAPControl *control;
    int status;

    answer.code = skv_ldap_version_control(&put->call, version, &control);
    if (answer.code == LDAP_SUCCESS)
        skv_ldap_modify(&put->call, put->call.dn, mods, control, &answer);
    ldap_control_free(control);
    status = finish_conditional_write(put, &answer);
    skv_ldap_answer_free(&answer);
    return status;
}

/* On condition that the stored document is the one that was read. */
static int swap_document(put_call *put, struct berval *stored)
{
    skv_ldap_answer answer;
    bool restore_failed = false;
    int status;

    if (put->args->condition == SKV_PUT_EXPECT)
        skv_ldap_compare_and_swap(&put->call, stored, &put->document, &answer, &restore_failed);
    else
        skv_ldap_compare_and_swap_similar(&put->call, stored, &put->document, &answer);
    if (restore_failed)
        status = skv_ldap_refuse(&put->call, SKV_UNAVAILABLE,
                                 "another document was replaced, which 389-DS takes for equal to the expected one, and "
                                 "could not be put back");
    else
        status = finish_conditional_write(put, &answer);
    skv_ldap_answer_free(&answer);
    return status;
}

/* Whether the stored document says the same as the new one: SKV_OK with the reply's number, or why that is unknown. */
static int compare_with_stored_document(put_call *put, const struct berval *stored)
{
    const skv_put_args *args = put->args;

    if (is_document(stored, args->document, args->document_len)) {
        put->call.reply->number = 1;
        return SKV_OK;
    }
    return skv_document_same(stored->bv_val, stored->bv_len, args->document, args->document_len, put->call.reply);
}

/* A condition does not hold. If an earlier attempt may have written, what is stored now tells whether it did. */
static int fail_condition(put_call *put, const struct berval *stored)
{
    skv_ldap_call *call = &put->call;
    const skv_put_args *args = put->args;

    bool is_ours = stored && is_document(stored, args->document, args->document_len);

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
    return skv_ldap_refuse(call, SKV_CONFLICT,
                           stored ? "the stored document is not the expected one" : "there is no such key");
}

/* Returns true if another client has written since this call did, whose answer was lost. Both may have taken effect, or
 * only the other one: this call must not write again. */
static bool was_changed_in_doubt(const put_call *put)
{
    return put->call.in_doubt && put->doubt_is_known && strcmp(put->doubt.text, put->version.text) != 0;
}

typedef enum replacement { REPLACE_ANY, REPLACE_VERSION, COMPARE_AND_SWAP } replacement;

/* How the stored document is to be replaced. Without a condition of the caller's, what the server does not compare, or
 * not that large, is replaced whatever it is by then. With one, a server that does not compare the version compares the
 * document. */
static replacement choose_replacement(const put_call *put, const struct berval *stored)
{
    bool must_compare = put->args->condition == SKV_PUT_EXPECT;
    bool is_large = stored->bv_len > SWAP_MAX || put->document.bv_len > SWAP_MAX;

    if (is_replace_refused(put))
        return must_compare ? COMPARE_AND_SWAP : REPLACE_ANY;
    if (skv_ldap_version_is_assertable(&put->call, put->version.text))
        return REPLACE_VERSION;
    return is_large && !must_compare ? REPLACE_ANY : COMPARE_AND_SWAP;
}

static int put_present(put_call *put, skv_ldap_entry *entry)
{
    const skv_put_args *args = put->args;
    skv_ldap_call *call = &put->call;
    struct berval *stored = &entry->document;
    replacement how;

    if (entry->is_folder && !entry->is_key)
        return skv_ldap_refuse_folder(call);
    if (!stored->bv_val)
        return skv_ldap_refuse(call, SKV_DENIED, "its simpkvJsonValue may not be read");
    if (args->condition == SKV_PUT_ABSENT ||
        (args->condition == SKV_PUT_EXPECT && !is_document(stored, args->expect, args->expect_len)))
        return fail_condition(put, stored);
    if (compare_with_stored_document(put, stored) != SKV_OK)
        return call->reply->status;
    if (call->reply->number == 1) {
        call->reply->number = call->in_doubt;
        return SKV_OK;
    }
    if (was_changed_in_doubt(put))
        return skv_ldap_refuse_in_doubt(call);
    how = choose_replacement(put, stored);
    if (skv_ldap_check_size(call, args->document_len + (how == COMPARE_AND_SWAP ? stored->bv_len : 0)) != SKV_OK)
        return call->reply->status;
    if (how == COMPARE_AND_SWAP)
        return swap_document(put, stored);
    return replace_document(put, how == REPLACE_VERSION ? put->version.text : "");
}

/* ---- The key is not there ---- */

/* The DN above one of ours; NULL above which is the base. */
static const char *dn_above(const put_call *put, const char *dn)
{
    const char *base = put->call.dn + strlen(put->call.dn) - strlen(put->call.store->base_dn);
    /* In a DN of ours, a comma within a value is written as \2c. */
    const char *comma = memchr(dn, ',', (size_t)(base - dn));

    return comma && comma + 1 < base ? comma + 1 : NULL;
}

/* In the hex layout, a key has the DN that a folder of its name would have. */
static int check_hex_folder(put_call *put, const char *dn)
{
    int kind = SKV_KIND_FOLDER;

    if (put->call.store->layout == SKV_LAYOUT_HEX && skv_ldap_kind_of(&put->call, dn, &kind) == SKV_OK &&
        kind == SKV_KIND_KEY)
        return skv_ldap_refuse(&put->call, SKV_IS_KEY, "a name on the way is a key's");
    return put->call.reply->status;
}

/* Before a name is used for the first time: nothing may stand in its way. `dn` is the first entry to be made. */
static int check_new_name(put_call *put, const char *dn)
{
    skv_ldap_call *call = &put->call;
    const char *parent = dn_above(put, dn);
    bool twin = false;

    if (call->store->strict_paths && skv_ldap_has_twin(call, dn, &twin) != SKV_OK)
        return call->reply->status;
    if (twin && dn == call->dn)
        return skv_ldap_refuse_folder(call);
    if (twin)
        return skv_ldap_refuse(call, SKV_IS_KEY, "a name on the way is a key's, and 'strict_paths' is set");
    return parent ? check_hex_folder(put, parent) : SKV_OK;
}

static int make_missing_folder(put_call *put, const char *dn)
{
    skv_ldap_call *call = &put->call;
    bool in_doubt = call->in_doubt;
    skv_ldap_answer answer;
    int status = SKV_OK;

    skv_ldap_entry_add(call, dn, SKV_KIND_FOLDER, NULL, &answer);
    /* Whether that folder was made does not matter for the key. */
    call->in_doubt = in_doubt;
    switch (answer.code) {
    case LDAP_SUCCESS:
        break;
    case LDAP_ALREADY_EXISTS:
        status = check_hex_folder(put, dn);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &answer) == SKV_OK ? SKV_LDAP_AGAIN : call->reply->status;
        break;
    default:
        status = skv_ldap_fail(call, &answer);
    }
    skv_ldap_answer_free(&answer);
    return status;
}

/* Makes the folders above the key that are missing: all but `known` of them, counted from the base. */
static int make_missing_folders(put_call *put, int known)
{
    const char *folders[SKV_KEY_MAX], *dn = put->call.dn;
    int count = 0, status = SKV_OK;

    while ((dn = dn_above(put, dn)) && count < SKV_KEY_MAX)
        folders[count++] = dn;
    /* Outermost first. */
    for (int i = count - 1 - known; i >= 0 && status == SKV_OK; i--) {
        if (i == count - 1 - known)
            status = check_new_name(put, folders[i]);
        if (status == SKV_OK)
            status = make_missing_folder(put, folders[i]);
    }
    return status;
}

static int add_key(put_call *put)
{
    skv_ldap_call *call = &put->call;
    skv_ldap_answer answer;
    int status;

    switch (skv_ldap_entry_add(call, call->dn, SKV_KIND_KEY, &put->document, &answer)) {
    case LDAP_SUCCESS:
        status = mark_written(put);
        break;
    case LDAP_ALREADY_EXISTS:
        status = SKV_LDAP_AGAIN;
        break;
    case LDAP_NO_SUCH_OBJECT:
        put->make_all |= !answer.matched || !answer.matched[0];
        status = skv_ldap_check_base(call, &answer) == SKV_OK ? SKV_LDAP_AGAIN : call->reply->status;
        break;
    default:
        status = fail_put_write(put, &answer);
    }
    skv_ldap_answer_free(&answer);
    return status;
}

static int put_absent(put_call *put, const skv_ldap_answer *answer)
{
    skv_ldap_call *call = &put->call;
    const char *matched = answer->matched ? answer->matched : "";
    int base = call->store->base_depth, depth = skv_dn_depth(matched, strlen(matched)), status;
    int missing = matched[0] ? skv_dn_depth(call->dn, strlen(call->dn)) - 1 - depth : 0;

    if (skv_ldap_check_base(call, answer) != SKV_OK)
        return call->reply->status;
    if (put->args->condition == SKV_PUT_EXPECT)
        return fail_condition(put, NULL);
    if (was_changed_in_doubt(put))
        return skv_ldap_refuse_in_doubt(call);
    if (skv_ldap_check_size(call, put->args->document_len) != SKV_OK)
        return call->reply->status;
    if (missing > 0 || put->make_all)
        status = make_missing_folders(put, matched[0] ? depth - base : 0);
    else
        status = check_new_name(put, call->dn);
    return status == SKV_OK ? add_key(put) : status;
}

/* ---- Both ---- */

static int run_put_round(put_call *put)
{
    skv_ldap_call *call = &put->call;
    skv_ldap_entry entry = {0};
    skv_ldap_answer answer;
    int status;

    put->version = (skv_ldap_version){""};
    switch (skv_ldap_read(call, call->dn, skv_ldap_document_attributes(call, skv_ldap_asserts(call)), &answer)) {
    case LDAP_SUCCESS:
        status = skv_ldap_entry_of(call, &answer, &entry);
        put->version = skv_ldap_version_of(&entry);
        status = status == LDAP_SUCCESS ? put_present(put, &entry) : skv_ldap_fail(call, &answer);
        skv_ldap_entry_wipe(&entry);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = put_absent(put, &answer);
        break;
    default:
        status = skv_ldap_fail(call, &answer);
    }
    skv_ldap_answer_free(&answer);
    return status;
}

static int attempt_put(skv_ldap_call *call)
{
    put_call *put = (put_call *)call;
    int status = SKV_LDAP_AGAIN;

    for (int i = 0; i < ROUNDS_MAX && status == SKV_LDAP_AGAIN; i++) {
        int overtaken = put->overtaken;

        status = run_put_round(put);
        if (status != SKV_LDAP_AGAIN || put->overtaken == overtaken)
            continue;
        /* Each time, one of the clients that write the key at the same moment succeeds. */
        if (put->args->condition == SKV_PUT_ANY)
            i--;
        if (skv_ldap_pause(call, put->overtaken) != SKV_OK)
            return call->reply->status;
    }
    if (status == SKV_LDAP_AGAIN)
        return skv_ldap_refuse(call, SKV_UNAVAILABLE, "others keep changing it");
    return call->reply->status;
}

/* What both servers answer 21 to. */
static int check_document(put_call *put)
{
    if (put->args->document_len == 0)
        return skv_ldap_refuse(&put->call, SKV_INVALID, "the document is empty, which a directory does not keep");
    if (!skv_is_utf8(put->args->document, put->args->document_len))
        return skv_ldap_refuse(&put->call, SKV_INVALID, "the document is not UTF-8, as a directory requires");
    return SKV_OK;
}

bool skv_ldap_put_one(skv_store *store, const skv_key *key, const skv_put_args *args, const skv_ldap_version *doubt,
                      skv_deadline *deadline, skv_reply *reply)
{
    put_call put = {.args = args, .doubt_is_known = doubt || !args->in_doubt};

    if (doubt)
        put.doubt = *doubt;

    if (skv_ldap_begin(&put.call, store, SKV_OP_PUT, key, SKV_KIND_KEY, deadline, reply) == SKV_OK &&
        check_document(&put) == SKV_OK) {
        put.document = (struct berval){args->document_len, TEXT(args->document)};
        put.call.in_doubt = args->in_doubt;
        skv_ldap_run(&put.call, attempt_put);
    }
    if (reply->status == SKV_INTERRUPTED)
        reply->number = put.call.in_doubt;
    skv_ldap_end(&put.call);
    return reply->status == SKV_OK || !put.call.server_failed;
}

int skv_ldap_put(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                 skv_reply *reply)
{
    skv_ldap_put_one(store, key, args, NULL, deadline, reply);
    return reply->status;
}
