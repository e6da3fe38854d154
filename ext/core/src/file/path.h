/* file/path.h - from a key to its folder and its file, never outside the root. */
#ifndef SKV_FILE_PATH_H
#define SKV_FILE_PATH_H

#include "file/call.h"

/* Ways of opening a folder: to look names up in it, or such that it can be read and synced; and whether to make what is
 * missing of it, or to take links in it for no folders. */
#define SKV_FOLDER_LOOK 0
#define SKV_FOLDER_READ 1
#define SKV_FOLDER_MAKE 2
#define SKV_FOLDER_LINKLESS 4

/*
 * All of these answer a descriptor that the caller closes, or -1 with errno: ENOENT (no such name), ENOTDIR (a name on
 * the way is not a folder), or another one. For a link that may not be followed, the reply is failed and errno is
 * EXDEV.
 */

/* Opens a folder by its path below the root, of which "" is the root itself. */
int skv_folder_open(skv_file_call *call, const char *path, size_t len, int how);

/* Opens the folder that call->path is in. *base is its last name. */
int skv_folder_of(skv_file_call *call, int how, const char **base);

/* Opens what call->path names, with SKV_KEY_FLAGS added; if that is a link, what it leads to, to which call->path is
 * set. */
int skv_key_open(skv_file_call *call, int flags);

/* Sets call->path to what the link `base` in the folder leads to, as a path without links. 0, or -1 as above. */
int skv_link_follow(skv_file_call *call, int folder, const char *base);

/* How much of call->path is the name of something that is no folder but would have to be one; 0 for nothing. */
size_t skv_path_obstacle(skv_file_call *call);

/* Makes or checks the root and its two folders, for skv_open(). `root` is without a slash at the end. Read permission
 * on an existing root is enough: calls that write fail by themselves. */
int skv_root_prepare(const char *root, skv_reply *reply);

#endif
