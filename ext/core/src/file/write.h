/*
 * file/write.h - the steps of a put, in the order that survives a crash: the document gets into a temporary file, the
 * file is synced, it gets the key's name, and the folder is synced. A put takes them for one key, a batch for many keys
 * at once.
 */
#ifndef SKV_FILE_WRITE_H
#define SKV_FILE_WRITE_H

#include "file/call.h"

/* One attempt at a put. */
typedef struct skv_write {
    skv_file_call *call;
    const struct skv_write *sibling; /* another attempt in the same folder, whose descriptor it uses; NULL for none */
    int folder;                      /* that contains the key; owned without a sibling */
    const char *base;                /* the last name of the key */
    int old;                         /* its file, or -1; owned */
    int old_error;                   /* why it could not be opened for writing; 0 if it could */
    skv_buf stored;                  /* its document */
    skv_temp temp;                   /* the new file; without a descriptor if there is nothing to write */
    bool is_named;                   /* the new file is the key's */
} skv_write;

/* skv_write_end() must follow, also after a failure. The sibling, or NULL, must be ended later. */
void skv_write_begin(skv_write *write, skv_file_call *call, const skv_write *sibling);

/* Opens the folder, locks and compares the old file, and writes the document into a temporary file if it differs. The
 * caller syncs that file. Returns the reply's status, or SKV_CONFLICT for a call that is stale. */
skv_status skv_write_prepare(skv_write *write);

/* Gives the synced file the key's name, and sets the reply's number to 1. The caller syncs the folder. Returns the
 * reply's status, or SKV_CONFLICT for a call that is stale. */
skv_status skv_write_name(skv_write *write);

/* Fails the reply for a failed write or sync: "Cannot write to" if permission is missing, else "Key write to". */
skv_status skv_write_fail(skv_file_call *call, int error_number);

/* Releases the locks: a reader gets no document that a crash could still undo. Removes a temporary file that has not
 * got the key's name. */
void skv_write_end(skv_write *write);

/* file/write_many.c. The operation of skv_store_ops. */
void skv_file_put_many(skv_store *store, skv_batch *batch);

#endif
