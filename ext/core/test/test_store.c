/* The arguments of calls, which all stores check alike. The file store stands for them. */
#include "check.h"
#include "store/options.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

static char root[] = "/tmp/simpkv-test-store-XXXXXX";
static skv_store *store;
static skv_reply *reply;

static void opening_refuses_malformed_arguments(void)
{
#define TEXT(literal) literal, sizeof(literal) - 1
    static const struct {
        const char *type;
        size_t type_len;
        const char *options;
        size_t options_len;
        const char *message;
    } cases[] = {
        {NULL, 0, NULL, 0, "the store's type is NULL"},
        {TEXT("fil"), TEXT("root_path\0/tmp\0"), "unknown store type 'fil': expected 'file' or 'ldap'"},
        {TEXT("file\0"), TEXT("root_path\0/tmp\0"), "unknown store type 'file?': expected 'file' or 'ldap'"},
        {TEXT("file"), NULL, 0, "a store of type 'file' needs 'root_path', an absolute path"},
        {TEXT("file"), NULL, 3, "the options do not end in NUL"},
        {TEXT("file"), TEXT("root_path\0/tmp"), "the options do not end in NUL"},
        {TEXT("file"), TEXT("root_path\0"), "an option has no value, or contains a NUL byte"},
        {TEXT("file"), TEXT("root_path\0tmp\0"), "a store of type 'file' needs 'root_path', an absolute path"},
        {TEXT("file"), TEXT("root_path\0\0"), "a store of type 'file' needs 'root_path', an absolute path"},
        {TEXT("file"), TEXT("root_path\0/tmp\0rot\0x\0"), "unknown option 'rot' of a store of type 'file'"},
        {TEXT("file"), TEXT("root_path\0/tmp\0root_path\0/srv\0"), "option 'root_path' is given twice"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(skv_open(cases[i].type, cases[i].type_len, cases[i].options, cases[i].options_len, reply) == NULL);
        CHECK_STATUS(reply, SKV_INVALID);
        CHECK_STR(skv_reply_message(reply), cases[i].message);
    }
    CHECK(skv_open("file", 4, "root_path\0/tmp", 15, NULL) == NULL);
    skv_close(NULL);
}

static void options_are_found_by_name(void)
{
    static const char options[] = "a\0one\0b\0\0ab\0two";

    CHECK_STR(skv_option(options, sizeof options, "a"), "one");
    CHECK_STR(skv_option(options, sizeof options, "b"), "");
    CHECK_STR(skv_option(options, sizeof options, "ab"), "two");
    CHECK(skv_option(options, sizeof options, "one") == NULL);
    CHECK(skv_option(NULL, 0, "a") == NULL);
}

static void the_options_of_each_type_are_described(void)
{
    static const char *const parts[] = {
        "{\"file\":[{\"name\":\"root_path\",\"type\":\"path\",\"default\":null,\"meaning\":\"",
        "{\"name\":\"follow_links\",\"type\":\"boolean\",\"default\":\"true\",\"meaning\":\"",
        "\"ldap\":[{\"name\":\"id\",\"type\":\"text\",\"default\":null,\"meaning\":\"",
        "\"default\":\"plain\",\"choices\":[\"plain\",\"hex\"],\"meaning\":\"",
        "{\"name\":\"pool_size\",\"type\":\"integer\",\"default\":\"8\",\"min\":1,\"max\":1000,\"meaning\":\"",
        "\"type\":\"milliseconds\",\"default\":\"60000\",\"min\":0,\"meaning\":\"",
    };

    CHECK(skv_options(NULL) == SKV_INVALID);
    CHECK(skv_options(reply) == SKV_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CHECK(strstr(skv_reply_data(reply), parts[i]) != NULL);
}

static void calls_without_a_reply_a_store_or_a_key_are_refused(void)
{
    CHECK(skv_get(store, "a", 1, SKV_GET_ANY, 0, NULL, NULL) == SKV_INVALID);
    CHECK(skv_get(NULL, "a", 1, SKV_GET_ANY, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_get(store, NULL, 0, SKV_GET_ANY, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_exists(NULL, "a", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_stat(NULL, "a", 1, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_stat(store, NULL, 1, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_stat(store, "a", 1, 0, 0, NULL, NULL) == SKV_INVALID);
    CHECK(skv_stat(store, "a", 1, 2, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(NULL, "a", 1, "d", 1, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete(NULL, "a", 1, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_deletetree(NULL, "a", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_create_folder(NULL, "a", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_create_folder(store, NULL, 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_create_folder(store, "a", 1, 0, NULL, NULL) == SKV_INVALID);
    CHECK(skv_delete_folder(NULL, "a", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete_folder(store, NULL, 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete_folder(store, "a", 1, 0, NULL, NULL) == SKV_INVALID);
    CHECK(skv_list_open(NULL, "a", 1, 0, NULL, reply) == NULL);
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK(skv_list_next(NULL, 0, NULL, NULL) == SKV_INVALID);
    CHECK(skv_list_next(NULL, 0, NULL, reply) == SKV_INVALID);
    skv_list_close(NULL);
}

static void a_negative_timeout_is_refused_by_every_call(void)
{
    CHECK(skv_get(store, "a", 1, SKV_GET_ANY, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_get(store, "a", 1, SKV_GET_LATEST, 0, NULL, reply) == SKV_NOT_FOUND);
    CHECK(skv_get(store, "a", 1, SKV_GET_STORED, 0, NULL, reply) == SKV_NOT_FOUND);
    CHECK(skv_get(store, "a", 1, 4, 0, NULL, reply) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "unknown flags 4");
    CHECK(skv_exists(store, "a", 1, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_stat(store, "a", 1, 0, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", 1, SKV_PUT_ANY, NULL, 0, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete(store, "a", 1, SKV_PUT_ANY, NULL, 0, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_deletetree(store, "a", 1, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_create_folder(store, "a", 1, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete_folder(store, "a", 1, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_list_open(store, "", 0, -1, NULL, reply) == NULL);
    CHECK_STATUS(reply, SKV_INVALID);
}

static void keys_that_could_leave_their_folder_are_refused(void)
{
    static const struct {
        const char *key;
        size_t len;
        int status;
    } cases[] = {
        {TEXT(".."), SKV_INVALID},         {TEXT("../x"), SKV_INVALID},  {TEXT("a/.."), SKV_INVALID},
        {TEXT("a/../b"), SKV_INVALID},     {TEXT("./a"), SKV_INVALID},   {TEXT("a/."), SKV_INVALID},
        {TEXT("a\0b"), SKV_INVALID},       {TEXT("a\0"), SKV_INVALID},   {TEXT("this/.../ok"), SKV_NOT_FOUND},
        {TEXT("//a///b/"), SKV_NOT_FOUND}, {TEXT("..a"), SKV_NOT_FOUND}, {TEXT("Any \xff characters"), SKV_NOT_FOUND},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_get(store, cases[i].key, cases[i].len, SKV_GET_ANY, 0, NULL, reply);
        CHECK_STATUS(reply, cases[i].status);
    }
}

static void names_and_keys_have_a_maximum_length(void)
{
    char key[SKV_KEY_MAX + 2];

    memset(key, 'a', sizeof key);
    CHECK(skv_get(store, key, 255, SKV_GET_ANY, 0, NULL, reply) == SKV_NOT_FOUND);
    CHECK(skv_get(store, key, 256, SKV_GET_ANY, 0, NULL, reply) == SKV_TOO_LARGE);
    for (size_t i = 0; i < sizeof key; i += 8)
        key[i] = '/';
    CHECK(skv_get(store, key, SKV_KEY_MAX + 1, SKV_GET_ANY, 0, NULL, reply) == SKV_NOT_FOUND);
    CHECK(skv_get(store, key + 1, SKV_KEY_MAX + 1, SKV_GET_ANY, 0, NULL, reply) == SKV_TOO_LARGE);
}

static void root_folders_are_no_keys(void)
{
    static const char *const names[] = {"", "/", "globals", "/globals/", "environments"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);

        CHECK(skv_get(store, names[i], len, SKV_GET_ANY, 0, NULL, reply) == SKV_IS_FOLDER);
        CHECK(skv_put(store, names[i], len, "d", 1, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_IS_FOLDER);
        CHECK(skv_delete(store, names[i], len, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_IS_FOLDER);
        CHECK(skv_exists(store, names[i], len, 0, NULL, reply) == SKV_OK);
        CHECK(skv_reply_number(reply) == SKV_KIND_FOLDER);
    }
    CHECK(skv_deletetree(store, "/", 1, 0, NULL, reply) == SKV_INVALID);
}

static skv_status keep(const char *document, int condition, const char *expect)
{
    return skv_put(store, "globals/k", 9, document, strlen(document), condition | SKV_PUT_KEEP_ENCRYPTED, expect,
                   expect ? strlen(expect) : 0, 1000, NULL, reply);
}

/* A client without keys used to replace encrypted documents by plain ones. */
static void a_plain_document_does_not_replace_an_encrypted_one(void)
{
    static const char *const encrypted[] = {"{\"value\":\"eyJ.a.b.c.d\",\"encoding\":\"jwe\"}",
                                            "{\"value\":\"eyJhbGciOiJkaXIiLC", "{\"encoding\": \"jwe\"}"};

    for (int i = 0; i < 3; i++) {
        CHECK(keep(encrypted[i], SKV_PUT_ANY, NULL) == SKV_OK);
        CHECK(keep("{\"value\":1}", SKV_PUT_ANY, NULL) == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), "globals/k' failed: it is encrypted: set 'encryption_keys'");
        CHECK(keep("{\"value\":1}", SKV_PUT_EXPECT, encrypted[i]) == SKV_DENIED);
        CHECK(skv_get(store, "globals/k", 9, 0, 1000, NULL, reply) == SKV_OK);
        CHECK_STR(skv_reply_data(reply), encrypted[i]);
    }
    CHECK(skv_put(store, "globals/k", 9, "{}", 2, SKV_PUT_ANY, NULL, 0, 1000, NULL, reply) == SKV_OK);
    CHECK(skv_delete(store, "globals/k", 9, SKV_PUT_ANY, NULL, 0, 1000, NULL, reply) == SKV_OK);
}

static void a_put_names_its_condition_in_full(void)
{
    CHECK(skv_put(store, "a", 1, NULL, 0, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", 1, 3, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", 1, -1, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", 1, SKV_PUT_EXPECT, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", 1, SKV_PUT_ANY, "e", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_put(store, "a", 1, "d", SKV_DATA_MAX, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_TOO_LARGE);
}

static void a_delete_names_its_condition_in_full(void)
{
    CHECK(skv_delete(store, "a", 1, SKV_PUT_EXPECT, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete(store, "a", 1, SKV_PUT_ANY, "e", 1, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete(store, "a", 1, SKV_PUT_ABSENT, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "unknown condition 1");
    CHECK(skv_delete(store, "a", 1, 16, NULL, 0, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_delete(store, "a", 1, SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT, "", 0, 0, NULL, reply) == SKV_OK);
}

int main(void)
{
    char options[128];
    size_t len;

    if (!CHECK(mkdtemp(root) != NULL))
        return check_summary("store");
    len = (size_t)snprintf(options, sizeof options, "root_path%c%s", '\0', root) + 1;
    reply = skv_reply_new();
    store = skv_open("file", 4, options, len, reply);
    CHECK_STATUS(reply, SKV_OK);
    opening_refuses_malformed_arguments();
    options_are_found_by_name();
    the_options_of_each_type_are_described();
    calls_without_a_reply_a_store_or_a_key_are_refused();
    a_negative_timeout_is_refused_by_every_call();
    keys_that_could_leave_their_folder_are_refused();
    names_and_keys_have_a_maximum_length();
    root_folders_are_no_keys();
    a_plain_document_does_not_replace_an_encrypted_one();
    a_put_names_its_condition_in_full();
    a_delete_names_its_condition_in_full();
    CHECK(skv_deletetree(store, "globals", 7, 0, NULL, reply) == SKV_OK);
    skv_close(store);
    skv_reply_free(reply);
    if (snprintf(options, sizeof options, "rm -rf %s", root) > 0)
        CHECK(system(options) == 0);
    return check_summary("store");
}
