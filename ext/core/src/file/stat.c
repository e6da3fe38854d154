/* What the file system knows of a key or a folder. */
#include "file/key.h"
#include "file/path.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Puts a time as text. Leaves out one that has none, such as one after the year 9999. */
static void put_time(json_t **facts, const char *name, int64_t seconds)
{
    const time_t time = (time_t)seconds;
    char text[sizeof "9999-12-31T23:59:59Z"];
    struct tm utc;

    if (gmtime_r(&time, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        skv_json_put(facts, name, json_string(text));
}

/* A write replaces the file of a key, so that its creation is no more than its last write. */
static void put_facts(json_t **facts, const struct statx *info, bool is_folder)
{
    skv_json_put(facts, "kind", json_string(is_folder ? "folder" : "key"));
    if (is_folder && info->stx_mask & STATX_BTIME)
        put_time(facts, "created_at", info->stx_btime.tv_sec);
    put_time(facts, "modified_at", info->stx_mtime.tv_sec);
    if (!is_folder)
        skv_json_put(facts, "size", json_integer((json_int_t)info->stx_size));
    skv_json_put(facts, "uid", json_integer(info->stx_uid));
}

static skv_status describe_open_path(skv_file_call *call, int fd, json_t **facts)
{
    struct statx info;
    bool is_folder;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &info) < 0)
        return skv_file_fail(call, errno);
    is_folder = S_ISDIR(info.stx_mode);
    if (!is_folder && !S_ISREG(info.stx_mode))
        return skv_file_refuse(call, SKV_UNAVAILABLE, "it is neither a key file nor a folder");
    *facts = json_object();
    put_facts(facts, &info, is_folder);
    call->reply->number = is_folder ? SKV_KIND_FOLDER : SKV_KIND_KEY;
    return SKV_OK;
}

static skv_status describe_path(skv_file_call *call, json_t **facts)
{
    int fd = skv_key_open(call, O_PATH);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return skv_fail(call->reply, SKV_NOT_FOUND, "there is no key or folder '%s/%s'", call->root_path,
                        call->key->path);
    if (fd < 0)
        return skv_file_fail(call, errno);
    describe_open_path(call, fd, facts);
    skv_fd_close(fd);
    return call->reply->status;
}

skv_status skv_file_stat(skv_store *store, const skv_key *key, json_t **facts, skv_deadline *deadline, skv_reply *reply)
{
    skv_file_call call;

    if (skv_file_begin(&call, store, key, deadline, reply) != SKV_OK)
        ;
    else if (key->len)
        describe_path(&call, facts);
    else
        describe_open_path(&call, call.root, facts);
    skv_file_end(&call);
    return reply->status;
}
