/* Batches in a directory whose network loses responses, and whose server is busy, silent, or lost. */
#include "batches.h"
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static proxy between;
static skv_cancel *cancel;

/* Adds `count` keys of a folder that exists. */
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

/* The stored documents show it. */
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

static void a_batch_with_lost_responses_writes_once(void)
{
    static const int places[] = {0, 1, 60, 127, 128, 250, 299};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        new_batch(300);
        proxy_arm(&between, PROXY_ADD, i % 2 ? PROXY_LOSE_REQUEST : PROXY_LOSE_RESPONSE, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 300);
        all_are(D1);
        change_all(D2);
        proxy_arm(&between, PROXY_MODIFY, i % 2 ? PROXY_LOSE_RESPONSE : PROXY_LOSE_REQUEST, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 300);
        all_are(D2);
        proxy_arm(&between, PROXY_SEARCH, i % 2 ? PROXY_LOSE_RESPONSE : PROXY_LOSE_REQUEST, 0, places[i], 1);
        all_are(D2);
        CHECK(proxy_left(&between) == 0);
    }
}

/* A hundred keys need a common folder, a folder each, and an add each. */
static void a_batch_with_lost_responses_makes_its_folders(void)
{
    static const int places[] = {0, 50, 100, 101, 150, 200, 201, 250, 300};
    char key[64];

    for (int i = 0; i < (int)(sizeof places / sizeof *places); i++) {
        batch_clear();
        for (int j = 0; j < 100; j++) {
            snprintf(key, sizeof key, "globals/lost%d/f%d/k", i, j);
            batch_add(key, D1);
        }
        proxy_arm(&between, PROXY_ADD, i % 2 ? PROXY_LOSE_REQUEST : PROXY_LOSE_RESPONSE, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == 100);
        all_are(D1);
    }
}

static void a_key_of_another_client_is_not_taken_for_ours(void)
{
    new_batch(200);
    put(batch[190].key, D2);
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, 150, 1);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(batch_tally(SKV_OK, 1) == 199);
    /* The response may be lost as well. */
    CHECK(outcomes[190].status == SKV_EXISTS || outcomes[190].status == SKV_UNAVAILABLE);
    get_gives(batch[190].key, D2);
}

static void a_busy_server_is_asked_again(void)
{
    new_batch(200);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 51, 10, 30);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(batch_tally(SKV_OK, 1) == 200);
    all_are(D1);
}

static void a_server_that_stays_busy_ends_the_batch(void)
{
    size_t unreached = 0;

    new_batch(300);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 51, 50, 1000);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "answered 51");
    CHECK(batch_tally(SKV_OK, 1) == 50);
    CHECK(batch_tally(SKV_UNAVAILABLE, 0) == 250);
    for (size_t i = 0; i < batch_count; i++)
        unreached += strstr(outcomes[i].text, "' was not reached: ") != NULL;
    CHECK(unreached == 249);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 51, 0, 0);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 250);
    CHECK(batch_tally(SKV_EXISTS, 0) == 50);
}

static void each_record_is_refused_by_itself(void)
{
    new_batch(100);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 50, 20, 2);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    /* Each record is refused twice, together and by itself; the proxy refused two requests. */
    CHECK(batch_tally(SKV_OK, 1) == 100);
    new_batch(100);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 50, 99, 2);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 99);
    CHECK(outcomes[99].status == SKV_DENIED);
    CHECK_HAS(outcomes[99].text, "answered 50");
}

static void an_unrequested_message_is_ignored(void)
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

/* Counts requests from now on. A connection is made first, because its bind would count, too. */
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

/* Adds a hundred keys, in as many folders as the format makes of their numbers. */
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

/* The delay of a network counts once, not for each record. */
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
    /* The adds, which fail; the folders of each level; the adds again. */
    missing_folders_are_made("globals/missing/one/k%d", ROUND_TRIPS(100, 1, 1, 100));
    missing_folders_are_made("globals/missing/f%d/k", ROUND_TRIPS(100, 100, 100));
    missing_folders_are_made("globals/many/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
}

/* In the hex layout, the folder is read first. */
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
    /* The read of the folders; of the entry above, which may be a key; the folders of each level; the adds. */
    missing_folders_are_made("globals/missing/one/k%d", ROUND_TRIPS(1, 1, 1, 100));
    missing_folders_are_made("globals/missing/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
    missing_folders_are_made("globals/many/f%d/k", ROUND_TRIPS(100, 1, 100, 100));
    batch_clear();
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

/* Waits until the proxy holds the response. */
static void *fire_when_held(void *unused)
{
    proxy_await_faults(&between);
    skv_cancel_fire(cancel);
    return unused;
}

/* Puts the batch while another thread fires the handle. */
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

static void an_interrupted_batch_takes_responses_that_come_soon(void)
{
    size_t done;

    new_batch(1000);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_RESPONSE, 100, 30, 1);
    CHECK(interrupted_put(SKV_PUT_ABSENT) == SKV_INTERRUPTED);
    done = batch_tally(SKV_OK, 1);
    CHECK(done >= 30 && done < 1000);
    CHECK(batch_tally(SKV_INTERRUPTED, 0) == 1000 - done);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 1000 - done);
    CHECK(batch_tally(SKV_EXISTS, 0) == done);
}

static void a_record_without_a_response_is_in_doubt(void)
{
    size_t done, in_doubt, kept = 0;

    new_batch(400);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 30, 1);
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

static void a_batch_waits_once_for_a_silent_server(void)
{
    struct timespec began, now;

    new_batch(300);
    clock_gettime(CLOCK_MONOTONIC, &began);
    slapd_freeze(&server);
    CHECK(batch_put(store, SKV_PUT_ABSENT, 500, NULL) == SKV_TIMEOUT);
    clock_gettime(CLOCK_MONOTONIC, &now);
    CHECK(now.tv_sec - began.tv_sec < 20);
    CHECK(batch_tally(SKV_TIMEOUT, 0) == 300);
    CHECK_HAS(outcomes[127].text, "' may have been written: ");
    CHECK_HAS(outcomes[128].text, "' was not reached: ");
    slapd_thaw(&server);
}

static void a_lost_server_ends_the_batch(void)
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
    a_batch_with_lost_responses_writes_once();
    a_batch_with_lost_responses_makes_its_folders();
    a_key_of_another_client_is_not_taken_for_ours();
    a_busy_server_is_asked_again();
    a_server_that_stays_busy_ends_the_batch();
    each_record_is_refused_by_itself();
    an_unrequested_message_is_ignored();
    a_hundred_keys_take_few_round_trips();
    an_interrupted_batch_takes_responses_that_come_soon();
    a_record_without_a_response_is_in_doubt();
    a_batch_waits_once_for_a_silent_server();
    a_lost_server_ends_the_batch();
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
