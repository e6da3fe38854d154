/* The store in files on a full, broken or read-only disk: of the system calls that write, the first fails, then the
 * second, and so on. And on a disk that loses what was not synced to it. */
#include "batches.h"
#include "check.h"
#include "failing_disk.h"
#include "file_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int put_new(void)
{
    return put("globals/n/e/k", "new");
}

static int put_absent(void)
{
    return put_if("globals/n/e/k", "new", SKV_PUT_ABSENT, NULL);
}

static int put_other(void)
{
    return put("globals/f/k", "new");
}

static int put_expecting(void)
{
    return put_if("globals/f/k", "new", SKV_PUT_EXPECT, "old");
}

static int delete_key(void)
{
    return del("globals/f/k");
}

static int delete_expecting(void)
{
    return del_if("globals/f/k", "old");
}

static int delete_tree(void)
{
    return deletetree("globals/f");
}

/* Each call with its key, and the document before and after it; NULL for none. */
static const struct deed {
    const char *name;
    int (*run)(void);
    const char *key, *before, *after;
} deeds[] = {
    {"put of a new key", put_new, "globals/n/e/k", NULL, "new"},
    {"put :absent", put_absent, "globals/n/e/k", NULL, "new"},
    {"put of another", put_other, "globals/f/k", "old", "new"},
    {"put :expect", put_expecting, "globals/f/k", "old", "new"},
    {"delete", delete_key, "globals/f/k", "old", NULL},
    {"delete :expect", delete_expecting, "globals/f/k", "old", NULL},
    {"deletetree", delete_tree, "globals/f", "old", NULL},
};

static long faults;

static void check_that(bool held, const struct deed *d, const char *what)
{
    if (!CHECK(held))
        printf("%s, call %ld fails%s with %s: %s\n", d->name, faults, disk.lasting ? " and all after it" : "",
               strerror(disk.error), what);
}

static bool is_stored(const char *key, const char *document)
{
    int status = get(key);

    if (!document)
        return status == SKV_NOT_FOUND;
    return status == SKV_OK && strcmp(skv_reply_data(reply), document) == 0;
}

/* Returns true if a crash could undo a change of names in these folders. */
static bool is_folder_unsynced(void)
{
    static const char *const folders[] = {"globals", "globals/n", "globals/n/e", "globals/f"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_unsynced(inode_at(AT_FDCWD, path(folders[i]))))
            return true;
    return false;
}

/* Returns true if the disk failed. */
static bool fail_once(const struct deed *d, long at)
{
    const char *key = d->run == delete_tree ? "globals/f/k" : d->key;
    int status;

    CHECK(deletetree("globals/n") == SKV_OK && put("globals/f/k", "old") == SKV_OK);
    memset(unsynced, 0, sizeof unsynced);
    disk.came = false;
    disk.countdown = at;
    status = d->run();
    disk.countdown = 0;
    check_that(is_stored(key, d->after) || (status != SKV_OK && is_stored(key, d->before)), d,
               "what is stored is torn");
    check_that(put(key, "next") == SKV_OK && is_stored(key, "next"), d, "the next put fails");
    /* A new folder whose sync had failed used to be taken for an old one. It stays if it cannot be removed, either. */
    check_that(disk.lasting || !is_folder_unsynced(), d, "a crash could undo the next put");
    check_that(names_in("globals/f") <= 1, d, "something is left behind");
    check_that(!is_there("globals/n/e") || (names_in("globals/n") == 1 && names_in("globals/n/e") == 1), d,
               "something is left behind");
    faults += disk.came;
    return disk.came;
}

static void a_failing_disk_loses_and_tears_nothing(void)
{
    static const int errors[] = {ENOSPC, EIO, EROFS, EDQUOT};

    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        for (size_t j = 0; j < 2 * sizeof errors / sizeof *errors; j++) {
            disk.error = errors[j / 2];
            disk.lasting = j % 2;
            for (long at = 1; fail_once(&deeds[i], at); at++)
                ;
        }
    }
    CHECK(faults > 100);
}

/* They used to start again until their deadline, and to report that they had waited for a lock. */
static void calls_below_a_key_end_with_the_error_of_the_disk(void)
{
    CHECK(put("globals/k", "d") == SKV_OK);
    disk.error = EIO;
    disk.lasting = true;
    disk.countdown = 1;
    CHECK(put("globals/k/below", "d") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "/globals/k/below' failed: Input/output error");
    CHECK(create_folder("globals/k/below") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "/globals/k/below': Input/output error");
    disk.countdown = 0;
    CHECK(put("globals/k/below", "d") == SKV_IS_KEY && create_folder("globals/k/below") == SKV_IS_KEY);
}

static void a_read_only_disk_can_be_read(void)
{
    skv_store *opened;

    CHECK(put("globals/f/k", "old") == SKV_OK);
    disk.read_only = true;
    opened = open_at(root);
    CHECK_STATUS(reply, SKV_OK);
    skv_close(opened);
    CHECK(is_stored("globals/f/k", "old") && is_stored("globals/none", NULL));
    CHECK_STR(tree_of("globals"), "ff kf/k=old ");
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        CHECK(deeds[i].run() == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), ": Read-only file system: to write, mount the file system read-write");
        CHECK_STR(skv_reply_fault(reply), "read_only");
    }
    disk.read_only = false;
    CHECK(is_stored("globals/f/k", "old"));
}

/* A writer died between giving the document its name and removing the temporary one. */
static int put_after_a_dead_writer(void)
{
    CHECK(put("globals/k", "new") == SKV_OK && link(path("globals/k"), path(temporary_name())) == 0);
    return put("globals/k", "new");
}

/* The records of the batch, in three folders, and which of them is new. */
static const struct batch_record {
    const char *key, *before;
} batch_records[] = {{"globals/n/e/k", NULL},
                     {"globals/n/e/l", NULL},
                     {"globals/f/k", "old"},
                     {"globals/f/l", "old"},
                     {"globals/k", NULL}};

#define BATCH_RECORDS (sizeof batch_records / sizeof *batch_records)

static int put_batch(void)
{
    batch_clear();
    for (size_t i = 0; i < BATCH_RECORDS; i++)
        batch_add(batch_records[i].key, "new");
    return batch_put(store, SKV_PUT_ANY, LONG_MS, NULL);
}

static void put_before_batch(void)
{
    CHECK(deletetree("globals/n") == SKV_OK && del("globals/k") == SKV_OK);
    CHECK(put("globals/f/k", "old") == SKV_OK && put("globals/f/l", "old") == SKV_OK);
}

static int make_folder(void)
{
    return create_folder("globals/n/e");
}

static int remove_folder(void)
{
    CHECK(create_folder("globals/e") == SKV_OK);
    return delete_folder("globals/e");
}

static int delete_link_to_key(void)
{
    CHECK(symlink("f/k", path("globals/link")) == 0);
    return del("globals/link");
}

static int delete_link_to_folder(void)
{
    CHECK(symlink("f", path("globals/link")) == 0);
    return deletetree("globals/link");
}

static int (*const more_deeds[])(void) = {put_after_a_dead_writer, make_folder,          remove_folder, put_batch,
                                          delete_link_to_key,      delete_link_to_folder};

static void is_durable(int (*run)(void), const char *name, size_t number)
{
    int left = 0;

    CHECK(deletetree("globals/n") == SKV_OK && put("globals/f/k", "old") == SKV_OK);
    memset(unsynced, 0, sizeof unsynced);
    named_early = false;
    CHECK(run() == SKV_OK);
    for (int i = 0; i < UNSYNCED_MAX; i++)
        left += unsynced[i] != 0;
    if (!CHECK(left == 0 && !named_early))
        printf("%s %zu: after its success, a crash could undo it\n", name, number);
}

/* A put of a new key used to pass without the fsync() of its folder. */
static void what_a_call_has_done_survives_a_crash(void)
{
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        is_durable(deeds[i].run, deeds[i].name, i);
    for (size_t i = 0; i < sizeof more_deeds / sizeof *more_deeds; i++)
        is_durable(more_deeds[i], "another call,", i);
}

/* A record that has succeeded is stored. Another one is stored whole or not at all. */
static void check_batch(const char *when)
{
    for (size_t i = 0; i < BATCH_RECORDS; i++) {
        const struct batch_record *r = &batch_records[i];
        bool is_new = is_stored(r->key, "new");

        if (!CHECK(is_new || (outcomes[i].status != SKV_OK && is_stored(r->key, r->before))))
            printf("batch, call %ld fails%s with %s: %s is torn\n", faults, when, strerror(disk.error), r->key);
        CHECK(outcomes[i].status == SKV_OK || *outcomes[i].text);
    }
    for (size_t i = 0; i < BATCH_RECORDS; i++)
        CHECK(put(batch_records[i].key, "next") == SKV_OK);
    CHECK(names_in("globals/f") == 2 && names_in("globals/n") == 1 && names_in("globals/n/e") == 2);
}

static void a_failing_disk_tears_no_record_of_a_batch(void)
{
    static const int errors[] = {ENOSPC, EIO};

    for (size_t i = 0; i < 2 * sizeof errors / sizeof *errors; i++) {
        disk.error = errors[i / 2];
        disk.lasting = i % 2;
        disk.came = true;
        for (long at = 1; disk.came; at++) {
            put_before_batch();
            disk.came = false;
            disk.countdown = at;
            put_batch();
            disk.countdown = 0;
            check_batch(disk.lasting ? " and all after it" : "");
            faults += disk.came;
        }
    }
}

static void replace_keys_in_little_room(void)
{
    static const char *const keys[] = {"globals/a", "globals/b", "globals/f/a", "globals/f/b"};

    batch_clear();
    for (size_t i = 0; i < 4; i++) {
        CHECK(put(keys[i], "old") == SKV_OK);
        batch_add(keys[i], "new");
    }
    temporary_documents = 0;
    too_many_documents = 2;
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_OK, 1) == 4);
    too_many_documents = 1;
    batch_add("globals/new", "new");
    batch[0].document = "newer";
    batch[0].document_len = 5;
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_FULL, 0) == 2);
    too_many_documents = 0;
    CHECK(batch_tally(SKV_OK, 0) == 3 && names_in("globals") == 3 && names_in("globals/f") == 2);
}

/* There is room for one document more than the keys have. A batch used to store the first one only. */
static void a_batch_needs_no_more_room_than_its_puts(void)
{
    replace_keys_in_little_room();
    is_full_at_sync = true;
    replace_keys_in_little_room();
    is_full_at_sync = false;
}

/* It used to keep those of all keys that it wrote at once. */
static void a_batch_keeps_no_replaced_documents(void)
{
    static char large[2 << 20];
    char key[] = "globals/a";
    size_t before;

    memset(large, 'x', sizeof large - 1);
    batch_clear();
    for (; key[8] < 'e'; key[8]++) {
        CHECK(put(key, large) == SKV_OK);
        batch_add(key, "new");
    }
    CHECK(get("globals/none") == SKV_NOT_FOUND);
    before = memory_in_use();
    memory_at_sync = 0;
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_OK, 1) == 4);
    CHECK(memory_at_sync < before + sizeof large);
}

static void a_batch_syncs_each_folder_once(void)
{
    CHECK(create_folder("globals/n") == SKV_OK && create_folder("globals/f") == SKV_OK);
    batch_clear();
    for (char name = 'a'; name < 'm'; name++) {
        char key[] = "globals/n/k";

        key[8] = name % 2 ? 'n' : 'f';
        key[10] = name;
        batch_add(key, "new");
    }
    folder_syncs = 0;
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_OK, 1) == 12);
    CHECK(folder_syncs == 2);
    CHECK(deletetree("globals/n") == SKV_OK && deletetree("globals/f") == SKV_OK);
}

/* Here the group may not read the file, and others may. Until the new file has its group, members of it are others. */
static void nobody_else_can_open_a_file_before_it_has_its_group(void)
{
    CHECK(put("globals/k", "old") == SKV_OK && chmod(path("globals/k"), 0604) == 0);
    made_with = 0;
    CHECK(put("globals/k", "new") == SKV_OK);
    CHECK(made_with == 0600 && (stat_of("globals/k").st_mode & 0777) == 0604);
}

int main(void)
{
    static void (*const tests[])(void) = {a_failing_disk_loses_and_tears_nothing,
                                          calls_below_a_key_end_with_the_error_of_the_disk,
                                          a_read_only_disk_can_be_read,
                                          what_a_call_has_done_survives_a_crash,
                                          a_failing_disk_tears_no_record_of_a_batch,
                                          a_batch_needs_no_more_room_than_its_puts,
                                          a_batch_keeps_no_replaced_documents,
                                          a_batch_syncs_each_folder_once,
                                          nobody_else_can_open_a_file_before_it_has_its_group};
    int status = run_file_tests("store_file_failing", tests, sizeof tests / sizeof *tests);

    check_tally("disk that is full, broken or read-only", faults, calls_made());
    return status;
}
