/* The store in a directory: the changes of a folder, by content synchronization of OpenLDAP. */
#include "changes.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <stdio.h>
#include <string.h>

static void each_change_of_a_key_is_told(void)
{
    put("globals/w/old", D1);
    put("globals/outside", D1);
    watch("globals/w");
    put("globals/w/new", D1);
    CHECK_STR(changed_until("pnew "), "pnew ");
    put("globals/w/old", D2);
    put("globals/outside", D2);
    put("environments/a/b", D1);
    del("globals/w/old");
    CHECK_STR(changed_until("pold dold "), "pold dold ");
    put_gives("globals/w/new", D1, 0);
    get_gives("globals/w/new", D1);
    put("globals/w/last", D1);
    CHECK_STR(changed_until("plast "), "plast ");
    stop();
}

static void keys_of_a_new_folder_are_told(void)
{
    watch("globals/w");
    put("globals/w/a/b/k", D1);
    CHECK_STR(changed_until("fa/ fa/b/ pa/b/k "), "fa/ fa/b/ pa/b/k ");
    deletetree("globals/w/a");
    CHECK_STR(changed_until("da/b/k "), "da/b/k ");
    put("globals/w/a/k", D1);
    CHECK_STR(changed_until("fa/ pa/k "), "fa/ pa/k ");
    stop();
}

static void all_environments_are_told_from_the_top_on(void)
{
    watch("environments");
    put("environments/a/b", D2);
    put("globals/w/new", D2);
    put("environments/a/c", D2);
    CHECK_STR(changed_until("pa/b pa/c "), "pa/b pa/c ");
    stop();
    watch("");
    put("globals/w/new", D1);
    put("environments/a/b", D1);
    CHECK_STR(changed_until("pglobals/w/new penvironments/a/b "), "pglobals/w/new penvironments/a/b ");
    stop();
}

static void the_end_of_the_folder_ends_the_watch(void)
{
    put("globals/gone/k", D1);
    watch("globals/gone");
    deletetree("globals/gone");
    CHECK_STR(changed_until("dk l "), "dk l ");
    CHECK_STR(changed_until("? "), skv_status_name(SKV_NOT_FOUND));
    CHECK(skv_changes_next(changes, 0, NULL, reply) == SKV_NOT_FOUND);
    stop();
}

static void a_missing_folder_and_a_key_are_refused(void)
{
    static const char *const none[] = {"globals/none", "globals/none/below", "globals/w/new"};

    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        watch_since(none[i], NULL);
        CHECK(!changes);
        CHECK_STATUS(reply, SKV_NOT_FOUND);
    }
}

static void a_watch_continues_from_a_cookie(void)
{
    static const char future[] = "ldap:20990101000000.000000Z#000000#000#000000";
    char first[sizeof cookie];

    put("globals/since/a", D1);
    put("globals/since/b", D1);
    watch("globals/since");
    strcpy(first, cookie);
    CHECK_HAS(first, "ldap:20");
    stop();
    watch_since("globals/since", first);
    CHECK_STR(changed_until("pa pb c "), "pa pb c ");
    stop();
    put("globals/since/c", D1);
    del("globals/since/b");
    watch_since("globals/since", first);
    changed_until("pa pc i ");
    CHECK_HAS(seen, "pc ");
    CHECK_STR(seen + strlen(seen) - 2, "i ");
    put("globals/since/d", D1);
    CHECK_STR(changed_until("pd "), "pd ");
    CHECK(strcmp(cookie, first) > 0);
    stop();
    watch_since("globals/since", future);
    CHECK_STR(changed_until("r "), "r ");
    stop();
}

static void malformed_cookies_are_refused(void)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "file:1",
                                        "ldap:",
                                        "ldap:;",
                                        "ldap:20260101000000.000000Z#000000#000#00000",
                                        "ldap:20260101000000.000000Z#000000#000#000000;",
                                        "ldap:2026010100000a.000000Z#000000#000#000000"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        watch_since("globals/w", wrong[i]);
        CHECK(!changes);
        CHECK_STATUS(reply, SKV_INVALID);
        CHECK_HAS(skv_reply_message(reply), "cookie");
    }
}

static void a_watch_outlives_the_server(void)
{
    put("globals/r/same", D1);
    put("globals/r/old", D1);
    put("globals/r/gone", D1);
    watch("globals/r");
    slapd_kill(&server);
    CHECK(slapd_start(&server));
    put("globals/r/old", D2);
    put("globals/r/f/new", D1);
    del("globals/r/gone");
    CHECK_STR(changed_until("l dgone ff/ pold pf/new b "), "l dgone ff/ pold pf/new b ");
    put("globals/r/same", D2);
    CHECK_STR(changed_until("psame "), "psame ");
    stop();
}

static void a_moved_entry_is_told_under_both_names(void)
{
    put("globals/m/a/k", D1);
    watch("globals/m");
    CHECK(directory_modify(&server, "dn: ou=a,ou=m,ou=globals,ou=plain,ou=instances,ou=simpkv,o=puppet,dc=simp\n"
                                    "changetype: modrdn\nnewrdn: ou=z\ndeleteoldrdn: 1\n"));
    changed_until("fz/ da/k pz/k ");
    CHECK_HAS(seen, "fz/ ");
    CHECK_HAS(seen, "da/k ");
    CHECK_HAS(seen, "pz/k ");
    stop();
}

static void every_one_of_many_changes_is_told(void)
{
    bool is_told[700] = {false};
    char key[64];
    int told = 0;

    create_folder("globals/many");
    watch("globals/many");
    for (int i = 0; i < 700; i++) {
        snprintf(key, sizeof key, "globals/many/k%d", i);
        put(key, D1);
    }
    while (told < 700 && skv_changes_next(changes, LONG_MS, NULL, reply) == SKV_OK && skv_reply_number(reply) > 0) {
        seen[0] = '\0';
        note_records();
        for (const char *p = seen; sscanf(p, "pk%d", (int[]){0}) == 1; p = strchr(p, ' ') + 1) {
            int i = 0;

            sscanf(p, "pk%d", &i);
            told += !is_told[i];
            is_told[i] = true;
        }
    }
    CHECK(told == 700);
    stop();
}

static void no_memory_ends_a_watch(void)
{
    watch_since("globals/w", NULL);
    CHECK((changes && strcmp(changed_until("c "), "c ") == 0) || skv_reply_status(reply) == SKV_NOMEM);
    stop();
}

/* Waits that end before anything has come leave the connection usable. */
static void a_watch_goes_on_after_waits(const char *uri, const char *option)
{
    skv_store *mine = store;

    store = open_at_uri(uri, false, (const char *[]){"id=plain", option, NULL});
    watch("globals/w");
    for (int i = 0; i < 4; i++) {
        CHECK(skv_changes_next(changes, 10, NULL, reply) == SKV_OK && skv_reply_number(reply) == 0);
        put("globals/w/waited", i % 2 ? D1 : D2);
        CHECK_STR(changed_until("pwaited "), "pwaited ");
    }
    stop();
    skv_close(store);
    store = mine;
}

static void a_watch_takes_no_place_of_the_pool(void)
{
    skv_store *mine = store;

    store = open_at_uri(server.ldap, false, (const char *[]){"id=plain", "pool_size=1", "pool_timeout_ms=10000", NULL});
    watch("globals/w");
    put_gives("globals/w/waited", D2, 1);
    put_gives("globals/w/waited", D1, 1);
    CHECK_STR(changed_until("pwaited pwaited "), "pwaited pwaited ");
    stop();
    skv_close(store);
    store = mine;
}

static void an_interrupt_does_not_end_the_watch(void)
{
    skv_cancel *cancel = skv_cancel_new();

    watch("globals/w");
    skv_cancel_fire(cancel);
    CHECK(skv_changes_next(changes, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    put("globals/w/new", D2);
    put("globals/w/new", D1);
    CHECK_STR(changed_until("pnew pnew "), "pnew pnew ");
    stop();
    skv_cancel_free(cancel);
}

static void tests(void)
{
    each_change_of_a_key_is_told();
    keys_of_a_new_folder_are_told();
    all_environments_are_told_from_the_top_on();
    a_missing_folder_and_a_key_are_refused();
    the_end_of_the_folder_ends_the_watch();
    malformed_cookies_are_refused();
    a_watch_continues_from_a_cookie();
    every_one_of_many_changes_is_told();
    a_watch_outlives_the_server();
}

static void tests_plain(void)
{
    char tls[128];

    tests();
    snprintf(tls, sizeof tls, "tls_cacert=%s", server.cacert);
    a_watch_goes_on_after_waits(server.ldaps, tls);
    a_watch_goes_on_after_waits(server.ldap, "retries=0");
    a_watch_takes_no_place_of_the_pool();
    an_interrupt_does_not_end_the_watch();
    chaos(no_memory_ends_a_watch);
    a_moved_entry_is_told_under_both_names();
}

static void a_server_without_the_overlay_is_refused(void)
{
    put("globals/w/k", D1);
    watch_since("globals/w", NULL);
    CHECK(!changes);
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "overlay syncprov");
    CHECK_HAS(skv_reply_message(reply), "--poll");
}

int main(void)
{
    static const char overlay[] =
        "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited\noverlay syncprov";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN "\nmoduleload syncprov", overlay, false, (const char *[]){"id=plain", NULL},
                   tests_plain);
    run_ldap_tests(DIRECTORY_HEX "\nmoduleload syncprov", overlay, false,
                   (const char *[]){"id=hex", "layout=hex", NULL}, tests);
    run_ldap_tests(DIRECTORY_PLAIN, "", false, (const char *[]){"id=plain", NULL},
                   a_server_without_the_overlay_is_refused);
    skv_reply_free(reply);
    return check_summary("store_ldap_watch");
}
