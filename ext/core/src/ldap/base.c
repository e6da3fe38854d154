/*
 * The identity of a role sees its own folders alone, and neither the base DN nor the instance. A server responds with
 * LDAP_NO_SUCH_OBJECT to a request for an entry that does not exist, and slapd also for one that the identity may not
 * see. The matched DN of the response tells which: it is the nearest entry above that the identity sees. Without a
 * matched DN, the entry is hidden, unless the server never sends one.
 */
#include "ldap/call.h"

#include <string.h>

bool skv_ldap_has_base(const skv_ldap_call *call, const skv_ldap_response *response)
{
    int depth = skv_ldap_matched_depth(response);

    return depth ? depth >= call->store->base_depth : atomic_load(&call->store->sees_base);
}

skv_status skv_ldap_look_at_base(skv_ldap_call *call, bool *is_visible)
{
    skv_ldap_response response;

    *is_visible = atomic_load(&call->store->sees_base);
    if (*is_visible)
        return SKV_OK;
    switch (skv_ldap_read(call, call->store->base_dn, skv_ldap_no_attributes, &response)) {
    case LDAP_SUCCESS:
        atomic_store(&call->store->sees_base, true);
        *is_visible = true;
        break;
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_INSUFFICIENT_ACCESS:
        break;
    default:
        skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

skv_status skv_ldap_check_base(skv_ldap_call *call, const skv_ldap_response *response)
{
    bool is_visible;

    if (skv_ldap_has_base(call, response))
        return SKV_OK;
    if (skv_ldap_matched_depth(response) == 0) {
        if (skv_ldap_look_at_base(call, &is_visible) == SKV_OK && !is_visible)
            skv_ldap_fail_hidden(call);
        return call->reply->status;
    }
    skv_fail(call->reply, SKV_UNAVAILABLE,
             "%s '%s'%s: the base DN '%s' is not there at %s, or may not be seen: make it (schema/base.ldif), or "
             "correct 'base_dn'",
             call->what, call->name, call->failed, call->store->base_dn, skv_ldap_server(call));
    return skv_reply_set_fault(call->reply, SKV_FAULT_BASE_MISSING);
}
