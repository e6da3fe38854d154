/*
 * The deletion of an empty folder: a delete of its entry, which both servers refuse while entries are below it
 * (notAllowedOnNonLeaf). A request that reaches the server late can therefore delete an empty folder only, and is not
 * made conditional on the entry's version.
 */
#include "ldap/entry.h"
#include "ldap/key.h"
#include "name/key.h"

typedef struct contents {
    const char *kind;
    skv_quote name;
} contents;

/* Describes an entry below the folder by its name, or by its DN if the entry is another program's or a conflict entry.
 */
static contents describe(const skv_ldap_call *call, const skv_ldap_entry *entry)
{
    skv_rdn rdn;

    if ((entry->is_key || entry->is_folder) && skv_rdn_first(entry->dn.bv_val, entry->dn.bv_len, &rdn) &&
        (call->store->layout == SKV_LAYOUT_PLAIN || skv_rdn_unhex(&rdn)))
        return (contents){entry->is_key ? "key" : "folder", skv_quoted(rdn.value, rdn.len)};
    return (contents){"entry", skv_quoted(entry->dn.bv_val, entry->dn.bv_len)};
}

/* Fails the reply for a folder that the server did not delete because of entries below it, and names one of them. */
static skv_status refuse_nonleaf(skv_ldap_call *call)
{
    skv_ldap_response response;
    skv_ldap_entry entry;
    LDAPMessage *message =
        skv_ldap_read_below(call, skv_ldap_any_entry(call), skv_ldap_attributes(call, SKV_READ_KIND), &response);

    if (message && skv_ldap_entry_read(call, message, &entry) == LDAP_SUCCESS) {
        const contents found = describe(call, &entry);

        skv_fail(call->reply, SKV_CONFLICT,
                 "%s '%s'%s: it is not empty, the %s '%s' is in it: delete its contents first (%s)", call->what,
                 call->name, call->failed, found.kind, found.name.text, skv_ldap_server(call));
    } else {
        skv_fail(call->reply, SKV_CONFLICT,
                 "%s '%s'%s: it is not empty: %s answered 66 (notAllowedOnNonLeaf), but shows '%s' no entry in it",
                 call->what, call->name, call->failed, skv_ldap_server(call), call->store->identity);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

/* Ends the call for a folder that does not exist. After a lost response, this call may have deleted it. */
static skv_status finish_absent_folder(skv_ldap_call *call)
{
    call->reply->number = call->in_doubt;
    return SKV_OK;
}

static skv_status delete_present_folder(skv_ldap_call *call)
{
    skv_ldap_response response;
    skv_status status = SKV_OK;

    switch (skv_ldap_entry_delete(call, "", &response)) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? finish_absent_folder(call) : call->reply->status;
        break;
    case LDAP_NOT_ALLOWED_ON_NONLEAF:
        status = refuse_nonleaf(call);
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status attempt_delete_folder(skv_ldap_call *call)
{
    bool exists;

    if (skv_ldap_read_folder(call, call->in_doubt, &exists) != SKV_OK)
        return call->reply->status;
    return exists ? delete_present_folder(call) : finish_absent_folder(call);
}

skv_status skv_ldap_delete_folder(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply)
{
    skv_ldap_call call;

    if (skv_ldap_begin(&call, store, SKV_OP_DELETE_FOLDER, folder, SKV_KIND_FOLDER, deadline, reply) == SKV_OK)
        skv_ldap_run(&call, attempt_delete_folder);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = call.in_doubt;
    skv_ldap_end(&call);
    return reply->status;
}
