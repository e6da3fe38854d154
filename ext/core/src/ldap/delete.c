/* A delete reads the entry first, to learn if the key exists. It then deletes only the version that it has read,
 * because after a lost connection the request may reach the server when another client has put the key again. */
#include "ldap/entry.h"
#include "ldap/key.h"

typedef struct delete_call {
    skv_ldap_call call;
    skv_ldap_versions versions;
} delete_call;

/* Ends the delete of a key that does not exist. After a lost response, this call may have deleted it. */
static skv_status finish_absent_delete(skv_ldap_call *call)
{
    bool folder;

    if (call->in_doubt) {
        call->reply->number = 1;
        return SKV_OK;
    }
    if (skv_ldap_has_twin(call, call->dn, &folder) == SKV_OK && folder)
        return skv_ldap_refuse_folder(call);
    return call->reply->status;
}

static skv_status delete_read_version(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    bool is_refused = skv_ldap_is_refused(&del->versions);
    skv_ldap_response response;
    skv_ldap_code code = skv_ldap_entry_delete(call, is_refused ? "" : del->versions.read.text, &response);
    skv_status status = SKV_OK;

    if ((code == LDAP_ASSERTION_FAILED || code == LDAP_UNAVAILABLE_CRITICAL_EXTENSION) && !is_refused) {
        skv_ldap_response_free(&response);
        return skv_ldap_note_overtaken(call, &del->versions);
    }
    switch (code) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? finish_absent_delete(call) : call->reply->status;
        break;
    default:
        skv_ldap_note_lost(&del->versions, &response);
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status run_delete_round(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    int kind;

    if (skv_ldap_read_kind(call, call->dn, &kind, &del->versions.read) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_NONE)
        return finish_absent_delete(call);
    if (kind == SKV_KIND_FOLDER)
        return skv_ldap_refuse_folder(call);
    if (skv_ldap_was_changed_in_doubt(call, &del->versions))
        return skv_ldap_refuse_in_doubt(call);
    return delete_read_version(del);
}

static skv_status attempt_delete(skv_ldap_call *call)
{
    delete_call *del = (delete_call *)call;

    do {
        call->is_stale = false;
        run_delete_round(del);
    } while (call->is_stale && skv_ldap_pause(call, del->versions.overtaken) == SKV_OK);
    return call->reply->status;
}

skv_status skv_ldap_delete_key(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply)
{
    delete_call del = {.versions = {.overtaken = 0}};

    if (skv_ldap_begin(&del.call, store, SKV_OP_DELETE, key, SKV_KIND_KEY, deadline, reply) == SKV_OK)
        skv_ldap_run(&del.call, attempt_delete);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = del.call.in_doubt;
    skv_ldap_end(&del.call);
    return reply->status;
}
