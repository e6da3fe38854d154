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

/* Creates the critical control (RFC 4528) that makes a write fail with LDAP_ASSERTION_FAILED if the entry has another
 * version; NULL if the version is not assertable. The caller frees it with ldap_control_free(). Returns LDAP_SUCCESS,
 * or libldap's error. */
skv_ldap_code skv_ldap_version_control(skv_ldap_call *call, const char *version, LDAPControl **control);

#endif
