/* The store in files: what it keeps, and what it leaves on the disk. */
#include "chaos.h"
#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS 60000
#define NOBODY 65534

static char scratch[] = "/tmp/simpkv-test-file-XXXXXX";
static char root[64];
static skv_store *store;
static skv_reply *reply;

/* ---- What the tests say ----------------------------------------------------------------------------------------- */

static skv_store *open_at(const char *path)
{
    char options[256];
    int len = snprintf(options, sizeof options, "root_path%c%s", '\0', path);

    return skv_open("file", 4, options, (size_t)len + 1, reply);
}

static int put_if(const char *key, const char *document, int condition, const char *expect)
{
    return skv_put(store, key, strlen(key), document, strlen(document), condition, expect, expect ? strlen(expect) : 0,
                   LONG_MS, NULL, reply);
}

static int put(const char *key, const char *document)
{
    return put_if(key, document, SKV_PUT_ANY, NULL);
}

static int get(const char *key, int64_t timeout_ms)
{
    return skv_get(store, key, strlen(key), timeout_ms, NULL, reply);
}

static int del(const char *key)
{
    return skv_delete(store, key, strlen(key), LONG_MS, NULL, reply);
}

static int deletetree(const char *folder)
{
    return skv_deletetree(store, folder, strlen(folder), LONG_MS, NULL, reply);
}

static int64_t kind(const char *key)
{
    return skv_exists(store, key, strlen(key), LONG_MS, NULL, reply) == SKV_OK ? skv_reply_number(reply) : -1;
}

static const char *path(const char *name)
{
    static char paths[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof *paths, "%s/%s", root, name);
    return paths[next];
}

static struct stat stat_of(const char *name)
{
    struct stat found = {0};

    CHECK(lstat(path(name), &found) == 0);
    return found;
}

static bool is_there(const char *name)
{
    struct stat found;

    return lstat(path(name), &found) == 0;
}

static int names_in(const char *folder)
{
    DIR *dir = opendir(path(folder));
    int count = -2;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

static void write_file(const char *name, const char *text)
{
    int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0660);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static int lock_file(const char *name)
{
    int fd = open(path(name), O_RDWR | O_CREAT, 0660);

    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

static void get_gives(const char *key, const char *document)
{
    if (CHECK(get(key, LONG_MS) == SKV_OK))
        CHECK_STR(skv_reply_data(reply), document);
    else
        printf("  %s\n", skv_reply_message(reply));
}

static void put_gives(const char *key, const char *document, int64_t number)
{
    put(key, document);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == number);
}

/* The records of a list, as "kname=body" in the order of their names, with spaces between. */
static const char *listed(const char *folder)
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

static void each_test_starts_with(void)
{
    CHECK(deletetree("globals") == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(deletetree("environments") == SKV_OK);
    CHECK(names_in("globals") == 0 && names_in("environments") == 0);
}

/* ---- Documents -------------------------------------------------------------------------------------------------- */

static void a_document_comes_back_byte_for_byte(void)
{
    put_gives("environments/dev/a/b", "one", 1);
    get_gives("environments/dev/a/b", "one");
    put_gives("environments/dev/a/b", "a longer one", 1);
    get_gives("environments/dev/a/b", "a longer one");
    put_gives("environments/dev/a/b", "", 1);
    get_gives("environments/dev/a/b", "");
    CHECK(skv_put(store, "globals/nul", 11, "a\0b", 3, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    CHECK(get("globals/nul", 0) == SKV_OK);
    CHECK(skv_reply_size(reply) == 3 && memcmp(skv_reply_data(reply), "a\0b", 4) == 0);
}

static void a_large_document_comes_back_too(void)
{
    size_t size = (size_t)3 << 20;
    char *document = malloc(size);

    memset(document, 'x', size);
    CHECK(skv_put(store, "globals/big", 11, document, size, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    CHECK(get("globals/big", 0) == SKV_OK);
    CHECK(skv_reply_size(reply) == size && memcmp(skv_reply_data(reply), document, size) == 0);
    free(document);
}

static void an_unchanged_document_is_not_rewritten(void)
{
    struct stat before, after;

    put("globals/k", "{\"value\":1.0}");
    before = stat_of("globals/k");
    put_gives("globals/k", "{\"value\":1.0}", 0);
    put_gives("globals/k", "{ \"value\": 1e0, \"metadata\": {} }", 0);
    after = stat_of("globals/k");
    CHECK(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    get_gives("globals/k", "{\"value\":1.0}");
    put_gives("globals/k", "{\"value\":1}", 1);
    get_gives("globals/k", "{\"value\":1}");
}

static void conditions_decide_whether_a_put_writes(void)
{
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one") == SKV_CONFLICT);
    CHECK(put_if("globals/no/such/folder", "two", SKV_PUT_EXPECT, "one") == SKV_CONFLICT);
    CHECK(names_in("globals") == 0);
    CHECK(put_if("globals/c", "one", SKV_PUT_ABSENT, NULL) == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(put_if("globals/c", "one", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one ") == SKV_CONFLICT);
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "") == SKV_CONFLICT);
    CHECK(strstr(skv_reply_message(reply), "two") == NULL);
    get_gives("globals/c", "one");
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one") == SKV_OK);
    get_gives("globals/c", "two");
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "two") == SKV_OK);
    CHECK(skv_reply_number(reply) == 0);
}

static void what_is_not_there_is_told_from_what_is(void)
{
    CHECK(get("globals/x", 0) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Key not found: '");
    CHECK(kind("globals/x") == SKV_KIND_NONE);
    CHECK(del("globals/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(del("globals/x/y/z") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/x/y") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK_STR(listed("globals/x"), "not_found");
    put("globals/a/k", "d");
    CHECK(kind("globals/a") == SKV_KIND_FOLDER && kind("globals/a/k") == SKV_KIND_KEY);
    CHECK(kind("globals/a/k/x") == SKV_KIND_NONE);
    CHECK(get("globals/a/k/x", 0) == SKV_NOT_FOUND);
    CHECK(del("globals/a/k/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/a/k/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(del("globals/a/k") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/a/k") == SKV_KIND_NONE && kind("globals/a") == SKV_KIND_FOLDER);
}

static void keys_and_folders_are_not_taken_for_each_other(void)
{
    put("globals/k", "d");
    put("globals/f/k", "d");
    CHECK(get("globals/f", 0) == SKV_IS_FOLDER);
    CHECK_HAS(skv_reply_message(reply), "Key specifies a folder: '");
    CHECK(put("globals/f", "d") == SKV_IS_FOLDER);
    CHECK(del("globals/f") == SKV_IS_FOLDER);
    CHECK(deletetree("globals/k") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_STR(listed("globals/k"), "not_found");
    CHECK(put("globals/k/x/y", "d") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "'globals/k' is a key, not a folder");
    CHECK(put_if("globals/k/x", "d", SKV_PUT_EXPECT, "d") == SKV_IS_KEY);
    get_gives("globals/k", "d");
}

static void names_of_temporary_files_are_no_keys(void)
{
    CHECK(put(".skv~1", "d") == SKV_INVALID);
    CHECK(put("globals/.skv~0123456789abcdef", "d") == SKV_INVALID);
    CHECK(put("globals/.skv~x/y", "d") == SKV_INVALID);
    CHECK(get("globals/.skv~x", 0) == SKV_INVALID);
    put_gives("globals/a.skv~1", "d", 1);
    put_gives("globals/.skv", "d", 1);
    write_file("globals/.skv~0123456789abcdef", "half");
    CHECK_STR(listed("globals"), "k.skv=d ka.skv~1=d ");
}

/* ---- Modes and links -------------------------------------------------------------------------------------------- */

static void modes_are_0660_and_0770_whatever_the_umask(void)
{
    static const mode_t masks[] = {077, 000, 022, 0177};

    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        mode_t before = umask(masks[i]);

        put("globals/a/b/k", "d");
        put("globals/a/b/k", "other");
        umask(before);
        CHECK((stat_of("globals/a/b/k").st_mode & 07777) == 0660);
        CHECK((stat_of("globals/a/b").st_mode & 07777) == 0770);
        CHECK((stat_of("globals/a").st_mode & 07777) == 0770);
        deletetree("globals/a");
    }
}

static void folders_that_are_there_keep_their_mode_and_new_ones_inherit_setgid(void)
{
    CHECK(mkdir(path("globals/s"), 0700) == 0 && chmod(path("globals/s"), 02750) == 0);
    put("globals/s/t/k", "d");
    CHECK((stat_of("globals/s").st_mode & 07777) == 02750);
    CHECK((stat_of("globals/s/t").st_mode & 07777) == 02770);
}

static void links_are_followed_inside_the_root_only(void)
{
    put("globals/real/k", "d");
    CHECK(symlink("real", path("globals/in")) == 0 && symlink("../globals/real/k", path("globals/key")) == 0);
    CHECK(symlink(path("globals/key"), path("globals/twice")) == 0);
    get_gives("globals/in/k", "d");
    get_gives("globals/key", "d");
    get_gives("globals/twice", "d");
    CHECK(kind("globals/in") == SKV_KIND_FOLDER && kind("globals/key") == SKV_KIND_KEY);
    CHECK_STR(listed("globals/in"), "kk=d ");
    put_gives("globals/twice", "changed", 1);
    get_gives("globals/real/k", "changed");
    CHECK(S_ISLNK(stat_of("globals/key").st_mode) && S_ISLNK(stat_of("globals/twice").st_mode));
    put_gives("globals/in/new/k", "d", 1);
    get_gives("globals/real/new/k", "d");
    CHECK(del("globals/in") == SKV_IS_FOLDER);
    CHECK(deletetree("globals/key") == SKV_IS_KEY);
    CHECK(del("globals/twice") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/twice") && is_there("globals/real/k"));
    CHECK(deletetree("globals/in") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/in") && is_there("globals/real/k"));
}

static void links_out_of_the_root_and_to_nowhere_are_refused(void)
{
    static const char *const targets[] = {"../..", "../../outside", "/etc/passwd", "nowhere", "link", "../../root2"};
    char outside[128], beside[128];

    snprintf(outside, sizeof outside, "%s/outside", scratch);
    snprintf(beside, sizeof beside, "%s/root2", scratch);
    CHECK(mkdir(outside, 0770) == 0 && mkdir(beside, 0770) == 0);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        CHECK(symlink(targets[i], path("globals/link")) == 0);
        CHECK(get("globals/link", 0) == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), i < 3 || i > 4 ? "leads out of the root" : "leads nowhere");
        CHECK(get("globals/link/k", 0) == SKV_DENIED);
        CHECK(put("globals/link", "d") == SKV_DENIED);
        CHECK(put("globals/link/k", "d") == SKV_DENIED);
        CHECK(kind("globals/link") == -1);
        CHECK_STATUS(reply, SKV_DENIED);
        CHECK(del("globals/link") == SKV_DENIED);
        CHECK(del("globals/link/k") == SKV_DENIED);
        CHECK(deletetree("globals/link") == SKV_DENIED);
        CHECK_STR(listed("globals/link"), "denied");
        CHECK_STR(listed("globals"), "elink= ");
        CHECK(unlink(path("globals/link")) == 0);
    }
    CHECK(rmdir(outside) == 0 && rmdir(beside) == 0);
}

static void the_root_may_be_a_link_and_end_in_slashes(void)
{
    char link[128], slashes[160];
    skv_store *before = store;

    snprintf(link, sizeof link, "%s/link", scratch);
    snprintf(slashes, sizeof slashes, "/%s///", link);
    CHECK(symlink("root", link) == 0);
    CHECK(symlink("k", path("globals/l")) == 0);
    store = open_at(slashes);
    if (CHECK(store != NULL)) {
        put_gives("globals/k", "d", 1);
        get_gives("globals/l", "d");
        CHECK_STR(listed("globals"), "kk=d kl=d ");
        skv_close(store);
    }
    store = before;
    get_gives("globals/k", "d");
    CHECK(unlink(link) == 0);
}

static void what_is_no_file_is_an_error_at_once(void)
{
    CHECK(mkfifo(path("globals/fifo"), 0660) == 0);
    CHECK(get("globals/fifo", 0) == SKV_UNAVAILABLE);
    CHECK(put("globals/fifo", "d") == SKV_UNAVAILABLE);
    CHECK(kind("globals/fifo") == -1);
    CHECK(del("globals/fifo") == SKV_UNAVAILABLE);
    CHECK_STR(listed("globals"), "efifo= ");
    CHECK(deletetree("globals") == SKV_OK && !is_there("globals/fifo"));
}

static void an_unusable_root_is_an_error_and_a_missing_one_is_made(void)
{
    char name[128];
    skv_store *made;

    CHECK(open_at("/dev/null") == NULL);
    CHECK_HAS(skv_reply_message(reply), "Cannot access root path '/dev/null': ");
    CHECK(open_at("/dev/null/x") == NULL);
    CHECK_HAS(skv_reply_message(reply), "Unable to create configured root path '/dev/null/x': ");
    snprintf(name, sizeof name, "%s/made/a/b", scratch);
    umask(077);
    made = open_at(name);
    umask(022);
    CHECK(made != NULL);
    skv_close(made);
    strcat(name, "/globals");
    for (int i = 0; i < 4; i++) {
        struct stat found = {0};

        CHECK(stat(name, &found) == 0 && (found.st_mode & 07777) == 0770);
        *strrchr(name, '/') = '\0';
    }
}

/* ---- Locks and other processes ---------------------------------------------------------------------------------- */

static void a_locked_key_is_waited_for_until_the_deadline(void)
{
    int lock;

    put("globals/k", "d");
    lock = lock_file("globals/k");
    CHECK(get("globals/k", 30) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "Timed out waiting for lock of key file '");
    CHECK_HAS(skv_reply_message(reply), "globals/k'");
    CHECK(get("globals/k", 0) == SKV_TIMEOUT);
    CHECK(skv_put(store, "globals/k", 9, "e", 1, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(skv_delete(store, "globals/k", 9, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(skv_deletetree(store, "globals", 7, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "globals/k'");
    CHECK(put_if("globals/k", "e", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    put_gives("globals/other", "d", 1);
    CHECK_STR(listed("globals"), "ek= kother=d ");
    close(lock);
    get_gives("globals/k", "d");
}

/* Does something to the locked key a little later, and lets go of it. */
typedef struct helper {
    pthread_t thread;
    int lock;
    void (*act)(void);
    skv_cancel *cancel;
} helper;

static void *help(void *data)
{
    helper *h = data;

    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    if (h->act)
        h->act();
    if (h->cancel)
        skv_cancel_fire(h->cancel);
    if (h->lock >= 0)
        close(h->lock);
    return NULL;
}

static void replace_key(void)
{
    int fd = open(path("globals/.new"), O_WRONLY | O_CREAT, 0660);

    if (write(fd, "new", 3) == 3)
        rename(path("globals/.new"), path("globals/k"));
    close(fd);
}

static void remove_key(void)
{
    unlink(path("globals/k"));
}

static void after_a_wait_the_present_document_counts(void)
{
    static void (*const acts[])(void) = {NULL, replace_key, remove_key};
    static const int statuses[] = {SKV_OK, SKV_OK, SKV_NOT_FOUND};

    for (int i = 0; i < 3; i++) {
        helper h = {.act = acts[i], .cancel = NULL};

        put("globals/k", "old");
        h.lock = lock_file("globals/k");
        pthread_create(&h.thread, NULL, help, &h);
        CHECK(get("globals/k", LONG_MS) == statuses[i]);
        CHECK_STR(skv_reply_data(reply), i == 0 ? "old" : i == 1 ? "new" : "");
        pthread_join(h.thread, NULL);
        put("globals/k", "old");
        h.lock = lock_file("globals/k");
        pthread_create(&h.thread, NULL, help, &h);
        CHECK(put_if("globals/k", "mine", SKV_PUT_EXPECT, "old") == (i == 0 ? SKV_OK : SKV_CONFLICT));
        pthread_join(h.thread, NULL);
    }
}

static void a_cancelled_call_ends_and_has_changed_nothing(void)
{
    skv_cancel *cancel = skv_cancel_new();
    helper h = {.lock = -1, .cancel = cancel};
    int lock;

    put("globals/k", "old");
    lock = lock_file("globals/k");
    pthread_create(&h.thread, NULL, help, &h);
    CHECK(skv_put(store, "globals/k", 9, "new", 3, SKV_PUT_ANY, NULL, 0, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    pthread_join(h.thread, NULL);
    close(lock);
    get_gives("globals/k", "old");
    skv_cancel_fire(cancel);
    CHECK(skv_put(store, "globals/n", 9, "new", 3, SKV_PUT_ANY, NULL, 0, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    skv_cancel_fire(cancel);
    CHECK(skv_deletetree(store, "globals", 7, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    CHECK(names_in("globals") == 1);
    skv_cancel_free(cancel);
}

/* The name of the temporary file for the key "k". */
static const char *temporary_name(void)
{
    static char name[64];

    snprintf(name, sizeof name, "globals/.skv~%016llx", (14695981039346656037ULL ^ 'k') * 1099511628211ULL);
    return name;
}

static void the_temporary_file_of_a_dead_writer_is_swept_away(void)
{
    put("globals/k", "old");
    write_file(temporary_name(), "half a docu");
    put_gives("globals/k", "new", 1);
    CHECK(!is_there(temporary_name()));
    deletetree("globals");
    write_file(temporary_name(), "half a docu");
    put_gives("globals/k", "newer", 1);
    CHECK(!is_there(temporary_name()) && names_in("globals") == 1);
    get_gives("globals/k", "newer");
}

static void the_second_name_of_a_key_whose_writer_died_is_swept_away(void)
{
    put("globals/k", "old");
    CHECK(link(path("globals/k"), path(temporary_name())) == 0);
    CHECK_STR(listed("globals"), "kk=old ");
    put_gives("globals/k", "new", 1);
    CHECK(!is_there(temporary_name()) && names_in("globals") == 1);
    CHECK(link(path("globals/k"), path(temporary_name())) == 0);
    CHECK(del("globals/k") == SKV_OK);
    CHECK(names_in("globals") == 0);
    CHECK(put("globals/k", "old") == SKV_OK && link(path("globals/k"), path(temporary_name())) == 0);
    CHECK(deletetree("globals") == SKV_OK);
    CHECK(names_in("globals") == 0);
}

static void the_temporary_file_of_a_living_writer_is_waited_for(void)
{
    int lock = lock_file(temporary_name());
    helper h = {.act = NULL, .lock = lock};

    CHECK(skv_put(store, "globals/k", 9, "d", 1, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(skv_deletetree(store, "globals", 7, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(is_there(temporary_name()) && !is_there("globals/k"));
    pthread_create(&h.thread, NULL, help, &h);
    put_gives("globals/k", "d", 1);
    pthread_join(h.thread, NULL);
    CHECK(!is_there(temporary_name()));
}

/* ---- Trees ------------------------------------------------------------------------------------------------------ */

static size_t deepest = SKV_KEY_MAX;

static void a_tree_is_deleted_however_deep_and_wide(void)
{
    char key[SKV_KEY_MAX + 1] = "globals/t";

    while (strlen(key) + 2 < deepest)
        strcat(key, "/d");
    put_gives(key, "d", 1);
    get_gives(key, "d");
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "globals/t/f%d/k%d", i % 20, i);
        put(key, "d");
    }
    CHECK(symlink("/etc", path("globals/t/out")) == 0 && symlink("../..", path("globals/t/f1/up")) == 0);
    put("globals/u", "d");
    CHECK(deletetree("globals/t") == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/t") && is_there("globals/u"));
}

static void pages_end_and_give_each_name_once(void)
{
    static char document[2000];
    skv_list *list;
    char key[64];
    int64_t total = 0;
    int pages = 0;

    memset(document, 'd', sizeof document - 1);
    for (int i = 0; i < 1101; i++) {
        snprintf(key, sizeof key, "globals/k%d", i);
        write_file(key, i < 600 ? "" : document);
    }
    list = skv_list_open(store, "globals", 7, 0, NULL, reply);
    CHECK(list != NULL);
    for (; skv_list_next(list, 0, NULL, reply) == SKV_OK; pages++) {
        CHECK(skv_reply_number(reply) > 0 && skv_reply_number(reply) <= 500);
        CHECK(skv_reply_size(reply) < 300000);
        total += skv_reply_number(reply);
    }
    CHECK_STATUS(reply, SKV_END);
    CHECK(skv_reply_size(reply) == 0);
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    CHECK(total == 1101 && pages > 3);
    skv_list_close(list);
}

static void what_vanishes_while_it_is_listed_is_left_out(void)
{
    skv_list *list;

    put("globals/a", "d");
    list = skv_list_open(store, "globals", 7, 0, NULL, reply);
    del("globals/a");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
    put("globals/f/a", "d");
    list = skv_list_open(store, "globals/f", 9, 0, NULL, reply);
    deletetree("globals/f");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
}

/* ---- Permissions ------------------------------------------------------------------------------------------------ */

/* Runs as a user who is not root; the root of the store is the user's, and what was put before is root's. */
static void as_nobody(void (*run)(void))
{
    bool is_root = geteuid() == 0;

    if (is_root)
        CHECK(setegid(NOBODY) == 0 && seteuid(NOBODY) == 0);
    run();
    if (is_root)
        CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

static void put_in_place(void)
{
    put_gives("globals/f/k", "a longer document", 1);
    get_gives("globals/f/k", "a longer document");
    put_gives("globals/f/k", "short", 1);
    get_gives("globals/f/k", "short");
    CHECK(put("globals/f/new", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot modify '");
    CHECK_HAS(skv_reply_message(reply), "globals/f'");
    CHECK(del("globals/f/k") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Delete of '");
}

static void where_a_file_cannot_be_replaced_it_is_written_in_place(void)
{
    struct stat before, after;

    put("globals/f/k", "d");
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    CHECK(chmod(path("globals/f"), 0555) == 0 && chmod(path("globals/f/k"), 0666) == 0);
    before = stat_of("globals/f/k");
    as_nobody(put_in_place);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino == after.st_ino && before.st_uid == after.st_uid && after.st_mode == before.st_mode);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

static void meet_closed_doors(void)
{
    CHECK(kind("globals/f/k") == -1);
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot access '");
    CHECK(get("globals/f/k", 0) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot read '");
    CHECK(put("globals/f/k", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot write to '");
    CHECK(deletetree("globals/f") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_STR(listed("globals/f"), "denied");
    CHECK_STR(listed("globals"), "ek= ff ");
    CHECK(get("globals/k", 0) == SKV_DENIED);
    CHECK(kind("globals/k") == SKV_KIND_KEY);
}

static void what_cannot_be_looked_at_is_an_error(void)
{
    put("globals/f/k", "d");
    put("globals/k", "d");
    CHECK(chmod(path("globals/f"), 0) == 0 && chmod(path("globals/k"), 0) == 0);
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    as_nobody(meet_closed_doors);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

/* An ACL as the kernel keeps it: the user `id` may read; the mask lets him. */
static size_t make_acl(unsigned char acl[64], uint32_t id)
{
    static const struct {
        uint16_t tag, rights;
    } entries[] = {{0x01, 6}, {0x02, 4}, {0x04, 4}, {0x10, 6}, {0x20, 0}};
    const uint32_t version = 2, none = UINT32_MAX;
    size_t used = sizeof version;

    memcpy(acl, &version, sizeof version);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        memcpy(acl + used, &entries[i], 4);
        memcpy(acl + used + 4, entries[i].tag == 0x02 ? &id : &none, 4);
        used += 8;
    }
    return used;
}

static void an_update_keeps_owner_group_and_acl(void)
{
    unsigned char acl[64], kept[64];
    size_t len = make_acl(acl, 12345);
    struct stat before, after;

    put("globals/k", "old");
    if (geteuid() == 0)
        CHECK(chown(path("globals/k"), 1234, 4321) == 0);
    CHECK(setxattr(path("globals/k"), "system.posix_acl_access", acl, len, 0) == 0);
    before = stat_of("globals/k");
    put_gives("globals/k", "new", 1);
    after = stat_of("globals/k");
    CHECK(before.st_ino != after.st_ino);
    CHECK(before.st_uid == after.st_uid && before.st_gid == after.st_gid && before.st_mode == after.st_mode);
    CHECK(getxattr(path("globals/k"), "system.posix_acl_access", kept, sizeof kept) == (ssize_t)len);
    CHECK(memcmp(acl, kept, len) == 0);
}

static void an_update_does_not_pick_up_the_default_acl_of_the_folder(void)
{
    unsigned char acl[64];
    size_t len = make_acl(acl, 12345);

    put("globals/k", "old");
    CHECK(setxattr(path("globals"), "system.posix_acl_default", acl, len, 0) == 0);
    put_gives("globals/k", "new", 1);
    CHECK(getxattr(path("globals/k"), "system.posix_acl_access", NULL, 0) == -1);
    CHECK((stat_of("globals/k").st_mode & 07777) == 0660);
    CHECK(removexattr(path("globals"), "system.posix_acl_default") == 0);
}

static void put_of_own_group(void)
{
    put_gives("globals/f/k", "new", 1);
}

static void where_the_owner_cannot_be_kept_the_group_is(void)
{
    struct stat before, after;

    if (geteuid() != 0)
        return;
    put("globals/f/k", "old");
    CHECK(chown(path("globals/f/k"), 1234, NOBODY) == 0 && chown(path("globals/f"), 1234, NOBODY) == 0);
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    before = stat_of("globals/f/k");
    as_nobody(put_of_own_group);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino != after.st_ino && after.st_uid == NOBODY && after.st_gid == NOBODY);
    CHECK((after.st_mode & 07777) == 0660);
    CHECK(chmod(path("globals"), 0770) == 0);
}

/* What a full disk does, a limit on the size of files does as well. */
static void a_full_disk_loses_nothing_and_leaves_nothing_behind(void)
{
    static char large[100000];
    struct rlimit limit, small;

    memset(large, 'x', sizeof large - 1);
    put("globals/k", "old");
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = (struct rlimit){.rlim_cur = 50000, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(put("globals/k", large) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "Key write to '");
    CHECK_HAS(skv_reply_message(reply), "' failed: ");
    CHECK(put("globals/n", large) == SKV_TOO_LARGE);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    get_gives("globals/k", "old");
    CHECK(names_in("globals") == 1);
}

/* ---- Memory and threads ----------------------------------------------------------------------------------------- */

/* Whatever allocation fails, the old document or the new one is there, whole. */
static void no_memory_loses_nothing(void)
{
    static const char old[] = "{\"value\":\"old\",\"metadata\":{}}", new[] = "{\"value\":\"new\",\"metadata\":{}}";
    skv_store *before = store;
    int status = put("globals/f/k", old);

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    if (status == SKV_OK) {
        status = put("globals/f/k", new);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        if (get("globals/f/k", 0) == SKV_OK)
            CHECK_STR(skv_reply_data(reply), status == SKV_OK ? new : old);
        else
            CHECK_STATUS(reply, SKV_NOMEM);
    }
    store = open_at(root);
    if (store)
        skv_close(store);
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    store = before;
    CHECK(names_in("globals/f") <= 1);
    status = deletetree("globals/f");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void no_memory_ends_a_list(void)
{
    skv_list *list = skv_list_open(store, "globals/l", 9, 0, NULL, reply);
    int64_t records = 0;

    if (!list) {
        CHECK_STATUS(reply, SKV_NOMEM);
        return;
    }
    while (skv_list_next(list, 0, NULL, reply) == SKV_OK)
        records += skv_reply_number(reply);
    if (skv_reply_status(reply) == SKV_END)
        CHECK(records == 2);
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    skv_list_close(list);
}

#define THREADS 8
#define ROUNDS 40

static void *write_and_read(void *data)
{
    skv_reply *mine = skv_reply_new();
    char document[512];
    size_t failures = 0;

    for (int i = 0; i < ROUNDS; i++) {
        memset(document, 'a' + (int)(size_t)data, sizeof document);
        failures += skv_put(store, "globals/t/k", 11, document, (size_t)(100 + i), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL,
                            mine) != SKV_OK;
        failures += skv_get(store, "globals/t/k", 11, LONG_MS, NULL, mine) != SKV_OK;
        for (size_t j = 1; j < skv_reply_size(mine); j++)
            failures += skv_reply_data(mine)[j] != skv_reply_data(mine)[0];
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void threads_write_and_read_one_key_without_tearing_it(void)
{
    pthread_t threads[THREADS];
    void *failures;

    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_and_read, (void *)i);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
    CHECK(names_in("globals/t") == 1);
}

static void *count_up(void *data)
{
    skv_reply *mine = skv_reply_new();
    char old[32], new[32];
    size_t failures = 0;

    (void)data;
    for (int done = 0; done < ROUNDS / 2;) {
        failures += skv_get(store, "globals/n", 9, LONG_MS, NULL, mine) != SKV_OK;
        snprintf(old, sizeof old, "%s", skv_reply_data(mine));
        snprintf(new, sizeof new, "%d", atoi(old) + 1);
        done += skv_put(store, "globals/n", 9, new, strlen(new), SKV_PUT_EXPECT, old, strlen(old), LONG_MS, NULL,
                        mine) == SKV_OK;
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void expecting_puts_lose_no_count(void)
{
    pthread_t threads[4];
    char expected[32];
    void *failures;

    put("globals/n", "0");
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, count_up, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
    snprintf(expected, sizeof expected, "%d", 4 * ROUNDS / 2);
    get_gives("globals/n", expected);
}

#define RACES 100

static void *make_new_keys(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t made = 0;
    char key[32];

    (void)data;
    for (int i = 0; i < RACES; i++) {
        int len = snprintf(key, sizeof key, "globals/a/k%d", i);

        made += skv_put(store, key, (size_t)len, "d", 1, SKV_PUT_ABSENT, NULL, 0, LONG_MS, NULL, mine) == SKV_OK;
    }
    skv_reply_free(mine);
    return (void *)made;
}

static void one_of_several_threads_makes_a_new_key(void)
{
    pthread_t threads[4];
    size_t total = 0;
    void *made;

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, make_new_keys, NULL);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &made);
        total += (size_t)made;
    }
    CHECK(total == RACES);
}

static void *put_and_delete(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t failures = 0;

    for (int i = 0; i < ROUNDS; i++) {
        failures += skv_put(store, "globals/c/d/k", 13, "d", 1, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != SKV_OK;
        if (data)
            failures += skv_deletetree(store, "globals/c", 9, LONG_MS, NULL, mine) != SKV_OK;
        if (skv_reply_status(mine) != SKV_OK)
            printf("%s\n", skv_reply_message(mine));
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void a_folder_that_is_deleted_meanwhile_is_made_again(void)
{
    pthread_t threads[4];
    void *failures;

    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, put_and_delete, (void *)(i % 2));
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
}

/* ---- All of it, with and without openat2() ---------------------------------------------------------------------- */

static void prepare_list(void)
{
    put("globals/l/a", "d");
    put("globals/l/b/k", "d");
}

static void run_all(void)
{
    static void (*const tests[])(void) = {
        a_document_comes_back_byte_for_byte,
        a_large_document_comes_back_too,
        an_unchanged_document_is_not_rewritten,
        conditions_decide_whether_a_put_writes,
        what_is_not_there_is_told_from_what_is,
        keys_and_folders_are_not_taken_for_each_other,
        names_of_temporary_files_are_no_keys,
        modes_are_0660_and_0770_whatever_the_umask,
        folders_that_are_there_keep_their_mode_and_new_ones_inherit_setgid,
        links_are_followed_inside_the_root_only,
        links_out_of_the_root_and_to_nowhere_are_refused,
        the_root_may_be_a_link_and_end_in_slashes,
        what_is_no_file_is_an_error_at_once,
        an_unusable_root_is_an_error_and_a_missing_one_is_made,
        a_locked_key_is_waited_for_until_the_deadline,
        after_a_wait_the_present_document_counts,
        a_cancelled_call_ends_and_has_changed_nothing,
        the_temporary_file_of_a_dead_writer_is_swept_away,
        the_second_name_of_a_key_whose_writer_died_is_swept_away,
        the_temporary_file_of_a_living_writer_is_waited_for,
        a_tree_is_deleted_however_deep_and_wide,
        pages_end_and_give_each_name_once,
        what_vanishes_while_it_is_listed_is_left_out,
        where_a_file_cannot_be_replaced_it_is_written_in_place,
        what_cannot_be_looked_at_is_an_error,
        an_update_keeps_owner_group_and_acl,
        an_update_does_not_pick_up_the_default_acl_of_the_folder,
        where_the_owner_cannot_be_kept_the_group_is,
        a_full_disk_loses_nothing_and_leaves_nothing_behind,
        threads_write_and_read_one_key_without_tearing_it,
        expecting_puts_lose_no_count,
        one_of_several_threads_makes_a_new_key,
        a_folder_that_is_deleted_meanwhile_is_made_again,
    };

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        each_test_starts_with();
        tests[i]();
    }
    each_test_starts_with();
    chaos(no_memory_loses_nothing);
    prepare_list();
    chaos(no_memory_ends_a_list);
}

/* From here on openat2() answers as on an older kernel. */
static bool forbid_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void)
{
    char command[128];

    if (!CHECK(mkdtemp(scratch) != NULL))
        return check_summary("store_file");
    snprintf(root, sizeof root, "%s/root", scratch);
    reply = skv_reply_new();
    store = open_at(root);
    CHECK_STATUS(reply, SKV_OK);
    if (store) {
        run_all();
        CHECK(forbid_openat2());
        deepest = SKV_KEY_MAX / 8;
        run_all();
    }
    skv_close(store);
    skv_reply_free(reply);
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", scratch, scratch);
    CHECK(system(command) == 0);
    return check_summary("store_file");
}
