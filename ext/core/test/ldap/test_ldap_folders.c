/* Deletions of empty folders in a directory, beside other clients and in a network that loses responses. */
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <string.h>

#define FOLDER "globals/folders/f"
#define KEY FOLDER "/k"

static proxy between;
static skv_cancel *cancel;
static bool hex;

/* Holds the next request of that kind, while the function runs. */
static void meanwhile(unsigned char tag, void (*call)(void))
{
    proxy_meanwhile(&between, call);
    proxy_arm(&between, tag, PROXY_HOLD_REQUEST, 0, 0, 1);
}

/* ---- Folders and their contents ---- */

static void an_empty_folder_is_deleted(void)
{
    create_folder_gives(FOLDER, 1);
    delete_folder_gives(FOLDER, 1);
    delete_folder_gives(FOLDER, 0);
    delete_folder_gives("globals/no/such/folder", 0);
    put(KEY, D1);
    CHECK(del(KEY) == SKV_OK);
    delete_folder_gives(FOLDER, 1);
    delete_folder_gives("globals/folders", 1);
    create_folder_gives("environments/e", 1);
    delete_folder_gives("environments/e", 1);
    delete_folder_gives("environments/e", 0);
}

static void a_folder_with_contents_stays_and_one_of_them_is_named(void)
{
    put(KEY, D1);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT && skv_reply_number(reply) == 0);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '" FOLDER "' failed: it is not empty, the key 'k' is in it: "
                                        "delete its contents first (ldap");
    get_gives(KEY, D1);
    CHECK(delete_folder("globals/folders") == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "it is not empty, the folder 'f' is in it");
    CHECK(deletetree("globals/folders") == SKV_OK);
}

static void the_entry_of_another_program_is_named_by_its_dn(void)
{
    static const char format[] = "dn: cn=foreign,%s\nobjectClass: applicationProcess\ncn: foreign\n";
    char ldif[512];

    create_folder_gives(FOLDER, 1);
    CHECK(skv_dn_from_path(hex ? SKV_LAYOUT_HEX : SKV_LAYOUT_PLAIN, SKV_KIND_FOLDER, DIRECTORY_BASE_DN,
                           strlen(DIRECTORY_BASE_DN), hex ? "hex" : "plain", hex ? 3 : 5, FOLDER, strlen(FOLDER),
                           reply) == SKV_OK);
    snprintf(ldif, sizeof ldif, format, skv_reply_data(reply));
    CHECK(directory_modify(&server, ldif));
    CHECK_STR(listed(FOLDER), "");
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "it is not empty, the entry 'cn=foreign,");
    CHECK(deletetree("globals/folders") == SKV_OK);
}

static void a_key_and_the_folders_of_every_store_are_refused(void)
{
    put(KEY, D1);
    CHECK(delete_folder(KEY) == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "it is a key, not a folder");
    get_gives(KEY, D1);
    CHECK(delete_folder("/") == SKV_INVALID && delete_folder("globals") == SKV_INVALID);
    CHECK(delete_folder("environments") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "'environments' cannot be deleted: every store has it");
    CHECK(deletetree("globals/folders") == SKV_OK);
}

/* ---- Other clients, each while the proxy holds the delete of this call ---- */

static void put_key(void)
{
    other_puts(KEY, D1);
}

/* The folder used to be deleted with the key. */
static void a_key_that_another_client_adds_meanwhile_stays(void)
{
    create_folder_gives(FOLDER, 1);
    meanwhile(PROXY_DELETE, put_key);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), "the key 'k' is in it");
    CHECK(proxy_left(&between) == 0);
    get_gives(KEY, D1);
    CHECK(deletetree("globals/folders") == SKV_OK);
}

static void delete_other_folder(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_delete_folder(other_client, FOLDER, strlen(FOLDER), LONG_MS, NULL, mine) == SKV_OK);
    CHECK(skv_reply_number(mine) == 1);
    skv_reply_free(mine);
}

static void a_folder_that_another_client_deletes_first_was_not_deleted_by_this_one(void)
{
    create_folder_gives(FOLDER, 1);
    meanwhile(PROXY_DELETE, delete_other_folder);
    delete_folder_gives(FOLDER, 0);
    CHECK(proxy_left(&between) == 0);
}

static void a_put_makes_the_folder_again(void)
{
    create_folder_gives(FOLDER, 1);
    meanwhile(PROXY_ADD, delete_other_folder);
    put_gives(KEY, D1, 1);
    CHECK(proxy_left(&between) == 0);
    get_gives(KEY, D1);
    CHECK(deletetree("globals/folders") == SKV_OK);
}

/* Deletes the key as soon as the server has refused the folder. */
static void delete_key(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_delete(other_client, KEY, strlen(KEY), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) == SKV_OK);
    skv_reply_free(mine);
}

static void contents_that_are_not_shown_are_an_error(void)
{
    put(KEY, D1);
    proxy_meanwhile(&between, delete_key);
    proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_REQUEST, 0, 1, 1);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT);
    CHECK_HAS(skv_reply_message(reply), " answered 66 (notAllowedOnNonLeaf), but shows '");
    CHECK_HAS(skv_reply_message(reply), "' no entry in it");
    proxy_meanwhile(&between, NULL);
    put(KEY, D1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_REQUEST, 0, 1, 1);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT && proxy_left(&between) == 0);
    get_gives(KEY, D1);
    CHECK(deletetree("globals/folders") == SKV_OK);
}

/* ---- Lost responses and interrupts ---- */

static void a_lost_response_leaves_the_folder_deleted(void)
{
    proxy_meanwhile(&between, NULL);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_REQUEST, 0, 0, 1);
    delete_folder_gives(FOLDER, 1);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    delete_folder_gives(FOLDER, 1);
    CHECK(proxy_left(&between) == 0);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 51, 0, 1);
    delete_folder_gives(FOLDER, 1);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 50, 0, 1);
    CHECK(delete_folder(FOLDER) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '" FOLDER "' failed: ");
    CHECK(kind(FOLDER) == SKV_KIND_FOLDER);
}

/* Another client stores a key after the server has deleted the folder. */
static void a_repeated_request_does_not_delete_a_later_put(void)
{
    create_folder_gives(FOLDER, 0);
    proxy_meanwhile(&between, put_key);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT && proxy_left(&between) == 0);
    get_gives(KEY, D1);
    proxy_meanwhile(&between, NULL);
    CHECK(del(KEY) == SKV_OK);
    proxy_arm(&between, PROXY_DELETE, PROXY_LATE_REQUEST, 300, 0, 1);
    delete_folder_gives(FOLDER, 1);
    other_puts(KEY, D2);
    proxy_await_late(&between, 1);
    get_gives(KEY, D2);
    CHECK(deletetree("globals/folders") == SKV_OK);
}

static skv_status delete_interruptibly(void)
{
    return skv_delete_folder(store, FOLDER, strlen(FOLDER), LONG_MS, cancel, reply);
}

static void an_interrupted_call_may_have_deleted_the_folder(void)
{
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 0, 1);
    skv_cancel_reset(cancel);
    skv_cancel_fire(cancel);
    CHECK(delete_interruptibly() == SKV_INTERRUPTED && skv_reply_number(reply) == 1);
    skv_cancel_reset(cancel);
    CHECK(delete_interruptibly() == SKV_OK && skv_reply_number(reply) == 0);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 0, 1);
    skv_cancel_fire(cancel);
    CHECK(delete_interruptibly() == SKV_INTERRUPTED && skv_reply_number(reply) == 0);
    skv_cancel_reset(cancel);
    CHECK(delete_interruptibly() == SKV_OK && skv_reply_number(reply) == 1);
}

static void an_empty_folder_takes_two_round_trips(void)
{
    static const int two[] = {1, 1, 0}, three[] = {1, 1, 1, 0};

    put(KEY, D1);
    proxy_expect(&between, three);
    CHECK(delete_folder(FOLDER) == SKV_CONFLICT && proxy_was_met(&between));
    proxy_expect(&between, NULL);
    CHECK(del(KEY) == SKV_OK);
    proxy_expect(&between, two);
    delete_folder_gives(FOLDER, 1);
    CHECK(proxy_was_met(&between));
    proxy_expect(&between, NULL);
}

/* ---- The plain layout ---- */

/* A repeated deletetree used to take the key for the folder that it had deleted. */
static void a_key_with_the_name_of_the_folder_is_left_alone(void)
{
    put(FOLDER, D1);
    create_folder_gives(FOLDER, 1);
    delete_folder_gives(FOLDER, 1);
    CHECK(delete_folder(FOLDER) == SKV_IS_KEY);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    delete_folder_gives(FOLDER, 1);
    create_folder_gives(FOLDER, 1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(deletetree(FOLDER) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    get_gives(FOLDER, D1);
    CHECK(deletetree("globals/folders") == SKV_OK);
}

/* ---- Memory ---- */

static void memory_scenario(void)
{
    int status = put(KEY, D1);

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    if (status != SKV_OK)
        return;
    status = delete_folder(FOLDER);
    CHECK(status == SKV_CONFLICT || status == SKV_NOMEM);
    status = deletetree("globals/folders");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = create_folder(FOLDER);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = delete_folder(FOLDER);
    CHECK(status == SKV_OK || status == SKV_NOMEM || status == SKV_CONFLICT);
}

static void tests(void)
{
    an_empty_folder_is_deleted();
    a_folder_with_contents_stays_and_one_of_them_is_named();
    the_entry_of_another_program_is_named_by_its_dn();
    a_key_and_the_folders_of_every_store_are_refused();
    a_key_that_another_client_adds_meanwhile_stays();
    a_folder_that_another_client_deletes_first_was_not_deleted_by_this_one();
    a_put_makes_the_folder_again();
    contents_that_are_not_shown_are_an_error();
    a_lost_response_leaves_the_folder_deleted();
    a_repeated_request_does_not_delete_a_later_put();
    an_interrupted_call_may_have_deleted_the_folder();
    an_empty_folder_takes_two_round_trips();
    if (!hex)
        a_key_with_the_name_of_the_folder_is_left_alone();
    proxy_meanwhile(&between, NULL);
}

static void plain_tests(void)
{
    hex = false;
    for (int i = 0; i < 2; i++)
        run_through(&between, i == 1, (const char *[]){"id=plain", "retries=2", NULL}, tests);
    chaos(memory_scenario);
}

static void hex_tests(void)
{
    hex = true;
    run_through(&between, false, (const char *[]){"id=hex", "layout=hex", "retries=2", NULL}, tests);
}

int main(void)
{
    reply = skv_reply_new();
    cancel = skv_cancel_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, (const char *[]){"id=plain", NULL}, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, "", false, (const char *[]){"id=hex", "layout=hex", NULL}, hex_tests);
    skv_cancel_free(cancel);
    skv_reply_free(reply);
    check_tally("responses lost and other clients beside deletions of folders, before slapd", proxy_faults(),
                calls_made());
    return check_summary("store_ldap_folders");
}
