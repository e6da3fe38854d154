/* Deletions with an expected document, and new folders, beside other clients and in a network that loses responses. */
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <stdatomic.h>
#include <string.h>

#define D3 "{\"value\":3,\"metadata\":{}}"
#define KEY "globals/conditions/k"

static proxy between;
static bool asserts; /* the proxy shows the assertion control */
static skv_cancel *cancel;

/* ---- Deletions ---- */

static void a_delete_may_expect_a_document(void)
{
    put(KEY, D1);
    del_if_gives(KEY, D2, 0);
    del_if_gives(KEY, "", 0);
    get_gives(KEY, D1);
    del_if_gives(KEY, D1, 1);
    del_if_gives(KEY, D1, 0);
    put("globals/conditions/spaces", "{\"value\":\"a  b\"}");
    del_if_gives("globals/conditions/spaces", "{\"value\":\"a b\"}", 0);
    del_if_gives("globals/conditions/spaces", "{\"value\":\"a  b\"}", 1);
    CHECK(kind("globals/conditions") == SKV_KIND_FOLDER);
    CHECK(del_if("globals/conditions", D1) == SKV_IS_FOLDER);
}

/* Other clients: each function runs while the proxy holds the request of this call. */
static void put_document(void)
{
    other_puts(KEY, D2);
}

static void other_deletes(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_deletetree(other_client, "globals/conditions", 18, LONG_MS, NULL, mine) == SKV_OK);
    skv_reply_free(mine);
}

static void put_same_bytes_again(void)
{
    other_puts(KEY, D2);
    other_puts(KEY, D1);
}

/* Holds the next request of that kind, while the function runs. */
static void meanwhile(unsigned char tag, void (*call)(void))
{
    proxy_meanwhile(&between, call);
    proxy_arm(&between, tag, PROXY_HOLD_REQUEST, 0, 0, 1);
}

static void a_document_of_a_faster_writer_stays(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_document);
    del_if_gives(KEY, D1, 0);
    CHECK(proxy_left(&between) == 0);
    get_gives(KEY, D2);
}

static void a_key_that_another_client_deletes_first_was_not_deleted_by_this_one(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, other_deletes);
    del_if_gives(KEY, D1, 0);
    CHECK(kind(KEY) == SKV_KIND_NONE);
}

/* The version differs, and the document does not. */
static void a_document_that_has_come_back_is_deleted(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_same_bytes_again);
    del_if_gives(KEY, D1, 1);
    CHECK(kind(KEY) == SKV_KIND_NONE);
}

/* ---- Putting back, on servers without the assertion control ---- */

static void put_third(void)
{
    other_puts(KEY, D3);
}

static void put_then_put_again_before_it_is_put_back(void)
{
    other_puts(KEY, D2);
    meanwhile(PROXY_ADD, put_third);
}

static void put_then_delete_before_it_is_put_back(void)
{
    other_puts(KEY, D2);
    meanwhile(PROXY_ADD, other_deletes);
}

static void fire(void)
{
    skv_cancel_fire(cancel);
}

static void put_then_interrupt(void)
{
    other_puts(KEY, D2);
    meanwhile(PROXY_ADD, fire);
}

static void a_document_that_is_put_back_replaces_no_later_one(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_then_put_again_before_it_is_put_back);
    del_if_gives(KEY, D1, 0);
    CHECK(proxy_left(&between) == 0);
    get_gives(KEY, D3);
    meanwhile(PROXY_DELETE, put_then_delete_before_it_is_put_back);
    del_if_gives(KEY, D3, 0);
    CHECK(proxy_left(&between) == 0);
    CHECK(kind("globals/conditions") == SKV_KIND_NONE);
}

static void an_interrupt_does_not_end_the_putting_back(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_then_interrupt);
    skv_cancel_reset(cancel);
    CHECK(skv_delete(store, KEY, strlen(KEY), SKV_PUT_EXPECT, D1, strlen(D1), LONG_MS, cancel, reply) == SKV_OK);
    CHECK(skv_reply_number(reply) == 0 && proxy_left(&between) == 0);
    get_gives(KEY, D2);
}

static void put_then_lose_the_connection(void)
{
    other_puts(KEY, D2);
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_REQUEST, 0, 0, 1);
}

static void put_then_refuse(void)
{
    other_puts(KEY, D2);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 53, 0, 1);
}

static void a_lost_connection_does_not_end_the_putting_back(void)
{
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_then_lose_the_connection);
    del_if_gives(KEY, D1, 0);
    CHECK(proxy_left(&between) == 0);
    get_gives(KEY, D2);
    put(KEY, D1);
    meanwhile(PROXY_DELETE, put_then_refuse);
    CHECK(del_if(KEY, D1) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "it is deleted, and could not be put back");
    CHECK(strstr(skv_reply_message(reply), D2) == NULL);
}

#define ONE_SPACE "{\"value\":\"a b\"}"
#define TWO_SPACES "{\"value\":\"a  b\"}"

/* Longer than the grace period of an interrupted call. */
#define LATE_MS 400

static atomic_bool restores; /* the next modification puts back */

/* Fires the handle while the server has not answered to the putting back. */
static int is_put_back(void *unused)
{
    (void)unused;
    return restores && proxy_left(&between) == 0;
}

/* The server takes the two documents for one. */
static void put_two_spaces(void)
{
    other_puts(KEY, TWO_SPACES);
    proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_RESPONSE, LATE_MS, 0, 1);
    restores = true;
}

/* The call used to end with "could not be put back". */
static void an_interrupt_does_not_end_the_putting_back_of_a_put(void)
{
    put(KEY, ONE_SPACE);
    restores = false;
    skv_cancel_watch(cancel, is_put_back, NULL);
    skv_cancel_reset(cancel);
    meanwhile(PROXY_MODIFY, put_two_spaces);
    CHECK(skv_put(store, KEY, strlen(KEY), D1, strlen(D1), SKV_PUT_EXPECT, ONE_SPACE, strlen(ONE_SPACE), LONG_MS,
                  cancel, reply) == SKV_INTERRUPTED);
    CHECK(proxy_left(&between) == 0 && skv_reply_number(reply) == 0);
    skv_cancel_watch(cancel, NULL, NULL);
    get_gives(KEY, TWO_SPACES);
}

/* ---- Lost responses and interrupts ---- */

static void a_lost_request_is_repeated(void)
{
    put(KEY, D1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_REQUEST, 0, 0, 1);
    del_if_gives(KEY, D1, 1);
    CHECK(proxy_left(&between) == 0);
    CHECK(kind(KEY) == SKV_KIND_NONE);
}

/* Another client may have deleted it. */
static void a_lost_response_leaves_the_outcome_unknown(void)
{
    proxy_meanwhile(&between, NULL);
    put(KEY, D1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del_if(KEY, D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    CHECK(proxy_left(&between) == 0);
    put(KEY, D1);
    proxy_meanwhile(&between, put_document);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del_if(KEY, D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    get_gives(KEY, D2);
}

static int delete_as(int condition)
{
    bool expects = (condition & SKV_PUT_EXPECT) != 0;

    return skv_delete(store, KEY, strlen(KEY), condition, expects ? D1 : NULL, expects ? strlen(D1) : 0, LONG_MS,
                      cancel, reply);
}

static void an_interrupted_delete_is_in_doubt(void)
{
    put(KEY, D1);
    proxy_meanwhile(&between, NULL);
    proxy_arm(&between, PROXY_DELETE, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 0, 1);
    skv_cancel_reset(cancel);
    skv_cancel_fire(cancel);
    CHECK(delete_as(SKV_PUT_EXPECT) == SKV_INTERRUPTED && skv_reply_number(reply) == 1);
    skv_cancel_reset(cancel);
    CHECK(delete_as(SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT) == SKV_UNAVAILABLE);
    CHECK(delete_as(SKV_PUT_ANY | SKV_PUT_IN_DOUBT) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(delete_as(SKV_PUT_EXPECT) == SKV_OK && skv_reply_number(reply) == 0);
    put(KEY, D1);
    CHECK(delete_as(SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT) == SKV_OK && skv_reply_number(reply) == 1);
    put(KEY, D2);
    CHECK(delete_as(SKV_PUT_EXPECT | SKV_PUT_IN_DOUBT) == SKV_UNAVAILABLE);
    get_gives(KEY, D2);
}

/* ---- Folders ---- */

static void a_folder_is_made_with_those_above_it(void)
{
    create_folder_gives("environments/made/f/g", 1);
    create_folder_gives("environments/made/f/g", 0);
    create_folder_gives("environments/made", 0);
    create_folder_gives("/", 0);
    create_folder_gives("globals", 0);
    create_folder_gives("environments", 0);
    CHECK_STR(listed("environments/made/f"), "fg ");
    CHECK_STR(listed("environments/made/f/g"), "");
    CHECK(deletetree("environments/made") == SKV_OK);
}

static void a_lost_response_leaves_the_folder_made(void)
{
    proxy_meanwhile(&between, NULL);
    for (int skip = 0; skip < 3; skip++) {
        proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, skip, 1);
        create_folder_gives("globals/new/f/g", 1);
        CHECK(proxy_left(&between) == 0);
        CHECK(deletetree("globals/new") == SKV_OK && skv_reply_number(reply) == 1);
    }
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_REQUEST, 0, 2, 1);
    create_folder_gives("globals/new/f/g", 1);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 51, 0, 1);
    create_folder_gives("globals/new/f/h", 1);
    proxy_arm(&between, PROXY_ADD, PROXY_RESPOND, 50, 0, 1);
    CHECK(create_folder("globals/new/f/i") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot make folder 'globals/new/f/i': ");
    CHECK(deletetree("globals/new") == SKV_OK);
}

static void delete_new_folders(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_deletetree(other_client, "globals/new", 11, LONG_MS, NULL, mine) == SKV_OK);
    skv_reply_free(mine);
}

static void make_new_folder(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_create_folder(other_client, "globals/new/f", 13, LONG_MS, NULL, mine) == SKV_OK);
    CHECK(skv_reply_number(mine) == 1);
    skv_reply_free(mine);
}

static void folders_above_it_that_another_client_deletes_are_made_again(void)
{
    create_folder_gives("globals/new/f", 1);
    meanwhile(PROXY_ADD, delete_new_folders);
    create_folder_gives("globals/new/f/g", 1);
    CHECK(proxy_left(&between) == 0);
    CHECK_STR(listed("globals/new/f"), "fg ");
    CHECK(deletetree("globals/new") == SKV_OK);
}

static void a_folder_that_another_client_makes_first_is_not_made_by_this_one(void)
{
    create_folder_gives("globals/new", 1);
    meanwhile(PROXY_ADD, make_new_folder);
    create_folder_gives("globals/new/f", 0);
    CHECK(proxy_left(&between) == 0);
    CHECK(deletetree("globals/new") == SKV_OK);
}

static int create_interruptibly(void)
{
    return skv_create_folder(store, "globals/new", 11, LONG_MS, cancel, reply);
}

static void an_interrupted_call_may_have_made_the_folder(void)
{
    proxy_meanwhile(&between, NULL);
    proxy_arm(&between, PROXY_ADD, PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS, 0, 1);
    skv_cancel_reset(cancel);
    skv_cancel_fire(cancel);
    CHECK(create_interruptibly() == SKV_INTERRUPTED && skv_reply_number(reply) == 1);
    skv_cancel_reset(cancel);
    CHECK(create_interruptibly() == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/new") == SKV_OK);
}

static void a_key_on_the_way_is_refused(void)
{
    skv_store *mine = store;

    store = open_with(false, (const char *[]){"id=plain", "strict_paths=true", NULL});
    put(KEY, D1);
    CHECK(create_folder(KEY) == SKV_IS_KEY);
    CHECK(create_folder(KEY "/f") == SKV_IS_KEY);
    CHECK(create_folder(KEY "/f/g") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "Cannot make folder '" KEY "/f/g': a folder of its path is a key");
    skv_close(store);
    store = mine;
}

/* ---- Memory ---- */

/* Whichever allocation fails, a document that is not the expected one stays, and the expected one stays unless the call
 * says that it has deleted it. */
static void memory_scenario(void)
{
    int status = create_folder("globals/memory/f/g");

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    put("globals/memory/k", D1);
    status = skv_reply_status(reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    if (status != SKV_OK)
        return;
    status = del_if("globals/memory/k", D2);
    CHECK((status == SKV_OK && skv_reply_number(reply) == 0) || status == SKV_NOMEM);
    status = del_if("globals/memory/k", D1);
    CHECK((status == SKV_OK && skv_reply_number(reply) == 1) || status == SKV_NOMEM);
    status = deletetree("globals/memory");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void tests(void)
{
    a_delete_may_expect_a_document();
    a_document_of_a_faster_writer_stays();
    a_key_that_another_client_deletes_first_was_not_deleted_by_this_one();
    a_document_that_has_come_back_is_deleted();
    if (!asserts) {
        a_document_that_is_put_back_replaces_no_later_one();
        an_interrupt_does_not_end_the_putting_back();
        an_interrupt_does_not_end_the_putting_back_of_a_put();
        a_lost_connection_does_not_end_the_putting_back();
    }
    a_lost_request_is_repeated();
    a_lost_response_leaves_the_outcome_unknown();
    an_interrupted_delete_is_in_doubt();
    a_folder_is_made_with_those_above_it();
    a_lost_response_leaves_the_folder_made();
    folders_above_it_that_another_client_deletes_are_made_again();
    a_folder_that_another_client_makes_first_is_not_made_by_this_one();
    an_interrupted_call_may_have_made_the_folder();
    proxy_meanwhile(&between, NULL);
}

static void plain_tests(void)
{
    const char *const options[] = {"id=plain", "retries=2", NULL};

    for (int i = 0; i < 2; i++) {
        asserts = i == 0;
        run_through(&between, !asserts, options, tests);
    }
    a_key_on_the_way_is_refused();
    chaos(memory_scenario);
}

static void hex_tests(void)
{
    asserts = true;
    run_through(&between, false, (const char *[]){"id=hex", "layout=hex", "retries=2", NULL}, tests);
    put(KEY, D1);
    CHECK(create_folder(KEY) == SKV_IS_KEY);
    CHECK(create_folder(KEY "/f") == SKV_IS_KEY);
    CHECK(create_folder(KEY "/f/g") == SKV_IS_KEY);
}

int main(void)
{
    reply = skv_reply_new();
    cancel = skv_cancel_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, (const char *[]){"id=plain", NULL}, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, "", false, (const char *[]){"id=hex", "layout=hex", NULL}, hex_tests);
    skv_cancel_free(cancel);
    skv_reply_free(reply);
    check_tally("responses lost and other clients that were faster, before slapd", proxy_faults(), calls_made());
    return check_summary("store_ldap_conditions");
}
