/* file/call.h - one operation of the file store: what it works on, how long it waits, and how it fails. */
#ifndef SKV_FILE_CALL_H
#define SKV_FILE_CALL_H

#include "file/lock.h"
#include "file/temp.h"
#include "store/store.h"

#include <limits.h>

/* What the operations of the file store answer among themselves, beside statuses: something changed underneath, start
 * again. Never leaves the store. */
#define SKV_AGAIN (-1)

/* How a key file is opened, whatever for: without following a link, hanging on a FIFO, or becoming a terminal's. */
#define SKV_KEY_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

typedef struct skv_file_store {
    skv_store store;
    char root_path[]; /* absolute, without a slash at the end; empty for "/" */
} skv_file_store;

typedef struct skv_file_call {
    const skv_put_args *args; /* of a put */
    const char *root_path;
    int root;           /* O_PATH, owned */
    const skv_key *key; /* as the caller named it: for messages */
    const char *path;   /* where it is below the root: the key, or what a link there leads to */
    size_t path_len;
    const char *what; /* how messages start and end around the name: "Delete of", " failed" */
    const char *failed;
    skv_deadline *deadline;
    skv_reply *reply;
    int tries; /* how often it started again */
    int links; /* how many it followed since then */
    char real[PATH_MAX];
    const char *busy; /* why it cannot have the temporary file of that name; NULL when it does not need it */
    char busy_name[SKV_TEMP_NAME_SIZE];
} skv_file_call;

/* Opens the root, afresh for each operation: between calls a store holds no descriptor. Refuses keys and folders that
 * have a temporary file's name. skv_file_end() closes the root, also when this failed. */
int skv_file_begin(skv_file_call *call, const skv_store *store, const skv_key *key, skv_deadline *deadline,
                   skv_reply *reply);
void skv_file_end(skv_file_call *call);

/* Turns to another key, which the call borrows. */
void skv_file_target(skv_file_call *call, const skv_key *key);

/* Fails the reply with "<what> '<root>/<key>'<failed>: <error>". */
int skv_file_fail(skv_file_call *call, int error_number);

/* The same for an operation that writes. Adds what to change if permission is missing: `needed` is the permission, as
 * in "write permission on the folder". */
int skv_file_fail_write(skv_file_call *call, int error_number, const char *needed);

/* Adds that advice to the failure in the reply. Returns the reply's status. */
int skv_file_advise(skv_reply *reply, int error_number, const char *needed);

/* Fails the reply as skv_file_fail() does, with a reason in words. */
int skv_file_refuse(skv_file_call *call, int status, const char *why);

/* Fails the reply when the mode, of the key's file, is a folder's (SKV_IS_FOLDER) or not a regular file's; SKV_OK
 * passes. */
int skv_file_check_mode(skv_file_call *call, mode_t mode);

/* The same for an open file, whose state is put into *info. */
int skv_file_check(skv_file_call *call, int fd, struct stat *info);

/* Fails the reply for what skv_deadline_sleep() and skv_deadline_check() answer; SKV_OK passes. */
int skv_file_stopped(skv_file_call *call, int status);

/* Remembers the temporary file because of which the operation has to start again, and answers SKV_AGAIN. */
int skv_file_busy(skv_file_call *call, const char *name, const char *why);

/* Fails the reply with SKV_TIMEOUT, for that file in the folder, which is a path below the root. */
int skv_file_refuse_busy(skv_file_call *call, const char *folder, size_t folder_len);

/* Whether to start again after SKV_AGAIN: SKV_OK, or why not. Pauses when it comes often. */
int skv_file_again(skv_file_call *call);

/* Takes the lock (LOCK_SH, LOCK_EX) on a file, within the deadline. *waited says whether another one had it first. */
int skv_file_lock(skv_file_call *call, int fd, int lock, bool *waited);

/* Reads all of an open file, which has about `size` bytes, behind what is in the buffer. */
int skv_file_read_all(skv_file_call *call, int fd, off_t size, skv_buf *out);

#endif
