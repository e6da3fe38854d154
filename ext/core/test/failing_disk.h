/* A disk that fails, becomes full, or loses what was not synced: system calls in place of those of the C library, for
 * the one test program that includes this file. */
#ifndef SIMPKV_TEST_FAILING_DISK_H
#define SIMPKV_TEST_FAILING_DISK_H

#include "check.h"
#include "simpkv_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The disk fails at the call with that number, once or from then on. */
static struct {
    long countdown; /* 0: the disk works */
    int error;
    bool lasting, came;
    bool read_only;
} disk;

/* A batch syncs its files in several threads. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static bool fails_at_countdown(void)
{
    if (disk.countdown == 0 || --disk.countdown > 0)
        return false;
    disk.came = true;
    disk.countdown = disk.lasting;
    return true;
}

static bool fails(void)
{
    bool failing;

    pthread_mutex_lock(&mutex);
    failing = disk.read_only || fails_at_countdown();
    pthread_mutex_unlock(&mutex);
    if (failing)
        errno = disk.read_only ? EROFS : disk.error;
    return failing;
}

/* The number of documents that are neither a key's yet nor removed, and the number for which there is no room; 0 for
 * none. */
static int temporary_documents, too_many_documents;

/* Set if the file system looks for room only when a file is synced, as NFS does. */
static bool is_full_at_sync;

static void note_temporary_document(int change)
{
    if (temporary_documents > 0 || change > 0)
        temporary_documents += change;
}

static bool lacks_room(bool at_sync)
{
    if (too_many_documents == 0 || at_sync != is_full_at_sync || temporary_documents < too_many_documents)
        return false;
    errno = ENOSPC;
    return true;
}

/* ---- What a crash could undo ---- */

#define UNSYNCED_MAX 64

/* The inodes of files with new bytes, and of folders with changed names, until an fsync() of each. */
static ino_t unsynced[UNSYNCED_MAX];

/* Set if a file gets the name of a key before its bytes are synced. */
static bool named_early;

static int folder_syncs;

/* The most memory that was allocated during an fsync(). */
static size_t memory_at_sync;

static bool is_unsynced(ino_t inode)
{
    for (int i = 0; i < UNSYNCED_MAX; i++)
        if (inode && unsynced[i] == inode)
            return true;
    return false;
}

static void note_synced(ino_t inode)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < UNSYNCED_MAX; i++)
        if (unsynced[i] == inode)
            unsynced[i] = 0;
    pthread_mutex_unlock(&mutex);
}

static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void note_sync(int fd)
{
    struct stat info;

    pthread_mutex_lock(&mutex);
    folder_syncs += fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
    if (memory_in_use() > memory_at_sync)
        memory_at_sync = memory_in_use();
    pthread_mutex_unlock(&mutex);
}

static ino_t inode_of(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

static ino_t inode_at(int folder, const char *name)
{
    struct stat info;

    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_ino : 0;
}

/* Notes a change of the file or folder if the call has succeeded. Returns the result of the call. */
static long note_change(int fd, long result)
{
    ino_t inode = inode_of(fd);

    for (int i = 0; result >= 0 && i < UNSYNCED_MAX && !is_unsynced(inode); i++)
        if (!unsynced[i])
            unsynced[i] = inode;
    return result;
}

/* The modes with which files were made. */
static mode_t made_with;

/* ---- The calls themselves, in place of the C library's ---- */

int openat(int folder, const char *name, int flags, ...)
{
    va_list rest;
    int mode;

    va_start(rest, flags);
    mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    made_with |= (mode_t)mode;
    if (disk.read_only && (flags & O_ACCMODE) == O_RDONLY)
        return (int)syscall(SYS_openat, folder, name, flags, mode);
    return fails() ? -1 : (int)syscall(SYS_openat, folder, name, flags, mode);
}

/* A disk that becomes full takes a part first. */
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    bool works = !disk.came;

    note_temporary_document(1);
    if (lacks_room(false))
        return -1;
    if (!fails())
        return note_change(fd, syscall(SYS_pwrite64, fd, bytes, count, at));
    return works && disk.lasting && count > 1 ? syscall(SYS_pwrite64, fd, bytes, count / 2, at) : -1;
}

int fsync(int fd)
{
    int result = lacks_room(true) || fails() ? -1 : (int)syscall(SYS_fsync, fd);

    if (result == 0)
        note_synced(inode_of(fd));
    note_sync(fd);
    return result;
}

int ftruncate(int fd, off_t length)
{
    return fails() ? -1 : (int)note_change(fd, syscall(SYS_ftruncate, fd, length));
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (fails())
        return -1;
    named_early = named_early || is_unsynced(inode_at(from_folder, from));
    return (int)note_change(to_folder, syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (fails())
        return -1;
    named_early = named_early || is_unsynced(inode_at(from_folder, from));
    note_temporary_document(-1);
    return (int)note_change(to_folder, syscall(SYS_renameat, from_folder, from, to_folder, to));
}

int unlinkat(int folder, const char *name, int flags)
{
    if (fails())
        return -1;
    if (flags & AT_REMOVEDIR)
        note_synced(inode_at(folder, name));
    note_temporary_document(-1);
    return (int)note_change(folder, syscall(SYS_unlinkat, folder, name, flags));
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    return fails() ? -1 : (int)note_change(folder, syscall(SYS_mkdirat, folder, name, mode));
}

int fchmod(int fd, mode_t mode)
{
    return fails() ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return fails() ? -1 : (int)syscall(SYS_fchown, fd, owner, group);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    return fails() ? -1 : (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

#endif
