#include "ldap/entry.h"
#include "ldap/key.h"

#include <string.h>

skv_status skv_ldap_kind_of(skv_ldap_call *call, const char *dn, const skv_ldap_entry *entry, int *kind)
{
    skv_rdn rdn;

    if (skv_rdn_first(dn, strlen(dn), &rdn) && !skv_rdn_is(&rdn, "simpkvHexId"))
        *kind = skv_rdn_is(&rdn, "simpkvKey") ? SKV_KIND_KEY : SKV_KIND_FOLDER;
    else if (entry->is_key || entry->is_folder)
        *kind = entry->is_key ? SKV_KIND_KEY : SKV_KIND_FOLDER;
    else
        return skv_ldap_refuse(call, SKV_DENIED, "the entry's objectClass cannot be read, or is not one of simpkv's");
    return SKV_OK;
}

skv_status skv_ldap_read_with_kind(skv_ldap_call *call, const char *dn, const char *const *attributes, int *kind,
                                   skv_ldap_response *response)
{
    skv_ldap_entry entry;

    *kind = SKV_KIND_NONE;
    switch (skv_ldap_read(call, dn, attributes, response)) {
    case LDAP_SUCCESS:
        if (skv_ldap_entry_of(call, response, &entry) == LDAP_SUCCESS)
            skv_ldap_kind_of(call, dn, &entry, kind);
        else
            skv_ldap_fail(call, response);
        break;
    case LDAP_NO_SUCH_OBJECT:
        skv_ldap_check_base(call, response);
        break;
    default:
        skv_ldap_fail(call, response);
    }
    return call->reply->status;
}

skv_status skv_ldap_read_kind(skv_ldap_call *call, const char *dn, int *kind)
{
    skv_ldap_response response;

    skv_ldap_read_with_kind(call, dn, skv_ldap_attributes(call, SKV_READ_KIND), kind, &response);
    skv_ldap_response_free(&response);
    return call->reply->status;
}

skv_status skv_ldap_has_twin(skv_ldap_call *call, const char *dn, bool *exists)
{
    char *twin;
    int kind;

    *exists = false;
    if (call->store->layout == SKV_LAYOUT_HEX)
        return SKV_OK;
    twin = skv_ldap_twin(dn);
    if (!twin)
        return skv_fail_memory(call->reply);
    if (skv_ldap_read_kind(call, twin, &kind) == SKV_OK)
        *exists = kind != SKV_KIND_NONE;
    skv_free(twin);
    return call->reply->status;
}

skv_status skv_ldap_read_folder(skv_ldap_call *call, bool existed, bool *exists)
{
    bool key = false;
    int kind;

    *exists = false;
    if (skv_ldap_read_kind(call, call->dn, &kind) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_NONE && !existed && !skv_ldap_is_structure(call->key) &&
        skv_ldap_has_twin(call, call->dn, &key) != SKV_OK)
        return call->reply->status;
    if (key || kind == SKV_KIND_KEY)
        return skv_ldap_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
    *exists = kind == SKV_KIND_FOLDER;
    return SKV_OK;
}

skv_status skv_ldap_refuse_folder(skv_ldap_call *call)
{
    return skv_fail(call->reply, SKV_IS_FOLDER, "Key specifies a folder: '%s' (%s)", call->key->path,
                    skv_ldap_server(call));
}

skv_status skv_ldap_refuse_missing(skv_ldap_call *call)
{
    return skv_fail(call->reply, SKV_NOT_FOUND, "Key not found: '%s' (%s)", call->key->path, skv_ldap_server(call));
}

skv_status skv_ldap_refuse_missing_folder(skv_ldap_call *call)
{
    return skv_fail(call->reply, SKV_NOT_FOUND, "Key folder '%s' not found (%s)", call->name, skv_ldap_server(call));
}

skv_status skv_ldap_refuse_present(skv_ldap_call *call)
{
    return skv_ldap_refuse(call, SKV_EXISTS, "the key exists already");
}

skv_status skv_ldap_refuse_unexpected(skv_ldap_call *call)
{
    return skv_ldap_refuse(call, SKV_CONFLICT, "the stored document is not the expected one");
}

skv_status skv_ldap_refuse_in_doubt(skv_ldap_call *call)
{
    return skv_ldap_refuse(call, SKV_UNAVAILABLE,
                           "the outcome is unknown: the connection was lost, and another client has changed the key "
                           "since. Read the key before you repeat the call");
}
