/* file_access.h - who may use a file: owner, group, ACL, SELinux label. */
#ifndef SKV_FILE_ACCESS_H
#define SKV_FILE_ACCESS_H

#include <stdbool.h>

/* Gives a new key file its mode, 0660 whatever the umask. 0, or -1 with errno. */
int skv_access_new(int fd);

/*
 * Gives the file that replaces `old` its owner, group, ACL and label, and, where there is no ACL, the mode 0660. What
 * is not permitted is left out, but not the group and the ACL. False when it cannot be done so far, or fails otherwise.
 */
bool skv_access_copy(int old, int fd);

#endif
