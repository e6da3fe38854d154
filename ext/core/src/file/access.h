/* file/access.h - the access to a file: owner, group, mode, ACL, SELinux label. */
#ifndef SKV_FILE_ACCESS_H
#define SKV_FILE_ACCESS_H

/*
 * Gives `fd`, the file that replaces `old`, the owner, group, mode, ACL and label of `old`. Without permission, leaves
 * out the owner, the label, and a group that changes nobody's rights. Returns 0, or -1 with errno: then *lacking, a
 * static string, says which part could not be copied and what to do, and errno is EPERM, EACCES or EOPNOTSUPP if no new
 * file can have it.
 */
int skv_access_copy(int old, int fd, const char **lacking);

#endif
