/* file/access.h - who may use a file: owner, group, mode, ACL, SELinux label. */
#ifndef SKV_FILE_ACCESS_H
#define SKV_FILE_ACCESS_H

/*
 * Gives a new file or folder `fd`, which root has made, to the owner and group of its folder, who could not use it
 * otherwise. Leaves it alone for other users, and where that is not possible. Keeps errno.
 */
void skv_access_inherit(int folder, int fd);

/*
 * Gives `fd`, the file that replaces `old`, the owner, group, mode, ACL and label of `old`. Without permission for it,
 * leaves out the owner, the label, and a group that makes no difference to anybody's rights. Returns 0, or -1 with
 * errno: then *lacking says what could not be copied and what to do, in a static string, and errno is EPERM, EACCES or
 * EOPNOTSUPP if no file but the old one can have it.
 */
int skv_access_copy(int old, int fd, const char **lacking);

#endif
