/* ldap/admin.h - what the calls on entries that are not keys share. */
#ifndef SKV_LDAP_ADMIN_H
#define SKV_LDAP_ADMIN_H

#include "ldap/call.h"
#include "json/tree.h"

/* Puts the attributes of an entry into the tree, and wipes the message's values. `dn` points into the message. Returns
 * LDAP_SUCCESS, or libldap's error. */
skv_ldap_code skv_ldap_read_entry(LDAP *handle, LDAPMessage *entry, struct berval *dn, json_t **tree);

/* Returns the texts of the arguments as a list that ends in NULL, or NULL when out of memory. The caller frees it; it
 * borrows the texts. */
const char **skv_ldap_attribute_list(const skv_entry_args *args);

/* Fails the reply. A DN that the server rejects is the caller's mistake. */
skv_status skv_ldap_fail_entry(skv_ldap_call *call, const skv_ldap_response *response);

#endif
