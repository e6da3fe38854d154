/* Servers that respond "busy" (51) or "unavailable" (52): the connection, and the server that is used next. */
#include "base/deadline.h"
#include "check.h"
#include "directory.h"
#include "pool_fixture.h"

#include <poll.h>
#include <stdio.h>

static proxy busy, other;
static json_int_t connects, other_connects;

/* Opens a store whose first server is the busy one, and waits until its calls use that server. On a slow machine, the
 * first connect may exceed the limit of an attempt, and the call goes on at the other server. */
static void open_both(const char *retries)
{
    char uris[160], option[32];

    snprintf(uris, sizeof uris, "%s %s", busy.uri, other.uri);
    snprintf(option, sizeof option, "retries=%s", retries);
    store = open_at_uri(uris, false, (const char *[]){"id=plain", option, NULL});
    CHECK_STATUS(reply, SKV_OK);
    put_gives("globals/b", D1, 1);
    for (int turns = 0; turns < 600 && server_stat(0, "open") == 0; turns++) {
        poll(NULL, 0, 100);
        get_gives("globals/b", D1);
    }
    CHECK(server_stat(0, "open") == 1);
    connects = server_stat(0, "connects");
    other_connects = server_stat(1, "connects");
}

static void a_busy_server_keeps_its_connection(void)
{
    proxy_arm(&busy, PROXY_SEARCH, PROXY_RESPOND, 51, 0, 2);
    get_gives("globals/b", D1);
    proxy_arm(&busy, PROXY_MODIFY, PROXY_RESPOND, 51, 0, 1);
    put_gives("globals/b", D2, 1);
    CHECK(server_stat(0, "connects") == connects);
    CHECK(server_stat(1, "connects") == other_connects);
}

static void an_unavailable_server_is_replaced_by_the_next(void)
{
    proxy_arm(&busy, PROXY_SEARCH, PROXY_RESPOND, 52, 0, 100);
    get_gives("globals/b", D2);
    /* On a busy machine, its quarantine may end before the test goes on. */
    CHECK(proxy_left(&busy) >= 97 && proxy_left(&busy) < 100);
    CHECK(server_stat(0, "open") == 0);
    CHECK(server_stat(1, "open") == 1);
    proxy_arm(&busy, PROXY_SEARCH, PROXY_RESPOND, 52, 0, 0);
    put_gives("globals/b", D1, 1);
}

/* The pauses of a hundred attempts would take minutes. */
static void retries_end_at_the_deadline(void)
{
    int64_t began = skv_now_ns();
    int status;

    proxy_arm(&busy, PROXY_SEARCH, PROXY_RESPOND, 51, 0, 1000);
    proxy_arm(&other, PROXY_SEARCH, PROXY_RESPOND, 51, 0, 1000);
    status = get_within("globals/b", 700);
    CHECK(status == SKV_UNAVAILABLE || status == SKV_TIMEOUT);
    CHECK(skv_now_ns() - began >= 300 * SKV_NS_PER_MS);
    CHECK(skv_now_ns() - began < 20000 * SKV_NS_PER_MS);
    CHECK(proxy_left(&busy) + proxy_left(&other) >= 1900);
}

static void tests(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&busy, server.port)) || !CHECK(proxy_begin(&other, server.port)))
        return;
    open_both("100");
    a_busy_server_keeps_its_connection();
    an_unavailable_server_is_replaced_by_the_next();
    retries_end_at_the_deadline();
    skv_close(store);
    store = mine;
    proxy_end(&busy);
    proxy_end(&other);
}

int main(void)
{
    static const char *const options[] = {"id=plain", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, tests);
    skv_reply_free(reply);
    check_tally("busy and unavailable, before slapd", proxy_faults(), calls_made());
    return check_summary("store_ldap_busy");
}
