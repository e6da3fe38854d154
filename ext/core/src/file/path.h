/* file/path.h - opens the folders and files of keys, never outside the root. */
#ifndef SKV_FILE_PATH_H
#define SKV_FILE_PATH_H

#include "file/call.h"

#include <dirent.h>

/* How to open a folder: to look names up in it, or to read and sync it; and flags: make missing folders, refuse links.
 */
#define SKV_FOLDER_LOOK 0
#define SKV_FOLDER_READ 1
#define SKV_FOLDER_MAKE 2
#define SKV_FOLDER_LINKLESS 4

/*
 * All of these return a descriptor that the caller closes, or -1 with errno: ENOENT (no such name), ENOTDIR (a name in
 * the path is not a folder), or another one. For a link that may not be followed, they fail the reply and set errno to
 * EXDEV.
 */

/* Opens a folder by its path below the root; "" is the root itself. */
int skv_folder_open(skv_file_call *call, const char *path, size_t len, int how);

/* Opens a folder for reading, by its path below another one, without following a link in `below`: a link may lead to a
 * folder above. */
int skv_folder_open_below(skv_file_call *call, const char *top, size_t top_len, const char *below);

/* Sets *entry to the next name in an open folder, without "." and "..", or to NULL at the end. */
skv_status skv_folder_next(skv_file_call *call, DIR *dir, struct dirent **entry);

/* Opens the folder that contains call->path. Sets *base to the last name of the path. */
int skv_folder_of(skv_file_call *call, int how, const char **base);

/* Opens the file of call->path, with SKV_KEY_FLAGS added. Follows a link, and sets call->path to its target. */
int skv_key_open(skv_file_call *call, int flags);

/* Returns true if the name in the folder is a symbolic link. */
bool skv_is_link_at(int folder, const char *name);

/* Sets call->path to the target of the link `base` in the folder, a path without links. Returns 0, or -1 as above. */
int skv_link_follow(skv_file_call *call, int folder, const char *base);

/* Fails the reply with SKV_IS_KEY, and names the key that is where the first `len` bytes of call->path need a folder.
 * The call is stale if there is none any more. */
skv_status skv_path_refuse_key(skv_file_call *call, size_t len);

/* Makes or checks the root and its two folders, for skv_open(). `root` does not end in a slash. Read permission on an
 * existing root is enough: calls that write fail by themselves. */
skv_status skv_root_prepare(const char *root, skv_reply *reply);

#endif
