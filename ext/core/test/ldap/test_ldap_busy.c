/* Servers that say that they are busy (51) or unavailable (52): what becomes of the connection, and where it goes on.
 */
#include "base/deadline.h"
#include "check.h"
#include "directory.h"

#include <jansson.h>
#include <stdio.h>

static proxy busy, other;

/* The statistics of a server of the pool that was made last. */
static json_int_t server_stat(size_t index, const char *name)
{
    skv_reply *data = skv_reply_new();
    json_t *all, *pool;
    json_int_t number;

    CHECK(skv_stats(data) == SKV_OK);
    all = json_loadb(skv_reply_data(data), skv_reply_size(data), 0, NULL);
    pool = json_array_get(json_object_get(all, "pools"), 0);
    number = json_integer_value(json_object_get(json_array_get(json_object_get(pool, "servers"), index), name));
    json_decref(all);
    skv_reply_free(data);
    return number;
}

/* A store that goes to the busy server first. */
static void open_both(const char *retries)
{
    char uris[160], option[32];

    snprintf(uris, sizeof uris, "%s %s", busy.uri, other.uri);
    snprintf(option, sizeof option, "retries=%s", retries);
    store = open_at_uri(uris, false, (const char *[]){"id=plain", option, NULL});
    CHECK_STATUS(reply, SKV_OK);
    put_gives("globals/b", D1, 1);
    CHECK(server_stat(0, "connects") == 1);
    CHECK(server_stat(1, "connects") == 0);
}

static void a_busy_server_keeps_its_connection(void)
{
    proxy_arm(&busy, PROXY_SEARCH, PROXY_ANSWER, 51, 0, 2);
    get_gives("globals/b", D1);
    proxy_arm(&busy, PROXY_MODIFY, PROXY_ANSWER, 51, 0, 1);
    put_gives("globals/b", D2, 1);
    CHECK(server_stat(0, "connects") == 1);
    CHECK(server_stat(1, "connects") == 0);
}

static void an_unavailable_server_leaves_the_work_to_the_next_one(void)
{
    proxy_arm(&busy, PROXY_SEARCH, PROXY_ANSWER, 52, 0, 100);
    get_gives("globals/b", D2);
    /* Its rest may be over before a machine that is busy has gone on. */
    CHECK(proxy_left(&busy) >= 97 && proxy_left(&busy) < 100);
    CHECK(server_stat(0, "open") == 0);
    CHECK(server_stat(1, "connects") == 1);
    proxy_arm(&busy, PROXY_SEARCH, PROXY_ANSWER, 52, 0, 0);
    put_gives("globals/b", D1, 1);
}

/* Pauses between a hundred attempts would take minutes. */
static void retries_end_at_the_deadline(void)
{
    int64_t began = skv_now_ns();
    int status;

    proxy_arm(&busy, PROXY_SEARCH, PROXY_ANSWER, 51, 0, 1000);
    proxy_arm(&other, PROXY_SEARCH, PROXY_ANSWER, 51, 0, 1000);
    status = get_within("globals/b", 700);
    CHECK(status == SKV_UNAVAILABLE || status == SKV_TIMEOUT);
    CHECK(skv_now_ns() - began >= 300 * SKV_NS_PER_MS);
    CHECK(skv_now_ns() - began < 5000 * SKV_NS_PER_MS);
    CHECK(proxy_left(&busy) + proxy_left(&other) >= 1900);
}

static void tests(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&busy, server.port)) || !CHECK(proxy_begin(&other, server.port)))
        return;
    open_both("100");
    a_busy_server_keeps_its_connection();
    an_unavailable_server_leaves_the_work_to_the_next_one();
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
