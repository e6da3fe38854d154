#include "file/access.h"

#include "base/buf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACL "system.posix_acl_access"
#define LABEL "security.selinux"

/* The kernel's limit for a label; an ACL may be larger. */
#define LABEL_MAX 4096

/* EINVAL stands for ids that this user namespace lacks, and for labels that the policy lacks. */
static int fail_not_permitted(void)
{
    if (errno == EINVAL)
        errno = EPERM;
    return -1;
}

static bool is_attribute_absent(void)
{
    return errno == ENODATA || errno == EOPNOTSUPP;
}

/* Returns true if the group changes nobody's rights. */
static bool is_group_irrelevant(int old, mode_t mode)
{
    return (mode >> 3 & 7) == (mode & 7) && fgetxattr(old, ACL, NULL, 0) < 0 && is_attribute_absent();
}

/* Copies owner and group; the group alone if only root may change the owner. */
static int copy_owner(int old, int fd, const struct stat *from)
{
    struct stat to;

    if (fstat(fd, &to) < 0)
        return -1;
    if ((from->st_uid == to.st_uid && from->st_gid == to.st_gid) || fchown(fd, from->st_uid, from->st_gid) == 0)
        return 0;
    (void)fail_not_permitted();
    if (errno != EPERM)
        return -1;
    if (from->st_gid == to.st_gid || fchown(fd, (uid_t)-1, from->st_gid) == 0)
        return 0;
    (void)fail_not_permitted();
    if (errno != EPERM)
        return -1;
    if (is_group_irrelevant(old, from->st_mode))
        return 0;
    errno = EPERM;
    return -1;
}

/* Copies the mode, and removes an ACL that the new file got from the folder's default ACL. */
static int copy_file_mode(int fd, mode_t mode)
{
    if (fremovexattr(fd, ACL) < 0 && !is_attribute_absent())
        return -1;
    return fchmod(fd, mode & 0777);
}

/* Copies the ACL, which includes the mode; the mode if there is no ACL. */
static int copy_acl(int old, int fd, mode_t mode)
{
    ssize_t len = fgetxattr(old, ACL, NULL, 0);
    int result = -1, saved;
    char *acl;

    if (len < 0)
        return is_attribute_absent() ? copy_file_mode(fd, mode) : -1;
    acl = skv_alloc((size_t)len + 1);
    if (!acl) {
        errno = ENOMEM;
        return -1;
    }
    len = fgetxattr(old, ACL, acl, (size_t)len);
    if (len >= 0)
        result = fsetxattr(fd, ACL, acl, (size_t)len, 0) == 0 ? 0 : fail_not_permitted();
    saved = errno;
    skv_free(acl);
    errno = saved;
    return result;
}

static int copy_label(int old, int fd)
{
    char from[LABEL_MAX], to[LABEL_MAX];
    ssize_t len = fgetxattr(old, LABEL, from, sizeof from), now;

    if (len < 0)
        return is_attribute_absent() ? 0 : -1;
    now = fgetxattr(fd, LABEL, to, sizeof to);
    if (now == len && memcmp(from, to, (size_t)len) == 0)
        return 0;
    if (fsetxattr(fd, LABEL, from, (size_t)len, 0) == 0 || errno == EPERM || errno == EACCES)
        return 0;
    return fail_not_permitted();
}

int skv_access_copy(int old, int fd, const char **lacking)
{
    struct stat from;

    *lacking = NULL;
    if (fstat(old, &from) < 0)
        return -1;
    if (copy_owner(old, fd, &from) < 0)
        *lacking = "the group of the old one: add the user to that group, or change the group of the key's file";
    else if (copy_acl(old, fd, from.st_mode) < 0)
        *lacking = "the ACL of the old one: remove the ACL from the key's file, or write as root";
    else if (copy_label(old, fd) < 0)
        *lacking = "the SELinux label of the old one: relabel the key's file";
    return *lacking ? -1 : 0;
}
