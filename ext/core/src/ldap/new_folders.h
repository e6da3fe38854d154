/* ldap/new_folders.h - a new key or folder: it checks that no other entry conflicts with the name, and makes the
 * folders above it. */
#ifndef SKV_LDAP_NEW_FOLDERS_H
#define SKV_LDAP_NEW_FOLDERS_H

#include "ldap/call.h"

/*
 * Checks that a key and a folder do not share a name where they must not (always in the hex layout, in the plain one
 * with 'strict_paths'), and adds the folders above the call's entry that are missing, the outermost first.
 * `existing_depth`: of the deepest entry above that exists; 0 if it is unknown. With `all`, every folder is added that
 * is not known to exist. Returns SKV_OK, or the reply's failure. The call is stale if another client has deleted a
 * folder meanwhile.
 */
skv_status skv_ldap_make_place(skv_ldap_call *call, int existing_depth, bool all);

#endif
