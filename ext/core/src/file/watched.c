#include "file/watched.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#define EVENTS_SIZE ((size_t)64 << 10)

/* Writers put a new key with linkat(), and replace one with renameat(). Other programs may write in place. */
#define EVENTS (IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR | IN_EXCL_UNLINK)

skv_status skv_watched_begin(skv_watched *watched, skv_file_call *call)
{
    *watched = (skv_watched){.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    watched->events = skv_alloc(EVENTS_SIZE);
    if (!watched->events)
        return skv_fail_memory(call->reply);
    if (watched->inotify >= 0)
        return SKV_OK;
    if (errno != EMFILE)
        return skv_file_fail(call, errno);
    return skv_file_refuse(call, SKV_FULL,
                           "too many programs watch files: raise fs.inotify.max_user_instances of sysctl");
}

void skv_watched_end(skv_watched *watched)
{
    skv_fd_close(watched->inotify);
    for (size_t i = 0; i < watched->count; i++)
        skv_free(watched->folders[i].path);
    skv_free(watched->folders);
    skv_free(watched->events);
    *watched = (skv_watched){.inotify = -1};
}

/* Returns the index of the first folder whose id is not below this one. */
static size_t place_of_watch(const skv_watched *watched, int id)
{
    size_t low = 0, high = watched->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (watched->folders[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_watched_at(const skv_watched *watched, size_t place, int id)
{
    return place < watched->count && watched->folders[place].id == id;
}

const char *skv_watched_path(const skv_watched *watched, int id)
{
    size_t place = place_of_watch(watched, id);

    return is_watched_at(watched, place, id) ? watched->folders[place].path : NULL;
}

static bool reserve_watch(skv_watched *watched)
{
    size_t size = watched->size ? watched->size * 2 : 64;
    skv_watched_folder *folders;

    if (watched->count < watched->size)
        return true;
    folders = skv_alloc_zeroed(size, sizeof *folders);
    if (!folders)
        return false;
    if (watched->count)
        memcpy(folders, watched->folders, watched->count * sizeof *folders);
    skv_free(watched->folders);
    watched->folders = folders;
    watched->size = size;
    return true;
}

/* Notes the folder of an id. A folder that was moved keeps its id, and has another path now. */
static bool note_watch(skv_watched *watched, int id, const char *path)
{
    size_t place = place_of_watch(watched, id);
    char *copy = skv_copy_string(path, strlen(path));

    if (!copy || !reserve_watch(watched)) {
        skv_free(copy);
        return false;
    }
    if (is_watched_at(watched, place, id)) {
        skv_free(watched->folders[place].path);
    } else {
        memmove(watched->folders + place + 1, watched->folders + place,
                (watched->count - place) * sizeof *watched->folders);
        watched->count++;
    }
    watched->folders[place] = (skv_watched_folder){id, copy};
    return true;
}

/* The kernel tells of the changes that this machine makes, so that those of other machines would be lost. */
static bool is_shared_between_machines(int fd)
{
    static const unsigned long shared[] = {
        0x6969,     /* NFS */
        0xff534d42, /* CIFS */
        0xfe534d42, /* SMB2 */
        0x517b,     /* SMB */
        0x00c36400, /* Ceph */
        0x01161970, /* GFS2 */
        0x7461636f, /* OCFS2 */
        0x0bd00bd0, /* Lustre */
        0x5346414f, /* AFS */
        0x01021997, /* 9P */
        0x65735546, /* FUSE, such as GlusterFS and SSHFS */
    };
    struct statfs info;

    if (fstatfs(fd, &info) < 0)
        return false;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (((unsigned long)info.f_type & 0xffffffff) == shared[i])
            return true;
    return false;
}

static skv_status fail_watch(skv_file_call *call, int error_number)
{
    switch (error_number) {
    case ENOSPC:
        return skv_file_refuse(call, SKV_FULL,
                               "there are too many folders: raise fs.inotify.max_user_watches of sysctl");
    case ENOENT:
        return skv_file_refuse(call, SKV_UNAVAILABLE, "folders cannot be watched without /proc: mount it");
    default:
        return skv_file_fail(call, error_number);
    }
}

skv_status skv_watched_add(skv_watched *watched, skv_file_call *call, int fd, const char *path)
{
    char name[64];
    int id;

    if (is_shared_between_machines(fd))
        return skv_file_refuse(call, SKV_INVALID,
                               "it is on a network file system, where the changes of other machines are not seen: "
                               "watch it on the file server");
    /* The descriptor's own name: the path may lead to another folder by now. */
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    id = inotify_add_watch(watched->inotify, name, EVENTS);
    if (id < 0)
        return fail_watch(call, errno);
    return note_watch(watched, id, path) ? SKV_OK : skv_fail_memory(call->reply);
}

void skv_watched_forget(skv_watched *watched, int id)
{
    size_t place = place_of_watch(watched, id);

    if (!is_watched_at(watched, place, id))
        return;
    skv_free(watched->folders[place].path);
    watched->count--;
    memmove(watched->folders + place, watched->folders + place + 1,
            (watched->count - place) * sizeof *watched->folders);
}

void skv_watched_drop(skv_watched *watched, const char *path)
{
    size_t len = strlen(path);

    for (size_t i = watched->count; i-- > 0;) {
        const char *folder = watched->folders[i].path;

        if (strncmp(folder, path, len) == 0 && (folder[len] == '/' || !folder[len])) {
            (void)inotify_rm_watch(watched->inotify, watched->folders[i].id);
            skv_watched_forget(watched, watched->folders[i].id);
        }
    }
}

skv_status skv_watched_read(skv_watched *watched, skv_file_call *call)
{
    ssize_t got;

    if (watched->next < watched->len)
        return SKV_OK;
    watched->len = watched->next = 0;
    do
        got = read(watched->inotify, watched->events, EVENTS_SIZE);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno != EAGAIN)
        return skv_file_fail(call, errno);
    watched->len = got > 0 ? (size_t)got : 0;
    return SKV_OK;
}

const struct inotify_event *skv_watched_next(skv_watched *watched)
{
    const struct inotify_event *event;

    if (watched->next >= watched->len)
        return NULL;
    /* The kernel aligns each event for the next one; the block is aligned by malloc(). */
    event = (const struct inotify_event *)(const void *)(watched->events + watched->next);
    watched->next += sizeof *event + event->len;
    return event;
}
