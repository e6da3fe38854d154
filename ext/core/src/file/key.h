/* file/key.h - the operations of the file store on call->key. Each returns the status that it leaves in the call's
 * reply. */
#ifndef SKV_FILE_KEY_H
#define SKV_FILE_KEY_H

#include "file/call.h"

/* Appends the document to the reply's data. */
skv_status skv_key_read(skv_file_call *call);

/* Sets the reply's number to a SKV_KIND_*. */
skv_status skv_key_kind(skv_file_call *call);

/* file/stat.c. The operation of skv_store_ops. */
skv_status skv_file_stat(skv_store *store, const skv_key *key, json_t **facts, skv_deadline *deadline,
                         skv_reply *reply);

/* file/write.c. Writes the document of call->args. Sets the reply's number to 1 if the file was written. */
skv_status skv_key_write(skv_file_call *call);

/* Returns true if the open file is still the key's. */
bool skv_key_is_current(skv_file_call *call, int fd);

/* file/delete.c. Deletes the key if the condition of call->args holds. Sets the reply's number to 1 if it did. */
skv_status skv_key_delete(skv_file_call *call);

/* file/folder.c. Makes the folder and those above it. Sets the reply's number to 1 if this call made it. */
skv_status skv_key_create_folder(skv_file_call *call);

/* Deletes an empty folder. Sets the reply's number to 1 if it did. */
skv_status skv_key_delete_folder(skv_file_call *call);

/* file/tree.c. Deletes a folder with everything below it. Sets the reply's number to 1 if the folder existed. */
skv_status skv_tree_delete(skv_file_call *call);

/*
 * file/delete.c. Unlinks a name that is not a folder's; a key file or temporary file under its lock. Returns SKV_OK,
 * SKV_NOT_FOUND, SKV_IS_FOLDER (both without touching the reply), or a failure. The call is stale if the name refers to
 * another file now, or to a temporary file that another process uses or that cannot be opened.
 */
skv_status skv_name_delete(skv_file_call *call, int folder, const char *name);

#endif
