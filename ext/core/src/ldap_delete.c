#include "ldap_key.h"

/* In the hex layout a folder has the very DN that a key would have. */
static int check_kind(skv_ldap_call *call, int *kind)
{
    *kind = SKV_KIND_KEY;
    if (call->store->layout != SKV_LAYOUT_HEX)
        return SKV_OK;
    if (skv_ldap_kind_of(call, call->dn, kind) == SKV_OK && *kind == SKV_KIND_FOLDER)
        return skv_ldap_refuse_folder(call);
    return call->reply->status;
}

/* There is no such key: because an earlier attempt, of which no answer came, deleted it? */
static int no_key(skv_ldap_call *call)
{
    bool folder;

    if (call->doubtful) {
        call->reply->number = 1;
        return SKV_OK;
    }
    if (skv_ldap_has_twin(call, call->dn, &folder) == SKV_OK && folder)
        return skv_ldap_refuse_folder(call);
    return call->reply->status;
}

static int attempt(skv_ldap_call *call)
{
    skv_ldap_answer answer;
    int kind;

    if (check_kind(call, &kind) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_NONE)
        return no_key(call);
    switch (skv_ldap_delete(call, call->dn, &answer)) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_NO_SUCH_OBJECT:
        if (skv_ldap_check_base(call, &answer) == SKV_OK)
            no_key(call);
        break;
    default:
        skv_ldap_fail(call, &answer);
    }
    skv_ldap_answer_free(&answer);
    return call->reply->status;
}

int skv_ldap_delete_key(skv_store *store, const skv_key *key, skv_wait *wait, skv_reply *reply)
{
    skv_ldap_call call;

    if (skv_ldap_begin(&call, store, SKV_OP_DELETE, key, SKV_KIND_KEY, wait, reply) == SKV_OK)
        skv_ldap_run(&call, attempt);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = call.doubtful;
    skv_ldap_end(&call);
    return reply->status;
}
