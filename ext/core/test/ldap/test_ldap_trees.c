/* Trees in a directory, which are read by one search. */
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <stdlib.h>
#include <string.h>

#define PLAIN_DN ",ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN
/* The id is "Hex". */
#define HEX_DN ",ou=globals,simpkvHexId=486578,ou=instances," DIRECTORY_BASE_DN

static skv_list *open_tree(const char *folder, int flags)
{
    return skv_tree_open(store, folder, strlen(folder), flags, LONG_MS, NULL, reply);
}

/* ---- Both layouts ----------------------------------------------------------------------------------------------- */

static void the_roots_exist_before_the_first_put(void)
{
    CHECK_STR(tree_of(""), "fenvironments fglobals ");
    CHECK_STR(tree_of("globals"), "");
    CHECK_STR(tree_of("environments"), "");
    CHECK_STR(tree_of("environments/dev"), "not_found");
    CHECK_HAS(skv_reply_message(reply), "Key folder 'environments/dev' not found (ldapi://");
}

static void a_tree_has_all_keys_and_folders_below(void)
{
    put_gives("globals/t/k", D1, 1);
    put_gives("globals/t/a/b/c/k", D2, 1);
    put_gives("globals/t/a/k", "{\"value\":\"é\"}", 1);
    put_gives("globals/t/a/b/gone", D1, 1);
    CHECK(del("globals/t/a/b/gone") == SKV_OK);
    put_gives("globals/other", D1, 1);
    CHECK_STR(tree_of("globals/t"), "fa fa/b fa/b/c ka/b/c/k=" D2 " ka/k={\"value\":\"é\"} kk=" D1 " ");
    CHECK_STR(names_below("globals/t"), "fa fa/b fa/b/c ka/b/c/k= ka/k= kk= ");
    CHECK_STR(tree_of("globals/t/a/b"), "fc kc/k=" D2 " ");
    CHECK(del("globals/t/a/b/c/k") == SKV_OK);
    CHECK_STR(tree_of("globals/t/a/b/c"), "");
    CHECK_STR(tree_of("globals/t/a/b/c/d"), "not_found");
    CHECK_STR(tree_of("globals/t/k"), "not_found");
}

static void the_tree_of_all_has_both_roots(void)
{
    put_gives("environments/dev/f/k", D1, 1);
    CHECK_STR(names_below(""), "fenvironments fenvironments/dev fenvironments/dev/f fglobals fglobals/t fglobals/t/a "
                               "fglobals/t/a/b fglobals/t/a/b/c kenvironments/dev/f/k= kglobals/other= kglobals/t/a/k= "
                               "kglobals/t/k= ");
    CHECK_STR(tree_of("environments"), "fdev fdev/f kdev/f/k=" D1 " ");
    CHECK(deletetree("environments") == SKV_OK && deletetree("globals") == SKV_OK);
    CHECK_STR(tree_of(""), "fenvironments fglobals ");
}

static void names_that_a_dn_must_escape_are_kept(void)
{
    put_gives("globals/n/a,b/#1/q\"+=;", D1, 1);
    put_gives("globals/n/a,b/ lead/\\", D1, 1);
    CHECK_STR(names_below("globals/n"), "fa,b fa,b/ lead fa,b/#1 ka,b/ lead/\\= ka,b/#1/q\"+=;= ");
    CHECK(deletetree("globals/n") == SKV_OK);
}

#define FOLDERS 31
#define KEYS 20

/* The tree has more records than a page of the server's or of ours. */
static void large_trees_are_complete(void)
{
    char key[64];
    skv_list *list;

    for (int i = 0; i < FOLDERS * KEYS; i++) {
        snprintf(key, sizeof key, "globals/large/f%d/k%d", i % FOLDERS, i);
        put(key, D1);
        CHECK_STATUS(reply, SKV_OK);
    }
    CHECK(count_of(open_tree("globals/large", 0)) == FOLDERS * KEYS + FOLDERS);
    CHECK(count_of(open_tree("globals/large", SKV_TREE_NAMES)) == FOLDERS * KEYS + FOLDERS);
    CHECK(count_of(open_tree("globals/large", SKV_TREE_NAMES | SKV_TREE_ONE_LEVEL)) == FOLDERS);
    list = open_tree("globals/large", 0);
    CHECK(skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK);
    skv_list_close(list);
    get_gives("globals/large/f0/k0", D1);
    skv_list_close(open_tree("globals/large", 0));
    CHECK(deletetree("globals/large") == SKV_OK);
}

static void malformed_arguments_are_refused(void)
{
    CHECK(skv_tree_open(store, "globals", 7, 4, LONG_MS, NULL, reply) == NULL);
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK(skv_tree_open(store, "globals", 7, 0, -1, NULL, reply) == NULL);
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK(skv_tree_open(NULL, "globals", 7, 0, 0, NULL, reply) == NULL);
    CHECK(skv_tree_open(store, "globals", 7, 0, 0, NULL, NULL) == NULL);
    CHECK_STR(tree_of("elsewhere"), "invalid");
    CHECK_STR(tree_of("environments/Dev"), "invalid");
}

static void memory_scenario(void)
{
    const char *found = tree_of("globals/m");

    CHECK(skv_reply_status(reply) == SKV_NOMEM || strcmp(found, "fa fa/b ka/b/k=" D1 " ka/k=" D1 " ") == 0);
}

static void a_tree_survives_running_out_of_memory(void)
{
    put_gives("globals/m/a/b/k", D1, 1);
    put_gives("globals/m/a/k", D1, 1);
    chaos(memory_scenario);
    CHECK(deletetree("globals") == SKV_OK);
}

static void test_both_layouts(void)
{
    the_roots_exist_before_the_first_put();
    a_tree_has_all_keys_and_folders_below();
    the_tree_of_all_has_both_roots();
    names_that_a_dn_must_escape_are_kept();
    large_trees_are_complete();
    malformed_arguments_are_refused();
    a_tree_survives_running_out_of_memory();
}

/* ---- Plain ------------------------------------------------------------------------------------------------------ */

static void a_key_and_a_folder_may_share_a_name(void)
{
    put_gives("globals/both", D1, 1);
    put_gives("globals/both/both/k", D2, 1);
    put_gives("globals/both/both", D1, 1);
    CHECK_STR(tree_of("globals"), "fboth fboth/both kboth/both/k=" D2 " kboth/both=" D1 " kboth=" D1 " ");
    CHECK(deletetree("globals") == SKV_OK);
}

static void entries_of_other_programs_are_left_out(void)
{
    put_gives("globals/s/k", D1, 1);
    CHECK(directory_modify(
        &server,
        "dn: cn=stranger,ou=s" PLAIN_DN "\nobjectClass: organizationalRole\ncn: stranger\n\n"
        "dn: ou=below,cn=stranger,ou=s" PLAIN_DN "\nobjectClass: organizationalUnit\nou: below\n\n"
        "dn: ou=below,simpkvKey=k,ou=s" PLAIN_DN "\nobjectClass: organizationalUnit\nou: below\n\n"
        "dn: ou=a/b,ou=s" PLAIN_DN "\nobjectClass: organizationalUnit\nou: a/b\n\n"
        "dn: ou=c,ou=a/b,ou=s" PLAIN_DN "\nobjectClass: organizationalUnit\nou: c\n\n"
        "dn: ou=..,ou=s" PLAIN_DN "\nobjectClass: organizationalUnit\nou: ..\n\n"
        "dn: ou=aside,ou=plain,ou=instances," DIRECTORY_BASE_DN "\nobjectClass: organizationalUnit\nou: aside\n\n"
        "dn: ou=s,ou=aside,ou=plain,ou=instances," DIRECTORY_BASE_DN "\nobjectClass: organizationalUnit\nou: s\n"));
    CHECK_STR(tree_of("globals/s"), "e..= ea/b= kk=" D1 " ");
    CHECK_STR(listed("globals/s"), "e..= ea/b= kk=" D1 " ");
    CHECK_STR(names_below(""), "eglobals/s/..= eglobals/s/a/b= fenvironments fglobals fglobals/s kglobals/s/k= ");
    CHECK(deletetree("globals") == SKV_OK);
}

#define LONG_NAME 200
#define LONG_LEVELS 25

/* Another program adds nested folders whose path is longer than a key can be. */
static bool make_long_folders(void)
{
    static char ldif[LONG_LEVELS * LONG_LEVELS * (LONG_NAME + 8)];
    char name[LONG_NAME + 1] = "";
    size_t used = 0;

    put_gives("globals/long/k", D1, 1);
    memset(name, 'x', LONG_NAME);
    for (int i = 1; i <= LONG_LEVELS; i++) {
        used += (size_t)sprintf(ldif + used, "dn: ou=%s", name);
        for (int j = 1; j < i; j++)
            used += (size_t)sprintf(ldif + used, ",ou=%s", name);
        used += (size_t)sprintf(ldif + used, ",ou=long" PLAIN_DN "\nobjectClass: organizationalUnit\nou: %s\n\n", name);
    }
    return directory_modify(&server, ldif);
}

static void a_path_that_no_key_can_have_is_an_error(void)
{
    size_t folders = 0, errors = 0, longest = 0;
    skv_list *list;

    CHECK(make_long_folders());
    list = open_tree("globals/long", SKV_TREE_NAMES);
    while (list && skv_list_next(list, LONG_MS, NULL, reply) == SKV_OK) {
        const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);

        for (uint32_t len[2]; p < end; p += 9 + len[0] + len[1]) {
            memcpy(len, p + 1, sizeof len);
            folders += *p == 'f';
            errors += *p == 'e';
            longest = *p == 'e' ? len[0] : longest;
        }
    }
    CHECK_STATUS(reply, SKV_END);
    skv_list_close(list);
    CHECK(folders == (SKV_KEY_MAX - strlen("globals/long")) / (LONG_NAME + 1));
    CHECK(errors == 1 && longest == (folders + 1) * (LONG_NAME + 1) - 1);
    CHECK(deletetree("globals") == SKV_OK);
}

static void plain_tests(void)
{
    test_both_layouts();
    a_key_and_a_folder_may_share_a_name();
    entries_of_other_programs_are_left_out();
    a_path_that_no_key_can_have_is_an_error();
}

/* ---- Hex -------------------------------------------------------------------------------------------------------- */

#define HEX_FOLDER(digits, name) "\nobjectClass: simpkvFolder\nsimpkvHexId: " digits "\nsimpkvId: " name "\n\n"

/* The server returns the entries of a moved folder before the folder. */
static void a_folder_may_come_after_its_entries(void)
{
    put_gives("globals/a/m/k", D1, 1);
    put_gives("globals/a/m/n/k", D2, 1);
    put_gives("globals/late/k", D1, 1);
    CHECK(directory_modify(&server, "dn: simpkvHexId=6d,simpkvHexId=61" HEX_DN "\nchangetype: modrdn\n"
                                    "newrdn: simpkvHexId=6d\ndeleteoldrdn: 0\n"
                                    "newsuperior: simpkvHexId=6c617465" HEX_DN "\n"));
    CHECK_STR(tree_of("globals"), "fa flate flate/m flate/m/n klate/k=" D1 " klate/m/k=" D1 " klate/m/n/k=" D2 " ");
    CHECK(deletetree("globals") == SKV_OK);
}

static void entries_of_other_programs_are_left_out_of_the_hex_layout(void)
{
    put_gives("globals/s/k", D1, 1);
    put_gives("globals/k", D1, 1);
    put_gives("environments/dev/k", D1, 1);
    CHECK(directory_modify(
        &server,
        /* entries below a key, an ou, entries below it, and below an RDN without hex digits */
        "dn: simpkvHexId=61,simpkvHexId=6b,simpkvHexId=73" HEX_DN
            HEX_FOLDER("61", "a") "dn: simpkvHexId=62,simpkvHexId=61,simpkvHexId=6b,simpkvHexId=73" HEX_DN HEX_FOLDER(
                "62",
                "b") "dn: ou=u,simpkvHexId=73" HEX_DN "\nobjectClass: organizationalUnit\nou: u\n\n"
                     "dn: simpkvHexId=61,ou=u,simpkvHexId=73" HEX_DN HEX_FOLDER(
                         "61", "a") "dn: simpkvHexId=zz,simpkvHexId=73" HEX_DN
                         HEX_FOLDER("zz", "z") "dn: simpkvHexId=61,simpkvHexId=zz,simpkvHexId=73" HEX_DN HEX_FOLDER(
                             "61", "a") "dn: simpkvHexId=2f00,simpkvHexId=73" HEX_DN HEX_FOLDER("2f00", "s")));
    CHECK_STR(names_below("globals/s"), "e/= ezz= fu kk= ");
    CHECK_STR(names_of_one_level("globals/s"), "e/= ezz= fu kk= ");
    CHECK_STR(names_below("globals"), "es//= es/zz= fs fs/u kk= ks/k= ");
    CHECK_STR(tree_of("globals/k"), "not_found");
    CHECK(deletetree("globals") == SKV_OK && deletetree("environments") == SKV_OK);
}

static void names_are_case_sensitive(void)
{
    put_gives("globals/F/k", D1, 1);
    put_gives("globals/f/K", D2, 1);
    CHECK_STR(tree_of("globals"), "fF ff kF/k=" D1 " kf/K=" D2 " ");
    CHECK(deletetree("globals") == SKV_OK);
}

static void hex_tests(void)
{
    test_both_layouts();
    a_folder_may_come_after_its_entries();
    entries_of_other_programs_are_left_out_of_the_hex_layout();
    names_are_case_sensitive();
}

/* ---- Rights and limits ------------------------------------------------------------------------------------------ */

static void names_need_no_document(void)
{
    skv_store *mine = store;

    store = open_with(true, (const char *[]){"id=plain", NULL});
    put_gives("globals/r/k", D1, 1);
    skv_close(store);
    store = mine;
    CHECK_STR(tree_of("globals"), "er/k= fr ");
    CHECK_STR(names_below("globals"), "fr kr/k= ");
}

/* Such keys used to be left out, as if there were none. */
static void keys_below_a_hidden_folder_are_errors_in_the_hex_layout(void)
{
    skv_store *mine = store;

    store = open_with(true, (const char *[]){"id=Hex", "layout=hex", NULL});
    put_gives("globals/b/a/k", D1, 1);
    put_gives("globals/b/a/f/k", D1, 1);
    put_gives("globals/b/c", D1, 1);
    CHECK(directory_modify(&server, "dn: ou=u,simpkvHexId=62" HEX_DN "\nobjectClass: organizationalUnit\nou: u\n\n"
                                    "dn: ou=other,simpkvHexId=62" HEX_DN "\nobjectClass: groupOfNames\ncn: x\n"
                                    "ou: other\nmember: cn=x\n"));
    skv_close(store);
    store = mine;
    CHECK_STR(tree_of("globals/b"), "ea/f/k= ea/f= ea/k= eu= kc=" D1 " ");
    CHECK_STR(listed("globals/b"), "eu= kc=" D1 " ");
    get_gives("globals/b/a/k", D1);
}

static void an_incomplete_tree_is_an_error(void)
{
    char key[64];

    for (int i = 0; i < 40; i++) {
        snprintf(key, sizeof key, "globals/limited/f%d/k", i);
        put(key, D1);
    }
    CHECK(count_of(open_tree("globals/limited", 0)) == -SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "Cannot read 'globals/limited': ");
    CHECK_HAS(skv_reply_message(reply), "size.prtotal");
}

/* The refusal of a large page used to be taken for a limit of the whole. */
static void smaller_pages_are_requested_if_the_server_takes_no_larger_ones(void)
{
    char key[64];

    for (int i = 0; i < 250; i++) {
        snprintf(key, sizeof key, "globals/pages/k%d", i);
        put(key, D1);
    }
    for (int i = 0; i < 2; i++) {
        CHECK(count_of(open_tree("globals/pages", 0)) == 250);
        CHECK(count_of(skv_list_open(store, "globals/pages", strlen("globals/pages"), LONG_MS, NULL, reply)) == 250);
    }
    CHECK(deletetree("globals/pages") == SKV_OK);
}

static void a_limit_of_the_whole_is_an_error_with_the_words_of_the_server(void)
{
    an_incomplete_tree_is_an_error();
    CHECK_HAS(skv_reply_message(reply), "administrative limit (adminLimitExceeded, 11)");
    CHECK_HAS(skv_reply_message(reply), ": pagedResults control not allowed. Lift it");
    CHECK_HAS(skv_reply_message(reply), "size.pr=unlimited");
}

int main(void)
{
    static const char *const plain[] = {"id=plain", "page_size=100", NULL};
    static const char *const hex[] = {"id=Hex", "layout=hex", "page_size=100", NULL};
    static const char *const tiny[] = {"id=Hex", "layout=hex", "page_size=1", NULL};
    static const char unlimited[] = "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited";
    static const char hidden[] = "access to dn.exact=\"simpkvHexId=61,simpkvHexId=62" HEX_DN "\" by * none\n"
                                 "access to dn.exact=\"ou=u,simpkvHexId=62" HEX_DN "\" attrs=objectClass by * search";
    static const char unread[] = "access to attrs=simpkvJsonValue by * none";

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, unlimited, false, plain, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, unlimited, false, hex, hex_tests);
    run_ldap_tests(DIRECTORY_HEX, unlimited, false, tiny, a_folder_may_come_after_its_entries);
    run_ldap_tests(DIRECTORY_HEX, hidden, false, hex, keys_below_a_hidden_folder_are_errors_in_the_hex_layout);
    run_ldap_tests(DIRECTORY_PLAIN, unread, false, plain, names_need_no_document);
    run_ldap_tests(DIRECTORY_PLAIN, "sizelimit 20", false, plain, an_incomplete_tree_is_an_error);
    run_ldap_tests(DIRECTORY_PLAIN, "limits * size=unlimited size.pr=10 size.prtotal=unlimited", false, plain,
                   smaller_pages_are_requested_if_the_server_takes_no_larger_ones);
    run_ldap_tests(DIRECTORY_PLAIN, "limits * size.soft=20 size.prtotal=disabled", false, plain,
                   a_limit_of_the_whole_is_an_error_with_the_words_of_the_server);
    skv_reply_free(reply);
    return check_summary("store_ldap_trees");
}
