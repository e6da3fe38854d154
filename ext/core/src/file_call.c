#include "file_call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 1000000
#define LONGEST_PAUSE_NS 20000000

/* How often an operation starts again at once, before it lets others go first. */
#define TRIES_WITHOUT_PAUSE 8

void skv_fd_close(int fd)
{
    int saved = errno;

    if (fd >= 0)
        close(fd);
    errno = saved;
}

void skv_file_target(skv_file_call *call, const skv_key *key)
{
    call->key = key;
    call->path = key->path;
    call->path_len = key->len;
    call->tries = call->links = 0;
}

int skv_file_begin(skv_file_call *call, const skv_store *store, const skv_key *key, skv_wait *wait, skv_reply *reply)
{
    const char *root = ((const skv_file_store *)store)->root_path;

    skv_file_target(call, key);
    call->root_path = root;
    call->what = "Cannot access";
    call->failed = "";
    call->wait = wait;
    call->reply = reply;
    call->root = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (call->root < 0)
        return skv_fail_errno(reply, errno, "Cannot access root path '%s'", *root ? root : "/");
    return skv_file_stopped(call, skv_wait_check(wait));
}

void skv_file_end(skv_file_call *call)
{
    skv_fd_close(call->root);
}

int skv_file_fail(skv_file_call *call, int error_number)
{
    return skv_fail_errno(call->reply, error_number, "%s '%s/%s'%s", call->what, call->root_path, call->key->path,
                          call->failed);
}

int skv_file_refuse(skv_file_call *call, int status, const char *why)
{
    return skv_fail(call->reply, status, "%s '%s/%s'%s: %s", call->what, call->root_path, call->key->path, call->failed,
                    why);
}

int skv_file_stopped(skv_file_call *call, int status)
{
    switch (status) {
    case SKV_OK:
        return SKV_OK;
    case SKV_TIMEOUT:
        return skv_fail(call->reply, SKV_TIMEOUT, "Timed out waiting for lock of key file '%s/%s'", call->root_path,
                        call->key->path);
    case SKV_INTERRUPTED:
        return skv_file_refuse(call, SKV_INTERRUPTED, "interrupted");
    default:
        return skv_fail_memory(call->reply);
    }
}

int skv_file_again(skv_file_call *call)
{
    call->path = call->key->path;
    call->path_len = call->key->len;
    call->links = 0;
    if (++call->tries <= TRIES_WITHOUT_PAUSE)
        return skv_file_stopped(call, skv_wait_check(call->wait));
    return skv_file_stopped(call, skv_wait_pause(call->wait, FIRST_PAUSE_NS));
}

int skv_file_lock(skv_file_call *call, int fd, int lock, bool *waited)
{
    int64_t pause = FIRST_PAUSE_NS;
    int status = SKV_OK;

    *waited = false;
    while (flock(fd, lock | LOCK_NB) < 0) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return skv_file_fail(call, errno);
        *waited = true;
        status = skv_wait_pause(call->wait, pause);
        if (status != SKV_OK)
            return skv_file_stopped(call, status);
        pause = pause < LONGEST_PAUSE_NS / 2 ? pause * 2 : LONGEST_PAUSE_NS;
    }
    return SKV_OK;
}

bool skv_file_is_at(int fd, int folder, const char *name)
{
    struct stat opened, there;

    return fstat(fd, &opened) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

/* As read(2), but that a signal ends it only when the call is to be stopped. */
static ssize_t read_some(skv_file_call *call, int fd, char *out, size_t room)
{
    ssize_t got;

    do
        got = read(fd, out, room);
    while (got < 0 && errno == EINTR && skv_wait_check(call->wait) == SKV_OK);
    return got;
}

int skv_file_read_all(skv_file_call *call, int fd, skv_buf *out)
{
    struct stat found;
    ssize_t got = 1;

    if (fstat(fd, &found) < 0)
        return skv_file_fail(call, errno);
    /* One more than there is, so that the end shows without growing. */
    skv_buf_reserve(out, found.st_size < 0 ? 1 : (size_t)found.st_size + 1);
    while (got > 0 && !skv_buf_failed(out)) {
        got = read_some(call, fd, out->bytes + out->len, out->size - out->len - 1);
        if (got < 0)
            return errno == EINTR ? skv_file_stopped(call, SKV_INTERRUPTED) : skv_file_fail(call, errno);
        out->len += (size_t)got;
        out->bytes[out->len] = '\0';
        if (out->size - out->len <= 1)
            skv_buf_reserve(out, 4096);
    }
    if (out->no_memory)
        return skv_fail_memory(call->reply);
    if (out->too_large)
        return skv_fail(call->reply, SKV_TOO_LARGE, "Cannot read '%s/%s': it has more than %zu bytes", call->root_path,
                        call->key->path, out->max);
    return SKV_OK;
}
