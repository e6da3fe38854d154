/*
 * simpkv_changes.h - the changes of the keys in a folder and in all folders below it, as they happen.
 *
 * The rules of simpkv.h hold here as well.
 */
#ifndef SKV_CHANGES_H
#define SKV_CHANGES_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SKV_COOKIE_MAX 1024 /* bytes in a cookie */

/*
 * skv_changes_open() returns a handle, or NULL with SKV_NOT_FOUND (no such folder, or it is a key), SKV_INVALID (a
 * malformed cookie, or a store that cannot be watched: the message says what it needs), SKV_FULL (a limit of the
 * kernel), or one of the statuses above. `since` is a cookie of an earlier record; NULL: from now on. Release with
 * skv_changes_close(), before the store is closed.
 *
 * skv_changes_next() waits for changes, for `timeout_ms` at most. It returns SKV_OK with their records as the data and
 * their count as the number, which is 0 if the time passed first; or an error, which ends the watch, but for
 * SKV_INTERRUPTED. In a directory, it connects again after it has lost the server, for 5 minutes; each attempt may take
 * 10 s, whatever the timeout. It gives up a server that sends nothing for twice the timeout of skv_changes_open(),
 * although it was asked. Records are packed as those of a list; the name is a path relative to the folder, the
 * body a cookie:
 *
 *     'p'   the key was put, 'd': it was deleted
 *     'f'   a folder appeared or was moved: its keys follow. The name ends in a slash
 *     'c'   ready, once: the records before it were all changes after `since`, later ones come as they happen
 *     'i'   as 'c', but deletions between `since` and now are unknown: the caller compares its keys with a list
 *     'r'   changes were lost: the caller forgets its keys, and lists the folder. Later ones come as they happen
 *     'l'   the server is away: changes do not come as they happen, until the watch has connected again
 *     'b'   it has: the records before it were all changes meanwhile, later ones come as they happen. 'r' may come
 *           in its place
 *
 * A change may come more than once, and of several changes of one key only the last one is certain to come. A record
 * tells nothing else of the key, which may be deleted when the caller reads it.
 */
typedef struct skv_changes skv_changes;
SKV_API skv_changes *skv_changes_open(skv_store *store, const char *folder, size_t folder_len, const char *since,
                                      size_t since_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_changes_next(skv_changes *changes, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);
SKV_API void skv_changes_close(skv_changes *changes);

#ifdef __cplusplus
}
#endif

#endif
