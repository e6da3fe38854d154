/* Interrupts of calls that wait for a directory. */
#include "check.h"
#include "directory.h"
#include "pool_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Less than LONG_MS, the time of each call. */
#define SOON_MS 20000

static proxy between;
static skv_cancel *cancel;

/* The key of the calls. Each test has its own, as a silent server may do its work later. */
static const char *key;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *fire(void *unused)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    skv_cancel_fire(cancel);
    return unused;
}

/* Fires when the proxy holds the response. */
static void *fire_when_held(void *unused)
{
    proxy_await_faults(&between);
    skv_cancel_fire(cancel);
    return unused;
}

static int get_now(void)
{
    return skv_get(store, key, strlen(key), SKV_GET_ANY, LONG_MS, cancel, reply);
}

static int exists_now(void)
{
    return skv_exists(store, key, strlen(key), LONG_MS, cancel, reply);
}

static int put_as(int condition)
{
    bool expects = (condition & SKV_PUT_EXPECT) != 0;

    return skv_put(store, key, strlen(key), D2, strlen(D2), condition, expects ? D1 : NULL, expects ? strlen(D1) : 0,
                   LONG_MS, cancel, reply);
}

static int put_now(void)
{
    return put_as(SKV_PUT_ANY);
}

static int delete_now(void)
{
    return skv_delete(store, key, strlen(key), SKV_PUT_ANY, NULL, 0, LONG_MS, cancel, reply);
}

static int deletetree_now(void)
{
    return skv_deletetree(store, "globals/f", 9, LONG_MS, cancel, reply);
}

static int list_now(void)
{
    skv_list_close(skv_list_open(store, "globals", 7, LONG_MS, cancel, reply));
    return skv_reply_status(reply);
}

/* Makes the call, and fires the handle meanwhile. Returns the milliseconds that the call took. */
static int64_t interrupted(int (*call)(void), void *(*fires)(void *))
{
    pthread_t thread;
    int64_t began = now_ms();

    skv_cancel_reset(cancel);
    CHECK(pthread_create(&thread, NULL, fires, NULL) == 0);
    call();
    began = now_ms() - began;
    pthread_join(thread, NULL);
    return began;
}

/* The response is still to come on the connection, which no later call may use. */
static void an_interrupt_ends_each_call_to_a_silent_server(void)
{
    int (*const calls[])(void) = {get_now, exists_now, put_now, delete_now, deletetree_now, list_now};

    key = "globals/silent";
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        json_int_t connects;

        put(key, D1);
        connects = server_stat(0, "connects");
        slapd_freeze(&server);
        CHECK(interrupted(calls[i], fire) < SOON_MS);
        CHECK_STATUS(reply, SKV_INTERRUPTED);
        slapd_thaw(&server);
        CHECK(get("globals/none") == SKV_NOT_FOUND);
        CHECK(server_stat(0, "connects") == connects + 1);
    }
}

/* Does the same with a key of its own, while the response to a request comes `ms` milliseconds late. */
static void interrupted_late(const char *name, unsigned char request, int ms, int (*call)(void))
{
    key = name;
    put(key, D1);
    proxy_arm(&between, request, PROXY_HOLD_RESPONSE, ms, 0, 1);
    interrupted(call, fire_when_held);
}

/* On a busy machine, the response may come too late. */
static void an_interrupted_call_takes_a_response_that_comes_soon(void)
{
    int tries = 0;

    do {
        interrupted_late("globals/soon", PROXY_MODIFY, 50, put_now);
    } while (skv_reply_status(reply) == SKV_INTERRUPTED && ++tries < 20);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == 1 && proxy_left(&between) == 0);
}

static void an_interrupted_call_sends_no_request_after_its_grace_period(void)
{
    interrupted_late("globals/read", PROXY_SEARCH, PROXY_TOO_LATE_MS, put_now);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 0);
    get_gives(key, D1);
}

static void *fire_steadily(void *over)
{
    while (!atomic_load((atomic_bool *)over)) {
        skv_cancel_fire(cancel);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return NULL;
}

/* Returns the number of calls until one succeeds, while each is interrupted again and again. */
static int calls_to_a_slow_server(void)
{
    atomic_bool over = false;
    pthread_t thread;
    int calls = 1;

    proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_RESPONSE, 500, 0, 1000);
    skv_cancel_reset(cancel);
    CHECK(pthread_create(&thread, NULL, fire_steadily, &over) == 0);
    while (put_now() == SKV_INTERRUPTED && calls < 20)
        calls++;
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    CHECK_STATUS(reply, SKV_OK);
    return calls;
}

/* The call used to be repeated until its deadline. */
static void a_slow_server_responds_to_a_call_that_is_interrupted_again_and_again(void)
{
    int calls = 1;

    key = "globals/steady";
    put_gives(key, D1, 1);
    /* On a busy machine, the first response may have come before the call looks. */
    for (int i = 0; i < 10 && calls == 1; i++)
        calls = calls_to_a_slow_server();
    CHECK(calls > 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_RESPONSE, 0, 0, 0);
    get_gives(key, D2);
}

static int put_expecting(void)
{
    return put_as(SKV_PUT_EXPECT);
}

static int put_if_absent(void)
{
    return put_as(SKV_PUT_ABSENT);
}

/* The write is made, but its response comes too late. */
static void an_interrupted_conditional_write_is_in_doubt(void)
{
    interrupted_late("globals/doubt", PROXY_MODIFY, PROXY_TOO_LATE_MS, put_expecting);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 1);
    get_gives(key, D2);
    CHECK(put_as(SKV_PUT_EXPECT) == SKV_CONFLICT);
    CHECK(put_as(SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT) == SKV_OK && skv_reply_number(reply) == 1);

    CHECK(del(key) == SKV_OK);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 0, 1);
    interrupted(put_if_absent, fire_when_held);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 1);
    get_gives(key, D2);
    CHECK(put_as(SKV_PUT_ABSENT) == SKV_EXISTS);
    CHECK(put_as(SKV_PUT_ABSENT | SKV_PUT_IN_DOUBT) == SKV_OK && skv_reply_number(reply) == 1);
}

static void a_write_in_doubt_after_another_write_is_an_error(void)
{
    put_gives(key, "{\"value\":3}", 1);
    CHECK(put_as(SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    CHECK(skv_put(store, key, strlen(key), D1, strlen(D1), 256, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
}

static int deletetree_far(void)
{
    return skv_deletetree(store, "globals/far", 11, LONG_MS, cancel, reply);
}

/* The next call used to take the late response for its own, and did not delete its folder. */
static void no_call_takes_the_response_of_an_interrupted_deletion(void)
{
    key = "globals/far/k";
    put_gives(key, D1, 1);
    put_gives("globals/other/k", D1, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 1, 1);
    interrupted(deletetree_far, fire_when_held);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 2);
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 50, 0, 2);
    CHECK(deletetree("globals/other") == SKV_DENIED);
    CHECK(kind("globals/other/k") == SKV_KIND_KEY);
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 0, 0, 0);
    CHECK(deletetree("globals/far") == SKV_OK);
}

static int delete_it(void)
{
    return skv_delete(store, key, strlen(key), SKV_PUT_ANY, NULL, 0, LONG_MS, cancel, reply);
}

static void an_interrupted_deletion_reports_a_possible_deletion(void)
{
    interrupted_late("globals/gone", PROXY_DELETE, PROXY_TOO_LATE_MS, delete_it);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(del(key) == SKV_OK && skv_reply_number(reply) == 0);
}

static int is_fired(void *flag)
{
    return atomic_load((atomic_int *)flag);
}

static void *raise_flag(void *flag)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

/* The handle does not fire: a flag is set, which the call polls. */
static void a_call_polls_its_interrupt_flag(void)
{
    atomic_int flag = 0;
    pthread_t thread;
    int64_t began = now_ms();

    key = "globals/silent";
    skv_cancel_watch(cancel, is_fired, &flag);
    skv_cancel_reset(cancel);
    slapd_freeze(&server);
    CHECK(pthread_create(&thread, NULL, raise_flag, &flag) == 0);
    CHECK(get_now() == SKV_INTERRUPTED);
    CHECK(now_ms() - began < SOON_MS);
    slapd_thaw(&server);
    pthread_join(thread, NULL);
    skv_cancel_watch(cancel, NULL, NULL);
}

#define KEYS 1300

static void fill(void)
{
    char name[64];

    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof name, "globals/long/k%d", i);
        put(name, D1);
        CHECK_STATUS(reply, SKV_OK);
    }
}

/* Returns the number of interrupts of the list: none if the next page had come before the server stopped. */
static int64_t interrupts_of(skv_list *list)
{
    int64_t count = 0, interrupts = 0;

    CHECK_STATUS(reply, SKV_OK);
    while (list && count >= 0) {
        slapd_freeze(&server);
        skv_cancel_fire(cancel);
        skv_list_next(list, LONG_MS, cancel, reply);
        slapd_thaw(&server);
        if (skv_reply_status(reply) == SKV_INTERRUPTED) {
            interrupts++;
            skv_list_next(list, LONG_MS, NULL, reply);
        }
        if (skv_reply_status(reply) == SKV_END)
            break;
        count = CHECK_STATUS(reply, SKV_OK) ? count + skv_reply_number(reply) : -1;
    }
    skv_list_close(list);
    CHECK(count == KEYS);
    return interrupts;
}

/* The list used to end there, as if it were complete. */
static void an_interrupted_list_continues(void)
{
    int64_t interrupts = 0;

    for (int i = 0; i < 50 && !interrupts; i++)
        interrupts = interrupts_of(skv_list_open(store, "globals/long", 12, LONG_MS, NULL, reply));
    CHECK(interrupts > 0);
}

static void an_interrupted_tree_continues(void)
{
    int64_t interrupts = 0;

    for (int i = 0; i < 50 && !interrupts; i++)
        interrupts = interrupts_of(skv_tree_open(store, "globals/long", 12, 0, LONG_MS, NULL, reply));
    CHECK(interrupts > 0);
}

#define LARGE_KEYS 20

/* A page of the server is larger than the buffers of the socket, so that it stops in the middle of the page. */
static void fill_with_large_documents(void)
{
    static char document[40000];
    char name[64];

    snprintf(document, sizeof document, "{\"value\":\"%*s\"}", (int)sizeof document - 16, "x");
    for (int i = 0; i < LARGE_KEYS; i++) {
        snprintf(name, sizeof name, "globals/large/k%d", i);
        put_gives(name, document, 1);
    }
}

/* The interrupt used to be lost, and the next page waited for the server. */
static void an_interrupt_that_ends_a_page_ends_the_next_one_too(void)
{
    skv_list *list = skv_list_open(store, "globals/large", 13, LONG_MS, NULL, reply);

    CHECK_STATUS(reply, SKV_OK);
    slapd_freeze(&server);
    skv_cancel_reset(cancel);
    skv_cancel_fire(cancel);
    CHECK(skv_list_next(list, LONG_MS, cancel, reply) == SKV_OK && skv_reply_number(reply) > 0);
    CHECK(skv_list_next(list, SOON_MS, cancel, reply) == SKV_INTERRUPTED);
    slapd_thaw(&server);
    skv_list_close(list);
}

static void tests(void)
{
    char tls[128];
    skv_store *mine = store;

    cancel = skv_cancel_new();
    an_interrupt_ends_each_call_to_a_silent_server();
    a_call_polls_its_interrupt_flag();
    fill();
    an_interrupted_list_continues();
    an_interrupted_tree_continues();
    store = open_with(false, (const char *[]){"id=plain", "page_size=10", NULL});
    fill_with_large_documents();
    an_interrupt_that_ends_a_page_ends_the_next_one_too();
    skv_close(store);
    snprintf(tls, sizeof tls, "tls_cacert=%s", server.cacert);
    store = open_at_uri(server.ldaps, false, (const char *[]){"id=plain", "page_size=100", tls, NULL});
    CHECK_STATUS(reply, SKV_OK);
    an_interrupted_list_continues();
    skv_close(store);
    if (CHECK(proxy_begin(&between, server.port))) {
        store = open_through(&between, "1");
        an_interrupted_call_takes_a_response_that_comes_soon();
        an_interrupted_call_sends_no_request_after_its_grace_period();
        a_slow_server_responds_to_a_call_that_is_interrupted_again_and_again();
        an_interrupted_conditional_write_is_in_doubt();
        a_write_in_doubt_after_another_write_is_an_error();
        no_call_takes_the_response_of_an_interrupted_deletion();
        an_interrupted_deletion_reports_a_possible_deletion();
        skv_close(store);
        proxy_end(&between);
    }
    store = mine;
    skv_cancel_free(cancel);
}

int main(void)
{
    static const char *const options[] = {"id=plain", "page_size=100", NULL};
    static const char unlimited[] = "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, unlimited, false, options, tests);
    skv_reply_free(reply);
    return check_summary("store_ldap_interrupts");
}
