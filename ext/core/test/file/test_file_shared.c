/* The store in files, used by several threads and processes at once: locks and cancelled calls. */
#include "check.h"
#include "file_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Locks and other processes ---------------------------------------------------------------------------------- */

static void a_locked_key_is_waited_for_until_the_deadline(void)
{
    int lock;

    put("globals/k", "d");
    lock = lock_file("globals/k");
    CHECK(get_within("globals/k", 30) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "Timed out waiting for lock of key file '");
    CHECK_HAS(skv_reply_message(reply), "globals/k'");
    CHECK(get_within("globals/k", 0) == SKV_TIMEOUT);
    CHECK(skv_put(store, "globals/k", 9, "e", 1, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(skv_delete(store, "globals/k", 9, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK(skv_deletetree(store, "globals", 7, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "globals/k'");
    CHECK(put_if("globals/k", "e", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    put_gives("globals/other", "d", 1);
    CHECK_STR(listed_within("globals", 20), "ek= kother=d ");
    close(lock);
    get_gives("globals/k", "d");
}

/* Changes the locked key a little later, and releases the lock. */
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

static void a_call_uses_the_current_document_after_a_wait(void)
{
    static void (*const acts[])(void) = {NULL, replace_key, remove_key};
    static const int statuses[] = {SKV_OK, SKV_OK, SKV_NOT_FOUND};

    for (int i = 0; i < 3; i++) {
        helper h = {.act = acts[i], .cancel = NULL};

        put("globals/k", "old");
        h.lock = lock_file("globals/k");
        pthread_create(&h.thread, NULL, help, &h);
        CHECK(get("globals/k") == statuses[i]);
        CHECK_STR(skv_reply_data(reply), i == 0 ? "old" : i == 1 ? "new" : "");
        pthread_join(h.thread, NULL);
        put("globals/k", "old");
        h.lock = lock_file("globals/k");
        pthread_create(&h.thread, NULL, help, &h);
        CHECK(put_if("globals/k", "mine", SKV_PUT_EXPECT, "old") == (i == 0 ? SKV_OK : SKV_CONFLICT));
        pthread_join(h.thread, NULL);
    }
}

static void a_cancelled_call_changes_nothing(void)
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
    CHECK(skv_get(store, "globals/k", 9, SKV_GET_ANY, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    skv_cancel_fire(cancel);
    CHECK(skv_put(store, "globals/n", 9, "new", 3, SKV_PUT_ANY, NULL, 0, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    skv_cancel_fire(cancel);
    CHECK(skv_deletetree(store, "globals", 7, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    CHECK(names_in("globals") == 1);
    CHECK(skv_deletetree(store, "globals", 7, LONG_MS, cancel, reply) == SKV_OK);
    CHECK(names_in("globals") == 0);
    skv_cancel_free(cancel);
}

#define LISTED_KEYS 9

/* Adds the number of records of the page, and counts each name of one digit. */
static void count_records(int64_t *records, int seen[10])
{
    const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);

    *records += skv_reply_number(reply);
    for (uint32_t len[2]; p < end; p += 9 + len[0] + len[1]) {
        memcpy(len, p + 1, sizeof len);
        seen[p[9] - '0']++;
    }
}

static void a_cancelled_list_continues(void)
{
    skv_cancel *cancel = skv_cancel_new();
    helper h = {.cancel = cancel};
    int seen[10] = {0}, interrupted = 0;
    int64_t records = 0;
    char name[] = "globals/0";
    skv_list *list;

    for (int i = 0; i < LISTED_KEYS; i++, name[8]++)
        write_file(name, "d");
    list = skv_list_open(store, "globals", 7, 0, NULL, reply);
    skv_cancel_fire(cancel);
    CHECK(skv_list_next(list, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    h.lock = lock_file("globals/4");
    pthread_create(&h.thread, NULL, help, &h);
    while (skv_list_next(list, LONG_MS, cancel, reply) != SKV_END && interrupted < 10)
        if (skv_reply_status(reply) == SKV_INTERRUPTED)
            interrupted++;
        else if (CHECK(skv_reply_status(reply) == SKV_OK))
            count_records(&records, seen);
    pthread_join(h.thread, NULL);
    CHECK(interrupted == 1 && records == LISTED_KEYS);
    for (int i = 0; i < LISTED_KEYS; i++)
        CHECK(seen[i] == 1);
    skv_list_close(list);
    skv_cancel_free(cancel);
}

typedef struct nuisance {
    pthread_t thread;
    skv_cancel *cancel;
    atomic_bool begun, over;
} nuisance;

static void *fire_on(void *data)
{
    nuisance *n = data;

    while (!atomic_load(&n->over)) {
        skv_cancel_fire(n->cancel);
        atomic_store(&n->begun, true);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return NULL;
}

#define TREE_FOLDERS 200

/* The tree continues at the interrupted folder or record. */
static void a_tree_is_complete_however_often_it_is_cancelled(void)
{
    nuisance n = {.cancel = skv_cancel_new()};
    int interrupts = 0, records = 0;
    char key[32];
    skv_list *list;

    for (int i = 0; i < TREE_FOLDERS; i++) {
        snprintf(key, sizeof key, "globals/f%d/k", i);
        put(key, "d");
    }
    list = skv_tree_open(store, "globals", 7, 0, LONG_MS, NULL, reply);
    CHECK(pthread_create(&n.thread, NULL, fire_on, &n) == 0);
    while (!atomic_load(&n.begun))
        sched_yield();
    while (skv_list_next(list, LONG_MS, n.cancel, reply) != SKV_END && interrupts < 100000) {
        interrupts += skv_reply_status(reply) == SKV_INTERRUPTED;
        records += (int)skv_reply_number(reply);
    }
    atomic_store(&n.over, true);
    pthread_join(n.thread, NULL);
    CHECK_STATUS(reply, SKV_END);
    CHECK(records == 2 * TREE_FOLDERS);
    CHECK(interrupts > 0);
    skv_list_close(list);
    skv_cancel_free(n.cancel);
}

#define EMPTY_FOLDERS 3000

static void *fire_soon(void *data)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    skv_cancel_fire(data);
    return NULL;
}

/* Returns true if the handle, which fires soon, interrupts the tree after its last record, while it reads empty
 * folders. */
static bool cancels_the_way_through_empty_folders(skv_cancel *cancel)
{
    int records = 0, status;
    pthread_t thread;
    skv_list *list = skv_tree_open(store, "globals", 7, 0, LONG_MS, NULL, reply);

    while (records < EMPTY_FOLDERS && CHECK(skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK))
        records += (int)skv_reply_number(reply);
    CHECK(pthread_create(&thread, NULL, fire_soon, cancel) == 0);
    status = skv_list_next(list, LONG_MS, cancel, reply);
    pthread_join(thread, NULL);
    CHECK(status == SKV_END || status == SKV_INTERRUPTED);
    CHECK(status == SKV_END || skv_list_next(list, LONG_MS, cancel, reply) == SKV_END);
    skv_list_close(list);
    skv_cancel_reset(cancel);
    return status == SKV_INTERRUPTED;
}

/* On a busy machine the handle may fire after the end. */
static void a_tree_of_empty_folders_can_be_cancelled(void)
{
    skv_cancel *cancel = skv_cancel_new();
    bool cancelled = false;
    char folder[32];

    for (int i = 0; i < EMPTY_FOLDERS; i++) {
        snprintf(folder, sizeof folder, "globals/f%d", i);
        CHECK(mkdir(path(folder), 0770) == 0);
    }
    for (int i = 0; i < 20 && !cancelled; i++)
        cancelled = cancels_the_way_through_empty_folders(cancel);
    CHECK(cancelled);
    skv_cancel_free(cancel);
}

static void the_temporary_file_of_a_living_writer_is_waited_for(void)
{
    int lock = lock_file(temporary_name());
    helper h = {.act = NULL, .lock = lock};

    CHECK(skv_put(store, "globals/k", 9, "d", 1, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "globals/k': timed out waiting for temporary file '");
    CHECK_HAS(skv_reply_message(reply), path(temporary_name()));
    CHECK_HAS(skv_reply_message(reply), "': another process has locked it");
    CHECK(skv_deletetree(store, "globals", 7, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), path(temporary_name()));
    CHECK(is_there(temporary_name()) && !is_there("globals/k"));
    pthread_create(&h.thread, NULL, help, &h);
    put_gives("globals/k", "d", 1);
    pthread_join(h.thread, NULL);
    CHECK(!is_there(temporary_name()));
}

#define THREADS 8
#define ROUNDS 40

static void *write_and_read(void *data)
{
    skv_reply *mine = skv_reply_new();
    char document[512];
    size_t failures = 0;

    for (int i = 0; i < check_rounds(ROUNDS); i++) {
        memset(document, 'a' + (int)(size_t)data, sizeof document);
        failures += skv_put(store, "globals/t/k", 11, document, (size_t)(100 + i), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL,
                            mine) != SKV_OK;
        failures += skv_get(store, "globals/t/k", 11, SKV_GET_ANY, LONG_MS, NULL, mine) != SKV_OK;
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
    for (int done = 0; done < check_rounds(ROUNDS) / 2;) {
        failures += skv_get(store, "globals/n", 9, SKV_GET_ANY, LONG_MS, NULL, mine) != SKV_OK;
        snprintf(old, sizeof old, "%s", skv_reply_data(mine));
        snprintf(new, sizeof new, "%d", atoi(old) + 1);
        done += skv_put(store, "globals/n", 9, new, strlen(new), SKV_PUT_EXPECT, old, strlen(old), LONG_MS, NULL,
                        mine) == SKV_OK;
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void conditional_puts_lose_no_increment(void)
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
    snprintf(expected, sizeof expected, "%d", 4 * check_rounds(ROUNDS) / 2);
    get_gives("globals/n", expected);
}

#define RACES 100

static void *make_new_keys(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t made = 0;
    char key[32];

    (void)data;
    for (int i = 0; i < check_rounds(RACES); i++) {
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
    CHECK(total == (size_t)check_rounds(RACES));
}

static void *put_and_delete(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t failures = 0;

    for (int i = 0; i < check_rounds(ROUNDS); i++) {
        failures += skv_put(store, "globals/c/d/k", 13, "d", 1, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != SKV_OK;
        if (data)
            failures += skv_deletetree(store, "globals/c", 9, LONG_MS, NULL, mine) != SKV_OK;
        if (skv_reply_status(mine) != SKV_OK)
            printf("%s\n", skv_reply_message(mine));
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void a_put_makes_a_deleted_folder_again(void)
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

int main(void)
{
    static void (*const tests[])(void) = {
        a_locked_key_is_waited_for_until_the_deadline,
        a_call_uses_the_current_document_after_a_wait,
        a_cancelled_call_changes_nothing,
        a_cancelled_list_continues,
        a_tree_is_complete_however_often_it_is_cancelled,
        a_tree_of_empty_folders_can_be_cancelled,
        the_temporary_file_of_a_living_writer_is_waited_for,
        threads_write_and_read_one_key_without_tearing_it,
        conditional_puts_lose_no_increment,
        one_of_several_threads_makes_a_new_key,
        a_put_makes_a_deleted_folder_again,
    };

    return run_file_tests("store_file_shared", tests, sizeof tests / sizeof *tests);
}
