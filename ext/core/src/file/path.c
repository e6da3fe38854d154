#include "file/path.h"

#include "file/new_folder.h"
#include "name/key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(SYS_openat2) && __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#else
#undef SYS_openat2
#endif

#define LINKS_MAX 8

#ifdef SYS_openat2
/* True after the kernel answered that it lacks openat2(). It is not called again: valgrind 3.19 prints five lines for
 * each call. */
static atomic_bool lacks_openat2;
#endif

/*
 * Opens a path without links in one system call. The kernel may lack the call, a sandbox may forbid it, and it refuses
 * a link without saying which one. walk_to_folder() works in all these cases, and is called if this fails
 * inconclusively.
 */
static int open_beneath(int root, const char *path, int flags)
{
#ifdef SYS_openat2
    struct open_how how = {
        .flags = (unsigned)flags,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd;

    if (atomic_load_explicit(&lacks_openat2, memory_order_relaxed)) {
        errno = ENOSYS;
        return -1;
    }
    fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (fd < 0 && errno == ENOSYS)
        atomic_store_explicit(&lacks_openat2, true, memory_order_relaxed);
    return fd;
#else
    (void)root, (void)path, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}

static bool is_conclusive(int fd)
{
    return fd >= 0 || errno == ENOENT || errno == ENOTDIR || errno == EACCES;
}

static ssize_t read_real_path(int fd, char out[PATH_MAX])
{
    char name[64];
    ssize_t len;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    len = readlink(name, out, PATH_MAX);
    if (len == PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (len >= 0)
        out[len] = '\0';
    return len;
}

static int refuse_link(skv_file_call *call, const char *name, const char *why)
{
    skv_fail(call->reply, SKV_DENIED, "%s '%s/%s'%s: the link '%s' %s", call->what, call->root_path, call->key->path,
             call->failed, name, why);
    errno = EXDEV;
    return -1;
}

/* Sets `target` to the path of `fd`, and returns the offset at which the path below the root starts; -1 with errno
 * EXDEV if it is not below the root. */
static ssize_t locate_below_root(skv_file_call *call, int fd, char target[PATH_MAX])
{
    char root[PATH_MAX];
    ssize_t root_len = read_real_path(call->root, root), len = read_real_path(fd, target);

    if (root_len < 0 || len < 0)
        return -1;
    if (root_len == 1)
        root_len = 0;
    if (len < root_len || memcmp(root, target, (size_t)root_len) != 0 ||
        (target[root_len] != '/' && target[root_len] != '\0')) {
        errno = EXDEV;
        return -1;
    }
    return target[root_len] ? root_len + 1 : root_len;
}

/* Opens the target of a link. Sets `target` to its path, and *place to the offset of the path below the root. */
static int open_link(skv_file_call *call, int folder, const char *name, char target[PATH_MAX], ssize_t *place)
{
    int fd = openat(folder, name, O_PATH | O_CLOEXEC);

    if (fd < 0 && (errno == ENOENT || errno == ELOOP))
        return refuse_link(call, name, "leads nowhere");
    if (fd < 0)
        return -1;
    *place = locate_below_root(call, fd, target);
    if (*place >= 0)
        return fd;
    skv_fd_close(fd);
    if (errno == EXDEV)
        return refuse_link(call, name, "leads out of the root, where it is not followed");
    /* Without /proc, the target is unknown: this is an error, not a missing key. */
    return errno == ENOENT ? refuse_link(call, name, "cannot be followed without /proc: mount it") : -1;
}

int skv_link_follow(skv_file_call *call, int folder, const char *base)
{
    char target[PATH_MAX];
    const char *relative;
    ssize_t place;
    int fd;

    if (++call->links > LINKS_MAX)
        return refuse_link(call, base, "keeps changing");
    fd = open_link(call, folder, base, target, &place);
    if (fd < 0)
        return -1;
    close(fd);
    relative = target[place] ? target + place : ".";
    call->path_len = strlen(relative);
    memcpy(call->real, relative, call->path_len + 1);
    call->path = call->real;
    return 0;
}

/* Opens the folder `name`, which may be a link: one step of walk_to_folder(). */
static int open_step(skv_file_call *call, int folder, const char *name, int how)
{
    int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat info = {0};
    char target[PATH_MAX];
    ssize_t place;

    if (fd < 0 && errno == ENOENT && (how & SKV_FOLDER_MAKE)) {
        if (skv_folder_make(folder, name) < 0)
            return -1;
        fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    }
    if (fd < 0)
        return -1;
    if (fstat(fd, &info) == 0 && S_ISLNK(info.st_mode) && !(how & SKV_FOLDER_LINKLESS)) {
        close(fd);
        if (call->is_batched) {
            (void)skv_file_stale(call);
            errno = ELOOP;
            return -1;
        }
        if (!call->follow_links)
            return refuse_link(call, name, "is not followed: name the folder to which it leads");
        fd = open_link(call, folder, name, target, &place);
        if (fd < 0)
            return -1;
        info.st_mode = 0;
        (void)fstat(fd, &info);
    }
    if (S_ISDIR(info.st_mode))
        return fd;
    close(fd);
    errno = ENOTDIR;
    return -1;
}

/* Opens a folder one name after another. Sets *reached to the length of the path that it has seen, including the name
 * at which it failed. */
static int walk_to_folder(skv_file_call *call, const char *path, size_t len, int how, size_t *reached)
{
    int folder = openat(call->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next;
    const char *rest = path, *segment;
    char name[NAME_MAX + 1];
    size_t name_len;

    *reached = 0;
    while (folder >= 0 && skv_key_next(&rest, path + len, &segment, &name_len)) {
        if (name_len > NAME_MAX) {
            close(folder);
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(name, segment, name_len);
        name[name_len] = '\0';
        *reached = (size_t)(rest - path);
        next = open_step(call, folder, name, how);
        skv_fd_close(folder);
        folder = next;
    }
    if (folder >= 0 && (how & SKV_FOLDER_READ)) {
        next = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        skv_fd_close(folder);
        folder = next;
    }
    return folder;
}

int skv_folder_open(skv_file_call *call, const char *path, size_t len, int how)
{
    int flags = O_DIRECTORY | O_CLOEXEC | (how & SKV_FOLDER_READ ? O_RDONLY : O_PATH);
    char copy[PATH_MAX];
    size_t reached;
    int fd;

    if (len == 0)
        return openat(call->root, ".", flags);
    if (len < sizeof copy) {
        memcpy(copy, path, len);
        copy[len] = '\0';
        fd = open_beneath(call->root, copy, flags);
        if (is_conclusive(fd) && !(fd < 0 && errno == ENOENT && (how & SKV_FOLDER_MAKE)))
            return fd;
    }
    return walk_to_folder(call, path, len, how, &reached);
}

int skv_folder_open_below(skv_file_call *call, const char *top, size_t top_len, const char *below)
{
    int root = call->root, fd;

    call->root = skv_folder_open(call, top, top_len, SKV_FOLDER_LOOK);
    fd = call->root < 0 ? -1 : skv_folder_open(call, below, strlen(below), SKV_FOLDER_READ | SKV_FOLDER_LINKLESS);
    skv_fd_close(call->root);
    call->root = root;
    return fd;
}

skv_status skv_folder_next(skv_file_call *call, DIR *dir, struct dirent **entry)
{
    do {
        errno = 0;
        *entry = readdir(dir);
        if (!*entry && errno)
            return skv_file_fail(call, errno);
    } while (*entry && (strcmp((*entry)->d_name, ".") == 0 || strcmp((*entry)->d_name, "..") == 0));
    return SKV_OK;
}

int skv_folder_of(skv_file_call *call, int how, const char **base)
{
    const char *slash = memrchr(call->path, '/', call->path_len);

    *base = slash ? slash + 1 : call->path;
    return skv_folder_open(call, call->path, slash ? (size_t)(slash - call->path) : 0, how);
}

bool skv_is_link_at(int folder, const char *name)
{
    struct stat info;

    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

int skv_key_open(skv_file_call *call, int flags)
{
    /* With O_PATH, O_NOFOLLOW would open the link itself, and openat2() refuses flags without effect. */
    int all = flags & O_PATH ? flags | O_CLOEXEC : flags | SKV_KEY_FLAGS;
    int fd = open_beneath(call->root, call->path, all), folder;
    const char *base;

    while (!is_conclusive(fd)) {
        folder = skv_folder_of(call, SKV_FOLDER_LOOK, &base);
        if (folder < 0)
            return -1;
        if (skv_is_link_at(folder, base)) {
            fd = skv_link_follow(call, folder, base);
            skv_fd_close(folder);
            if (fd < 0)
                return -1;
            fd = open_beneath(call->root, call->path, all);
            continue;
        }
        fd = openat(folder, base, flags | SKV_KEY_FLAGS);
        skv_fd_close(folder);
        break;
    }
    return fd;
}

skv_status skv_path_refuse_key(skv_file_call *call, size_t len)
{
    size_t reached = 0;
    int fd = walk_to_folder(call, call->path, len, SKV_FOLDER_LOOK, &reached);

    if (fd >= 0 || errno == ENOENT) {
        skv_fd_close(fd);
        return skv_file_stale(call);
    }
    if (errno != ENOTDIR)
        return skv_file_fail(call, errno);
    return skv_fail(call->reply, SKV_IS_KEY,
                    "%s '%s/%s'%s: '%.*s' is a key, not a folder: delete it, or choose another name", call->what,
                    call->root_path, call->key->path, call->failed, (int)reached, call->path);
}
