/* Values and the password of the bind do not stay in freed memory. libldap keeps copies of requests that the core
 * cannot reach, so the values are written before the search starts. */
#include "check.h"
#include "directory.h"
#include "freed.h"

#include <stdio.h>
#include <string.h>

#define SECRET "pl4nted-in-memory"
#define DOCUMENT "{\"value\":\"" SECRET "\",\"metadata\":{}}"
#define KEYS 20

const char *const secrets[] = {SECRET, NULL};

static void fill(void)
{
    char key[32];

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "globals/w/k%d", i);
        put_gives(key, DOCUMENT, 1);
    }
}

/* The data of a reply are wiped when the next call fills it. */
static void what_is_read_is_wiped(void)
{
    fill();
    skv_close(store);
    store = open_with(false, (const char *[]){"id=plain", "page_size=7", NULL});
    looked = 0;
    watching = true;
    get_gives("globals/w/k1", DOCUMENT);
    CHECK(put("globals/w/k1", DOCUMENT) == SKV_OK);
    skv_reply_free(reply);
    reply = skv_reply_new();
    {
        skv_list *list = skv_list_open(store, "globals/w", 9, LONG_MS, NULL, reply);
        int pages = 0;

        while (list && skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK)
            pages++;
        CHECK(pages >= 3);
        skv_list_close(list);
    }
    skv_reply_free(reply);
    watching = false;
    reply = skv_reply_new();
    CHECK(looked > 100);
    CHECK(spilled == 0);
}

static void what_is_read_at_once_is_wiped(void)
{
    char packed[KEYS * 20];
    size_t len = 0;

    for (int i = 0; i < KEYS; i++) {
        char key[32];
        uint32_t key_len = (uint32_t)snprintf(key, sizeof key, "globals/w/k%d", i);

        memcpy(packed + len, &key_len, sizeof key_len);
        memcpy(packed + len + sizeof key_len, key, key_len);
        len += sizeof key_len + key_len;
    }
    looked = 0;
    watching = true;
    CHECK(skv_get_many(store, packed, len, LONG_MS, NULL, reply) == SKV_OK);
    CHECK(skv_reply_size(reply) > KEYS * strlen(DOCUMENT));
    skv_reply_free(reply);
    watching = false;
    reply = skv_reply_new();
    CHECK(looked > 100);
    CHECK(spilled == 0);
}

static void what_is_compared_at_once_is_wiped(void)
{
    static const char key[] = "globals/w/k1";
    const uint32_t len = (uint32_t)strlen(DOCUMENT), numbers[] = {(uint32_t)strlen(key), len, len, SKV_PUT_EXPECT};
    char record[sizeof numbers + sizeof key + 2 * sizeof DOCUMENT];
    size_t used;

    memcpy(record, numbers, sizeof numbers);
    used = sizeof numbers + (size_t)sprintf(record + sizeof numbers, "%s%s%s", key, DOCUMENT, DOCUMENT);
    watching = true;
    CHECK(skv_put_many(store, record, used, LONG_MS, NULL, reply) == SKV_OK);
    watching = false;
    CHECK(skv_reply_size(reply) == 9 && skv_reply_data(reply)[0] == 0);
    CHECK(spilled == 0);
}

/* Any attribute may be secret. */
static void entries_are_wiped(void)
{
    static const char dn[] = "ou=w," DIRECTORY_BASE_DN, attributes[] = "description\0ou",
                      values[] = "objectClass\0organizationalUnit\0ou\0w\0description\0" SECRET "\0description\0more";

    CHECK(skv_entry_add(store, dn, strlen(dn), values, sizeof values, LONG_MS, NULL, reply) == SKV_OK);
    skv_close(store);
    store = open_with(false, (const char *[]){"id=plain", NULL});
    looked = 0;
    watching = true;
    CHECK(skv_entry_read(store, dn, strlen(dn), attributes, sizeof attributes, LONG_MS, NULL, reply) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), SECRET);
    CHECK(skv_entry_list(store, DIRECTORY_BASE_DN, strlen(DIRECTORY_BASE_DN), attributes, sizeof attributes, NULL, 0,
                         LONG_MS, NULL, reply) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), SECRET);
    skv_reply_free(reply);
    watching = false;
    reply = skv_reply_new();
    CHECK(looked > 50);
    CHECK(spilled == 0);
}

/* ---- The stack of a thread that binds ---- */

/* Spells the bind DN in another way, so that the store has connections of its own. */
static void *bind_anew(void *unused)
{
    char password_file[256];
    skv_store *own;

    snprintf(password_file, sizeof password_file, "admin_pw_file=%s", server.password_file);
    own = open_with(true, (const char *[]){"id=plain", "admin_dn=cn=simpkv, dc=simp", password_file, NULL});
    CHECK(skv_exists(own, "", 0, LONG_MS, NULL, reply) == SKV_OK);
    skv_close(own);
    return unused;
}

/* No test used to see the copies of the password there. */
static void the_password_of_the_bind_does_not_stay_on_the_stack(void)
{
    CHECK(spilled_on_stack(bind_anew, NULL, (const char *[]){SLAPD_PASSWORD, NULL}) == NULL);
}

static void tests(void)
{
    a_block_with_a_secret_is_seen();
    what_is_read_is_wiped();
    what_is_read_at_once_is_wiped();
    what_is_compared_at_once_is_wiped();
    entries_are_wiped();
    the_password_of_the_bind_does_not_stay_on_the_stack();
}

int main(void)
{
    static const char *const options[] = {"id=plain", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, tests);
    skv_reply_free(reply);
    return check_summary("wipe");
}
