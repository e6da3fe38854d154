/* ldap/key.h - what the operations of the LDAP store are made of: single keys in the directory, and entries. The
 * functions are skv_store_ops'. */
#ifndef SKV_LDAP_KEY_H
#define SKV_LDAP_KEY_H

#include "ldap/version.h"

/* ldap/get.c */
int skv_ldap_get(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply);
/* The same for one of many: false if it failed in a way in which all others would. */
bool skv_ldap_get_one(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply);

int skv_ldap_exists(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply);

/* ldap/put.c */
int skv_ldap_put(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                 skv_reply *reply);
/* `doubt`: with args->in_doubt, the version of the entry that the earlier write was made for, NULL if it is not known.
 */
bool skv_ldap_put_one(skv_store *store, const skv_key *key, const skv_put_args *args, const skv_ldap_version *doubt,
                      skv_deadline *deadline, skv_reply *reply);

/* ldap/put_many.c, ldap/get_many.c */
void skv_ldap_put_many(skv_store *store, skv_batch *batch);
void skv_ldap_get_many(skv_store *store, skv_batch *batch);

/* ldap/delete.c */
int skv_ldap_delete_key(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply);

/* ldap/tree.c */
int skv_ldap_deletetree(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);

/* ldap/list.c */
skv_list *skv_ldap_list_open(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply);
int skv_ldap_list_next(skv_list *list, skv_deadline *deadline, skv_reply *reply);
void skv_ldap_list_close(skv_list *list);

/* ldap/admin.c */
int skv_ldap_admin_read(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
int skv_ldap_admin_add(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
int skv_ldap_admin_extend(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);

/*
 * ldap/kind.c. What an entry is, SKV_KIND_*, into *kind: KEY or FOLDER, or NONE if there is no such entry. In the plain
 * layout the DN tells, so that `dn` is there or not. SKV_OK, or the reply's failure.
 */
int skv_ldap_kind_of(skv_ldap_call *call, const char *dn, int *kind);

/* The same before a write, with the version of the entry into *version. */
int skv_ldap_look(skv_ldap_call *call, const char *dn, int *kind, skv_ldap_version *version);

/* Whether there is a folder (if `dn` is a key's) or a key (if it is a folder's) of the same name beside it, into
 * *there: never in the hex layout. SKV_OK, or the reply's failure. */
int skv_ldap_has_twin(skv_ldap_call *call, const char *dn, bool *there);

/* Fail the reply: IS_FOLDER, NOT_FOUND, EXISTS; UNAVAILABLE, for a write in doubt and another one that was made since.
 */
int skv_ldap_refuse_folder(skv_ldap_call *call);
int skv_ldap_refuse_missing(skv_ldap_call *call);
int skv_ldap_refuse_present(skv_ldap_call *call);
int skv_ldap_refuse_in_doubt(skv_ldap_call *call);

#endif
