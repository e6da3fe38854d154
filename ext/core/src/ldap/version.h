/* ldap/version.h - versions of an entry: what tells whether it has changed since it was read, and makes a write fail at
 * the server when it has. */
#ifndef SKV_LDAP_VERSION_H
#define SKV_LDAP_VERSION_H

#include "ldap/entry.h"

#define SKV_LDAP_VERSION_MAX 64

/* The entry's entryCSN; where the server does not show it, a fingerprint of the document, behind a '#'; "" for an entry
 * that does not exist, or of which neither was read. */
typedef struct skv_ldap_version {
    char text[SKV_LDAP_VERSION_MAX]; /* ends in a NUL */
} skv_ldap_version;

/* Returns true if the server can assert versions: reads then ask for entryCSN. */
bool skv_ldap_asserts(const skv_ldap_call *call);

/* The version of an entry that was read. */
skv_ldap_version skv_ldap_version_of(const skv_ldap_entry *entry);

/* Returns true if the server can compare the version at the time of a write. */
bool skv_ldap_version_is_assertable(const skv_ldap_call *call, const char *version);

/* Makes the critical control (RFC 4528) that has a write fail with LDAP_ASSERTION_FAILED if the entry has another
 * version by then; NULL if the version is not assertable. The caller frees it with ldap_control_free(). Returns
 * LDAP_SUCCESS, or libldap's error. */
int skv_ldap_version_control(skv_ldap_call *call, const char *version, LDAPControl **control);

#endif
