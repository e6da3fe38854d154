#include "file_access.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"
#define LABEL "security.selinux"

/* What the kernel allows an attribute to have; real ones are far smaller. */
#define ATTRIBUTE_MAX 4096

int skv_access_new(int fd)
{
    return fchmod(fd, 0660);
}

static bool copy_owner(int old, int fd)
{
    struct stat from, to;

    if (fstat(old, &from) < 0 || fstat(fd, &to) < 0)
        return false;
    if (from.st_uid == to.st_uid && from.st_gid == to.st_gid)
        return true;
    if (fchown(fd, from.st_uid, from.st_gid) == 0)
        return true;
    return errno == EPERM && (from.st_gid == to.st_gid || fchown(fd, (uid_t)-1, from.st_gid) == 0);
}

static bool is_absent(void)
{
    return errno == ENODATA || errno == EOPNOTSUPP;
}

/* The ACL holds the mode's bits, too. Without one, the folder's default ACL may have given the new file one. */
static bool copy_acl(int old, int fd)
{
    char acl[ATTRIBUTE_MAX];
    ssize_t len = fgetxattr(old, ACL, acl, sizeof acl);

    if (len >= 0)
        return fsetxattr(fd, ACL, acl, (size_t)len, 0) == 0;
    if (!is_absent())
        return false;
    return (fremovexattr(fd, ACL) == 0 || is_absent()) && fchmod(fd, 0660) == 0;
}

static bool copy_label(int old, int fd)
{
    char from[ATTRIBUTE_MAX], to[ATTRIBUTE_MAX];
    ssize_t len = fgetxattr(old, LABEL, from, sizeof from), now;

    if (len < 0)
        return is_absent();
    now = fgetxattr(fd, LABEL, to, sizeof to);
    if (now == len && memcmp(from, to, (size_t)len) == 0)
        return true;
    return fsetxattr(fd, LABEL, from, (size_t)len, 0) == 0 || errno == EPERM || errno == EACCES;
}

bool skv_access_copy(int old, int fd)
{
    return copy_owner(old, fd) && copy_acl(old, fd) && copy_label(old, fd);
}
