/* file/key.h - single keys in files: what the operations of the file store are made of. */
#ifndef SKV_FILE_KEY_H
#define SKV_FILE_KEY_H

#include "file/call.h"

/* All of these work on call->key, and answer the status that they leave in the call's reply. */

/* Appends the document to the reply's data. */
int skv_key_read(skv_file_call *call);

/* The reply's number becomes a SKV_KIND_*. */
int skv_key_kind(skv_file_call *call);

/* file/write.c. The reply's number becomes 1 if something was written. */
int skv_key_write(skv_file_call *call);

/* file/delete.c. The reply's number becomes 1 if it was there. */
int skv_key_delete(skv_file_call *call);

/* file/tree.c. The same for a folder with all that is below it. */
int skv_tree_delete(skv_file_call *call);

/*
 * file/delete.c. Unlinks a name that is no folder's, when it is a key file or a temporary one under its lock. SKV_OK,
 * SKV_AGAIN (another file has the name now), SKV_NOT_FOUND, SKV_IS_FOLDER (these two without touching the reply), or a
 * failure. A temporary file that is in use, or cannot be opened to see, counts as SKV_AGAIN.
 */
int skv_name_delete(skv_file_call *call, int folder, const char *name);

#endif
