/* The LDAP store and its server: options, rights, limits, restarts. */
#include "check.h"
#include "directory.h"
#include "simpkv_faults.h"

#include <string.h>

static void opening_refuses_unusable_options(void)
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
        {{"id=a", "pool_size=0", NULL}, "'pool_size' of a store of type 'ldap' must be an integer from 1 to 1000"},
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

static void opening_connects_to_no_server(void)
{
    static const char options[] = "ldap_uri\0ldapi://%2Fnowhere\0id\0a\0";
    skv_store *elsewhere = skv_open("ldap", 4, options, sizeof options - 1, reply);

    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_get(elsewhere, "globals/a", 9, SKV_GET_ANY, LONG_MS, NULL, reply) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "ldapi://%2Fnowhere");
    skv_close(elsewhere);
}

static void a_missing_base_dn_is_not_a_missing_key(void)
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
    CHECK_STR(skv_reply_fault(reply), "base_missing");
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

/* The replica is down: only the server of write_uri can respond. */
static void a_latest_get_reads_from_the_write_uri(void)
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

static void a_store_reconnects_to_a_restarted_server(void)
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

/* Somebody else has put the entry into the tree. */
static void a_referral_is_not_followed(void)
{
    put_gives("globals/a", D1, 1);
    CHECK(directory_modify(&server, "dn: ou=elsewhere,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN
                                    "\nobjectClass: referral\nobjectClass: extensibleObject\nou: elsewhere\n"
                                    "ref: ldap://127.0.0.1:1/dc=simp\n"));
    CHECK(get("globals/elsewhere/k") == SKV_UNAVAILABLE);
    CHECK_STR(skv_reply_fault(reply), "referral");
    CHECK(put("globals/elsewhere/k", D1) == SKV_UNAVAILABLE);
    CHECK_STR(skv_reply_fault(reply), "referral");
    CHECK(del("globals/a") == SKV_OK);
}

static void a_read_only_database_is_named(void)
{
    char path[96];
    FILE *file;

    snprintf(path, sizeof path, "%s/slapd.conf", server.folder);
    slapd_stop(&server);
    file = fopen(path, "a");
    CHECK(file && fputs("readonly on\n", file) >= 0 && fclose(file) == 0 && slapd_start(&server));
    CHECK(put("globals/r", D1) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "is the server, or its database, read-only?");
    CHECK_STR(skv_reply_fault(reply), "read_only");
}

static void statistics_are_json_without_a_secret(void)
{
    CHECK(skv_stats(reply) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"pools\":[{");
    CHECK(strstr(skv_reply_data(reply), SLAPD_PASSWORD) == NULL);
    CHECK(skv_stats(NULL) == SKV_INVALID);
}

static void ordinary_tests(void)
{
    opening_refuses_unusable_options();
    opening_connects_to_no_server();
    a_missing_base_dn_is_not_a_missing_key();
    a_latest_get_reads_from_the_write_uri();
    a_store_reconnects_to_a_restarted_server();
    statistics_are_json_without_a_secret();
    a_referral_is_not_followed();
    a_read_only_database_is_named();
}

/* ---- Other servers ----------------------------------------------------------------------------------------------- */

static void a_size_limit_is_an_error_that_names_the_setting(void)
{
    char key[64];

    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "globals/limited/k%d", i);
        put(key, D1);
    }
    CHECK(count_of(skv_list_open(store, "globals/limited", 15, LONG_MS, NULL, reply)) == -SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "size.prtotal");
    CHECK_HAS(skv_reply_message(reply), server.ldapi);
    CHECK(get("globals/limited/k1") == SKV_OK);
    CHECK(deletetree("globals/limited") == SKV_TOO_LARGE);
}

static void a_missing_schema_is_named(void)
{
    CHECK(put("globals/a", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "schema");
}

static void without_rights_a_call_is_denied(void)
{
    skv_store *mine = store;

    CHECK(put("globals/a", D1) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Key write to 'globals/a' failed: ");
    CHECK_STR(skv_reply_fault(reply), "");
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

/* A server that hides when an entry was changed, and by whom. */
static void facts_that_are_hidden_are_left_out(void)
{
    put("globals/f/k", D1);
    CHECK(describe("globals/f/k", 0) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"kind\":\"key\",\"created_");
    CHECK(!strstr(skv_reply_data(reply), "modified"));
    CHECK(describe("globals/f", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"keys\":1,\"folders\":0}");
    CHECK(!strstr(skv_reply_data(reply), "modified"));
}

int main(void)
{
    static const char *const plain[] = {"id=plain", "page_size=100", NULL};
    static const char no_write[] = "access to * by * read";
    static const char hidden[] = "access to attrs=modifyTimestamp,modifiersName by * none";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, ordinary_tests);
    run_ldap_tests(DIRECTORY_PLAIN, "sizelimit 20", false, plain, a_size_limit_is_an_error_that_names_the_setting);
    run_ldap_tests(NULL, "", true, plain, a_missing_schema_is_named);
    run_ldap_tests(DIRECTORY_PLAIN, no_write, false, plain, without_rights_a_call_is_denied);
    run_ldap_tests(DIRECTORY_PLAIN, hidden, false, plain, facts_that_are_hidden_are_left_out);
    skv_reply_free(reply);
    return check_summary("store_ldap_server");
}
