/* The store in a directory: a watch whose server is lost, hangs, or is silent, beside another server. The servers do
 * not replicate: each of them lags behind the other one as long as a test wants. */
#include "changes.h"
#include "check.h"
#include "directory.h"
#include "proxy.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA DIRECTORY_PLAIN "\nmoduleload syncprov"
#define OVERLAY "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited\noverlay syncprov"

/* How long a server may be silent before it is asked. */
#define SILENCE_MS 300

static slapd second;
static skv_store *first_store, *second_store;

/* Runs a test with a store of both servers. Other URIs make another pool, which takes both to be up. */
static void run(void (*test)(void), const char *uri, const char *second_uri)
{
    char uris[512];

    snprintf(uris, sizeof uris, "%s %s", uri, second_uri);
    store = open_at_uri(uris, false, (const char *[]){"id=plain", "connect_timeout_ms=500", NULL});
    test();
    skv_close(store);
}

static void put_on(skv_store *there, const char *key)
{
    CHECK(skv_put(there, key, strlen(key), D1, strlen(D1), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, reply) == SKV_OK);
}

static void watch_closely(const char *folder)
{
    changes = skv_changes_open(store, folder, strlen(folder), NULL, 0, SILENCE_MS, NULL, reply);
    if (CHECK(changes != NULL))
        CHECK_STR(changed_until("c "), "c ");
}

static void a_server_that_lags_tells_no_deletions(void)
{
    put_on(second_store, "globals/w/both");
    put_on(first_store, "globals/w/both");
    put_on(first_store, "globals/w/new");
    watch("globals/w");
    slapd_stop(&server);
    CHECK_STR(changed_until("l r "), "l r ");
    put_on(second_store, "globals/w/new");
    CHECK_STR(changed_until("pnew "), "pnew ");
    slapd_stop(&second);
    CHECK(slapd_start(&server));
    CHECK_STR(changed_until("l r "), "l r ");
    CHECK(slapd_start(&second));
    stop();
}

static void a_server_that_is_not_behind_tells_what_differs(void)
{
    put_on(first_store, "globals/n/same");
    put_on(first_store, "globals/n/gone");
    put_on(second_store, "globals/n/same");
    watch("globals/n");
    put_on(second_store, "globals/n/new");
    slapd_stop(&server);
    changed_until("l dgone pnew psame ");
    CHECK_HAS(seen, "dgone ");
    CHECK_HAS(seen, "pnew ");
    CHECK(!strstr(seen, "r "));
    CHECK(slapd_start(&server));
    stop();
}

/* The second server is behind, and has not got the folder yet. */
static void a_folder_that_another_server_lacks_ends_the_watch(void)
{
    put_on(first_store, "globals/f/k");
    watch("globals/f");
    slapd_stop(&server);
    CHECK_STR(changed_until("l ? "), skv_status_name(SKV_NOT_FOUND));
    CHECK(slapd_start(&server));
    stop();
}

static void a_server_that_hangs_is_left(void)
{
    put_on(second_store, "globals/h/k");
    put_on(first_store, "globals/h/k");
    put_on(first_store, "globals/h/new");
    watch_closely("globals/h");
    slapd_freeze(&server);
    CHECK_STR(changed_until("l r "), "l r ");
    slapd_thaw(&server);
    stop();
}

/* The server is asked again and again, on the connection of the watch, which goes on. */
static void a_silent_server_is_asked_and_kept(void)
{
    proxy between;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    store = open_at_uri(between.uri, false, (const char *[]){"id=plain", NULL});
    put("globals/q/k", D1);
    watch_closely("globals/q");
    for (int i = 0; i < 3; i++) {
        proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_REQUEST, 1, 0, 1);
        for (int wait = 0; wait < LONG_MS / 100 && proxy_left(&between) > 0; wait++)
            CHECK(skv_changes_next(changes, 100, NULL, reply) == SKV_OK && skv_reply_number(reply) == 0);
        CHECK(proxy_left(&between) == 0);
    }
    put("globals/q/k", D2);
    CHECK_STR(changed_until("pk "), "pk ");
    CHECK(between.count == 2);
    stop();
    skv_close(store);
    proxy_end(&between);
}

int main(void)
{
    reply = skv_reply_new();
    if (CHECK(directory_begin(&server, SCHEMA, OVERLAY)) && CHECK(directory_begin(&second, SCHEMA, OVERLAY))) {
        first_store = open_with(false, (const char *[]){"id=plain", NULL});
        second_store = open_at_uri(second.ldap, false, (const char *[]){"id=plain", NULL});
        run(a_server_that_lags_tells_no_deletions, server.ldap, second.ldap);
        run(a_server_that_is_not_behind_tells_what_differs, server.ldapi, second.ldap);
        run(a_folder_that_another_server_lacks_ends_the_watch, server.ldap, second.ldapi);
        run(a_server_that_hangs_is_left, server.ldapi, second.ldapi);
        a_silent_server_is_asked_and_kept();
        skv_close(second_store);
        skv_close(first_store);
    }
    slapd_end(&server);
    slapd_end(&second);
    skv_reply_free(reply);
    return check_summary("ldap_watch_failover");
}
