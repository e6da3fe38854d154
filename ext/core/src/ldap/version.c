#include "ldap/version.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define IS_FINGERPRINT(version) ((version)[0] == '#')

bool skv_ldap_asserts(const skv_ldap_call *call)
{
    return skv_conn_features(call->conn)->assertion;
}

skv_ldap_version skv_ldap_version_of(const skv_ldap_entry *entry)
{
    skv_ldap_version version = {""};

    if (entry->csn.bv_val && entry->csn.bv_len < sizeof version.text)
        memcpy(version.text, entry->csn.bv_val, entry->csn.bv_len);
    else if (entry->document.bv_val)
        /* Two documents of one key are not expected to have one hash. */
        snprintf(version.text, sizeof version.text, "#%016" PRIx64,
                 skv_hash(entry->document.bv_val, entry->document.bv_len));
    return version;
}

bool skv_ldap_version_is_assertable(const skv_ldap_call *call, const char *version)
{
    return version[0] && !IS_FINGERPRINT(version) && skv_ldap_asserts(call);
}

skv_ldap_code skv_ldap_version_control(skv_ldap_call *call, const char *version, LDAPControl **control)
{
    char filter[SKV_LDAP_VERSION_MAX + sizeof "(entryCSN=)"];

    *control = NULL;
    if (!skv_ldap_version_is_assertable(call, version))
        return LDAP_SUCCESS;
    snprintf(filter, sizeof filter, "(entryCSN=%s)", version);
    return ldap_create_assertion_control(skv_conn_handle(call->conn), filter, 1, control);
}

bool skv_ldap_is_refused(const skv_ldap_versions *versions)
{
    return strcmp(versions->refused.text, versions->read.text) == 0;
}

skv_status skv_ldap_note_overtaken(skv_ldap_call *call, skv_ldap_versions *versions)
{
    versions->overtaken += !skv_ldap_is_refused(versions);
    versions->refused = versions->read;
    return skv_ldap_stale(call);
}

void skv_ldap_note_lost(skv_ldap_versions *versions, const skv_ldap_response *response)
{
    if (response->code < 0)
        versions->in_doubt = versions->read;
}

bool skv_ldap_was_changed_in_doubt(const skv_ldap_call *call, const skv_ldap_versions *versions)
{
    return call->in_doubt && !versions->in_doubt_is_unknown &&
           strcmp(versions->in_doubt.text, versions->read.text) != 0;
}
