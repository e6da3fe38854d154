/* The entries of a directory that are not keys: lists, changes, deletions and passwords. */
#include "chaos.h"
#include "check.h"
#include "directory.h"
#include "pool_fixture.h"

#include <ldap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE DIRECTORY_BASE_DN
#define UNITS 30

/* ---- Shorthands ---- */

/* A string literal with NULs between the texts; its own NUL ends the last text. */
#define LIST(texts) texts, sizeof texts

static int add_unit(const char *name, const char *above)
{
    char dn[256], values[256];
    int len = snprintf(values, sizeof values, "objectClass%corganizationalUnit%cou%c%s", 0, 0, 0, name);

    snprintf(dn, sizeof dn, "ou=%s,%s", name, above);
    return skv_entry_add(store, dn, strlen(dn), values, (size_t)len + 1, LONG_MS, NULL, reply);
}

static int modify_version(const char *dn, const char *changes, size_t len, const char *version)
{
    return skv_entry_modify(store, dn, strlen(dn), changes, len, version, strlen(version), LONG_MS, NULL, reply);
}

static int modify(const char *dn, const char *changes, size_t len)
{
    return modify_version(dn, changes, len, "");
}

static int delete_version(const char *dn, const char *version)
{
    return skv_entry_delete(store, dn, strlen(dn), version, strlen(version), LONG_MS, NULL, reply);
}

static int read_entry(const char *dn, const char *attributes, size_t len)
{
    return skv_entry_read(store, dn, strlen(dn), attributes, len, LONG_MS, NULL, reply);
}

static int list_below(const char *dn, const char *attributes, size_t len)
{
    return skv_entry_list(store, dn, strlen(dn), attributes, len, NULL, 0, LONG_MS, NULL, reply);
}

static int find_below(const char *dn, const char *filter, size_t len)
{
    return skv_entry_list(store, dn, strlen(dn), "cn", 3, filter, len, LONG_MS, NULL, reply);
}

static int set_password(const char *dn, const char *password)
{
    return skv_entry_password(store, dn, strlen(dn), password, strlen(password), SKV_PASSWORD_SET, LONG_MS, NULL,
                              reply);
}

static int check_password(const char *dn, const char *password)
{
    return skv_entry_password(store, dn, strlen(dn), password, strlen(password), SKV_PASSWORD_CHECK, LONG_MS, NULL,
                              reply);
}

/* Copies the entryCSN of an entry. */
static void read_version(const char *dn, char *version, size_t size)
{
    const char *start;

    CHECK(read_entry(dn, LIST("entryCSN")) == SKV_OK);
    start = strstr(skv_reply_data(reply), "[\"");
    version[0] = '\0';
    if (CHECK(start != NULL))
        snprintf(version, size, "%.*s", (int)strcspn(start + 2, "\""), start + 2);
}

/* ---- Lists ---- */

static void the_entries_below_one_are_listed_by_dn(void)
{
    char name[16], wanted[96];

    CHECK(add_unit("list", BASE) == SKV_OK);
    CHECK(list_below("ou=list," BASE, LIST("ou")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{}");
    for (int i = 0; i < UNITS; i++) {
        snprintf(name, sizeof name, "u%d", i);
        CHECK(add_unit(name, "ou=list," BASE) == SKV_OK);
    }
    CHECK(add_unit("deeper", "ou=u0,ou=list," BASE) == SKV_OK);
    CHECK(list_below("ou=list," BASE, LIST("ou")) == SKV_OK);
    for (int i = 0; i < UNITS; i++) {
        snprintf(wanted, sizeof wanted, "\"ou=u%d,ou=list," BASE "\":{\"ou\":[\"u%d\"]}", i, i);
        CHECK_HAS(skv_reply_data(reply), wanted);
    }
    CHECK(strstr(skv_reply_data(reply), "deeper") == NULL);
    CHECK(list_below("ou=none," BASE, LIST("ou")) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Cannot list 'ou=none," BASE "': there is no such entry");
    CHECK(list_below("no DN", NULL, 0) == SKV_INVALID);
    CHECK(list_below(BASE, "a", 1) == SKV_INVALID);
}

static void a_filter_finds_entries_at_and_below_one(void)
{
    CHECK(find_below("ou=list," BASE, LIST("(ou=deeper)")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"ou=deeper,ou=u0,ou=list," BASE "\":{}}");
    CHECK(find_below("ou=list," BASE, LIST("(ou=list)")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"ou=list," BASE "\":{}}");
    CHECK(find_below("ou=list," BASE, LIST("(ou=\\2a)")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{}");
    CHECK(find_below("ou=none," BASE, LIST("(ou=*)")) == SKV_NOT_FOUND);
    CHECK(find_below("ou=list," BASE, LIST("(ou=a)\0(ou=b)")) == SKV_INVALID);
    CHECK(find_below("ou=list," BASE, LIST("(ou=\xff)")) == SKV_INVALID);
    CHECK(find_below("ou=list," BASE, "(ou=*)", 6) == SKV_INVALID);
    CHECK(find_below("ou=list," BASE, LIST("(ou=")) == SKV_UNAVAILABLE);
}

/* ---- Changes ---- */

static void changes_are_made_all_or_none(void)
{
    static const char dn[] = "ou=change," BASE;

    CHECK(add_unit("change", BASE) == SKV_OK);
    CHECK(modify(dn, LIST("add\0description\0one\0add\0description\0two\0add\0l\0here\0add\0description\0three")) ==
          SKV_OK);
    CHECK(read_entry(dn, LIST("description\0l")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"description\":[\"one\",\"two\",\"three\"],\"l\":[\"here\"]}");
    CHECK(modify(dn, LIST("delete\0description\0one\0add\0description\0two")) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "Changing 'ou=change," BASE "' failed: one of the values to be added exists");
    CHECK(modify(dn, LIST("add\0description\0four\0delete\0description\0none")) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "one of the values to be deleted does not exist");
    CHECK(modify(dn, LIST("delete\0description\0one\0delete\0description\0two\0replace\0l\0there\0clear\0street\0")) ==
          SKV_OK);
    CHECK(read_entry(dn, LIST("description\0l")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"description\":[\"three\"],\"l\":[\"there\"]}");
    CHECK(modify(dn, LIST("replace\0description\0a\0replace\0description\0b\0clear\0l\0")) == SKV_OK);
    CHECK(read_entry(dn, LIST("description\0l")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"description\":[\"a\",\"b\"]}");
    CHECK(modify("ou=none," BASE, LIST("add\0l\0x")) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "there is no such entry");
}

static void a_change_depends_on_the_version(void)
{
    static const char dn[] = "ou=version," BASE;
    char version[64];

    CHECK(add_unit("version", BASE) == SKV_OK);
    read_version(dn, version, sizeof version);
    CHECK(modify_version(dn, LIST("replace\0l\0one"), version) == SKV_OK);
    CHECK(modify_version(dn, LIST("replace\0l\0two"), version) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "the entry was changed meanwhile");
    CHECK(delete_version(dn, version) == SKV_CONFLICT);
    CHECK(read_entry(dn, LIST("l")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"l\":[\"one\"]}");
    read_version(dn, version, sizeof version);
    CHECK(delete_version(dn, version) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(delete_version(dn, "") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(modify_version(dn, LIST("add\0l\0x"), "1)(l=*") == SKV_INVALID);
    CHECK(delete_version(dn, "20261123092107.123427Z#000000#000#0000000000000000000000000000000") == SKV_INVALID);
    CHECK(skv_entry_delete(store, dn, strlen(dn), NULL, 1, LONG_MS, NULL, reply) == SKV_INVALID);
}

static void an_entry_with_others_below_it_is_not_deleted(void)
{
    CHECK(add_unit("above", BASE) == SKV_OK);
    CHECK(add_unit("below", "ou=above," BASE) == SKV_OK);
    CHECK(delete_version("ou=above," BASE, "") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "Delete of 'ou=above," BASE "' failed: ldapi://");
    CHECK(delete_version("no DN", "") == SKV_INVALID);
    CHECK(delete_version("dc=simp", "") == SKV_DENIED);
}

static void malformed_changes_are_refused(void)
{
    CHECK(modify(BASE, NULL, 0) == SKV_INVALID);
    CHECK(modify(BASE, LIST("add\0l")) == SKV_INVALID);
    CHECK(modify(BASE, LIST("add\0l\0x\0add")) == SKV_INVALID);
    CHECK(modify(BASE, LIST("\0l\0x")) == SKV_INVALID);
    CHECK(modify(BASE, LIST("add\0\0x")) == SKV_INVALID);
    CHECK(modify(BASE, LIST("add\0l\0x\0change\0l\0hush")) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "'change' is no change: expected 'add', 'delete', 'replace' or 'clear'");
    CHECK(modify("no DN", LIST("add\0l\0x")) == SKV_INVALID);
    CHECK(modify("dc=simp", LIST("add\0l\0x")) == SKV_DENIED);
    CHECK(modify(BASE, LIST("add\0colour\0hush")) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "Undefined attribute type: colour: attribute type undefined");
    CHECK(strstr(skv_reply_message(reply), "hush") == NULL);
    CHECK(strstr(skv_reply_message(reply), "schema/") == NULL);
}

/* ---- Passwords ---- */

static void a_password_is_hashed_and_checked_by_a_bind(void)
{
    static const char dn[] = "ou=login," BASE;

    CHECK(add_unit("login", BASE) == SKV_OK);
    CHECK(check_password(dn, "first one") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(set_password(dn, "first one") == SKV_OK);
    CHECK(read_entry(dn, LIST("userPassword")) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"userPassword\":[\"{SSHA}");
    CHECK(check_password(dn, "first one") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(set_password(dn, "n\xc3\xa4hstes") == SKV_OK);
    CHECK(check_password(dn, "first one") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK_STR(skv_reply_message(reply), "");
    CHECK(check_password(dn, "n\xc3\xa4hstes") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(check_password("ou=none," BASE, "x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(set_password("ou=none," BASE, "hush") == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Setting the password of 'ou=none," BASE "' failed: there is no such entry");
    CHECK(check_password("no DN", "hush") == SKV_DENIED);
    CHECK(strstr(skv_reply_message(reply), "hush") == NULL);
}

static void a_malformed_password_is_refused(void)
{
    static char large[SKV_ENTRY_DN_MAX + 1];

    memset(large, 'a', sizeof large);
    CHECK(set_password("dc=simp", "hush") == SKV_DENIED);
    CHECK(strstr(skv_reply_message(reply), "hush") == NULL);
    CHECK(set_password(BASE, "") == SKV_INVALID);
    CHECK(check_password(BASE, "") == SKV_INVALID);
    CHECK(check_password("", "x") == SKV_INVALID);
    CHECK(skv_entry_password(store, BASE, strlen(BASE), "a\0b", 3, SKV_PASSWORD_CHECK, LONG_MS, NULL, reply) ==
          SKV_INVALID);
    CHECK(skv_entry_password(store, BASE, strlen(BASE), NULL, 3, SKV_PASSWORD_CHECK, LONG_MS, NULL, reply) ==
          SKV_INVALID);
    CHECK(skv_entry_password(store, BASE, strlen(BASE), "a", 1, 2, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_entry_password(store, BASE, strlen(BASE), large, sizeof large, SKV_PASSWORD_SET, LONG_MS, NULL, reply) ==
          SKV_TOO_LARGE);
}

static void a_password_is_checked_at_the_first_server_that_responds(void)
{
    skv_store *mine = store;
    char uris[256];

    snprintf(uris, sizeof uris, "ldap://127.0.0.1:1 %s", server.ldapi);
    store = open_at_uri(uris, false, (const char *[]){"id=plain", NULL});
    CHECK_STATUS(reply, SKV_OK);
    CHECK(check_password(DIRECTORY_USER_DN, "wrong") == SKV_OK && skv_reply_number(reply) == 0);
    skv_close(store);
    store = open_at_uri("ldap://127.0.0.1:1", false, (const char *[]){"id=plain", NULL});
    CHECK(check_password(DIRECTORY_USER_DN, "wrong") == SKV_UNAVAILABLE);
    skv_close(store);
    store = mine;
}

/* ---- Lost responses ---- */

static void a_change_without_a_response_is_repeated(void)
{
    skv_store *mine = store;
    proxy between;

    CHECK(add_unit("doubt", BASE) == SKV_OK);
    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    store = open_through(&between, "1");
    proxy_arm(&between, PROXY_MODIFY, PROXY_RESPOND, LDAP_BUSY, 0, 1);
    CHECK(modify("ou=doubt," BASE, LIST("add\0description\0x")) == SKV_OK);
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(modify("ou=doubt," BASE, LIST("add\0description\0y")) == SKV_CONFLICT);
    CHECK(read_entry("ou=doubt," BASE, LIST("description")) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"description\":[\"x\",\"y\"]}");
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(delete_version("ou=doubt," BASE, "") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

/* ---- Memory ---- */

static void memory_scenario(void)
{
    int status = modify(BASE, LIST("replace\0description\0x\0replace\0l\0y"));

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = list_below("ou=list," BASE, LIST("ou"));
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = delete_version("ou=gone," BASE, "");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void password_scenario(void)
{
    int status = set_password("ou=login," BASE, "another");

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = check_password("ou=login," BASE, "another");
    CHECK((status == SKV_OK && skv_reply_number(reply) == 1) || status == SKV_NOMEM);
}

static void tests_as_root(void)
{
    a_password_is_hashed_and_checked_by_a_bind();
    CHECK(set_password("ou=login," BASE, "another") == SKV_OK);
    chaos(password_scenario);
}

static void tests_as_user(void)
{
    the_entries_below_one_are_listed_by_dn();
    a_filter_finds_entries_at_and_below_one();
    changes_are_made_all_or_none();
    a_change_depends_on_the_version();
    an_entry_with_others_below_it_is_not_deleted();
    malformed_changes_are_refused();
    a_malformed_password_is_refused();
    a_password_is_checked_at_the_first_server_that_responds();
    a_change_without_a_response_is_repeated();
    chaos(memory_scenario);
}

int main(void)
{
    static const char *const options[] = {"id=plain", "page_size=7", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, tests_as_user);
    run_ldap_tests(DIRECTORY_PLAIN, "", true, options, tests_as_root);
    skv_reply_free(reply);
    return check_summary("store_ldap_entry_changes");
}
