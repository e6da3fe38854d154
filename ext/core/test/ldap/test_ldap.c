/* The store in a directory: what it keeps in a real slapd, in both layouts, as an ordinary user and as root DN. */
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int count_listed(const char *folder)
{
    return count_of(skv_list_open(store, folder, strlen(folder), LONG_MS, NULL, reply));
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static void opening_refuses_what_cannot_be_used(void)
{
    static const struct {
        const char *options[4];
        const char *message;
    } cases[] = {
        {{"id=", NULL}, "needs an 'id'"},
        {{"id=a/../b", NULL}, "'..'"},
        {{"id=Prod", NULL}, "fold_case"},
        {{"id=a", "layout=wide", NULL}, "'layout' of a store of type 'ldap' must be 'plain' or 'hex'"},
        {{"id=a", "fold_case=yes", NULL}, "'fold_case' of a store of type 'ldap' must be 'true' or 'false'"},
        {{"id=a", "retries=-1", NULL}, "'retries' of a store of type 'ldap' must be an integer from 0 to 100"},
        {{"id=a", "pool_size=0", NULL}, "'pool_size' of a store of type 'ldap' must be an integer from 1 to 1024"},
        {{"id=a", "idle_timeout_ms=1e3", NULL}, "'idle_timeout_ms' of a store of type 'ldap' must be an integer"},
        {{"id=a", "idle_timeout_ms=99999999999999999999", NULL}, "'idle_timeout_ms'"},
        {{"id=a", "colour=red", NULL}, "unknown option 'colour' of a store of type 'ldap'"},
        {{"id=a", "write_uri=http://x", NULL}, "'http://x'"},
        {{"id=a", "write_uri=ldap://127.0.0.1", "enable_tls=true", NULL}, "TLS configuration incomplete"},
        {{"id=a", "write_uri=ldaps://127.0.0.1", NULL}, "TLS configuration incomplete"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(open_with(false, cases[i].options) == NULL);
        CHECK_STATUS(reply, SKV_INVALID);
        CHECK_HAS(skv_reply_message(reply), cases[i].message);
    }
    CHECK(open_with(true, (const char *[]){"id=a", "write_uri=ldap://127.0.0.1", NULL}) == NULL);
    CHECK_HAS(skv_reply_message(reply), "Plugin missing 'admin_pw_file' configuration");
    CHECK(skv_open("ldap", 4, "id\0a\0", 5, reply) == NULL);
    CHECK_HAS(skv_reply_message(reply), "Plugin missing 'ldap_uri' configuration");
}

static void opening_asks_no_server(void)
{
    static const char options[] = "ldap_uri\0ldapi://%2Fnowhere\0id\0a\0";
    skv_store *elsewhere = skv_open("ldap", 4, options, sizeof options - 1, reply);

    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_get(elsewhere, "globals/a", 9, SKV_GET_ANY, LONG_MS, NULL, reply) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "ldapi://%2Fnowhere");
    skv_close(elsewhere);
}

static void a_base_dn_that_is_not_there_is_an_error_and_no_missing_key(void)
{
    skv_store *mine = store;

    store = open_with(true, (const char *[]){"id=elsewhere", NULL});
    CHECK(kind("") == SKV_KIND_FOLDER);
    skv_close(store);
    {
        char options[512];
        int len = snprintf(options, sizeof options, "ldap_uri%c%s%cbase_dn%cou=none,o=puppet,dc=simp%cid%ca", 0,
                           server.ldapi, 0, 0, 0, 0);

        store = skv_open("ldap", 4, options, (size_t)len + 1, reply);
    }
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_exists(store, "", 0, LONG_MS, NULL, reply) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the base DN 'ou=none,o=puppet,dc=simp' is not there");
    CHECK(get("globals/a") == SKV_UNAVAILABLE);
    CHECK(put("globals/a", D1) == SKV_UNAVAILABLE);
    CHECK(del("globals/a") == SKV_UNAVAILABLE);
    CHECK(deletetree("globals/a") == SKV_UNAVAILABLE);
    listed("globals");
    CHECK_HAS(skv_reply_message(reply), "the base DN 'ou=none,o=puppet,dc=simp' is not there");
    CHECK(skv_exists(store, "globals/a", 9, LONG_MS, NULL, reply) == SKV_UNAVAILABLE);
    skv_close(store);
    store = mine;
}

/* ---- Keys and folders, in either layout ------------------------------------------------------------------------- */

static void the_roots_are_there_before_the_first_put(void)
{
    CHECK(kind("") == SKV_KIND_FOLDER);
    CHECK(kind("globals") == SKV_KIND_FOLDER);
    CHECK(kind("environments") == SKV_KIND_FOLDER);
    CHECK(kind("environments/dev") == SKV_KIND_NONE);
    CHECK_STR(listed(""), "fenvironments fglobals ");
    CHECK_STR(listed("globals"), "");
    CHECK_STR(listed("environments"), "");
    listed("environments/dev");
    CHECK_HAS(skv_reply_message(reply), "Key folder 'environments/dev' not found");
    CHECK(deletetree("environments/dev") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals") == SKV_OK);
}

static void what_is_put_is_got_to_the_byte(void)
{
    put_gives("environments/dev/a", D1, 1);
    get_gives("environments/dev/a", D1);
    put_gives("environments/dev/a", D2, 1);
    get_gives("environments/dev/a", D2);
    put_gives("environments/dev/x/y/z", "{\"value\":\"\xc3\xa9  two spaces \",\"metadata\":{}}", 1);
    get_gives("environments/dev/x/y/z", "{\"value\":\"\xc3\xa9  two spaces \",\"metadata\":{}}");
    put_gives("globals/a", D1, 1);
    get_gives("globals/a", D1);
    CHECK(kind("environments/dev/a") == SKV_KIND_KEY);
    CHECK(kind("environments/dev/x/y") == SKV_KIND_FOLDER);
    CHECK(kind("environments/dev/b") == SKV_KIND_NONE);
    CHECK(kind("environments/dev/b/c/d") == SKV_KIND_NONE);
    CHECK(get("environments/dev/b") == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Key not found: 'environments/dev/b'");
    CHECK(get("environments/dev/x/y") == SKV_IS_FOLDER);
    CHECK_HAS(skv_reply_message(reply), "Key specifies a folder");
    CHECK(get("environments/dev") == SKV_IS_FOLDER);
}

static void names_that_a_dn_must_escape_are_kept(void)
{
    static const char *const keys[] = {
        "globals/n/a,b", "globals/n/+x", "globals/n/#1",   "globals/n/ lead",
        "globals/n/q\"", "globals/n/\\", "globals/n/a=b;", "globals/n/\xc3\xa9t\xc3\xa9"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        put_gives(keys[i], D1, 1);
        get_gives(keys[i], D1);
    }
    CHECK_STR(listed("globals/n"), "k lead=" D1 " k#1=" D1 " k+x=" D1 " k\\=" D1 " ka,b=" D1 " ka=b;=" D1 " kq\"=" D1
                                   " k\xc3\xa9t\xc3\xa9=" D1 " ");
    put_gives("globals/n/f,g/k", D1, 1);
    get_gives("globals/n/f,g/k", D1);
    CHECK(deletetree("globals/n") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/n") == SKV_KIND_NONE);
}

static void a_put_of_the_same_writes_nothing(void)
{
    put_gives("globals/same", "{\"value\":1.0,\"metadata\":{\"a\":\"b\"}}", 1);
    put_gives("globals/same", "{\"value\":1.0,\"metadata\":{\"a\":\"b\"}}", 0);
    put_gives("globals/same", "{ \"value\" : 1.00, \"metadata\" : {\"a\":\"b\"} }", 0);
    get_gives("globals/same", "{\"value\":1.0,\"metadata\":{\"a\":\"b\"}}");
    put_gives("globals/same", "{\"value\":1,\"metadata\":{\"a\":\"b\"}}", 1);
}

static void conditions_are_kept(void)
{
    CHECK(put_if("globals/c", D1, SKV_PUT_EXPECT, D1) == SKV_CONFLICT);
    CHECK(put_if("globals/c", D1, SKV_PUT_ABSENT, NULL) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(put_if("globals/c", D1, SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    CHECK(put_if("globals/c", D2, SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    CHECK(put_if("globals/c", D2, SKV_PUT_EXPECT, D2) == SKV_CONFLICT);
    CHECK(put_if("globals/c", D2, SKV_PUT_EXPECT, D1) == SKV_OK && skv_reply_number(reply) == 1);
    get_gives("globals/c", D2);
    CHECK(put_if("globals/c", D2, SKV_PUT_EXPECT, D2) == SKV_OK && skv_reply_number(reply) == 0);
    /* caseExactMatch takes runs of spaces for one. */
    put_gives("globals/c", "{\"value\":\"a  b\"}", 1);
    CHECK(put_if("globals/c", D1, SKV_PUT_EXPECT, "{\"value\":\"a b\"}") == SKV_CONFLICT);
    CHECK(put_if("globals/c", "{\"value\":\"a b\"}", SKV_PUT_EXPECT, "{\"value\":\"a  b\"}") == SKV_OK);
    get_gives("globals/c", "{\"value\":\"a b\"}");
}

static void documents_that_a_directory_does_not_keep_are_refused(void)
{
    CHECK(put("globals/d", "") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "the document is empty");
    CHECK(put("globals/d", "{\"value\":\"\xff\"}") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "not UTF-8");
    CHECK(kind("globals/d") == SKV_KIND_NONE);
}

static void delete_says_whether_it_was_there_and_keeps_the_folder(void)
{
    put_gives("globals/del/a", D1, 1);
    CHECK(del("globals/del/a") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(del("globals/del/a") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(kind("globals/del") == SKV_KIND_FOLDER);
    CHECK_STR(listed("globals/del"), "");
    CHECK(del("globals/del") == SKV_IS_FOLDER);
    CHECK(kind("globals/del") == SKV_KIND_FOLDER);
    CHECK(del("globals/none/x") == SKV_OK && skv_reply_number(reply) == 0);
}

static void deletetree_takes_all_that_is_below(void)
{
    put_gives("environments/t/a/b/c/d", D1, 1);
    put_gives("environments/t/a/b/e", D1, 1);
    put_gives("environments/t/a/f", D1, 1);
    put_gives("environments/t/k", D1, 1);
    put_gives("environments/t/a/1/2/3/4/5/6/7/8/9/10/11/12", D1, 1);
    CHECK(deletetree("environments/t/k") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "it is a key, not a folder");
    CHECK(deletetree("environments/t/a") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(kind("environments/t/a") == SKV_KIND_NONE);
    CHECK(deletetree("environments/t/a") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(kind("environments/t/k") == SKV_KIND_KEY);
    CHECK(deletetree("environments/t") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("environments/t") == SKV_KIND_NONE);
    put_gives("globals/t/u", D1, 1);
    CHECK(deletetree("globals") == SKV_OK);
    CHECK_STR(listed("globals"), "");
    CHECK(deletetree("environments") == SKV_OK);
    CHECK_STR(listed("environments"), "");
}

static void list_shows_keys_and_folders(void)
{
    put_gives("environments/l/a", D1, 1);
    put_gives("environments/l/.b", D2, 1);
    put_gives("environments/l/f/g", D1, 1);
    CHECK_STR(listed("environments/l"), "ff k.b=" D2 " ka=" D1 " ");
    CHECK_STR(listed("environments"), "fdev fl ");
    listed("environments/l/a");
    CHECK_HAS(skv_reply_message(reply), "Key folder 'environments/l/a' not found");
    CHECK_STATUS(reply, SKV_NOT_FOUND);
    deletetree("environments/l");
}

static void a_folder_that_vanished_is_made_again(void)
{
    put_gives("environments/v/w/a", D1, 1);
    CHECK(deletetree("environments/v") == SKV_OK);
    put_gives("environments/v/w/a", D1, 1);
    get_gives("environments/v/w/a", D1);
    deletetree("environments/v");
}

static void capital_letters_in_an_environment_are_refused(void)
{
    CHECK(put("environments/Dev/a", D1) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "environment 'Dev' has capital letters");
    CHECK(get("environments/Dev/a") == SKV_INVALID);
    listed("environments/Dev");
    CHECK_HAS(skv_reply_message(reply), "fold_case");
}

static void names_that_are_too_long_are_refused_before_they_are_sent(void)
{
    char key[300] = "globals/";

    memset(key + 8, 'a', 250);
    CHECK(get(key) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "where there is room for");
}

static void put_and_get(const char *key, size_t len)
{
    char *document = malloc(len + 1);

    memset(document, 'x', len);
    document[len] = '\0';
    put_gives(key, document, 1);
    get_gives(key, document);
    document[len / 2] = 'y';
    put_gives(key, document, 1);
    get_gives(key, document);
    free(document);
}

static void large_documents_come_back(void)
{
    put_and_get("globals/large", 70000);
    put_and_get("globals/large", 1400000);
    CHECK(del("globals/large") == SKV_OK);
}

/* More than a page of the server's, and more than one of ours. */
static void long_lists_are_complete(void)
{
    char key[64];

    for (int i = 0; i < 620; i++) {
        snprintf(key, sizeof key, "globals/long/k%d", i);
        put(key, D1);
        CHECK_STATUS(reply, SKV_OK);
    }
    CHECK(count_listed("globals/long") == 620);
}

static void a_list_that_is_closed_early_leaves_the_store_usable(void)
{
    skv_list *list = skv_list_open(store, "globals/long", 12, LONG_MS, NULL, reply);

    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK);
    skv_list_close(list);
    get_gives("globals/long/k1", D1);
    skv_list_close(skv_list_open(store, "globals/long", 12, LONG_MS, NULL, reply));
    get_gives("globals/long/k1", D1);
}

static void long_trees_are_deleted(void)
{
    CHECK(deletetree("globals/long") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(kind("globals/long") == SKV_KIND_NONE);
}

/* Makes each allocation of a handful of calls fail in turn. */
static void memory_scenario(void)
{
    int64_t number;
    int status = put("globals/m/a", D1);
    const char *found;

    if (CHECK(status == SKV_OK || status == SKV_NOMEM) && status == SKV_OK) {
        status = get("globals/m/a");
        CHECK(status == SKV_NOMEM || (status == SKV_OK && strcmp(skv_reply_data(reply), D1) == 0));
        status = put("globals/m/a", D2);
        number = skv_reply_number(reply);
        CHECK(status == SKV_NOMEM || (status == SKV_OK && number == 1));
        status = put("globals/m/a", D1);
        CHECK(status == SKV_NOMEM || status == SKV_OK);
        status = skv_exists(store, "globals/m", 9, LONG_MS, NULL, reply);
        CHECK(status == SKV_NOMEM || (status == SKV_OK && skv_reply_number(reply) == SKV_KIND_FOLDER));
        found = listed("globals/m");
        CHECK(skv_reply_status(reply) == SKV_NOMEM || strcmp(found, "ka=" D1 " ") == 0 ||
              strcmp(found, "ka=" D2 " ") == 0);
    }
    status = del("globals/m/a");
    CHECK(status == SKV_NOMEM || status == SKV_OK);
    status = deletetree("globals/m");
    CHECK(status == SKV_NOMEM || status == SKV_OK);
}

static void calls_survive_running_out_of_memory(void)
{
    chaos(memory_scenario);
}

static void what_both_layouts_do(void)
{
    the_roots_are_there_before_the_first_put();
    what_is_put_is_got_to_the_byte();
    names_that_a_dn_must_escape_are_kept();
    a_put_of_the_same_writes_nothing();
    conditions_are_kept();
    documents_that_a_directory_does_not_keep_are_refused();
    delete_says_whether_it_was_there_and_keeps_the_folder();
    list_shows_keys_and_folders();
    a_folder_that_vanished_is_made_again();
    capital_letters_in_an_environment_are_refused();
    names_that_are_too_long_are_refused_before_they_are_sent();
    large_documents_come_back();
    long_lists_are_complete();
    a_list_that_is_closed_early_leaves_the_store_usable();
    long_trees_are_deleted();
    calls_survive_running_out_of_memory();
    deletetree_takes_all_that_is_below();
}

/* ---- Plain ------------------------------------------------------------------------------------------------------ */

static void a_key_and_a_folder_may_share_a_name(void)
{
    put_gives("globals/both", D1, 1);
    put_gives("globals/both/a", D2, 1);
    CHECK(kind("globals/both") == SKV_KIND_KEY);
    get_gives("globals/both", D1);
    CHECK_STR(listed("globals"), "fboth kboth=" D1 " ");
    CHECK(del("globals/both") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/both") == SKV_KIND_FOLDER);
    put_gives("globals/both", D1, 1);
    CHECK(deletetree("globals/both") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/both") == SKV_KIND_KEY);
    CHECK(deletetree("globals/both") == SKV_IS_KEY);
    CHECK(del("globals/both") == SKV_OK);
}

static void strict_paths_refuses_to_share_a_name(void)
{
    skv_store *mine = store;

    store = open_with(false, (const char *[]){"id=strict", "strict_paths=true", NULL});
    put_gives("globals/k", D1, 1);
    put_gives("globals/f/a", D1, 1);
    CHECK(put("globals/k/a", D1) == SKV_IS_KEY);
    CHECK(put("globals/k/a/b/c", D1) == SKV_IS_KEY);
    CHECK(put("globals/f", D1) == SKV_IS_FOLDER);
    CHECK(kind("globals/k/a") == SKV_KIND_NONE);
    put_gives("globals/k", D2, 1);
    put_gives("globals/f/b", D1, 1);
    skv_close(store);
    store = mine;
}

static void fold_case_shares_an_environment(void)
{
    skv_store *mine = store;

    store = open_with(false, (const char *[]){"id=Fold", "fold_case=true", NULL});
    put_gives("environments/Dev/a", D1, 1);
    get_gives("environments/dev/a", D1);
    skv_close(store);
    store = mine;
}

/* A value that looks like an entry, and entries that are none of simpkv's. */
static void list_takes_no_value_for_an_entry_and_no_stranger_for_a_key(void)
{
    put_gives("globals/s/a", "{\"value\":\"\\nobjectClass: organizationalUnit\\n\"}", 1);
    CHECK(directory_modify(&server, "dn: cn=stranger,ou=s,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: organizationalRole\ncn: stranger\n\n"
                                    "dn: ou=New Folder,ou=s,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: organizationalUnit\nou: other\nou: New Folder\n"));
    CHECK_STR(listed("globals/s"), "fNew Folder ka={\"value\":\"\\nobjectClass: organizationalUnit\\n\"} ");
    CHECK(deletetree("globals/s") == SKV_OK);
}

static void an_ordinary_user_meets_the_servers_limit(void)
{
    char key[64];

    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "globals/limited/k%d", i);
        put(key, D1);
    }
    CHECK(count_listed("globals/limited") == -SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "size.prtotal");
    CHECK_HAS(skv_reply_message(reply), server.ldapi);
    CHECK(get("globals/limited/k1") == SKV_OK);
    CHECK(deletetree("globals/limited") == SKV_TOO_LARGE);
}

/* With the replica down, whoever answers is the other one. */
static void the_latest_is_read_where_it_is_written_to_that_once(void)
{
    char option[256];
    skv_store *mine = store;

    put_gives("globals/late", D1, 1);
    snprintf(option, sizeof option, "write_uri=%s", server.ldapi);
    store = open_at_uri("ldap://127.0.0.1:1", false, (const char *[]){"id=plain", "retries=0", option, NULL});
    CHECK(skv_get(store, "globals/late", 12, SKV_GET_LATEST, LONG_MS, NULL, reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), D1);
    CHECK(get("globals/late") == SKV_UNAVAILABLE);
    skv_close(store);
    store = mine;
    CHECK(del("globals/late") == SKV_OK);
}

static void a_server_that_restarts_is_found_again(void)
{
    put_gives("globals/r", D1, 1);
    slapd_stop(&server);
    CHECK(get("globals/r") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), server.ldapi);
    CHECK(slapd_start(&server));
    get_gives("globals/r", D1);
    put_gives("globals/r", D2, 1);
    get_gives("globals/r", D2);
}

#define WRITERS 6
#define WRITES 60

/* Counts up a number, each step on condition that nobody else has. */
static void *count_up(void *unused)
{
    skv_reply *mine = skv_reply_new();

    for (int written = 0; written < WRITES;) {
        char old[64], new[64];
        int number;

        CHECK(skv_get(store, "globals/n", 9, SKV_GET_ANY, LONG_MS, NULL, mine) == SKV_OK);
        snprintf(old, sizeof old, "%s", skv_reply_data(mine));
        if (sscanf(old, "{\"value\":%d}", &number) != 1)
            break;
        snprintf(new, sizeof new, "{\"value\":%d}", number + 1);
        skv_put(store, "globals/n", 9, new, strlen(new), SKV_PUT_EXPECT, old, strlen(old), LONG_MS, NULL, mine);
        written += skv_reply_status(mine) == SKV_OK;
        if (skv_reply_status(mine) != SKV_OK && skv_reply_status(mine) != SKV_CONFLICT)
            CHECK_STATUS(mine, SKV_OK);
    }
    skv_reply_free(mine);
    return unused;
}

static void no_conditional_write_is_lost(void)
{
    pthread_t threads[WRITERS];
    char expected[64];

    put_gives("globals/n", "{\"value\":0}", 1);
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, count_up, NULL) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    snprintf(expected, sizeof expected, "{\"value\":%d}", WRITERS * WRITES);
    get_gives("globals/n", expected);
}

/* Each puts its own keys into one folder that another keeps deleting. */
static void *put_on(void *argument)
{
    const char *name = argument;
    skv_reply *mine = skv_reply_new();

    for (int i = 0; i < WRITES; i++) {
        char key[64];
        int len = snprintf(key, sizeof key, "globals/churn/f%d/%s", i % 3, name);

        skv_put(store, key, (size_t)len, D1, strlen(D1), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine);
        CHECK_STATUS(mine, SKV_OK);
    }
    skv_reply_free(mine);
    return NULL;
}

static void *delete_on(void *unused)
{
    skv_reply *mine = skv_reply_new();

    for (int i = 0; i < WRITES / 2; i++) {
        int status = skv_deletetree(store, "globals/churn", 13, LONG_MS, NULL, mine);

        CHECK(status == SKV_OK || status == SKV_UNAVAILABLE);
    }
    skv_reply_free(mine);
    return unused;
}

static void writers_and_deleters_do_not_disturb_each_other(void)
{
    static char names[][2] = {"a", "b", "c"};
    pthread_t threads[4];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, put_on, names[i]) == 0);
    CHECK(pthread_create(&threads[3], NULL, delete_on, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(deletetree("globals/churn") == SKV_OK);
}

/* As on 389-DS. */
static void conditions_are_kept_without_the_assertion_control(void)
{
    skv_store *mine = store;
    proxy between;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    between.hide_assertion = true;
    store = open_through(&between, "1");
    CHECK(del("globals/c") == SKV_OK);
    conditions_are_kept();
    no_conditional_write_is_lost();
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

static void statistics_are_json_without_a_secret(void)
{
    CHECK(skv_stats(reply) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"pools\":[{");
    CHECK(strstr(skv_reply_data(reply), SLAPD_PASSWORD) == NULL);
    CHECK(skv_stats(NULL) == SKV_INVALID);
}

/* ---- Hex -------------------------------------------------------------------------------------------------------- */

static void case_counts(void)
{
    put_gives("globals/Case", D1, 1);
    put_gives("globals/case", D2, 1);
    get_gives("globals/Case", D1);
    get_gives("globals/case", D2);
    CHECK_STR(listed("globals"), "kCase=" D1 " kcase=" D2 " ");
    CHECK(deletetree("globals") == SKV_OK);
}

static void a_name_is_a_keys_or_a_folders(void)
{
    put_gives("globals/k", D1, 1);
    put_gives("globals/f/a", D1, 1);
    CHECK(put("globals/k/a", D1) == SKV_IS_KEY);
    CHECK(put("globals/k/a/b", D1) == SKV_IS_KEY);
    CHECK(put("globals/f", D1) == SKV_IS_FOLDER);
    CHECK(deletetree("globals") == SKV_OK);
}

/* ---- All -------------------------------------------------------------------------------------------------------- */

static void plain_tests(void)
{
    opening_refuses_what_cannot_be_used();
    opening_asks_no_server();
    a_base_dn_that_is_not_there_is_an_error_and_no_missing_key();
    what_both_layouts_do();
    a_key_and_a_folder_may_share_a_name();
    strict_paths_refuses_to_share_a_name();
    fold_case_shares_an_environment();
    list_takes_no_value_for_an_entry_and_no_stranger_for_a_key();
    the_latest_is_read_where_it_is_written_to_that_once();
    a_server_that_restarts_is_found_again();
    no_conditional_write_is_lost();
    writers_and_deleters_do_not_disturb_each_other();
    conditions_are_kept_without_the_assertion_control();
    statistics_are_json_without_a_secret();
}

static void hex_tests(void)
{
    what_both_layouts_do();
    case_counts();
    a_name_is_a_keys_or_a_folders();
}

static void schemaless_tests(void)
{
    CHECK(put("globals/a", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "schema");
}

static void without_rights_a_call_is_denied(void)
{
    skv_store *mine = store;

    CHECK(put("globals/a", D1) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Key write to 'globals/a' failed: ");
    CHECK_HAS(skv_reply_message(reply), "answered 50 to '" DIRECTORY_USER_DN "'");
    CHECK_HAS(skv_reply_message(reply), "admin_dn");
    store = open_with(true, (const char *[]){"id=plain", NULL});
    put_gives("globals/a", D1, 1);
    skv_close(store);
    store = mine;
    get_gives("globals/a", D1);
    CHECK(put("globals/a", D2) == SKV_DENIED);
    CHECK(del("globals/a") == SKV_DENIED);
    CHECK(deletetree("globals") == SKV_DENIED);
    put_gives("globals/a", D1, 0);
}

int main(void)
{
    static const char *const plain[] = {"id=plain", "page_size=100", NULL};
    static const char *const hex[] = {"id=Hex/nested", "layout=hex", "page_size=100", NULL};
    static const char no_write[] = "access to * by * read";
    static const char unlimited[] = "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, unlimited, false, plain, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, unlimited, false, hex, hex_tests);
    run_ldap_tests(DIRECTORY_PLAIN, "", true, plain, what_both_layouts_do);
    run_ldap_tests(DIRECTORY_PLAIN, "sizelimit 20", false, plain, an_ordinary_user_meets_the_servers_limit);
    run_ldap_tests(NULL, "", true, plain, schemaless_tests);
    run_ldap_tests(DIRECTORY_PLAIN, no_write, false, plain, without_rights_a_call_is_denied);
    skv_reply_free(reply);
    return check_summary("store_ldap");
}
