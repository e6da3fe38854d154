/* The entries of a directory that are not keys: reads, additions, and the statistics of the servers. */
#include "base/deadline.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"
#include "pool_fixture.h"

#include <ldap.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BASE DIRECTORY_BASE_DN
#define TOO_MANY (SKV_ENTRY_TEXTS_MAX + 2)

/* ---- Shorthands ---- */

/* A string literal with NULs between the texts; its own NUL ends the last text. */
#define LIST(texts) texts, sizeof texts

static int read_within(const char *dn, const char *attributes, size_t len, int64_t timeout_ms, skv_cancel *cancel)
{
    return skv_entry_read(store, dn, strlen(dn), attributes, len, timeout_ms, cancel, reply);
}

static int read_entry(const char *dn, const char *attributes, size_t len)
{
    return read_within(dn, attributes, len, LONG_MS, NULL);
}

static int add(const char *dn, const char *values, size_t len)
{
    return skv_entry_add(store, dn, strlen(dn), values, len, LONG_MS, NULL, reply);
}

#define UNIT(ou) LIST("objectClass\0top\0objectClass\0organizationalUnit\0ou\0" ou)

/* ---- Reading ---- */

static void an_entry_is_read_as_the_server_spells_it(void)
{
    CHECK(read_entry("", LIST("NAMINGCONTEXTS")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"namingContexts\":[\"dc=simp\"]}");
    CHECK(read_entry(BASE, LIST("ou\0objectclass")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"objectClass\":[\"organizationalUnit\"],\"ou\":[\"simpkv\"]}");
    CHECK(read_entry(BASE, NULL, 0) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"objectClass\":[\"organizationalUnit\"],\"ou\":[\"simpkv\"]}");
    CHECK(read_entry(BASE, LIST("+")) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"entryUUID\":[\"");
    CHECK(read_entry(BASE, LIST("description")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{}");
    CHECK(read_entry("ou=none," BASE, NULL, 0) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Cannot read 'ou=none," BASE "': there is no such entry (ldapi://");
    CHECK(read_entry("no DN", NULL, 0) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "'no DN'");
}

static void values_that_are_not_utf8_are_left_out(void)
{
    CHECK(add("ou=bytes," BASE, LIST("objectClass\0organizationalUnit\0ou\0bytes\0userPassword\0\xff\xfe\0"
                                     "userPassword\0a \"word\"\0description\0\xc3\xa9\x1b")) == SKV_OK);
    CHECK(read_entry("ou=bytes," BASE, LIST("userPassword\0description")) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"userPassword\":[\"a \\\"word\\\"\"]");
    CHECK_HAS(skv_reply_data(reply), "\"description\":[\"\xc3\xa9\\u001b\"]");
}

/* ---- Adding ---- */

static void an_entry_is_added_once_and_below_another(void)
{
    CHECK(add("ou=a," BASE, UNIT("a")) == SKV_OK);
    CHECK(read_entry("ou=a," BASE, NULL, 0) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"objectClass\":[\"top\",\"organizationalUnit\"],\"ou\":[\"a\"]}");
    CHECK(add("ou=a," BASE, UNIT("a")) == SKV_EXISTS);
    CHECK_HAS(skv_reply_message(reply), "Adding 'ou=a," BASE "' failed: the entry exists already");
    CHECK(add("ou=b,ou=none," BASE, UNIT("b")) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "there is no entry above it");
    CHECK(add("no DN", UNIT("b")) == SKV_INVALID);
}

static void values_of_an_attribute_need_not_be_together(void)
{
    CHECK(add("ou=apart," BASE, LIST("objectClass\0top\0ou\0apart\0description\0one\0OBJECTCLASS\0organizationalUnit\0"
                                     "Description\0two\0description\0three")) == SKV_OK);
    CHECK(read_entry("ou=apart," BASE, LIST("description")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"description\":[\"one\",\"two\",\"three\"]}");
}

/* The time used to grow with the square of the number of attributes: 5 s of processor time for these. */
static void many_attributes_take_little_time(void)
{
    static char values[SKV_ENTRY_TEXTS_MAX * 10];
    clock_t began = clock();
    size_t len = 0;

    for (int i = 0; i < SKV_ENTRY_TEXTS_MAX / 2; i++)
        len += (size_t)sprintf(values + len, "attribute%d%c%d", i, '\0', i % 10) + 1;
    CHECK(add("ou=many," BASE, values, len) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "Undefined attribute type");
    CHECK(clock() - began < 3 * CLOCKS_PER_SEC);
}

static void a_refusal_names_the_reason_but_no_value(void)
{
    CHECK(add("ou=c," BASE, LIST("objectClass\0top\0ou\0c\0description\0hush")) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "Adding 'ou=c," BASE "' failed: ldapi://");
    CHECK_HAS(skv_reply_message(reply), "Object class violation: no structural object class provided");
    CHECK(strstr(skv_reply_message(reply), "hush") == NULL);
    CHECK(strstr(skv_reply_message(reply), "schema/") == NULL);
}

static void without_rights_a_call_is_denied(void)
{
    CHECK(add("ou=x,dc=simp", UNIT("x")) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "answered 50 to '" DIRECTORY_USER_DN "'");
    CHECK(read_entry("dc=simp", LIST("dc")) == SKV_OK);
}

/* ---- Invalid arguments ---- */

static void a_malformed_list_is_refused(void)
{
    static char large[SKV_ENTRY_LIST_MAX + 1], many[TOO_MANY * 2];

    memset(large, 'a', sizeof large - 1);
    for (size_t i = 0; i < sizeof many; i += 2)
        many[i] = 'a';
    CHECK(read_entry("", "a", 1) == SKV_INVALID);
    CHECK(read_entry("", NULL, 1) == SKV_INVALID);
    CHECK(read_entry("", LIST("a\0")) == SKV_INVALID);
    CHECK(read_entry("", large, sizeof large) == SKV_TOO_LARGE);
    CHECK(read_entry("", many, sizeof many) == SKV_TOO_LARGE);
    CHECK(add(BASE, NULL, 0) == SKV_INVALID);
    CHECK(add(BASE, LIST("a")) == SKV_INVALID);
    CHECK(add(BASE, LIST("\0b")) == SKV_INVALID);
    CHECK(add(BASE, "a\0b", 3) == SKV_INVALID);
    CHECK(add(BASE, LIST("a\0b\0c")) == SKV_INVALID);
    CHECK(add(BASE, large, sizeof large) == SKV_TOO_LARGE);
    CHECK(add(BASE, many, sizeof many) == SKV_TOO_LARGE);
    CHECK(add("ou=empty," BASE, LIST("objectClass\0organizationalUnit\0ou\0empty\0description\0")) == SKV_UNAVAILABLE);
}

static void a_malformed_dn_is_refused(void)
{
    static char large[SKV_ENTRY_DN_MAX + 1];

    memset(large, 'a', sizeof large);
    CHECK(skv_entry_read(store, NULL, 0, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_entry_read(store, "a\0b", 3, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_entry_read(store, "\xff", 1, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_entry_read(store, large, sizeof large, NULL, 0, LONG_MS, NULL, reply) == SKV_TOO_LARGE);
    CHECK(skv_entry_read(store, large, sizeof large - 1, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "Cannot read 'aaaa");
    CHECK(skv_entry_read(store, "", 0, NULL, 0, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_entry_read(store, "", 0, NULL, 0, LONG_MS, NULL, NULL) == SKV_INVALID);
    CHECK(skv_entry_read(NULL, "", 0, NULL, 0, LONG_MS, NULL, reply) == SKV_INVALID);
}

static void a_store_in_files_has_no_entries(void)
{
    skv_store *mine = store;
    char options[128];
    int len = snprintf(options, sizeof options, "root_path%c%s/files", '\0', server.folder);

    store = skv_open("file", 4, options, (size_t)len + 1, reply);
    if (CHECK_STATUS(reply, SKV_OK)) {
        CHECK(read_entry("", NULL, 0) == SKV_INVALID);
        CHECK(add(BASE, UNIT("x")) == SKV_INVALID);
        CHECK_STR(skv_reply_message(reply), "only a store of type 'ldap' has entries");
    }
    skv_close(store);
    store = mine;
}

/* ---- Servers ---- */

static void a_call_ends_at_its_deadline_and_when_it_is_cancelled(void)
{
    skv_cancel *cancel = skv_cancel_new();
    int64_t began = skv_now_ns();

    CHECK(read_entry("", LIST("1.1")) == SKV_OK);
    slapd_freeze(&server);
    skv_cancel_fire(cancel);
    CHECK(read_within("", LIST("1.1"), LONG_MS, cancel) == SKV_INTERRUPTED);
    CHECK_HAS(skv_reply_message(reply), "Cannot read 'root DSE': interrupted");
    slapd_thaw(&server);
    CHECK(read_entry("", LIST("1.1")) == SKV_OK);
    slapd_freeze(&server);
    CHECK(skv_entry_add(store, "ou=late," BASE, strlen("ou=late," BASE), UNIT("late"), 200, NULL, reply) ==
          SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "the change may have been made");
    CHECK(skv_now_ns() - began < 20000 * SKV_NS_PER_MS);
    slapd_thaw(&server);
    CHECK(read_entry("", LIST("1.1")) == SKV_OK);
    skv_cancel_free(cancel);
}

static void additions_go_to_write_uri_and_reads_follow_them(void)
{
    skv_store *mine = store;
    char option[256];

    snprintf(option, sizeof option, "write_uri=%s", server.ldapi);
    store = open_at_uri("ldap://127.0.0.1:1", false, (const char *[]){"id=plain", "retries=0", option, NULL});
    CHECK_STATUS(reply, SKV_OK);
    CHECK(read_entry(BASE, NULL, 0) == SKV_UNAVAILABLE);
    CHECK(add("ou=there," BASE, UNIT("there")) == SKV_OK);
    CHECK(read_entry("ou=there," BASE, LIST("ou")) == SKV_OK);
    skv_close(store);
    store = mine;
}

static void a_request_without_a_response_is_repeated(void)
{
    skv_store *mine = store;
    proxy between;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    store = open_through(&between, "1");
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(read_entry(BASE, LIST("ou")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"ou\":[\"simpkv\"]}");
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_REQUEST, 0, 0, 1);
    CHECK(add("ou=lost," BASE, UNIT("lost")) == SKV_OK);
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(add("ou=doubt," BASE, UNIT("doubt")) == SKV_EXISTS);
    CHECK(read_entry("ou=doubt," BASE, LIST("ou")) == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

static void statistics_tell_the_vendor_and_the_tls_of_a_server(void)
{
    skv_store *mine = store;
    char option[128];
    json_t *facts, *tls;
    json_int_t ends;

    snprintf(option, sizeof option, "tls_cacert=%s", server.cacert);
    store = open_at_uri(server.ldaps, false, (const char *[]){"id=plain", option, NULL});
    CHECK_STATUS(reply, SKV_OK);
    facts = server_stats(0);
    CHECK(json_is_null(json_object_get(facts, "vendor")) && json_is_null(json_object_get(facts, "tls")));
    json_decref(facts);
    CHECK(read_entry("", LIST("1.1")) == SKV_OK);
    facts = server_stats(0);
    tls = json_object_get(facts, "tls");
    CHECK_STR(json_string_value(json_object_get(facts, "vendor")), "OpenLDAP");
    CHECK_HAS(json_string_value(json_object_get(tls, "protocol")), "1.3");
    CHECK(json_string_length(json_object_get(tls, "cipher")) > 5);
    ends = json_integer_value(json_object_get(tls, "certificate_ends")) - time(NULL);
    CHECK(ends > 6 * 86400 && ends <= 7 * 86400);
    CHECK(json_integer_value(json_object_get(json_object_get(facts, "operations"), "entry_read")) == 1);
    json_decref(facts);
    skv_close(store);
    store = open_at_uri(server.ldap, false, (const char *[]){"id=plain", NULL});
    CHECK(read_entry("", LIST("1.1")) == SKV_OK);
    facts = server_stats(0);
    CHECK(json_is_null(json_object_get(facts, "tls")));
    json_decref(facts);
    skv_close(store);
    store = mine;
}

/* slapd reads its root DSE from a file. */
static void a_vendor_is_shown_in_short_ascii(void)
{
    char path[96], text[512] = "dn:\nvendorName: nobody\nvendorVersion: Server/1 \"\xc3\xa9", more[128];
    slapd hostile;
    skv_store *mine = store;

    memset(text + strlen(text), 'x', 200);
    strcat(text, "\n");
    snprintf(path, sizeof path, "%s/root-dse", server.folder);
    snprintf(more, sizeof more, "rootDSE %s", path);
    if (CHECK(slapd_write(path, text)) && CHECK(slapd_begin(&hostile, SLAPD_NO_TLS, more))) {
        store = open_at_uri(hostile.ldapi, true, (const char *[]){"id=plain", NULL});
        CHECK(read_entry("", LIST("1.1")) == SKV_OK);
        CHECK(skv_stats(reply) == SKV_OK);
        CHECK_HAS(skv_reply_data(reply), "\"vendor\":\"Server/1 \\\"??xxx");
        CHECK(strstr(skv_reply_data(reply), "nobody") == NULL);
        skv_close(store);
    }
    slapd_end(&hostile);
    store = mine;
}

/* ---- Memory ---- */

static void memory_scenario(void)
{
    int status = add("ou=memory," BASE, UNIT("memory"));

    CHECK(status == SKV_OK || status == SKV_EXISTS || status == SKV_NOMEM);
    status = read_entry("ou=memory," BASE, LIST("ou"));
    CHECK(status == SKV_OK || status == SKV_NOT_FOUND || status == SKV_NOMEM);
    if (status == SKV_OK)
        CHECK_STR(skv_reply_data(reply), "{\"ou\":[\"memory\"]}");
}

static void tests_as_user(void)
{
    an_entry_is_read_as_the_server_spells_it();
    an_entry_is_added_once_and_below_another();
    values_of_an_attribute_need_not_be_together();
    many_attributes_take_little_time();
    a_refusal_names_the_reason_but_no_value();
    without_rights_a_call_is_denied();
    a_malformed_list_is_refused();
    a_malformed_dn_is_refused();
    a_store_in_files_has_no_entries();
    additions_go_to_write_uri_and_reads_follow_them();
    a_request_without_a_response_is_repeated();
    a_call_ends_at_its_deadline_and_when_it_is_cancelled();
    statistics_tell_the_vendor_and_the_tls_of_a_server();
    a_vendor_is_shown_in_short_ascii();
    chaos(memory_scenario);
}

int main(void)
{
    static const char *const options[] = {"id=plain", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, tests_as_user);
    run_ldap_tests(DIRECTORY_PLAIN, "", true, options, values_that_are_not_utf8_are_left_out);
    skv_reply_free(reply);
    return check_summary("store_ldap_entries");
}
