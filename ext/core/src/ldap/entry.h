/* ldap/entry.h - the entries of keys and folders: how they are read and written. */
#ifndef SKV_LDAP_ENTRY_H
#define SKV_LDAP_ENTRY_H

#include "ldap/call.h"

/* In the plain layout, returns the DN of the folder with the same name as a key, or of the key with the same name as a
 * folder. The caller frees it; NULL when out of memory. */
char *skv_ldap_twin(const char *dn);

/* The attributes of an entry to read, beside those that tell a key from a folder. */
#define SKV_READ_KIND 0
#define SKV_READ_DOCUMENT 1
#define SKV_READ_CSN 2

const char *const *skv_ldap_attributes(const skv_ldap_call *call, int wanted);

/* An entry that was read. All pointers point into its message. */
typedef struct skv_ldap_entry {
    struct berval dn;
    bool is_key, is_folder;      /* in the plain layout by its DN, in the hex layout by its object classes */
    bool has_class;              /* the entry shows object classes, which are read in the hex layout only */
    struct berval document, csn; /* bv_val is NULL if the entry does not show any */
} skv_ldap_entry;

/* Why a key has no document, for messages. */
#define SKV_NO_DOCUMENT                                                                                                \
    "it shows no simpkvJsonValue: give this identity the right to read it; if the entry has none, delete the key"

/* Reads an entry. Returns LDAP_SUCCESS, or libldap's error. */
skv_ldap_code skv_ldap_entry_read(skv_ldap_call *call, LDAPMessage *message, skv_ldap_entry *entry);

/* Reads the first entry of a response, whose code becomes the result. */
skv_ldap_code skv_ldap_entry_of(skv_ldap_call *call, skv_ldap_response *response, skv_ldap_entry *entry);

/* Calls the function with each attribute of an entry, and its values, if the message has any. All point into the
 * message, as *dn does afterwards. Returns LDAP_SUCCESS, or libldap's error. */
skv_ldap_code skv_ldap_each_attribute(LDAP *handle, LDAPMessage *entry, struct berval *dn,
                                      void (*take)(void *context, const struct berval *type,
                                                   const struct berval *values),
                                      void *context);

/* Returns true for the same text in any case. */
bool skv_ldap_is_text(const struct berval *value, const char *text);

/* Overwrites the document in the message. */
void skv_ldap_entry_wipe(skv_ldap_entry *entry);

/* Returns a filter for skv_ldap_search() that also finds the conflict entries of 389-DS; NULL on other servers. */
const char *skv_ldap_any_entry(const skv_ldap_call *call);

/* Adds a key (SKV_KIND_*) with its document, or a folder. Fills the response, which the caller frees, and returns its
 * code. */
skv_ldap_code skv_ldap_entry_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document,
                                 skv_ldap_response *response);

/* Deletes the call's entry if it has that version, as far as the server can compare it (ldap/version.h); with "",
 * whatever version it has. */
skv_ldap_code skv_ldap_entry_delete(skv_ldap_call *call, const char *version, skv_ldap_response *response);

/* Send requests without waiting for the response: read an entry (SKV_READ_*), add one, replace its document or delete
 * it on the same condition. Return LDAP_SUCCESS with *id set, or libldap's error. */
skv_ldap_code skv_ldap_entry_start_read(skv_ldap_call *call, const char *dn, int wanted, int *id);
skv_ldap_code skv_ldap_entry_start_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document,
                                       int *id);
skv_ldap_code skv_ldap_entry_start_replace(skv_ldap_call *call, const char *dn, struct berval *document,
                                           const char *version, int *id);
skv_ldap_code skv_ldap_entry_start_delete(skv_ldap_call *call, const char *dn, const char *version, int *id);

#endif
