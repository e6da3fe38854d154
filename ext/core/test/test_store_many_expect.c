/* Batches whose records expect documents, on servers with and without assertions: other clients change keys before,
 * during and after them, and the network loses responses. */
#include "batches.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define D3 "{\"value\":3,\"metadata\":{}}"

/* The number of records, and the index of one in the middle of the requests that are in flight together. */
#define COUNT 100
#define MIDDLE 50

static proxy between;
static const char *contested, *document_elsewhere;
static int folder_reads; /* for each folder of a batch */

static void put_elsewhere(void)
{
    other_puts(contested, document_elsewhere);
}

/* Stores `old` under new keys, and makes a batch that replaces it by D2. */
static void new_batch(const char *old)
{
    static int folders;
    char key[64];

    folders++;
    batch_clear();
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof key, "globals/expect%d/k%d", folders, i);
        batch_add(key, old);
    }
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == COUNT);
    for (int i = 0; i < COUNT; i++) {
        batch[i].document = D2;
        batch[i].document_len = strlen(D2);
        batch[i].expect = old;
    }
    contested = batch[MIDDLE].key;
    document_elsewhere = D3;
}

static void puts_all_but_the_contested(skv_status status)
{
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(batch_tally(SKV_OK, 1) == COUNT - 1);
    CHECK((skv_status)outcomes[MIDDLE].status == status);
}

static void a_key_that_has_changed_is_a_conflict_of_its_own(void)
{
    const int round_trips[] = {COUNT + folder_reads, COUNT - 1, 0};

    new_batch(D1);
    put_elsewhere();
    CHECK(kind("globals") == SKV_KIND_FOLDER);
    proxy_expect(&between, round_trips);
    puts_all_but_the_contested(SKV_CONFLICT);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, NULL);
    CHECK_HAS(outcomes[MIDDLE].text, "the stored document is not the expected one");
    get_gives(contested, D3);
    get_gives(batch[MIDDLE + 1].key, D2);
    /* Now no stored document is the expected one. */
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_CONFLICT, 0) == COUNT);
}

/* caseExactMatch takes a run of spaces for one space. */
static void a_key_that_changes_meanwhile_is_a_conflict_of_its_own(void)
{
    static const char *const documents[] = {D3, "{\"value\":\"a  b\"}"};

    for (int i = 0; i < 2; i++) {
        new_batch("{\"value\":\"a b\"}");
        document_elsewhere = documents[i];
        proxy_meanwhile(&between, put_elsewhere);
        proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_REQUEST, 0, MIDDLE, 1);
        puts_all_but_the_contested(SKV_CONFLICT);
        proxy_meanwhile(&between, NULL);
        get_gives(contested, documents[i]);
    }
}

#define SHORT_MS 1000
#define BEYOND_SHORT_MS 1500

/* The next modification puts back. */
static void put_elsewhere_and_delay(void)
{
    put_elsewhere();
    proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_RESPONSE, BEYOND_SHORT_MS, 0, 1);
}

/* Only a server without assertions replaces the other document. The timeout of the batch used to end the putting back.
 */
static void a_short_timeout_does_not_end_the_putting_back(void)
{
    static const char old[] = "{\"value\":\"a b\"}";

    contested = "globals/short/k";
    document_elsewhere = "{\"value\":\"a  b\"}";
    put(contested, old);
    batch_clear();
    batch_add_expecting(contested, D2, old);
    proxy_meanwhile(&between, put_elsewhere_and_delay);
    proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_REQUEST, 0, 0, 1);
    CHECK(batch_put(store, SKV_PUT_ANY, SHORT_MS, NULL) == SKV_OK);
    proxy_meanwhile(&between, NULL);
    CHECK(proxy_left(&between) == 0);
    CHECK_HAS(outcomes[0].text, "the stored document is not the expected one");
    get_gives(contested, document_elsewhere);
}

static void lost_responses_leave_each_document_written_once(void)
{
    static const int places[] = {0, MIDDLE, COUNT - 1};

    for (int i = 0; i < 3; i++) {
        new_batch(D1);
        proxy_arm(&between, PROXY_MODIFY, i % 2 ? PROXY_LOSE_REQUEST : PROXY_LOSE_RESPONSE, 0, places[i], 1);
        CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(batch_tally(SKV_OK, 1) == COUNT);
        CHECK(batch_get(store, LONG_MS, NULL) == SKV_OK);
        for (int j = 0; j < COUNT; j++)
            CHECK_STR(outcomes[j].text, D2);
    }
}

/* Nobody can tell if the lost write came before that of the other client. */
static void a_write_in_doubt_is_not_repeated_after_another_write(void)
{
    new_batch(D1);
    proxy_meanwhile(&between, put_elsewhere);
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, MIDDLE, 1);
    puts_all_but_the_contested(SKV_UNAVAILABLE);
    proxy_meanwhile(&between, NULL);
    CHECK_HAS(outcomes[MIDDLE].text, "the outcome is unknown");
    get_gives(contested, D3);
}

static void *fire_when_held(void *cancel)
{
    proxy_await_faults(&between);
    skv_cancel_fire(cancel);
    return NULL;
}

/* Keeps the records without an outcome that have that number. Returns their count. */
static size_t keep_interrupted(int number)
{
    size_t kept = 0;

    for (size_t i = 0; i < batch_count; i++)
        if (outcomes[i].status == SKV_INTERRUPTED && outcomes[i].number == number)
            batch[kept++] = batch[i];
    batch_count = kept;
    return kept;
}

/* The records in doubt expect a document that they may have replaced. */
static void interrupted_records_are_written_once_by_a_repetition(void)
{
    skv_cancel *cancel = skv_cancel_new();
    size_t in_doubt;
    pthread_t thread;

    new_batch(D1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, MIDDLE, 1);
    CHECK(pthread_create(&thread, NULL, fire_when_held, cancel) == 0);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, cancel) == SKV_INTERRUPTED);
    pthread_join(thread, NULL);
    CHECK(batch_tally(SKV_OK, 1) + batch_tally(SKV_INTERRUPTED, 0) + batch_tally(SKV_INTERRUPTED, 1) == COUNT);
    in_doubt = keep_interrupted(1);
    CHECK(in_doubt > 0);
    CHECK(batch_put(store, SKV_PUT_ANY | SKV_PUT_IN_DOUBT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == in_doubt);
    /* A record meets its own document: a conflict if it is not in doubt, an unknown outcome if the document is not
     * unique. */
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_CONFLICT, 0) == in_doubt);
    CHECK(batch_put(store, SKV_PUT_ANY | SKV_PUT_IN_DOUBT | SKV_PUT_NON_UNIQUE, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_UNAVAILABLE, 0) == in_doubt);
    skv_cancel_free(cancel);
}

/* A caller repeats an interrupted batch for the rest of its records. Each repetition used to read them again and to
 * write none, if the reads took longer than the time between two interrupts. On a slow machine the call may not wait
 * for the responses to its writes, which are in doubt then. It may even have read nothing yet. */
static void an_interrupted_batch_writes_what_it_has_read(void)
{
    skv_cancel *cancel = skv_cancel_new();
    size_t left = COUNT, last, sent;
    pthread_t thread;

    new_batch(D1);
    for (int turns = 0; turns < COUNT && left > 0; turns++) {
        last = left;
        proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_RESPONSE, 20, 0, 1);
        skv_cancel_reset(cancel);
        CHECK(pthread_create(&thread, NULL, fire_when_held, cancel) == 0);
        batch_put(store, SKV_PUT_ANY, LONG_MS, cancel);
        pthread_join(thread, NULL);
        sent = batch_tally(SKV_OK, 1) + batch_tally(SKV_INTERRUPTED, 1);
        left = keep_interrupted(0);
        CHECK(sent == last - left);
    }
    CHECK(left == 0);
    skv_cancel_free(cancel);
}

/* A record is a conflict if the put of D1 before it has run out of memory. */
static void memory_scenario(void)
{
    skv_status status;

    batch_clear();
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "globals/memory/b" : "globals/memory/a";

        status = (skv_status)put(key, D1);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        batch_add_expecting(key, D2, D1);
    }
    status = (skv_status)batch_put(store, SKV_PUT_ANY, LONG_MS, NULL);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void all_tests(void)
{
    a_key_that_has_changed_is_a_conflict_of_its_own();
    a_key_that_changes_meanwhile_is_a_conflict_of_its_own();
    lost_responses_leave_each_document_written_once();
    a_write_in_doubt_is_not_repeated_after_another_write();
    interrupted_records_are_written_once_by_a_repetition();
    an_interrupted_batch_writes_what_it_has_read();
    chaos(memory_scenario);
}

static void tests_without_assertions(void)
{
    all_tests();
    a_short_timeout_does_not_end_the_putting_back();
}

static void plain_tests(void)
{
    static const char *const options[] = {"id=plain", "retries=2", NULL};

    run_through(&between, false, options, all_tests);
    /* Like 389-DS. */
    run_through(&between, true, options, tests_without_assertions);
}

static void hex_tests(void)
{
    folder_reads = 1;
    run_through(&between, true, (const char *[]){"id=hex", "layout=hex", "retries=2", NULL}, all_tests);
}

int main(void)
{
    static const char *const plain[] = {"id=plain", NULL}, *const hex[] = {"id=hex", "layout=hex", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, "", false, hex, hex_tests);
    batch_clear();
    skv_reply_free(reply);
    check_tally("batches with expected documents, before slapd", proxy_faults(), calls_made());
    return check_summary("store_many_expect");
}
