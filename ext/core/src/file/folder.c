#include "file/folder.h"

#include "file/access.h"
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

/* Makes a folder's names durable. */
static int sync_folder(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), result;

    if (fd < 0)
        return -1;
    result = fsync(fd);
    skv_fd_close(fd);
    return result;
}

static bool is_name_taken(int parent, const char *name)
{
    int saved = errno;
    struct stat info;
    bool there = fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0;

    errno = saved;
    return there;
}

/* Renames a folder, unless the new name is taken. Not every kernel and file system can tell by itself: then, at the
 * worst, an empty folder of that name is replaced, which is to its users as if it had been deleted and made again. */
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

/* Gives a new folder its owner and mode. The setgid bit, if any, is the parent's. */
static int give_folder_access(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result;
    struct stat made;
    mode_t mode;

    if (fd < 0)
        return -1;
    skv_access_inherit(parent, fd);
    result = fstat(fd, &made);
    mode = result < 0 ? 0 : 0770 | (made.st_mode & S_ISGID);
    if (result == 0 && (made.st_mode & 07777) != mode)
        result = fchmod(fd, mode);
    skv_fd_close(fd);
    return result;
}

/*
 * The temporary name is the same for all who make the folder: what one of them left when it was killed, or has not
 * finished yet, another one finishes. What it may not finish it takes away. That can go wrong for nobody, as the folder
 * is empty, and whose folder is gone begins again.
 */
int skv_folder_make(int parent, const char *name)
{
    char temp[SKV_TEMP_NAME_SIZE];
    int failed = ENOENT;

    skv_temp_name_folder(temp, name);
    for (int i = 0; i < TRIES; i++) {
        if (mkdirat(parent, temp, 0770) < 0 && errno != EEXIST)
            return is_name_taken(parent, name) ? 0 : -1;
        if (give_folder_access(parent, temp) == 0 && rename_without_replacing(parent, temp, name) == 0) {
            /* In between, the temporary name can have become that of another one's unfinished folder. */
            (void)give_folder_access(parent, name);
            return sync_folder(parent);
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
