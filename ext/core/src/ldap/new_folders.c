#include "ldap/new_folders.h"

#include "ldap/entry.h"
#include "ldap/key.h"

#include <string.h>

/* In the hex layout, a key and a folder of one name have the same DN: checks that `dn` is no key. An identity that may
 * write but not list does not see folders, and sees keys. */
static skv_status check_hex_folder(skv_ldap_call *call, const char *dn)
{
    int kind = SKV_KIND_FOLDER;

    if (call->store->layout == SKV_LAYOUT_HEX && skv_ldap_read_kind(call, dn, &kind) == SKV_DENIED)
        skv_reply_reset(call->reply);
    if (kind == SKV_KIND_KEY)
        return skv_ldap_refuse(call, SKV_IS_KEY, "a folder of its path is a key");
    return call->reply->status;
}

/* Checks the name of `dn`, the outermost entry to be added. */
static skv_status check_new_name(skv_ldap_call *call, const char *dn)
{
    const char *parent = skv_dn_above(dn, strlen(dn), 1);
    bool twin = false;

    if (call->store->strict_paths && skv_ldap_has_twin(call, dn, &twin) != SKV_OK)
        return call->reply->status;
    if (twin && dn == call->dn && call->op == SKV_OP_PUT)
        return skv_ldap_refuse_folder(call);
    if (twin)
        return skv_ldap_refuse(call, SKV_IS_KEY, "a folder of its path is a key, and 'strict_paths' is set");
    return skv_dn_depth(parent, strlen(parent)) > call->store->base_depth ? check_hex_folder(call, parent) : SKV_OK;
}

static skv_status make_folder(skv_ldap_call *call, const char *dn)
{
    bool in_doubt = call->in_doubt;
    skv_ldap_response response;
    skv_status status = SKV_OK;

    skv_ldap_entry_add(call, dn, SKV_KIND_FOLDER, NULL, &response);
    /* A lost response leaves the folder in doubt, but not the key. */
    call->in_doubt = in_doubt;
    switch (response.code) {
    case LDAP_SUCCESS:
        break;
    case LDAP_ALREADY_EXISTS:
        status = check_hex_folder(call, dn);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = skv_ldap_check_base(call, &response) == SKV_OK ? skv_ldap_stale(call) : call->reply->status;
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

skv_status skv_ldap_make_place(skv_ldap_call *call, int existing_depth, bool all)
{
    size_t len = strlen(call->dn);
    int depth = skv_dn_depth(call->dn, len), above = existing_depth ? existing_depth : call->store->base_depth;
    skv_status status = SKV_OK;

    call->is_stale = false;
    if (!all && (!existing_depth || existing_depth >= depth - 1))
        return check_new_name(call, call->dn);
    for (int level = above + 1; level < depth && status == SKV_OK; level++) {
        const char *dn = skv_dn_above(call->dn, len, depth - level);

        if (level == above + 1)
            status = check_new_name(call, dn);
        if (status == SKV_OK)
            status = make_folder(call, dn);
    }
    return status;
}
