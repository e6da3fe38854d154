/* file_access.h - who may use a file: owner, group, ACL, SELinux label. */
#ifndef SKV_FILE_ACCESS_H
#define SKV_FILE_ACCESS_H

/*
 * Gives the file that replaces `old` its owner, group, ACL and label, and, where there is no ACL, the mode 0660. What
 * is not permitted is left out, but not the group and the ACL. 0, or -1 with errno: EPERM, EACCES or EOPNOTSUPP when
 * only the old file itself can have them.
 */
int skv_access_copy(int old, int fd);

#endif
