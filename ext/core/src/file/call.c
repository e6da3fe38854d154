#include "file/call.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PAUSE_NS 1000000
#define LONGEST_PAUSE_NS 20000000

/* The number of times that an operation starts again at once, before it pauses. */
#define TRIES_WITHOUT_PAUSE 8

void skv_file_target(skv_file_call *call, const skv_key *key)
{
    call->key = key;
    call->path = key->path;
    call->path_len = key->len;
    call->tries = call->links = 0;
}

static skv_status refuse_temp_names(const skv_key *key, skv_reply *reply)
{
    for (const char *segment = key->path; segment; segment = strchr(segment, '/')) {
        segment += *segment == '/';
        if (skv_temp_is_name(segment))
            return skv_fail(reply, SKV_INVALID, "key '%s': no name may start with '" SKV_TEMP_PREFIX "'", key->path);
    }
    return SKV_OK;
}

skv_status skv_file_begin(skv_file_call *call, const skv_store *store, const skv_key *key, skv_deadline *deadline,
                          skv_reply *reply)
{
    const skv_file_store *files = (const skv_file_store *)store;
    const char *root = files->root_path;

    skv_file_target(call, key);
    call->root_path = root;
    call->follow_links = files->follow_links;
    call->what = "Cannot access";
    call->failed = "";
    call->deadline = deadline;
    call->reply = reply;
    call->busy = NULL;
    call->root = -1;
    call->is_batched = call->is_stale = false;
    if (refuse_temp_names(key, reply) != SKV_OK)
        return reply->status;
    call->root = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (call->root < 0)
        return skv_fail_errno(reply, errno, "Cannot access root path '%s'", *root ? root : "/");
    return skv_file_stopped(call, skv_deadline_check(deadline));
}

void skv_file_end(skv_file_call *call)
{
    skv_fd_close(call->root);
}

skv_status skv_file_fail(skv_file_call *call, int error_number)
{
    return skv_fail_errno(call->reply, error_number, "%s '%s/%s'%s", call->what, call->root_path, call->key->path,
                          call->failed);
}

skv_status skv_file_advise(skv_reply *reply, int error_number, const char *needed)
{
    if (error_number == EROFS)
        return skv_reply_append(reply, ": to write, mount the file system read-write");
    if (error_number == EACCES || error_number == EPERM)
        return skv_reply_append(reply, ": uid %u needs %s", (unsigned)geteuid(), needed);
    return reply->status;
}

skv_status skv_file_fail_write(skv_file_call *call, int error_number, const char *needed)
{
    skv_file_fail(call, error_number);
    return skv_file_advise(call->reply, error_number, needed);
}

skv_status skv_file_refuse(skv_file_call *call, skv_status status, const char *why)
{
    return skv_fail(call->reply, status, "%s '%s/%s'%s: %s", call->what, call->root_path, call->key->path, call->failed,
                    why);
}

skv_status skv_file_check_mode(skv_file_call *call, mode_t mode)
{
    if (S_ISDIR(mode))
        return skv_fail(call->reply, SKV_IS_FOLDER, "Key specifies a folder: '%s/%s'", call->root_path,
                        call->key->path);
    if (!S_ISREG(mode))
        return skv_file_refuse(call, SKV_UNAVAILABLE, "it is not a regular file");
    return SKV_OK;
}

skv_status skv_file_check(skv_file_call *call, int fd, struct stat *info)
{
    if (fstat(fd, info) < 0)
        return skv_file_fail(call, errno);
    return skv_file_check_mode(call, info->st_mode);
}

skv_status skv_file_stopped(skv_file_call *call, skv_status status)
{
    if (status == SKV_OK)
        return SKV_OK;
    if (status == SKV_TIMEOUT)
        return skv_fail(call->reply, SKV_TIMEOUT, "Timed out waiting for lock of key file '%s/%s'", call->root_path,
                        call->key->path);
    return skv_file_refuse(call, SKV_INTERRUPTED, "interrupted");
}

skv_status skv_file_stale(skv_file_call *call)
{
    call->is_stale = true;
    return SKV_CONFLICT;
}

skv_status skv_file_busy(skv_file_call *call, const char *name, const char *why)
{
    snprintf(call->busy_name, sizeof call->busy_name, "%s", name);
    call->busy = why;
    return skv_file_stale(call);
}

skv_status skv_file_refuse_busy(skv_file_call *call, const char *folder, size_t folder_len)
{
    return skv_fail(call->reply, SKV_TIMEOUT, "%s '%s/%s'%s: timed out waiting for temporary file '%s/%.*s%s%s': %s",
                    call->what, call->root_path, call->key->path, call->failed, call->root_path, (int)folder_len,
                    folder, folder_len ? "/" : "", call->busy_name, call->busy);
}

skv_status skv_file_again(skv_file_call *call)
{
    const char *slash = memrchr(call->path, '/', call->path_len);
    skv_status status;

    call->is_stale = false;
    if (++call->tries <= TRIES_WITHOUT_PAUSE)
        status = skv_deadline_check(call->deadline);
    else
        status = skv_deadline_sleep(call->deadline, FIRST_PAUSE_NS);
    if (status == SKV_TIMEOUT && call->busy)
        return skv_file_refuse_busy(call, call->path, slash ? (size_t)(slash - call->path) : 0);
    call->path = call->key->path;
    call->path_len = call->key->len;
    call->links = 0;
    call->busy = NULL;
    return skv_file_stopped(call, status);
}

skv_status skv_file_pause(skv_file_call *call, const char *folder, size_t folder_len)
{
    skv_status status = skv_deadline_sleep(call->deadline, FIRST_PAUSE_NS);

    if (status == SKV_TIMEOUT && call->busy)
        return skv_file_refuse_busy(call, folder, folder_len);
    if (status == SKV_TIMEOUT)
        return skv_file_refuse(call, SKV_TIMEOUT, "other processes keep writing to it");
    return skv_file_stopped(call, status);
}

skv_status skv_file_lock(skv_file_call *call, int fd, int lock, bool *waited)
{
    int64_t pause = FIRST_PAUSE_NS;
    skv_status status = SKV_OK;

    *waited = false;
    while (skv_lock_now(fd, lock) < 0) {
        if (errno != EWOULDBLOCK)
            return skv_file_fail(call, errno);
        if (call->is_batched)
            return skv_file_stale(call);
        *waited = true;
        status = skv_deadline_sleep(call->deadline, pause);
        if (status != SKV_OK)
            return skv_file_stopped(call, status);
        pause = pause < LONGEST_PAUSE_NS / 2 ? pause * 2 : LONGEST_PAUSE_NS;
    }
    return SKV_OK;
}

/* Like read(2), but a signal ends it only if the call is cancelled. */
static ssize_t read_interruptibly(skv_file_call *call, int fd, char *out, size_t room)
{
    ssize_t got;

    do
        got = read(fd, out, room);
    while (got < 0 && errno == EINTR && skv_deadline_check(call->deadline) == SKV_OK);
    return got;
}

static skv_status read_contents(skv_file_call *call, int fd, off_t size, bool to_end, skv_buf *out)
{
    size_t start = out->len;
    bool at_end = false;
    ssize_t got;

    /* One byte more than the file has, to see its end without growing the buffer. */
    skv_buf_reserve(out, size < 0 ? 1 : (size_t)size + 1);
    while (!at_end && !skv_buf_failed(out)) {
        got = read_interruptibly(call, fd, out->bytes + out->len, out->size - out->len - 1);
        if (got < 0)
            return errno == EINTR ? skv_file_stopped(call, SKV_INTERRUPTED) : skv_file_fail(call, errno);
        out->len += (size_t)got;
        out->bytes[out->len] = '\0';
        at_end = got == 0 || (!to_end && out->len - start == (size_t)size);
        if (!at_end && out->size - out->len <= 1)
            skv_buf_reserve(out, 4096);
    }
    if (out->no_memory)
        return skv_fail_memory(call->reply);
    if (out->too_large)
        return skv_fail(call->reply, SKV_TOO_LARGE, "Cannot read '%s/%s': it has more than %zu bytes", call->root_path,
                        call->key->path, out->max);
    return SKV_OK;
}

skv_status skv_file_read_all(skv_file_call *call, int fd, off_t size, skv_buf *out)
{
    return read_contents(call, fd, size, true, out);
}

skv_status skv_file_read_unchanged(skv_file_call *call, int fd, off_t size, skv_buf *out)
{
    return read_contents(call, fd, size, false, out);
}
