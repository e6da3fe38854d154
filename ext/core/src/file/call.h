/* file/call.h - one operation of the file store: its key, its deadline, and its failures. */
#ifndef SKV_FILE_CALL_H
#define SKV_FILE_CALL_H

#include "file/lock.h"
#include "file/temp.h"
#include "store/store.h"

#include <limits.h>

/* The flags with which a key file is opened: follow no link, do not wait for a FIFO, take no controlling terminal. */
#define SKV_KEY_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

typedef struct skv_file_store {
    skv_store store;
    bool follow_links; /* of folders on the way to a key, inside the root */
    char root_path[];  /* absolute, without a slash at the end; empty for "/" */
} skv_file_store;

typedef struct skv_file_call {
    const skv_put_args *args; /* of a put or a delete */
    const char *root_path;
    bool follow_links;
    int root;           /* O_PATH, owned */
    const skv_key *key; /* as the caller named it, for messages */
    const char *path;   /* below the root: the key, or the target of a link */
    size_t path_len;
    const char *what; /* the start and end of messages, around the name: "Delete of", " failed" */
    const char *failed;
    skv_deadline *deadline;
    skv_reply *reply;
    bool is_batched; /* the call holds locks of other keys: it is stale where it would wait, or follow a link */
    bool is_stale;   /* something changed underneath: the operation has to start again */
    int tries;       /* the number of times it started again */
    int links;       /* the number of links it followed since then */
    char real[PATH_MAX];
    const char *busy; /* why it has to wait for the temporary file of that name; NULL if it does not */
    char busy_name[SKV_TEMP_NAME_SIZE];
} skv_file_call;

/* Opens the root for one operation: between calls a store holds no descriptor. Refuses keys and folders that have the
 * name of a temporary file. skv_file_end() closes the root, also after a failure. */
skv_status skv_file_begin(skv_file_call *call, const skv_store *store, const skv_key *key, skv_deadline *deadline,
                          skv_reply *reply);
void skv_file_end(skv_file_call *call);

/* Sets another key, which the call borrows. */
void skv_file_target(skv_file_call *call, const skv_key *key);

/* Fails the reply with "<what> '<root>/<key>'<failed>: <error>". */
skv_status skv_file_fail(skv_file_call *call, int error_number);

/* The same for an operation that writes. If permission is missing, names it: `needed`, such as "write permission
 * on the folder". */
skv_status skv_file_fail_write(skv_file_call *call, int error_number, const char *needed);

/* Appends that advice to the failure in the reply. Returns the reply's status. */
skv_status skv_file_advise(skv_reply *reply, int error_number, const char *needed);

/* Fails the reply as skv_file_fail() does, with a reason in words. */
skv_status skv_file_refuse(skv_file_call *call, skv_status status, const char *why);

/* Fails the reply if the mode of the key's file is a folder's (SKV_IS_FOLDER) or not a regular file's; else returns
 * SKV_OK. */
skv_status skv_file_check_mode(skv_file_call *call, mode_t mode);

/* The same for an open file. Sets *info to its state. */
skv_status skv_file_check(skv_file_call *call, int fd, struct stat *info);

/* Fails the reply for a status of skv_deadline_sleep() or skv_deadline_check(). Returns SKV_OK unchanged. */
skv_status skv_file_stopped(skv_file_call *call, skv_status status);

/* Notes that the operation has to start again, because something changed underneath. Returns SKV_CONFLICT, and leaves
 * the reply alone. */
skv_status skv_file_stale(skv_file_call *call);

/* The same, because of a temporary file that the operation has to wait for. */
skv_status skv_file_busy(skv_file_call *call, const char *name, const char *why);

/* Fails the reply with SKV_TIMEOUT for that file, in a folder given by its path below the root. */
skv_status skv_file_refuse_busy(skv_file_call *call, const char *folder, size_t folder_len);

/* Prepares a stale call to start again, and pauses after many times. Returns SKV_OK, or the reply's failure. */
skv_status skv_file_again(skv_file_call *call);

/* Pauses for processes that write into a folder below the root, call->busy among them. Returns SKV_OK, or the reply's
 * failure: SKV_TIMEOUT, SKV_INTERRUPTED. */
skv_status skv_file_pause(skv_file_call *call, const char *folder, size_t folder_len);

/* Takes a lock (LOCK_SH, LOCK_EX) on a file, within the deadline. Sets *waited if another process held it first. */
skv_status skv_file_lock(skv_file_call *call, int fd, int lock, bool *waited);

/* Appends an open file, which has about `size` bytes, to the buffer. */
skv_status skv_file_read_all(skv_file_call *call, int fd, off_t size, skv_buf *out);

/* The same for a file of `size` bytes, without a read that only sees its end. The bytes count only if the caller finds
 * afterwards that the file did not change. */
skv_status skv_file_read_unchanged(skv_file_call *call, int fd, off_t size, skv_buf *out);

#endif
