/* ldap/new_folders.h - a new key or folder: it checks that no other entry conflicts with the name, and makes the
 * folders above it. */
#ifndef SKV_LDAP_NEW_FOLDERS_H
#define SKV_LDAP_NEW_FOLDERS_H

#include "ldap/call.h"

/* Checks that a key and a folder do not share a name where they must not: always in the hex layout, in the plain one
 * with 'strict_paths'. `dn` is the outermost entry to be added. Returns SKV_OK, or the reply's failure. */
skv_status skv_ldap_check_new_name(skv_ldap_call *call, const char *dn);

/* Adds the folders above the call's entry, the outermost first, except the first `existing` ones below the base DN.
 * Returns SKV_OK, or the reply's failure. The call is stale if another client has deleted a folder meanwhile. */
skv_status skv_ldap_make_folders(skv_ldap_call *call, int existing);

#endif
