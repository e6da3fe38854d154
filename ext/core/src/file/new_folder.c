#include "file/new_folder.h"

#include "base/io.h"
#include "file/lock.h"
#include "file/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

#define TRIES 100

static bool is_name_taken(int parent, const char *name)
{
    int saved = errno;
    struct stat info;
    bool there = fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0;

    errno = saved;
    return there;
}

/* Renames a folder unless the new name exists. Some kernels and file systems cannot check that in one step: then an
 * empty folder of that name may be replaced, which looks as if it had been deleted and made again. */
static int rename_without_replacing(int parent, const char *from, const char *to)
{
#ifdef SYS_renameat2
    if (syscall(SYS_renameat2, parent, from, parent, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != ENOSYS && errno != EINVAL && errno != EPERM)
        return -1;
#endif
    if (is_name_taken(parent, to)) {
        errno = EEXIST;
        return -1;
    }
    return renameat(parent, from, parent, to);
}

/* Gives a new folder its owner and mode. It inherits the setgid bit of the parent. */
static int give_folder_access(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result;
    struct stat made;
    mode_t mode;

    if (fd < 0)
        return -1;
    skv_inherit_owner(parent, fd);
    result = fstat(fd, &made);
    mode = result < 0 ? 0 : 0770 | (made.st_mode & S_ISGID);
    if (result == 0 && (made.st_mode & 07777) != mode)
        result = fchmod(fd, mode);
    skv_fd_close(fd);
    return result;
}

/* Makes the name of a new folder durable. If that fails, removes the folder: later writers take it for an old one, and
 * do not sync its name. */
static int sync_new_folder(int parent, const char *name)
{
    int error_number;

    if (fsync(parent) == 0)
        return 1;
    error_number = errno;
    (void)unlinkat(parent, name, AT_REMOVEDIR);
    errno = error_number;
    return -1;
}

/*
 * All processes that make the folder use the same temporary name. A process finishes the temporary folder that another
 * process has not finished, and removes it if it lacks the permission to finish it. That is safe: the folder is empty,
 * and a process whose temporary folder is missing starts again.
 */
static int make_in(int parent, const char *name)
{
    char temp[SKV_TEMP_NAME_SIZE];
    int failed = ENOENT;

    skv_temp_name_folder(temp, name);
    for (int i = 0; i < TRIES; i++) {
        if (mkdirat(parent, temp, 0770) < 0 && errno != EEXIST)
            return is_name_taken(parent, name) ? 0 : -1;
        if (give_folder_access(parent, temp) == 0 && rename_without_replacing(parent, temp, name) == 0) {
            /* Another process may have made its own unfinished folder under the temporary name meanwhile. */
            (void)give_folder_access(parent, name);
            return sync_new_folder(parent, name);
        }
        failed = errno;
        if (failed != ENOENT && unlinkat(parent, temp, AT_REMOVEDIR) < 0 && errno != ENOENT)
            break;
        if (is_name_taken(parent, name))
            return 0;
    }
    errno = failed;
    return -1;
}

int skv_folder_make(int parent, const char *name)
{
    /* It may have been opened for looking only, which cannot be synced. */
    int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), made;

    if (fd < 0)
        return is_name_taken(parent, name) ? 0 : -1;
    made = make_in(fd, name);
    skv_fd_close(fd);
    return made;
}
