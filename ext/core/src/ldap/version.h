/* ldap/version.h - versions of entries. A write that is conditional on the version that was read fails if another
 * client has changed the entry since. */
#ifndef SKV_LDAP_VERSION_H
#define SKV_LDAP_VERSION_H

#include "ldap/entry.h"

#define SKV_LDAP_VERSION_MAX 64

/* The entryCSN of an entry. If the server does not show it, a '#' and a hash of the document. "" if the entry does not
 * exist, or neither was read. */
typedef struct skv_ldap_version {
    char text[SKV_LDAP_VERSION_MAX]; /* ends in a NUL */
} skv_ldap_version;

/* Returns true if the server can assert versions. Reads then include entryCSN. */
bool skv_ldap_asserts(const skv_ldap_call *call);

/* Returns the version of an entry that was read. */
skv_ldap_version skv_ldap_version_of(const skv_ldap_entry *entry);

/* Returns true if the server can compare the version at the time of a write. */
bool skv_ldap_version_is_assertable(const skv_ldap_call *call, const char *version);

/* The versions that the conditional write of a call has met. */
typedef struct skv_ldap_versions {
    skv_ldap_version read;     /* of the entry, in this round */
    skv_ldap_version refused;  /* the last one for which the server did not write */
    int overtaken;             /* the number of versions for which it did not */
    skv_ldap_version in_doubt; /* with the call's in_doubt: the one for which the write was sent */
    bool in_doubt_is_unknown;  /* an interrupted call sent it */
} skv_ldap_versions;

/* Returns true if the server refused to write for this very version, which shows that it cannot compare versions. */
bool skv_ldap_is_refused(const skv_ldap_versions *versions);

/* Notes that the server did not write for this version. The next read tells whether another client was faster. Returns
 * what skv_ldap_stale() does. */
skv_status skv_ldap_note_overtaken(skv_ldap_call *call, skv_ldap_versions *versions);

/* Notes the version of a write whose response was lost. */
void skv_ldap_note_lost(skv_ldap_versions *versions, const skv_ldap_response *response);

/* Returns true if the response to this call's write was lost, and another client has written since. Both writes may
 * have taken effect, or only the other one: this call must not write again. */
bool skv_ldap_was_changed_in_doubt(const skv_ldap_call *call, const skv_ldap_versions *versions);

/* Creates the critical control (RFC 4528) that makes a write fail with LDAP_ASSERTION_FAILED if the entry has another
 * version; NULL if the version is not assertable. The caller frees it with ldap_control_free(). Returns LDAP_SUCCESS,
 * or libldap's error. */
skv_ldap_code skv_ldap_version_control(skv_ldap_call *call, const char *version, LDAPControl **control);

#endif
