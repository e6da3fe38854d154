/* A delete reads the entry first, to learn if the key exists. It then deletes only the version that it has read,
 * because after a lost connection the request may reach the server when another client has put the key again. */
#include "ldap/key.h"

#include <string.h>

typedef struct delete_call {
    skv_ldap_call call;
    skv_ldap_version version;  /* the version that was read */
    skv_ldap_version refused;  /* the version that the server did not delete */
    skv_ldap_version in_doubt; /* the version whose deletion was sent without a response */
    int overtaken;             /* the number of versions that it did not delete */
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

/* Returns true if the server refused to delete this very version, which shows that it cannot compare versions. */
static bool is_delete_refused(const delete_call *del)
{
    return strcmp(del->refused.text, del->version.text) == 0;
}

static skv_ldap_code delete_asserting_version(delete_call *del, skv_ldap_response *response)
{
    LDAPControl *control;

    *response = (skv_ldap_response){0};
    response->code = skv_ldap_version_control(&del->call, is_delete_refused(del) ? "" : del->version.text, &control);
    if (response->code == LDAP_SUCCESS)
        skv_ldap_delete(&del->call, del->call.dn, control, response);
    ldap_control_free(control);
    return response->code;
}

static skv_status delete_read_version(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    skv_ldap_response response;
    skv_ldap_code code = delete_asserting_version(del, &response);
    skv_status status = SKV_OK;

    if ((code == LDAP_ASSERTION_FAILED || code == LDAP_UNAVAILABLE_CRITICAL_EXTENSION) && !is_delete_refused(del)) {
        del->refused = del->version;
        del->overtaken++;
        skv_ldap_response_free(&response);
        return skv_ldap_stale(call);
    }
    switch (code) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? finish_absent_delete(call) : call->reply->status;
        break;
    default:
        if (code < 0)
            del->in_doubt = del->version;
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status run_delete_round(delete_call *del)
{
    skv_ldap_call *call = &del->call;
    int kind;

    if (skv_ldap_read_kind(call, call->dn, &kind, &del->version) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_NONE)
        return finish_absent_delete(call);
    if (kind == SKV_KIND_FOLDER)
        return skv_ldap_refuse_folder(call);
    if (call->in_doubt && strcmp(del->in_doubt.text, del->version.text) != 0)
        return skv_ldap_refuse_in_doubt(call);
    return delete_read_version(del);
}

static skv_status attempt_delete(skv_ldap_call *call)
{
    delete_call *del = (delete_call *)call;

    do {
        call->is_stale = false;
        run_delete_round(del);
    } while (call->is_stale && skv_ldap_pause(call, del->overtaken) == SKV_OK);
    return call->reply->status;
}

skv_status skv_ldap_delete_key(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply)
{
    delete_call del = {.overtaken = 0};

    if (skv_ldap_begin(&del.call, store, SKV_OP_DELETE, key, SKV_KIND_KEY, deadline, reply) == SKV_OK)
        skv_ldap_run(&del.call, attempt_delete);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = del.call.in_doubt;
    skv_ldap_end(&del.call);
    return reply->status;
}
