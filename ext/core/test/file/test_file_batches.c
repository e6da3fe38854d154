/* Batches in files: the locks that they hold, and the names that depend on one another. */
#include "batches.h"
#include "check.h"
#include "file_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEYS 40

static void key_of(char key[32], const char *folder, int number)
{
    snprintf(key, 32, "globals/%s/k%d", folder, number);
}

static void a_batch_holds_no_lock_while_it_waits_for_another(void)
{
    int lock;

    CHECK(put("globals/b", "old") == SKV_OK && put("globals/c", "old") == SKV_OK);
    lock = lock_file("globals/b");
    batch_clear();
    batch_add("globals/a", "new");
    batch_add("globals/b", "new");
    batch_add("globals/c", "new");
    CHECK(batch_put(store, SKV_PUT_ANY, 30, NULL) == SKV_OK);
    CHECK(outcomes[0].status == SKV_OK && outcomes[1].status == SKV_TIMEOUT && outcomes[2].status == SKV_OK);
    CHECK_HAS(outcomes[1].text, "Timed out waiting for lock of key file '");
    close(lock);
    CHECK_STR(listed("globals"), "ka=new kb=old kc=new ");
    CHECK(names_in("globals") == 3);
}

typedef struct order {
    const char *folder;
    bool descending;
} order;

/* Puts the keys of a folder in ascending or descending order, many times. Returns the number of failures. */
static void *put_in_order(void *argument)
{
    const order *o = argument;
    skv_reply *own = skv_reply_new();
    char records[KEYS * 64];
    size_t failures = 0;

    for (int round = 0; round < 20; round++) {
        size_t len = 0;

        for (int i = 0; i < KEYS; i++) {
            char key[32], document[16];
            uint32_t head[4] = {0};

            key_of(key, o->folder, o->descending ? KEYS - 1 - i : i);
            head[0] = (uint32_t)strlen(key);
            head[1] = (uint32_t)snprintf(document, sizeof document, "%s%d", o->descending ? "d" : "a", round);
            memcpy(records + len, head, sizeof head);
            memcpy(records + len + sizeof head, key, head[0]);
            memcpy(records + len + sizeof head + head[0], document, head[1]);
            len += sizeof head + head[0] + head[1];
        }
        failures += skv_put_many(store, records, len, LONG_MS, NULL, own) != SKV_OK;
        for (const char *at = skv_reply_data(own), *end = at + skv_reply_size(own); at < end; at += 9)
            failures += at[1] != SKV_OK;
    }
    skv_reply_free(own);
    return (void *)failures;
}

static void put_at_once(order *orders, size_t count)
{
    pthread_t threads[4];
    void *failures;

    for (size_t i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, put_in_order, &orders[i]);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
    for (size_t i = 0; i < count; i++) {
        char folder[32];

        snprintf(folder, sizeof folder, "globals/%s", orders[i].folder);
        CHECK(names_in(folder) == KEYS);
    }
}

/* Each would wait for a lock of the other one. */
static void batches_in_opposite_orders_do_not_wait_for_each_other(void)
{
    order orders[] = {{"f", false}, {"f", true}};

    put_at_once(orders, 2);
}

static void records_that_reach_one_key_through_a_link_come_in_order(void)
{
    CHECK(put("globals/f/old", "d") == SKV_OK && symlink("f", path("globals/link")) == 0);
    CHECK(symlink("f/new", path("globals/key")) == 0);
    batch_clear();
    batch_add("globals/f/new", "one");
    batch_add_expecting("globals/link/new", "two", "one");
    batch_add_expecting("globals/key", "three", "two");
    batch_add_expecting("globals/f/new", "four", "three");
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_OK, 1) == 4);
    get_gives("globals/f/new", "four");
    CHECK(names_in("globals/f") == 2);
}

static void a_batch_needs_few_descriptors(void)
{
    struct rlimit before, few;
    char key[32];

    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = (struct rlimit){.rlim_cur = 24, .rlim_max = before.rlim_max};
    batch_clear();
    for (int i = 0; i < KEYS; i++) {
        key_of(key, i % 2 ? "f" : "g", i);
        batch_add(key, "d");
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(batch_tally(SKV_OK, 1) == KEYS);
    CHECK(names_in("globals/f") == KEYS / 2 && names_in("globals/g") == KEYS / 2);
}

/* They used to take all descriptors of the process, so that records failed: "Too many open files". */
static void batches_at_once_leave_descriptors_to_each_other(void)
{
    order orders[] = {{"a", false}, {"b", false}, {"c", false}, {"f", false}};
    struct rlimit before, few;

    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = (struct rlimit){.rlim_cur = 64, .rlim_max = before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    put_at_once(orders, 4);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

static void a_batch_is_put_where_no_thread_can_start(void)
{
    batch_clear();
    batch_add("globals/f/a", "d");
    batch_add("globals/f/b", "d");
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && batch_tally(SKV_OK, 1) == 2);
}

static void a_batch_needs_no_threads(void)
{
    CHECK(in_child_without(SYS_clone3, EAGAIN, a_batch_is_put_where_no_thread_can_start));
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_batch_holds_no_lock_while_it_waits_for_another,        batches_in_opposite_orders_do_not_wait_for_each_other,
        records_that_reach_one_key_through_a_link_come_in_order, a_batch_needs_few_descriptors,
        batches_at_once_leave_descriptors_to_each_other,         a_batch_needs_no_threads,
    };

    return run_file_tests("store_file_batches", tests, sizeof tests / sizeof *tests);
}
