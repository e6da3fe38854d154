#include "file/path.h"

#include "file/new_folder.h"
#include "name/key.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes a folder above the root, which other programs may share: all users can pass through it. */
static int make_parent(int folder, const char *name)
{
    if (mkdirat(folder, name, 0755) < 0)
        return errno == EEXIST ? 0 : -1;
    return fchmodat(folder, name, 0755, 0);
}

/* Opens a folder. Makes it first, with `make`, if it is missing. */
static int open_or_make(int folder, const char *segment, size_t len, int (*make)(int, const char *))
{
    char name[NAME_MAX + 1];
    int fd;

    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, segment, len);
    name[len] = '\0';
    fd = openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 || errno != ENOENT || make(folder, name) < 0)
        return fd;
    return openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Makes the missing folders of an absolute path. */
static int make_root_path(const char *path)
{
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
    const char *rest = path, *end = path + strlen(path), *segment;
    size_t len;

    while (folder >= 0 && skv_key_next(&rest, end, &segment, &len)) {
        next = open_or_make(folder, segment, len, rest == end ? skv_folder_make : make_parent);
        skv_fd_close(folder);
        folder = next;
    }
    return folder;
}

static void advise_other_root(skv_reply *reply)
{
    skv_reply_append(reply, ": set 'root_path' to a folder that uid %u can make or use", (unsigned)geteuid());
}

static int open_root(const char *root, skv_reply *reply)
{
    int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 && (errno == ENOENT || faccessat(AT_FDCWD, root, F_OK, AT_EACCESS) < 0)) {
        fd = make_root_path(root);
        if (fd < 0) {
            skv_fail_errno(reply, errno, "Unable to create configured root path '%s'", root);
            advise_other_root(reply);
        }
    } else if (fd < 0 || faccessat(AT_FDCWD, root, R_OK | X_OK, AT_EACCESS) < 0) {
        int error_number = errno;

        skv_fail_errno(reply, error_number, "Cannot access root path '%s'", root);
        if (error_number == ENOTDIR)
            advise_other_root(reply);
        skv_file_advise(reply, error_number, "read and search permission on it");
    }
    return fd;
}

/* Returns true if the folder is missing and this process may not make it. The store can be read all the same: the
 * folder has no keys. */
static bool may_stay_missing(int root, const char *name, int error_number)
{
    return (error_number == EACCES || error_number == EPERM || error_number == EROFS) &&
           faccessat(root, name, F_OK, AT_EACCESS) < 0 && errno == ENOENT;
}

skv_status skv_root_prepare(const char *root, skv_reply *reply)
{
    static const char *const folders[] = {"globals", "environments"};
    int fd = open_root(*root ? root : "/", reply), sub;

    for (size_t i = 0; i < sizeof folders / sizeof *folders && reply->status == SKV_OK; i++) {
        sub = open_or_make(fd, folders[i], strlen(folders[i]), skv_folder_make);
        if (sub < 0 && !may_stay_missing(fd, folders[i], errno))
            skv_fail_errno(reply, errno, "Cannot access '%s/%s'", root, folders[i]);
        skv_fd_close(sub);
    }
    skv_fd_close(fd);
    return reply->status;
}
