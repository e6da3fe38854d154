/* Keys and folders in a real slapd, in both layouts, as an ordinary user and as root DN. */
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Both layouts ------------------------------------------------------------------------------------------------ */

static void the_roots_exist_before_the_first_put(void)
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
    CHECK(describe("globals", SKV_STAT_COUNT) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "{\"kind\":\"folder\",\"keys\":0,\"folders\":0}");
    CHECK(deletetree("environments/dev") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals") == SKV_OK);
}

static void a_get_returns_every_byte_of_the_put(void)
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

static void a_put_of_an_equal_document_writes_nothing(void)
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
    /* caseExactMatch takes a run of spaces for one space. */
    put_gives("globals/c", "{\"value\":\"a  b\"}", 1);
    CHECK(put_if("globals/c", D1, SKV_PUT_EXPECT, "{\"value\":\"a b\"}") == SKV_CONFLICT);
    CHECK(put_if("globals/c", "{\"value\":\"a b\"}", SKV_PUT_EXPECT, "{\"value\":\"a  b\"}") == SKV_OK);
    get_gives("globals/c", "{\"value\":\"a b\"}");
}

static void documents_that_a_directory_cannot_keep_are_refused(void)
{
    CHECK(put("globals/d", "") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "the document is empty");
    CHECK(put("globals/d", "{\"value\":\"\xff\"}") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "not UTF-8");
    CHECK(kind("globals/d") == SKV_KIND_NONE);
}

static void delete_tells_if_the_key_existed_and_keeps_the_folder(void)
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

static void deletetree_deletes_all_keys_and_folders_below(void)
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

static void a_deleted_folder_is_made_again(void)
{
    put_gives("environments/v/w/a", D1, 1);
    CHECK(deletetree("environments/v") == SKV_OK);
    put_gives("environments/v/w/a", D1, 1);
    get_gives("environments/v/w/a", D1);
    deletetree("environments/v");
}

/* Returns true if a reply has the times and the identity of a new entry. */
static bool has_times_and_identities(const char *facts)
{
    const char *created = strstr(facts, "\"created_at\":\"2"), *modified = strstr(facts, "\"modified_at\":\"2");
    const char *end = created ? strchr(created + 14, '"') : NULL;

    return created && modified && end && end[-1] == 'Z' && end - created == 34 && strstr(facts, "\"created_by\":\"") &&
           (strstr(facts, "\"modified_by\":\"" DIRECTORY_USER_DN "\"") ||
            strstr(facts, "\"modified_by\":\"" SLAPD_ADMIN "\""));
}

static void keys_and_folders_are_described_by_their_entries(void)
{
    put("globals/facts/k", D1);
    put("globals/facts/f/k", D1);
    CHECK(describe("globals/facts/k", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"kind\":\"key\",");
    CHECK(has_times_and_identities(skv_reply_data(reply)));
    CHECK(!strstr(skv_reply_data(reply), "value") && !strstr(skv_reply_data(reply), "keys"));
    CHECK(describe("globals/facts", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"kind\":\"folder\",");
    CHECK_HAS(skv_reply_data(reply), "\"keys\":1,\"folders\":1}");
    CHECK(has_times_and_identities(skv_reply_data(reply)));
    CHECK(describe("", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"keys\":0,\"folders\":2}");
    CHECK(describe("globals/facts/x", 0) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "there is no key or folder 'globals/facts/x' (ldap");
    CHECK(describe("environments/none", 0) == SKV_NOT_FOUND);
    CHECK(deletetree("globals") == SKV_OK);
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

/* The list has more records than a page of the server's or of ours. */
static void long_lists_are_complete(void)
{
    char key[64];

    for (int i = 0; i < 620; i++) {
        snprintf(key, sizeof key, "globals/long/k%d", i);
        put(key, D1);
        CHECK_STATUS(reply, SKV_OK);
    }
    CHECK(count_of(skv_list_open(store, "globals/long", 12, LONG_MS, NULL, reply)) == 620);
}

static void a_store_is_usable_after_a_list_was_closed_early(void)
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
        status = describe("globals/m", SKV_STAT_COUNT);
        if (CHECK(status == SKV_NOMEM || status == SKV_OK) && status == SKV_OK) {
            CHECK(has_times_and_identities(skv_reply_data(reply)));
            CHECK_HAS(skv_reply_data(reply), "\"keys\":1,\"folders\":0}");
        }
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

static void test_both_layouts(void)
{
    the_roots_exist_before_the_first_put();
    a_get_returns_every_byte_of_the_put();
    names_that_a_dn_must_escape_are_kept();
    a_put_of_an_equal_document_writes_nothing();
    conditions_are_kept();
    documents_that_a_directory_cannot_keep_are_refused();
    delete_tells_if_the_key_existed_and_keeps_the_folder();
    list_shows_keys_and_folders();
    a_deleted_folder_is_made_again();
    keys_and_folders_are_described_by_their_entries();
    capital_letters_in_an_environment_are_refused();
    names_that_are_too_long_are_refused_before_they_are_sent();
    large_documents_come_back();
    long_lists_are_complete();
    a_store_is_usable_after_a_list_was_closed_early();
    long_trees_are_deleted();
    calls_survive_running_out_of_memory();
    deletetree_deletes_all_keys_and_folders_below();
}

/* ---- Plain layout ------------------------------------------------------------------------------------------------ */

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

/* One value looks like an entry, too. */
static void a_list_leaves_out_entries_of_other_programs(void)
{
    put_gives("globals/s/a", "{\"value\":\"\\nobjectClass: organizationalUnit\\n\"}", 1);
    CHECK(directory_modify(&server, "dn: cn=stranger,ou=s,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: organizationalRole\ncn: stranger\n\n"
                                    "dn: ou=New Folder,ou=s,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: organizationalUnit\nou: other\nou: New Folder\n"));
    CHECK_STR(listed("globals/s"), "fNew Folder ka={\"value\":\"\\nobjectClass: organizationalUnit\\n\"} ");
    CHECK(deletetree("globals/s") == SKV_OK);
}

static void conditions_are_kept_on_an_empty_key(void)
{
    CHECK(del("globals/c") == SKV_OK);
    conditions_are_kept();
}

/* The message used to be "others keep changing it". */
static void a_put_of_a_hidden_key_says_so(void)
{
    put_gives("globals/a", D1, 1);
    CHECK(directory_modify(&server, "dn: simpkvKey=hidden,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: simpkvEntry\nsimpkvKey: hidden\nsimpkvJsonValue: " D1 "\n\n"
                                    "dn: ou=hidden,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN "\n"
                                    "objectClass: organizationalUnit\n"));
    CHECK(get("globals/hidden") == SKV_NOT_FOUND);
    CHECK(put("globals/hidden", D2) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "it exists, but an access rule of the directory hides it");
    CHECK(put_if("globals/hidden", D2, SKV_PUT_ABSENT, NULL) == SKV_DENIED);
    CHECK(create_folder("globals/hidden") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "it exists, but an access rule of the directory hides it");
    CHECK(del("globals/a") == SKV_OK);
}

static void test_plain_layout(void)
{
    test_both_layouts();
    a_put_of_a_hidden_key_says_so();
    a_key_and_a_folder_may_share_a_name();
    strict_paths_refuses_to_share_a_name();
    fold_case_shares_an_environment();
    a_list_leaves_out_entries_of_other_programs();
    run_without_assertions(conditions_are_kept_on_an_empty_key);
}

/* ---- Hex layout -------------------------------------------------------------------------------------------------- */

static void names_are_case_sensitive(void)
{
    put_gives("globals/Case", D1, 1);
    put_gives("globals/case", D2, 1);
    get_gives("globals/Case", D1);
    get_gives("globals/case", D2);
    CHECK_STR(listed("globals"), "kCase=" D1 " kcase=" D2 " ");
    CHECK(deletetree("globals") == SKV_OK);
}

static void a_key_and_a_folder_cannot_share_a_name(void)
{
    put_gives("globals/k", D1, 1);
    put_gives("globals/f/a", D1, 1);
    CHECK(put("globals/k/a", D1) == SKV_IS_KEY);
    CHECK(put("globals/k/a/b", D1) == SKV_IS_KEY);
    CHECK(put("globals/f", D1) == SKV_IS_FOLDER);
    CHECK(deletetree("globals") == SKV_OK);
}

static void test_hex_layout(void)
{
    test_both_layouts();
    names_are_case_sensitive();
    a_key_and_a_folder_cannot_share_a_name();
}

int main(void)
{
    static const char *const plain[] = {"id=plain", "page_size=100", NULL};
    static const char *const hex[] = {"id=Hex/nested", "layout=hex", "page_size=100", NULL};
    static const char unlimited[] = "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited\n"
                                    "access to dn.regex=\"^[a-z]+=hidden,\" by * none";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, unlimited, false, plain, test_plain_layout);
    run_ldap_tests(DIRECTORY_HEX, unlimited, false, hex, test_hex_layout);
    run_ldap_tests(DIRECTORY_PLAIN, "", true, plain, test_both_layouts);
    skv_reply_free(reply);
    return check_summary("store_ldap");
}
