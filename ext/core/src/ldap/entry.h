/* ldap/entry.h - entries of the directory: their DNs, what they hold, and how they are made. */
#ifndef SKV_LDAP_ENTRY_H
#define SKV_LDAP_ENTRY_H

#include "ldap/call.h"

/* In the plain layout, the DN that a folder has beside a key of the same name, and the other way round. The caller
 * frees it; NULL when out of memory. */
char *skv_ldap_twin(const char *dn);

/* Attributes to ask for, to know what an entry is; and for its document as well; `with_csn` also for its entryCSN. */
const char *const *skv_ldap_kind_attributes(const skv_ldap_call *call, bool with_csn);
const char *const *skv_ldap_document_attributes(const skv_ldap_call *call, bool with_csn);

/* What was read of an entry. All of it points into the message that it came in. */
typedef struct skv_ldap_entry {
    struct berval dn;
    bool is_key, is_folder;      /* in the plain layout by its DN, in the hex layout by its object classes */
    struct berval document, csn; /* bv_val is NULL if the entry does not show any */
} skv_ldap_entry;

/* Reads an entry. LDAP_SUCCESS, or libldap's error. */
int skv_ldap_entry_read(skv_ldap_call *call, LDAPMessage *message, skv_ldap_entry *entry);

/* The same for the one entry of an answer, whose code is the result. */
int skv_ldap_entry_of(skv_ldap_call *call, skv_ldap_answer *answer, skv_ldap_entry *entry);

/* Overwrites the document where it was received. */
void skv_ldap_entry_wipe(skv_ldap_entry *entry);

/* Adds the entry with that DN of ours: a key with its document, or a folder. */
int skv_ldap_entry_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document,
                       skv_ldap_answer *answer);

/* Start to add a key's entry, and to replace its document under a control (NULL for none), without waiting:
 * LDAP_SUCCESS with *id set, or libldap's error. */
int skv_ldap_entry_start_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document, int *id);
int skv_ldap_entry_start_replace(skv_ldap_call *call, const char *dn, const struct berval *document,
                                 LDAPControl *control, int *id);

#endif
