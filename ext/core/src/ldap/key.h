/* ldap/key.h - the operations of the LDAP store on single keys and entries, and the parts that they share. The first
 * group are skv_store_ops' functions. */
#ifndef SKV_LDAP_KEY_H
#define SKV_LDAP_KEY_H

#include "ldap/version.h"

/* ldap/get.c */
skv_status skv_ldap_get(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply);
skv_status skv_ldap_exists(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply);
void skv_ldap_get_many(skv_store *store, skv_batch *batch);

/* ldap/stat.c */
skv_status skv_ldap_stat(skv_store *store, const skv_key *key, json_t **facts, skv_deadline *deadline,
                         skv_reply *reply);

/* ldap/put.c */
skv_status skv_ldap_put(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                        skv_reply *reply);
skv_status skv_ldap_create_folder(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);

/* ldap/put_many.c */
void skv_ldap_put_many(skv_store *store, skv_batch *batch);

/* ldap/delete.c */
skv_status skv_ldap_delete_key(skv_store *store, const skv_key *key, const skv_put_args *args, skv_deadline *deadline,
                               skv_reply *reply);

/* ldap/delete_folder.c */
skv_status skv_ldap_delete_folder(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);

/* ldap/tree.c */
skv_status skv_ldap_deletetree(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply);

/* ldap/list.c */
skv_list *skv_ldap_list_open(skv_store *store, const skv_list_args *args, skv_deadline *deadline, skv_reply *reply);
skv_status skv_ldap_list_next(skv_list *list, skv_deadline *deadline, skv_reply *reply);
void skv_ldap_list_close(skv_list *list);

/* ldap/watch.c */
skv_changes *skv_ldap_changes_open(skv_store *store, const skv_changes_args *args, skv_deadline *deadline,
                                   skv_reply *reply);
skv_status skv_ldap_changes_next(skv_changes *changes, skv_deadline *deadline, skv_reply *reply);
void skv_ldap_changes_close(skv_changes *changes);

/* ldap/admin*.c */
skv_status skv_ldap_admin_read(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
skv_status skv_ldap_admin_add(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
skv_status skv_ldap_admin_modify(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                 skv_reply *reply);
skv_status skv_ldap_admin_delete(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                 skv_reply *reply);
skv_status skv_ldap_admin_list(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply);
skv_status skv_ldap_admin_set_password(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                       skv_reply *reply);
skv_status skv_ldap_admin_check_password(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                         skv_reply *reply);

/* ldap/admin.c. Fails the reply for an entry that is not a key's. A DN that the server rejects is the caller's mistake.
 */
skv_status skv_ldap_fail_entry(skv_ldap_call *call, const skv_ldap_response *response);

/* ldap/get.c. Begins a call of SKV_OP_EXISTS on a name that may be a key's or a folder's, as skv_ldap_begin() does.
 * Sets *is_folder if only a folder can have the name: the call's DN is then a folder's, else a key's. */
skv_status skv_ldap_begin_name(skv_ldap_call *call, skv_store *store, const skv_key *key, bool *is_folder,
                               skv_deadline *deadline, skv_reply *reply);

/* ---- ldap/kind.c */

/* Sets *kind to what an entry is: SKV_KIND_KEY or SKV_KIND_FOLDER. In the plain layout the DN itself tells a key from a
 * folder. Returns SKV_OK, or the reply's failure. */
skv_status skv_ldap_kind_of(skv_ldap_call *call, const char *dn, const skv_ldap_entry *entry, int *kind);

/* Reads attributes of an entry, with objectClass, and sets *kind; SKV_KIND_NONE if it does not exist. Returns SKV_OK,
 * or the reply's failure. The caller frees the response in every case. */
skv_status skv_ldap_read_with_kind(skv_ldap_call *call, const char *dn, const char *const *attributes, int *kind,
                                   skv_ldap_response *response);

/* Reads an entry to learn its kind; SKV_KIND_NONE if it does not exist. Returns SKV_OK, or the reply's failure. */
skv_status skv_ldap_read_kind(skv_ldap_call *call, const char *dn, int *kind);

/* Reads the folder of the call to learn if it exists. Fails for a key in its place: in the hex layout at its DN, in the
 * plain layout beside it. `existed`: this call has seen the folder before, and a key beside it does not count. Returns
 * SKV_OK, or the reply's failure. */
skv_status skv_ldap_read_folder(skv_ldap_call *call, bool existed, bool *exists);

/* Sets *exists if, in the plain layout, a folder of the same name exists beside the key `dn`, or the other way round.
 * Returns SKV_OK, or the reply's failure. */
skv_status skv_ldap_has_twin(skv_ldap_call *call, const char *dn, bool *exists);

/* Fail the reply: IS_FOLDER, NOT_FOUND, the same for a folder, EXISTS; CONFLICT with a document that is not the
 * expected one; UNAVAILABLE for a write in doubt after another client's write. */
skv_status skv_ldap_refuse_folder(skv_ldap_call *call);
skv_status skv_ldap_refuse_missing(skv_ldap_call *call);
skv_status skv_ldap_refuse_missing_folder(skv_ldap_call *call);
skv_status skv_ldap_refuse_present(skv_ldap_call *call);
skv_status skv_ldap_refuse_unexpected(skv_ldap_call *call);
skv_status skv_ldap_refuse_in_doubt(skv_ldap_call *call);

#endif
