/* file/folder.h - making folders, so that whoever sees one can use it. */
#ifndef SKV_FILE_FOLDER_H
#define SKV_FILE_FOLDER_H

/* Makes a folder, 0770 whatever the umask, and makes that durable. It gets its name when it has its mode. No error if
 * the name is there already. 0, or -1 with errno: ENOENT when the parent is gone, or others are in the way. */
int skv_folder_make(int parent, const char *name);

#endif
