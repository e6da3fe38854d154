/* The store in files: the changes of a tree, as inotify tells of them. */
#include "changes.h"
#include "chaos.h"
#include "check.h"
#include "file_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void each_change_of_a_key_is_told(void)
{
    put("globals/w/old", "d");
    put("globals/outside", "d");
    watch("globals/w");
    put("globals/w/new", "d");
    CHECK_STR(changed(), "pnew ");
    put("globals/w/old", "e");
    CHECK_STR(changed(), "pold ");
    del("globals/w/old");
    CHECK_STR(changed(), "dold ");
    put("globals/outside", "e");
    put("environments/a/b", "e");
    CHECK_STR(changed(), "");
    stop();
}

static void what_changes_nothing_is_not_told(void)
{
    put("globals/k", "d");
    put("globals/f/k", "d");
    watch("globals");
    put_gives("globals/k", "d", 0);
    get_gives("globals/k", "d");
    listed("globals");
    CHECK(put_if("globals/k", "e", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    create_folder("globals/f");
    CHECK(symlink("f", path("globals/to-folder")) == 0);
    CHECK(mkfifo(path("globals/fifo"), 0600) == 0);
    CHECK(unlink(path("globals/fifo")) == 0);
    CHECK_STR(changed(), "dfifo ");
    stop();
}

static void other_programs_are_seen(void)
{
    put("globals/w/k", "d");
    watch("globals/w");
    write_file("globals/w/k", "in place");
    CHECK_HAS(changed(), "pk ");
    CHECK(rename(path("globals/w/k"), path("globals/k2")) == 0);
    CHECK_STR(changed(), "dk ");
    write_file("globals/k3", "d");
    CHECK(symlink("../k3", path("globals/w/link")) == 0);
    CHECK_STR(changed(), "plink ");
    stop();
}

/* They may be put before the new folder is watched. */
static void keys_of_a_new_folder_are_told(void)
{
    put("globals/w/k", "d");
    watch("globals/w");
    put("globals/w/a/b/c/k", "d");
    put("globals/w/a/k", "d");
    CHECK_HAS(changed(), "fa/ ");
    CHECK_HAS(seen, "pa/k ");
    CHECK_HAS(seen, "fa/b/ ");
    CHECK_HAS(seen, "pa/b/c/k ");
    put("globals/w/a/b/c/l", "d");
    CHECK_STR(changed(), "pa/b/c/l ");
    deletetree("globals/w/a");
    CHECK_HAS(changed(), "da/b/c/k ");
    CHECK_HAS(seen, "da/b/c/l ");
    CHECK_HAS(seen, "da/k ");
    put("globals/w/a/k", "e");
    CHECK_STR(changed(), "fa/ pa/k ");
    stop();
}

/* A caller that has listed the folder meanwhile has to forget its keys. */
static void a_folder_that_comes_and_goes_is_told(void)
{
    put("globals/w/k", "d");
    watch("globals/w");
    put("globals/w/a/k", "d");
    deletetree("globals/w/a");
    CHECK_STR(changed(), "fa/ ");
    stop();
}

static void a_folder_that_is_moved_is_told_under_its_new_path(void)
{
    put("globals/w/a/b/k", "d");
    watch("globals/w");
    CHECK(rename(path("globals/w/a"), path("globals/w/z")) == 0);
    CHECK_STR(changed(), "fa/ fz/ fz/b/ pz/b/k ");
    put("globals/w/z/b/l", "d");
    CHECK_STR(changed(), "pz/b/l ");
    stop();
}

static void the_end_of_the_folder_ends_the_watch(void)
{
    put("globals/w/k", "d");
    watch("globals/w");
    deletetree("globals/w");
    CHECK(skv_changes_next(changes, 0, NULL, reply) == SKV_OK);
    seen[0] = '\0';
    note_records();
    CHECK_STR(seen, "dk ");
    CHECK(skv_changes_next(changes, 0, NULL, reply) == SKV_NOT_FOUND);
    CHECK(skv_changes_next(changes, 0, NULL, reply) == SKV_NOT_FOUND);
    stop();
}

static void a_folder_in_place_of_the_watched_one_is_a_new_start(void)
{
    put("globals/w/k", "d");
    watch("globals/w");
    deletetree("globals/w");
    put("globals/w/l", "d");
    CHECK_HAS(changed(), "r ");
    put("globals/w/m", "d");
    CHECK_STR(changed(), "pm ");
    stop();
}

static void lost_events_are_a_new_start(void)
{
    FILE *limit = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
    char a[128], b[128];
    int most = 0;

    CHECK(limit && fscanf(limit, "%d", &most) == 1 && most > 0);
    if (limit)
        fclose(limit);
    put("globals/w/a", "d");
    put("globals/w/f/k", "d");
    watch("globals/w");
    snprintf(a, sizeof a, "%s", path("globals/w/a"));
    snprintf(b, sizeof b, "%s", path("globals/w/b"));
    for (int i = 0; i < most / 4 + 2; i++)
        CHECK(rename(a, b) == 0 && rename(b, a) == 0);
    changed();
    CHECK(strlen(seen) > 2 && strcmp(seen + strlen(seen) - 2, "r ") == 0);
    put("globals/w/f/l", "d");
    CHECK_STR(changed(), "pf/l ");
    stop();
}

static void every_one_of_many_changes_is_told(void)
{
    static bool is_told[1000];
    char key[64];
    int count = check_rounds(1000), told = 0;

    memset(is_told, 0, sizeof is_told);
    watch("globals");
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "globals/t%d/u%d/k%d", i % 7, i % 31, i);
        put(key, "d");
        if (i % 100 == 0 && changed())
            for (char *at = seen, *k; (k = strstr(at, "/k")); at = k + 1)
                is_told[atoi(k + 2) % 1000] = true;
    }
    for (char *at = (char *)(uintptr_t)changed(), *k; (k = strstr(at, "/k")); at = k + 1)
        is_told[atoi(k + 2) % 1000] = true;
    for (int i = 0; i < count; i++)
        told += is_told[i];
    CHECK(told == count);
    stop();
}

/* Waits until a cookie does not repeat what has happened so far. */
static void wait_for_cookie_to_age(void)
{
    const struct timespec pause = {.tv_sec = 2, .tv_nsec = 100000000};

    nanosleep(&pause, NULL);
}

static void a_cookie_tells_the_changes_since(void)
{
    char from[sizeof cookie];

    put("globals/w/old", "d");
    put("globals/w/f/old", "d");
    if (!by_walking)
        wait_for_cookie_to_age();
    watch("globals/w");
    snprintf(from, sizeof from, "%s", cookie);
    stop();
    watch_since("globals/w", from);
    if (!by_walking)
        CHECK_STR(changed(), "c ");
    else
        CHECK_HAS(changed(), "i ");
    stop();
    put("globals/w/f/new", "d");
    watch_since("globals/w", from);
    CHECK_HAS(changed(), "pf/new ");
    CHECK_HAS(seen, "i ");
    put("globals/w/f/newer", "d");
    CHECK_STR(changed(), "pf/newer ");
    stop();
}

static void a_cookie_of_another_time_or_store_is_refused(void)
{
    static const char *const malformed[] = {"file:", "file:x", "file:1x", "file:99999999999999999999", "rid=1", ""};

    put("globals/w/k", "d");
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        watch_since("globals/w", malformed[i]);
        CHECK(!changes);
        CHECK_STATUS(reply, SKV_INVALID);
    }
    watch_since("globals/w", "a b");
    CHECK(!changes);
    CHECK_STATUS(reply, SKV_INVALID);
    watch_since("globals/w", "file:9000000000000000000");
    CHECK_STR(changed(), "r ");
    stop();
}

static void a_missing_folder_cannot_be_watched(void)
{
    put("globals/k", "d");
    watch_since("globals/none", NULL);
    CHECK(!changes);
    CHECK_STATUS(reply, SKV_NOT_FOUND);
    watch_since("globals/k", NULL);
    CHECK(!changes);
    CHECK_STATUS(reply, SKV_NOT_FOUND);
    CHECK(!skv_changes_open(NULL, "globals", 7, NULL, 0, 0, NULL, reply));
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK(skv_changes_next(NULL, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_changes_next(NULL, 0, NULL, NULL) == SKV_INVALID);
    skv_changes_close(NULL);
}

static void watch_without_inotify(void)
{
    watch_since("globals", NULL);
    CHECK(!changes);
    CHECK_STATUS(reply, SKV_FULL);
    CHECK_HAS(skv_reply_message(reply), "fs.inotify.max_user_instances");
}

static void a_limit_of_the_kernel_is_named(void)
{
    CHECK(in_child_without(SYS_inotify_init1, EMFILE, watch_without_inotify));
}

static void an_interrupt_loses_nothing(void)
{
    skv_cancel *cancel = skv_cancel_new();

    put("globals/w/k", "d");
    watch("globals/w");
    put("globals/w/a/k", "d");
    skv_cancel_fire(cancel);
    CHECK(skv_changes_next(changes, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    CHECK_STR(changed(), "fa/ pa/k ");
    skv_cancel_free(cancel);
    stop();
}

static void no_memory_ends_a_watch(void)
{
    watch_since("globals/w", NULL);
    if (changes && strcmp(changed(), "c ") == 0) {
        create_folder("globals/w/a");
        deletetree("globals/w/a");
        CHECK(strcmp(changed(), "fa/ ") == 0 || !seen[0] || skv_reply_status(reply) == SKV_NOMEM);
    } else {
        CHECK_STATUS(reply, SKV_NOMEM);
    }
    stop();
}

static void a_watch_survives_running_out_of_memory(void)
{
    put("globals/w/b/k", "d");
    chaos(no_memory_ends_a_watch);
}

int main(void)
{
    static void (*const tests[])(void) = {
        each_change_of_a_key_is_told,
        what_changes_nothing_is_not_told,
        other_programs_are_seen,
        keys_of_a_new_folder_are_told,
        a_folder_that_comes_and_goes_is_told,
        a_folder_that_is_moved_is_told_under_its_new_path,
        the_end_of_the_folder_ends_the_watch,
        a_folder_in_place_of_the_watched_one_is_a_new_start,
        lost_events_are_a_new_start,
        every_one_of_many_changes_is_told,
        a_cookie_tells_the_changes_since,
        a_cookie_of_another_time_or_store_is_refused,
        a_missing_folder_cannot_be_watched,
        a_limit_of_the_kernel_is_named,
        an_interrupt_loses_nothing,
        a_watch_survives_running_out_of_memory,
    };

    return run_file_tests("store_file_watch", tests, sizeof tests / sizeof *tests);
}
