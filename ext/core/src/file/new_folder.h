/* file/new_folder.h - making folders, so that every process that sees one can use it. */
#ifndef SKV_FILE_NEW_FOLDER_H
#define SKV_FILE_NEW_FOLDER_H

/* Makes a folder with the mode 0770, whatever the umask, and makes it durable. The folder gets its name when it has its
 * mode. An existing name is no error. Returns 1 if this call made the folder, 0 if the name existed, or -1 with errno:
 * ENOENT if the parent is missing, or other processes interfere. */
int skv_folder_make(int parent, const char *name);

#endif
