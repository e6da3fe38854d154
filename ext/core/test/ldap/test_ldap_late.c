/* A network that delivers a request after its client has lost the connection and repeated the request. */
#include "batches.h"
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Longer than the pause of a call before it repeats a request. */
#define LATE_MS 300

#define D3 "{\"value\":3,\"metadata\":{}}"

static proxy between;
static int late; /* late requests so far */

static void arm_late(unsigned char tag, int skip)
{
    proxy_arm(&between, tag, PROXY_LATE_REQUEST, LATE_MS, skip, 1);
    late++;
}

/* The later put used to be lost. */
static void a_late_replacement_does_not_overwrite_a_later_put(void)
{
    put_gives("globals/late/r", D1, 1);
    arm_late(PROXY_MODIFY, 0);
    put_gives("globals/late/r", D2, 1);
    get_gives("globals/late/r", D2);
    other_puts("globals/late/r", D3);
    proxy_await_late(&between, late);
    get_gives("globals/late/r", D3);
}

static void a_late_conditional_replacement_does_not_overwrite_a_later_put(void)
{
    put("globals/late/c", D1);
    arm_late(PROXY_MODIFY, 0);
    CHECK(put_if("globals/late/c", D2, SKV_PUT_EXPECT, D1) == SKV_OK);
    other_puts("globals/late/c", D3);
    proxy_await_late(&between, late);
    get_gives("globals/late/c", D3);
}

static void a_late_deletion_does_not_delete_a_later_put(void)
{
    put("globals/late/d", D1);
    arm_late(PROXY_DELETE, 0);
    CHECK(del("globals/late/d") == SKV_OK && skv_reply_number(reply) == 1);
    other_puts("globals/late/d", D3);
    proxy_await_late(&between, late);
    get_gives("globals/late/d", D3);
}

static void a_late_deletetree_does_not_delete_a_later_put(void)
{
    put("globals/late/t/k", D1);
    arm_late(PROXY_DELETE, 0);
    CHECK(deletetree("globals/late/t") == SKV_OK && skv_reply_number(reply) == 1);
    other_puts("globals/late/t/k", D3);
    proxy_await_late(&between, late);
    get_gives("globals/late/t/k", D3);
}

static void a_late_batch_does_not_overwrite_a_later_put(const char *expect)
{
    char key[64];

    batch_clear();
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof key, "globals/late/b/k%d", i);
        put(key, D1);
        batch_add_expecting(key, D2, expect);
    }
    arm_late(PROXY_MODIFY, 10);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 20);
    for (size_t i = 0; i < batch_count; i++)
        other_puts(batch[i].key, D3);
    proxy_await_late(&between, late);
    for (size_t i = 0; i < batch_count; i++)
        get_gives(batch[i].key, D3);
}

/* Loses the response to this call's write of the key, after another client has written the key. */
static const char *contested;

static void put_elsewhere(void)
{
    other_puts(contested, D3);
}

static void arm_contest(const char *key, unsigned char tag)
{
    contested = key;
    proxy_meanwhile(&between, put_elsewhere);
    proxy_arm(&between, tag, PROXY_LOSE_RESPONSE, 0, 0, 1);
}

/* The call used to write again, over a later put, and readers saw its document return. */
static void a_put_in_doubt_is_not_repeated_after_another_write(void)
{
    static const struct {
        const char *key, *before;
        unsigned char tag;
    } cases[] = {{"globals/late/u", D1, PROXY_MODIFY}, {"globals/late/v", NULL, PROXY_ADD}};

    put("globals/late/there", D1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].before)
            put(cases[i].key, cases[i].before);
        arm_contest(cases[i].key, cases[i].tag);
        CHECK(put(cases[i].key, D2) == SKV_UNAVAILABLE);
        CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
        get_gives(cases[i].key, D3);
    }
}

/* Without assertions, the call used to delete a later put. */
static void a_deletion_in_doubt_is_not_repeated_after_another_write(void)
{
    put("globals/late/there", D1);
    put("globals/late/w", D1);
    arm_contest("globals/late/w", PROXY_DELETE);
    CHECK(del("globals/late/w") == SKV_UNAVAILABLE);
    CHECK(proxy_left(&between) == 0);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    get_gives("globals/late/w", D3);
}

/* The batch used to write again if it had added the key, or the server had no assertions. */
static void a_batch_in_doubt_is_not_repeated_after_another_write(void)
{
    static const struct {
        const char *key, *before;
        unsigned char tag;
    } cases[] = {{"globals/late/x", D1, PROXY_MODIFY}, {"globals/late/y", NULL, PROXY_ADD}};

    put("globals/late/there", D1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].before)
            put(cases[i].key, cases[i].before);
        batch_clear();
        batch_add(cases[i].key, D2);
        arm_contest(cases[i].key, cases[i].tag);
        CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
        CHECK(proxy_left(&between) == 0);
        CHECK(outcomes[0].status == SKV_UNAVAILABLE);
        CHECK_HAS(outcomes[0].text, "the outcome is unknown");
        get_gives(cases[i].key, D3);
    }
}

/* After a lost response, a missing key used to count as deleted. */
static void a_lost_response_does_not_delete_a_missing_key(void)
{
    put("globals/late/there", D1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del("globals/late/never") == SKV_OK && skv_reply_number(reply) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del("globals/late/never") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(proxy_left(&between) == 0);
    /* A folder has the name. */
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del("globals/late") == SKV_IS_FOLDER);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 0);
}

/* Each read returns the version that the next write asserts. */
static void a_write_takes_two_round_trips(void)
{
    static const int one[] = {1, 0}, two[] = {1, 1, 0};

    put("globals/late/turns", D1);
    proxy_expect(&between, two);
    put_gives("globals/late/turns", D2, 1);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, one);
    put_gives("globals/late/turns", D2, 0);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, two);
    CHECK(del("globals/late/turns") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, NULL);
}

/* A put succeeds although other clients write the key as well: the last one wins. */
static void *put_often(void *name)
{
    char document[64];

    for (int i = 0; i < check_rounds(200); i++) {
        snprintf(document, sizeof document, "{\"value\":\"%s%d\",\"metadata\":{}}", (const char *)name, i);
        other_puts("globals/late/hot", document);
    }
    return NULL;
}

static void clients_that_write_one_key_all_succeed(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, put_often, (void *)(uintptr_t)names[i]) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void asserting_tests(void)
{
    late = 0;
    a_late_replacement_does_not_overwrite_a_later_put();
    a_late_conditional_replacement_does_not_overwrite_a_later_put();
    a_late_deletion_does_not_delete_a_later_put();
    a_late_deletetree_does_not_delete_a_later_put();
    a_late_batch_does_not_overwrite_a_later_put(NULL);
    a_late_batch_does_not_overwrite_a_later_put(D1);
    a_put_in_doubt_is_not_repeated_after_another_write();
    a_deletion_in_doubt_is_not_repeated_after_another_write();
    a_batch_in_doubt_is_not_repeated_after_another_write();
    proxy_meanwhile(&between, NULL);
    a_lost_response_does_not_delete_a_missing_key();
    a_write_takes_two_round_trips();
    clients_that_write_one_key_all_succeed();
}

static void plain_tests(void)
{
    run_through(&between, false, (const char *[]){"id=plain", "retries=2", NULL}, asserting_tests);
}

/* Like 389-DS, which does not detect late deletions, and batches without expected documents (docs/adr/0022). */
static void exchanging_tests(void)
{
    late = 0;
    a_late_replacement_does_not_overwrite_a_later_put();
    a_late_conditional_replacement_does_not_overwrite_a_later_put();
    a_late_batch_does_not_overwrite_a_later_put(D1);
    a_put_in_doubt_is_not_repeated_after_another_write();
    a_deletion_in_doubt_is_not_repeated_after_another_write();
    a_batch_in_doubt_is_not_repeated_after_another_write();
    proxy_meanwhile(&between, NULL);
    a_lost_response_does_not_delete_a_missing_key();
    clients_that_write_one_key_all_succeed();
}

static void without_assertions(void)
{
    run_through(&between, true, (const char *[]){"id=plain", "retries=2", NULL}, exchanging_tests);
}

static void hex_tests(void)
{
    run_through(&between, false, (const char *[]){"id=hex", "layout=hex", "retries=2", NULL}, asserting_tests);
}

int main(void)
{
    static const char *const plain[] = {"id=plain", NULL}, *const hex[] = {"id=hex", "layout=hex", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, plain_tests);
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, without_assertions);
    run_ldap_tests(DIRECTORY_HEX, "", false, hex, hex_tests);
    batch_clear();
    skv_reply_free(reply);
    check_tally("requests delivered late, before slapd", proxy_faults(), calls_made());
    return check_summary("store_ldap_late");
}
