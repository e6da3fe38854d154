/* Batches in a directory whose network loses answers, and whose server is busy, silent, or gone. */
#include "batches.h"
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static proxy between;
static skv_cancel *cancel;

/* `count` keys of a new folder, which is there already. */
static void new_batch(int count)
{
    static int folders;
    char key[64];

    snprintf(key, sizeof key, "globals/b%d/there", ++folders);
    put_gives(key, D1, 1);
    batch_clear();
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "globals/b%d/k%d", folders, i);
        batch_add(key, D1);
    }
}

/* What is there does say that. */
static void all_are(const char *document)
{
    CHECK(batch_get(store, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 0) == batch_count);
    for (size_t i = 0; i < batch_count; i++)
        CHECK_STR(outcomes[i].text, document);
}

static void change_all(const char *document)
{
    for (size_t i = 0; i < batch_count; i++) {
        batch[i].document = document;
        batch[i].document_len = strlen(document);
    }
}

static void what_gets_lost_is_written_once(void)
{
    static const int places[] = {0, 1, 60, 127, 128, 250, 299};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        new_batch(300);
        proxy_arm(&between, PROXY_ADD, i % 2 ? PROXY_LOSE_REQUEST : PROXY_LOSE_ANSWER, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 300);
        all_are(D1);
        change_all(D2);
        proxy_arm(&between, PROXY_MODIFY, i % 2 ? PROXY_LOSE_ANSWER : PROXY_LOSE_REQUEST, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 300);
        all_are(D2);
        proxy_arm(&between, PROXY_SEARCH, i % 2 ? PROXY_LOSE_ANSWER : PROXY_LOSE_REQUEST, 0, places[i], 1);
        all_are(D2);
        CHECK(proxy_left(&between) == 0);
    }
}

/* Of a hundred keys, a folder above all, one for each, and the keys again. */
static void what_gets_lost_of_folders_is_made(void)
{
    static const int places[] = {0, 50, 100, 101, 150, 200, 201, 250, 300};
    char key[64];

    for (int i = 0; i < (int)(sizeof places / sizeof *places); i++) {
        batch_clear();
        for (int j = 0; j < 100; j++) {
            snprintf(key, sizeof key, "globals/lost%d/f%d/k", i, j);
            batch_add(key, D1);
        }
        proxy_arm(&between, PROXY_ADD, i % 2 ? PROXY_LOSE_REQUEST : PROXY_LOSE_ANSWER, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 100);
        all_are(D1);
    }
}

static void another_ones_key_is_never_taken_for_ours(void)
{
    new_batch(200);
    put(batch[190].key, D2);
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_ANSWER, 0, 150, 1);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(batch_tally(SKV_OK, 1) == 199);
    /* Whether its answer got lost as well. */
    CHECK(outcomes[190].status == SKV_EXISTS || outcomes[190].status == SKV_UNAVAILABLE);
    get_gives(batch[190].key, D2);
}

static void a_busy_server_is_asked_again(void)
{
    new_batch(200);
    proxy_arm(&between, PROXY_ADD, PROXY_ANSWER, 51, 10, 30);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(batch_tally(SKV_OK, 1) == 200);
    all_are(D1);
}

static void one_that_is_busy_for_long_is_not_asked_for_each(void)
{
    size_t unreached = 0;

    new_batch(300);
    proxy_arm(&between, PROXY_ADD, PROXY_ANSWER, 51, 50, 1000);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "answered 51");
    CHECK(batch_tally(SKV_OK, 1) == 50);
    CHECK(batch_tally(SKV_UNAVAILABLE, 0) == 250);
    for (size_t i = 0; i < batch_count; i++)
        unreached += strstr(outcomes[i].text, "' was not reached: ") != NULL;
    CHECK(unreached == 249);
    proxy_arm(&between, PROXY_ADD, PROXY_ANSWER, 51, 0, 0);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 250);
    CHECK(batch_tally(SKV_EXISTS, 0) == 50);
}

static void a_refusal_is_each_records_own(void)
{
    new_batch(100);
    proxy_arm(&between, PROXY_ADD, PROXY_ANSWER, 50, 20, 2);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    /* Each is refused twice, together and alone; the proxy did so to two requests. */
    CHECK(batch_tally(SKV_OK, 1) == 100);
    new_batch(100);
    proxy_arm(&between, PROXY_ADD, PROXY_ANSWER, 50, 99, 2);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 99);
    CHECK(outcomes[99].status == SKV_DENIED);
    CHECK_HAS(outcomes[99].text, "answered 50");
}

static void what_nobody_asked_for_is_passed_over(void)
{
    new_batch(50);
    proxy_arm(&between, PROXY_ADD, PROXY_INTERMEDIATE, 0, 10, 3);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 50);
    proxy_arm(&between, PROXY_SEARCH, PROXY_INTERMEDIATE, 0, 10, 3);
    all_are(D1);
    CHECK(proxy_left(&between) == 0);
}

/* The numbers of requests, for proxy_expect(). */
#define ROUND_TRIPS(...) ((const int[]){__VA_ARGS__, 0})

/* Count requests from now on. A connection is made first, because its bind would count, too. */
static void expect(const int *round_trips)
{
    CHECK(kind("globals") >= 0);
    proxy_expect(&between, round_trips);
}

static void puts_in(int condition, const int *round_trips)
{
    expect(round_trips);
    CHECK(batch_put(store, condition, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, NULL);
}

static void gets_in(const int *round_trips)
{
    expect(round_trips);
    CHECK(batch_get(store, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, NULL);
}

/* A hundred keys, in as many folders as the format makes of their numbers. */
static void missing_folders_are_made(const char *format, const int *round_trips)
{
    char key[64];

    batch_clear();
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, format, i);
        batch_add(key, D1);
    }
    puts_in(SKV_PUT_ABSENT, round_trips);
    CHECK(batch_tally(SKV_OK, 1) == 100);
    all_are(D1);
}

/* A network's distance is paid for once, not for each. */
static void a_hundred_keys_take_few_round_trips(void)
{
    new_batch(100);
    puts_in(SKV_PUT_ABSENT, ROUND_TRIPS(100));
    CHECK(batch_tally(SKV_OK, 1) == 100);
    puts_in(SKV_PUT_ANY, ROUND_TRIPS(100));
    change_all(D2);
    puts_in(SKV_PUT_ANY, ROUND_TRIPS(100, 100));
    CHECK(batch_tally(SKV_OK, 1) == 100);
    gets_in(ROUND_TRIPS(100));
    puts_in(SKV_PUT_ABSENT, ROUND_TRIPS(100, 100));
    CHECK(batch_tally(SKV_EXISTS, 0) == 100);
    /* Adds, which say so; each level of folders, however many there are of it; the adds again. */
    missing_folders_are_made("globals/missing/one/k%d", ROUND_TRIPS(100, 1, 1, 100));
    missing_folders_are_made("globals/missing/f%d/k", ROUND_TRIPS(100, 100, 100));
    missing_folders_are_made("globals/many/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
}

/* In the hex layout, the folder is looked at first. */
static void hex_tests(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    store = open_at_uri(between.uri, false, (const char *[]){"id=hex", "layout=hex", NULL});
    new_batch(100);
    puts_in(SKV_PUT_ABSENT, ROUND_TRIPS(1, 100));
    change_all(D2);
    puts_in(SKV_PUT_ANY, ROUND_TRIPS(101, 100));
    CHECK(batch_tally(SKV_OK, 1) == 100);
    gets_in(ROUND_TRIPS(100));
    /* A look at the folders; where it may be a key, at what is above; each level of folders; the adds. */
    missing_folders_are_made("globals/missing/one/k%d", ROUND_TRIPS(1, 1, 1, 100));
    missing_folders_are_made("globals/missing/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
    missing_folders_are_made("globals/many/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
    batch_clear();
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

/* Once the answer is held for which the proxy is armed. */
static void *fire_when_held(void *unused)
{
    while (proxy_left(&between) > 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    skv_cancel_fire(cancel);
    return unused;
}

/* Puts the batch while somebody fires. */
static int interrupted_put(int condition)
{
    pthread_t thread;
    int status;

    skv_cancel_reset(cancel);
    CHECK(pthread_create(&thread, NULL, fire_when_held, NULL) == 0);
    status = batch_put(store, condition, LONG_MS, cancel);
    pthread_join(thread, NULL);
    return status;
}

static void an_interrupt_takes_the_answers_that_come_soon(void)
{
    size_t done;

    new_batch(1000);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_ANSWER, 100, 30, 1);
    CHECK(interrupted_put(SKV_PUT_ABSENT) == SKV_INTERRUPTED);
    done = batch_tally(SKV_OK, 1);
    CHECK(done >= 30 && done < 1000);
    CHECK(batch_tally(SKV_INTERRUPTED, 0) == 1000 - done);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 1000 - done);
    CHECK(batch_tally(SKV_EXISTS, 0) == done);
}

static void what_is_not_answered_by_then_is_in_doubt(void)
{
    size_t done, in_doubt, kept = 0;

    new_batch(400);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_ANSWER, 700, 30, 1);
    CHECK(interrupted_put(SKV_PUT_ABSENT) == SKV_INTERRUPTED);
    done = batch_tally(SKV_OK, 1);
    in_doubt = batch_tally(SKV_INTERRUPTED, 1);
    CHECK(in_doubt > 0 && in_doubt <= 128 && done + in_doubt < 400);
    CHECK(batch_tally(SKV_INTERRUPTED, 0) == 400 - done - in_doubt);
    for (size_t i = 0; i < batch_count; i++)
        if (outcomes[i].number && outcomes[i].status == SKV_INTERRUPTED)
            batch[kept++] = batch[i];
    batch_count = kept;
    CHECK(batch_put(store, SKV_PUT_ABSENT | SKV_PUT_IN_DOUBT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == in_doubt);
    all_are(D1);
}

static void a_silent_server_is_waited_for_once(void)
{
    struct timespec began, now;

    new_batch(300);
    clock_gettime(CLOCK_MONOTONIC, &began);
    slapd_freeze(&server);
    CHECK(batch_put(store, SKV_PUT_ABSENT, 500, NULL) == SKV_TIMEOUT);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec - began.tv_sec < 3);
    CHECK(batch_tally(SKV_TIMEOUT, 0) == 300);
    CHECK_HAS(outcomes[127].text, "' may have been written: ");
    CHECK_HAS(outcomes[128].text, "' was not reached: ");
    slapd_thaw(&server);
}

static void a_server_that_is_gone_ends_it(void)
{
    new_batch(300);
    slapd_kill(&server);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_UNAVAILABLE);
    CHECK(batch_tally(SKV_UNAVAILABLE, 0) == 300);
    CHECK(batch_get(store, LONG_MS, NULL) == SKV_UNAVAILABLE);
    CHECK(batch_tally(SKV_UNAVAILABLE, 0) == 300);
    CHECK(slapd_start(&server));
    for (int i = 0; i < 100 && batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) != SKV_OK; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    CHECK(batch_tally(SKV_OK, 1) == 300);
}

static void tests(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    cancel = skv_cancel_new();
    store = open_through(&between, "1");
    what_gets_lost_is_written_once();
    what_gets_lost_of_folders_is_made();
    another_ones_key_is_never_taken_for_ours();
    a_busy_server_is_asked_again();
    one_that_is_busy_for_long_is_not_asked_for_each();
    a_refusal_is_each_records_own();
    what_nobody_asked_for_is_passed_over();
    a_hundred_keys_take_few_round_trips();
    an_interrupt_takes_the_answers_that_come_soon();
    what_is_not_answered_by_then_is_in_doubt();
    a_silent_server_is_waited_for_once();
    a_server_that_is_gone_ends_it();
    batch_clear();
    skv_close(store);
    store = mine;
    proxy_end(&between);
    skv_cancel_free(cancel);
}

int main(void)
{
    static const char *const plain[] = {"id=plain", NULL}, *const hex[] = {"id=hex", "layout=hex", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, tests);
    run_ldap_tests(DIRECTORY_HEX, "", false, hex, hex_tests);
    skv_reply_free(reply);
    check_tally("batches, before slapd", proxy_faults(), calls_made());
    return check_summary("store_many_faults");
}
