#include "file_fixture.h"

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

char scratch[] = "/tmp/simpkv-test-file-XXXXXX";
char root[64];
skv_store *store;
skv_reply *reply;
bool by_walking;

skv_store *open_at(const char *path)
{
    char options[256];
    int len = snprintf(options, sizeof options, "root_path%c%s", '\0', path);

    return skv_open("file", 4, options, (size_t)len + 1, reply);
}

int put_if(const char *key, const char *document, int condition, const char *expect)
{
    return skv_put(store, key, strlen(key), document, strlen(document), condition, expect, expect ? strlen(expect) : 0,
                   LONG_MS, NULL, reply);
}

int put(const char *key, const char *document)
{
    return put_if(key, document, SKV_PUT_ANY, NULL);
}

int get(const char *key, int64_t timeout_ms)
{
    return skv_get(store, key, strlen(key), timeout_ms, NULL, reply);
}

int del(const char *key)
{
    return skv_delete(store, key, strlen(key), LONG_MS, NULL, reply);
}

int deletetree(const char *folder)
{
    return skv_deletetree(store, folder, strlen(folder), LONG_MS, NULL, reply);
}

int64_t kind(const char *key)
{
    return skv_exists(store, key, strlen(key), LONG_MS, NULL, reply) == SKV_OK ? skv_reply_number(reply) : -1;
}

const char *path(const char *name)
{
    static char paths[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof *paths, "%s/%s", root, name);
    return paths[next];
}

struct stat stat_of(const char *name)
{
    struct stat found = {0};

    CHECK(lstat(path(name), &found) == 0);
    return found;
}

bool is_there(const char *name)
{
    struct stat found;

    return lstat(path(name), &found) == 0;
}

int names_in(const char *folder)
{
    DIR *dir = opendir(path(folder));
    int count = -2;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

void write_file(const char *name, const char *text)
{
    int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0660);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

int lock_file(const char *name)
{
    int fd = open(path(name), O_RDWR | O_CREAT, 0660);

    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

const char *temporary_name(void)
{
    static char name[64];

    snprintf(name, sizeof name, "globals/.skv~%016llx", (14695981039346656037ULL ^ 'k') * 1099511628211ULL);
    return name;
}

void as_nobody(void (*run)(void))
{
    bool is_root = geteuid() == 0;

    if (is_root)
        CHECK(setegid(NOBODY) == 0 && seteuid(NOBODY) == 0);
    run();
    if (is_root)
        CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

void get_gives(const char *key, const char *document)
{
    if (CHECK(get(key, LONG_MS) == SKV_OK))
        CHECK_STR(skv_reply_data(reply), document);
    else
        printf("  %s\n", skv_reply_message(reply));
}

void put_gives(const char *key, const char *document, int64_t number)
{
    put(key, document);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

/* The records of a list, as "kname=body" in the order of their names, with spaces between. */
const char *listed(const char *folder)
{
    static char text[4096];
    char records[64][256];
    size_t count = 0;
    skv_list *list = skv_list_open(store, folder, strlen(folder), 0, NULL, reply);

    text[0] = '\0';
    if (!list)
        return skv_status_name(skv_reply_status(reply));
    while (skv_list_next(list, 20, NULL, reply) == SKV_OK) {
        const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);

        for (uint32_t len[2]; p < end && count < 64; p += 9 + len[0] + len[1]) {
            memcpy(len, p + 1, sizeof len);
            snprintf(records[count++], sizeof *records, "%c%.*s%s%.*s ", *p, (int)len[0], p + 9, *p == 'f' ? "" : "=",
                     *p == 'k' ? (int)len[1] : 0, p + 9 + len[0]);
        }
    }
    CHECK(skv_reply_status(reply) == SKV_END);
    skv_list_close(list);
    qsort(records, count, sizeof *records, (int (*)(const void *, const void *))strcmp);
    for (size_t i = 0; i < count; i++)
        strcat(text, records[i]);
    return text;
}

static void start_empty(void)
{
    CHECK(deletetree("globals") == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(deletetree("environments") == SKV_OK);
    CHECK(names_in("globals") == 0 && names_in("environments") == 0);
}

bool forbid_call(unsigned number, unsigned error_number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void run_each(void (*const *tests)(void), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        start_empty();
        tests[i]();
    }
    start_empty();
}

int run_file_tests(const char *name, void (*const *tests)(void), size_t count)
{
    char command[128];

    if (!CHECK(mkdtemp(scratch) != NULL))
        return check_summary(name);
    snprintf(root, sizeof root, "%s/root", scratch);
    reply = skv_reply_new();
    store = open_at(root);
    CHECK_STATUS(reply, SKV_OK);
    if (store) {
        run_each(tests, count);
        by_walking = CHECK(forbid_call(SYS_openat2, ENOSYS));
        run_each(tests, count);
    }
    skv_close(store);
    skv_reply_free(reply);
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", scratch, scratch);
    CHECK(system(command) == 0);
    return check_summary(name);
}
