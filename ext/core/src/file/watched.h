/* file/watched.h - an inotify instance, and the folders that it watches. */
#ifndef SKV_FILE_WATCHED_H
#define SKV_FILE_WATCHED_H

#include "file/call.h"

struct inotify_event;

typedef struct skv_watched_folder {
    int id;     /* of inotify */
    char *path; /* owned; from the top of the watch on, "" for the top itself */
} skv_watched_folder;

typedef struct skv_watched {
    int inotify;                 /* owned; -1 for none */
    skv_watched_folder *folders; /* owned, by id */
    size_t count, size;
    char *events; /* owned: those that were read */
    size_t len, next;
} skv_watched;

/* Starts without a folder. Returns SKV_OK, or the reply's failure. skv_watched_end() follows it, also after a failure.
 */
skv_status skv_watched_begin(skv_watched *watched, skv_file_call *call);
void skv_watched_end(skv_watched *watched);

/* Watches an open folder. Returns SKV_OK, or the reply's failure: SKV_FULL names the limit of the kernel. */
skv_status skv_watched_add(skv_watched *watched, skv_file_call *call, int fd, const char *path);

/* Stops watching a folder that was moved away, and those below it. */
void skv_watched_drop(skv_watched *watched, const char *path);

/* Forgets a folder that inotify watches no longer. */
void skv_watched_forget(skv_watched *watched, int id);

/* Returns the path of a folder, or NULL for one that is not watched any more. */
const char *skv_watched_path(const skv_watched *watched, int id);

/* Reads the events that have come, unless some are left. Returns SKV_OK, or the reply's failure. */
skv_status skv_watched_read(skv_watched *watched, skv_file_call *call);

/* Returns the next of these, or NULL. It is part of `watched`. */
const struct inotify_event *skv_watched_next(skv_watched *watched);

#endif
