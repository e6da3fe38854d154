/* file.c - an audit log in a file, which other processes append to and rotate at the same time. */
#include "audit/log.h"
#include "base/deadline.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The disk space that is reserved ahead of the end of the file, and the minimum that must be left of it: room for the
 * lines of all operations that run at one time, in all processes. */
#define RESERVE_AHEAD ((off_t)128 * 1024)
#define RESERVE_LEAST ((off_t)64 * 1024)

/* Another process may create, rename or delete the file at any moment. */
#define OPEN_ATTEMPTS 10

#define FIRST_PAUSE_NS INT64_C(20000)
#define LONGEST_PAUSE_NS INT64_C(5000000)

/* ---- Opening ---- */

/* A child that is forked in between closes no descriptor of another file. */
void skv_audit_forget(skv_audit *audit)
{
    int fd = audit->fd;

    audit->fd = -1;
    if (fd >= 0)
        close(fd);
}

/* Gives a file that root has made to the owner of its folder, who rotates it. */
static void give_to_folder(const char *path, int fd)
{
    char folder[PATH_MAX];
    int parent;

    snprintf(folder, sizeof folder, "%.*s/", (int)(strrchr(path, '/') - path), path);
    parent = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return;
    skv_inherit_owner(parent, fd);
    close(parent);
}

/* A new file has the mode 0660, as those of the store in files: root and the user of puppetserver share it. */
static int create_log(const char *path)
{
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0660);

    if (fd < 0)
        return fd;
    (void)fchmod(fd, 0660);
    give_to_folder(path, fd);
    return fd;
}

/* Never waits for the reader of a pipe. */
static int open_or_create_log(const char *path)
{
    int fd = -1;

    for (int attempts = 0; fd < 0 && attempts < OPEN_ATTEMPTS; attempts++) {
        fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0 && errno != ENOENT)
            break;
        if (fd < 0)
            fd = create_log(path);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static skv_status fail_log(const skv_audit *audit, const char *what, skv_reply *reply)
{
    return skv_fail_errno(reply, errno, "cannot %s the audit log '%s'", what, audit->path);
}

static skv_status fail_replaced(const skv_audit *audit, skv_reply *reply)
{
    return skv_fail(reply, SKV_UNAVAILABLE, "the audit log '%s' is replaced all the time", audit->path);
}

static skv_status open_log(skv_audit *audit, skv_reply *reply)
{
    struct stat file;

    audit->fd = open_or_create_log(audit->path);
    if (audit->fd < 0 && errno == ELOOP)
        return skv_fail(reply, SKV_INVALID, "the audit log '%s' is a symbolic link: name the file itself", audit->path);
    if (audit->fd < 0 || fstat(audit->fd, &file) < 0)
        return fail_log(audit, "open", reply);
    if (!S_ISREG(file.st_mode)) {
        skv_audit_forget(audit);
        return skv_fail(reply, SKV_INVALID, "the audit log '%s' is not a regular file", audit->path);
    }
    audit->device = file.st_dev;
    audit->inode = file.st_ino;
    audit->reserved = 0;
    audit->end = -1;
    return SKV_OK;
}

/* Returns true, with what the path has now, if that is the open file. Otherwise it was renamed or deleted. */
static bool is_current(const skv_audit *audit, struct stat *file)
{
    return audit->fd >= 0 && lstat(audit->path, file) == 0 && file->st_ino == audit->inode &&
           file->st_dev == audit->device;
}

/* An open file description has the lock, so that threads of other processes and forked children are excluded as well.
 * Only a process that may write the file can lock it. */
static int set_lock(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    int result;

    do
        result = fcntl(fd, F_OFD_SETLK, &lock);
    while (result < 0 && errno == EINTR);
    return result;
}

/* Closes a file that was renamed or deleted. Frees the disk space that is reserved beyond its end, which nobody needs
 * any more, unless another process still writes to it. */
static void leave_file(skv_audit *audit)
{
    struct stat file;

    if (audit->fd >= 0 && audit->reserved && set_lock(audit->fd, F_WRLCK) == 0 && fstat(audit->fd, &file) == 0)
        (void)!ftruncate(audit->fd, file.st_size);
    skv_audit_forget(audit);
}

/* Opens the file that has the path now. Another process may be in the middle of a line. */
static skv_status open_current(skv_audit *audit, struct stat *file, skv_reply *reply)
{
    for (int attempts = 0; !is_current(audit, file); attempts++) {
        leave_file(audit);
        if (attempts == OPEN_ATTEMPTS)
            return fail_replaced(audit, reply);
        if (open_log(audit, reply) != SKV_OK)
            return reply->status;
    }
    return SKV_OK;
}

/* ---- The lock of the file ---- */

static skv_status wait_for_lock(const skv_audit *audit, int64_t end_ns, skv_reply *reply)
{
    int64_t pause_ns = FIRST_PAUSE_NS;

    while (set_lock(audit->fd, F_WRLCK) < 0) {
        if (errno != EAGAIN && errno != EACCES)
            return fail_log(audit, "lock", reply);
        if (skv_now_ns() >= end_ns)
            return skv_fail(reply, SKV_TIMEOUT, "another process keeps the audit log '%s' locked", audit->path);
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns * 2 > LONGEST_PAUSE_NS ? LONGEST_PAUSE_NS : pause_ns * 2;
    }
    return SKV_OK;
}

/* Opens the file that has the path now, and locks it. Its size is that after the lines of all other writers. */
static skv_status lock_current(skv_audit *audit, struct stat *file, int64_t end_ns, skv_reply *reply)
{
    for (int attempts = 0; attempts < OPEN_ATTEMPTS; attempts++) {
        if (audit->fd < 0 && open_log(audit, reply) != SKV_OK)
            return reply->status;
        if (wait_for_lock(audit, end_ns, reply) != SKV_OK)
            return reply->status;
        if (is_current(audit, file))
            return SKV_OK;
        leave_file(audit);
    }
    return fail_replaced(audit, reply);
}

/* ---- Appending ---- */

/* Writes all bytes or none: on a full disk, or over a limit, the kernel may take a part. */
static skv_status append(const skv_audit *audit, const char *bytes, size_t len, skv_reply *reply)
{
    size_t written = skv_write_bytes(audit->fd, bytes, len, -1);
    struct stat file;

    if (written == len)
        return SKV_OK;
    fail_log(audit, "write", reply);
    if (written && fstat(audit->fd, &file) == 0 && file.st_size >= (off_t)written)
        (void)!ftruncate(audit->fd, file.st_size - (off_t)written);
    return reply->status;
}

/* A process that was killed while it wrote, or a crash of the system, may leave a part of a line. */
static skv_status end_last_line(const skv_audit *audit, off_t size, skv_reply *reply)
{
    char last = '\n';

    if (size > 0 && size != audit->end && pread(audit->fd, &last, 1, size - 1) < 0)
        return fail_log(audit, "read", reply);
    return last == '\n' ? SKV_OK : append(audit, "\n", 1, reply);
}

skv_status skv_audit_append(skv_audit *audit, const char *lines, size_t len, int64_t end_ns, skv_reply *reply)
{
    struct stat file = {0};

    if (lock_current(audit, &file, end_ns, reply) != SKV_OK)
        return reply->status;
    if (end_last_line(audit, file.st_size, reply) == SKV_OK && append(audit, lines, len, reply) == SKV_OK)
        audit->end = file.st_size + (off_t)len;
    (void)set_lock(audit->fd, F_UNLCK);
    return reply->status;
}

/* ---- Reserving ---- */

/* Another process may have truncated the file, which frees the space. */
static bool has_room(const skv_audit *audit, const struct stat *file, off_t needed)
{
    return audit->reserved >= file->st_size + needed && (off_t)file->st_blocks * 512 >= file->st_size + needed;
}

static skv_status allocate(skv_audit *audit, off_t at, off_t len, skv_reply *reply)
{
    skv_xfsz xfsz;
    int result;

    /* tmpfs applies RLIMIT_FSIZE to space beyond the end of the file as well. */
    skv_xfsz_block(&xfsz);
    do
        result = fallocate(audit->fd, FALLOC_FL_KEEP_SIZE, at, len);
    while (result < 0 && errno == EINTR);
    skv_xfsz_restore(&xfsz);
    if (result < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return skv_fail(
            reply, SKV_INVALID,
            "the file system of the audit log '%s' cannot reserve disk space, which 'required' needs: ext4, "
            "XFS, Btrfs and tmpfs can",
            audit->path);
    if (result < 0)
        return fail_log(audit, "reserve disk space for", reply);
    audit->reserved = at + len;
    return SKV_OK;
}

skv_status skv_audit_reserve_file(skv_audit *audit, size_t bytes, skv_reply *reply)
{
    struct stat file = {0};
    off_t needed = (off_t)bytes;

    if (open_current(audit, &file, reply) != SKV_OK)
        return reply->status;
    if (has_room(audit, &file, needed + RESERVE_LEAST))
        return SKV_OK;
    return allocate(audit, file.st_size, needed + RESERVE_AHEAD, reply);
}
