#include "ldap/confirm.h"

#include "ldap/compare_and_swap.h"
#include "ldap/limit.h"

#include <stdio.h>
#include <string.h>

bool skv_ldap_needs_confirmation(const skv_ldap_call *call)
{
    return skv_conn_features(call->conn)->is_389ds;
}

/* Returns the filter of the entry with that DN. 389-DS always has an index for it, which no site configures. The caller
 * frees it; NULL when out of memory. */
static char *filter_of_dn(const char *dn)
{
    static const char start[] = "(entrydn=";
    char *filter = skv_alloc(3 * strlen(dn) + sizeof start + 1), *end = filter;

    if (!filter)
        return NULL;
    memcpy(end, start, strlen(start));
    for (end += strlen(start); *dn; dn++)
        if (strchr("()*\\", *dn))
            end += sprintf(end, "\\%02x", (unsigned char)*dn);
        else
            *end++ = *dn;
    memcpy(end, ")", 2);
    return filter;
}

skv_ldap_code skv_ldap_start_indexed_read(skv_ldap_call *call, const char *dn, int wanted, int *id)
{
    skv_ldap_code error = LDAP_NO_MEMORY;
    char *filter;

    if (!skv_ldap_needs_confirmation(call))
        return skv_ldap_entry_start_read(call, dn, wanted, id);
    filter = filter_of_dn(dn);
    if (filter)
        error = skv_ldap_search(call, dn, LDAP_SCOPE_SUBTREE, filter, skv_ldap_attributes(call, wanted), NULL,
                                LDAP_NO_LIMIT, id);
    skv_free(filter);
    return error;
}

skv_status skv_ldap_refuse_vanished(skv_ldap_call *call)
{
    return skv_ldap_refuse(call, SKV_UNAVAILABLE,
                           "the outcome is unknown: the server acknowledged the write, and shows no such key after it: "
                           "another client has deleted it, or 389-DS had kept a deleted entry of that name. Read the "
                           "key before you repeat the call");
}

skv_status skv_ldap_refuse_half_deleted(skv_ldap_call *call)
{
    return skv_ldap_refuse(
        call, SKV_UNAVAILABLE,
        "389-DS keeps a half-deleted entry, this one or one beside it: reads show it, lists do not, and "
        "deletions fail. Restart the server, which removes it (docs/adr/0054)");
}

/* Writes the document of the entry again. Returns SKV_OK, or the reply's failure. */
static skv_status rewrite_document(skv_ldap_call *call, const char *dn, struct berval *document)
{
    skv_ldap_response response;
    skv_status status = skv_ldap_check_size(call, 2 * document->bv_len);

    if (status != SKV_OK) {
        skv_reply_reset(call->reply);
        return skv_ldap_refuse_half_deleted(call);
    }
    status = skv_ldap_compare_and_swap(call, dn, document, document, true, &response);
    switch (response.code) {
    case LDAP_SUCCESS:
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_NO_SUCH_ATTRIBUTE: /* these two: another client has changed the document, so the entry exists */
    case LDAP_TYPE_OR_VALUE_EXISTS:
        break;
    case LDAP_INSUFFICIENT_ACCESS:
        status = skv_ldap_refuse_half_deleted(call);
        break;
    default:
        status = status == SKV_OK ? skv_ldap_fail(call, &response) : status;
    }
    skv_ldap_response_free(&response);
    return status;
}

/* Reads the entry, and rewrites its document if `rewrites`. Sets *exists if the server shows the entry. */
static skv_status read_deleted(skv_ldap_call *call, const char *dn, bool rewrites, bool *exists)
{
    skv_ldap_entry entry = {0};
    skv_ldap_response response;
    skv_status status = SKV_OK;

    *exists = false;
    switch (skv_ldap_read(call, dn, skv_ldap_attributes(call, SKV_READ_DOCUMENT), &response)) {
    case LDAP_SUCCESS:
        *exists = true;
        if (skv_ldap_entry_of(call, &response, &entry) != LDAP_SUCCESS)
            status = skv_ldap_fail(call, &response);
        else if (rewrites && entry.document.bv_val)
            status = rewrite_document(call, dn, &entry.document);
        skv_ldap_entry_wipe(&entry);
        break;
    case LDAP_NO_SUCH_OBJECT:
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

skv_status skv_ldap_remove_half_deleted(skv_ldap_call *call, const char *dn, bool *exists)
{
    skv_status status;

    *exists = false;
    if (!skv_ldap_needs_confirmation(call))
        return SKV_OK;
    status = read_deleted(call, dn, true, exists);
    if (status == SKV_OK && *exists)
        status = read_deleted(call, dn, false, exists);
    return status;
}
