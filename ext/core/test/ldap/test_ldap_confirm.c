/* What 389-DS needs (ldap/confirm.h), with a slapd that says it is one: puts read an entry through the index, and
 * without it what the index lacks. slapd keeps no deleted entry; it hides entries of one folder from the index. See
 * spec/integration/half_deleted_entries_spec.rb for the server itself. */
#include "batches.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"
#include "simpkv_faults.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNINDEXED "ou=unindexed,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN
#define HIDDEN "ou=hidden,ou=globals,ou=plain,ou=instances," DIRECTORY_BASE_DN

static proxy between;

/* Expects the requests of a call, of which the proxy holds the responses until they have come. */
#define IN_ROUND_TRIPS(call, ...)                                                                                      \
    do {                                                                                                               \
        static const int round_trips[] = {__VA_ARGS__, 0};                                                             \
        proxy_expect(&between, round_trips);                                                                           \
        call;                                                                                                          \
        CHECK(proxy_was_met(&between));                                                                                \
        proxy_expect(&between, NULL);                                                                                  \
    } while (0)

static void an_unchanged_put_takes_one_request(void)
{
    static const char *const names[] = {"k", "a(b)", "*", "back\\slash", "a,b+c\"d;e=f", "#1", "gr\xc3\xbc\xc3\x9f e"};
    char key[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(key, sizeof key, "globals/indexed/%s", names[i]);
        put_gives(key, D1, 1);
        IN_ROUND_TRIPS(put_gives(key, D1, 0), 1);
        IN_ROUND_TRIPS(CHECK(put_if(key, D1, SKV_PUT_EXPECT, D1) == SKV_OK), 1);
        IN_ROUND_TRIPS(CHECK(put_if(key, D2, SKV_PUT_ABSENT, NULL) == SKV_EXISTS), 1);
    }
}

static void a_replacement_is_confirmed(void)
{
    put_gives("globals/indexed/r", D1, 1);
    IN_ROUND_TRIPS(put_gives("globals/indexed/r", D2, 1), 1, 1, 1);
    get_gives("globals/indexed/r", D2);
}

static void other_deletes(void)
{
    skv_reply *mine = skv_reply_new();

    CHECK(skv_delete(other_client, "globals/indexed/v", 17, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) == SKV_OK);
    skv_reply_free(mine);
}

/* Deletes the key after the replacement, before the search that confirms it. */
static void delete_before_confirmation(void)
{
    proxy_meanwhile(&between, other_deletes);
    proxy_arm(&between, PROXY_SEARCH, PROXY_HOLD_REQUEST, 1, 1, 1);
}

static void a_replacement_that_vanishes_is_made_again_or_in_doubt(void)
{
    put_gives("globals/indexed/v", D1, 1);
    delete_before_confirmation();
    put_gives("globals/indexed/v", D2, 1);
    get_gives("globals/indexed/v", D2);
    delete_before_confirmation();
    CHECK(put_if("globals/indexed/v", D1, SKV_PUT_EXPECT, D2) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown: the server acknowledged the write");
    CHECK(get("globals/indexed/v") == SKV_NOT_FOUND);
    proxy_meanwhile(&between, NULL);
}

static void a_missing_key_is_added_in_two_requests(void)
{
    IN_ROUND_TRIPS(put_gives("globals/indexed/new", D1, 1), 1, 1);
    CHECK(put_if("globals/indexed/none", D1, SKV_PUT_EXPECT, D2) == SKV_CONFLICT);
}

/* The document is written once more, which would have removed a half-deleted entry. */
static void an_entry_that_exists_without_the_index_stays(void)
{
    const char *key = "globals/unindexed/k";

    put_gives(key, D1, 1);
    IN_ROUND_TRIPS(put_gives(key, D1, 0), 1, 1, 1, 1, 1);
    get_gives(key, D1);
    put_gives(key, D2, 1);
    get_gives(key, D2);
    CHECK(put_if(key, D1, SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    CHECK(put_if(key, D1, SKV_PUT_EXPECT, D1) == SKV_CONFLICT);
    CHECK(put_if(key, D1, SKV_PUT_EXPECT, D2) == SKV_OK);
    get_gives(key, D1);
}

static void a_batch_does_the_same(void)
{
    batch_clear();
    batch_add("globals/unindexed/b", D1);
    batch_add("globals/indexed/b", D1);
    batch_add("globals/unindexed/k", D1);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 2);
    CHECK(batch_tally(SKV_OK, 0) == 1);
    CHECK(batch_put(store, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 0) == 3);
    CHECK(batch_put(store, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_EXISTS, 0) == 3);
}

static int get_with(const char *key, int flags)
{
    return skv_get(store, key, strlen(key), flags, LONG_MS, NULL, reply);
}

static void a_get_for_a_writer_reads_through_the_index(void)
{
    static const int flags[] = {SKV_GET_STORED, SKV_GET_LATEST, SKV_GET_STORED | SKV_GET_LATEST};

    put_gives("globals/unindexed/g", D1, 1);
    put_gives("globals/indexed/g", D1, 1);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        IN_ROUND_TRIPS(CHECK(get_with("globals/indexed/g", flags[i]) == SKV_OK), 1);
        CHECK_STR(skv_reply_data(reply), D1);
        CHECK(get_with("globals/unindexed/g", flags[i]) == SKV_NOT_FOUND);
        CHECK_HAS(skv_reply_message(reply), "Key not found: 'globals/unindexed/g'");
        CHECK(get_with("globals/indexed", flags[i]) == SKV_IS_FOLDER);
        CHECK(get_with("globals/nowhere/g", flags[i]) == SKV_NOT_FOUND);
    }
    IN_ROUND_TRIPS(get_gives("globals/unindexed/g", D1), 1);
}

static void a_hidden_entry_stays_an_error(void)
{
    skv_store *mine = store;

    store = open_with(true, (const char *[]){"id=plain", NULL});
    put_gives("globals/hidden/k", D1, 1);
    skv_close(store);
    store = mine;
    CHECK(put("globals/hidden/k", D1) == SKV_DENIED);
    CHECK(get_with("globals/hidden/k", SKV_GET_STORED) == SKV_DENIED);
    CHECK(get_with("globals/hidden/k", SKV_GET_ANY) == SKV_DENIED);
    CHECK_STR(skv_reply_fault(reply), "hidden");
}

/* ---- Conditional deletions: another client puts D2 when the server is about to delete D1 ------------------------ */

#define TAKEN "globals/indexed/t"

static skv_cancel *cancel;
static atomic_bool is_confirming;

static void arm_confirmation(proxy_fault fault, int ms)
{
    proxy_arm(&between, PROXY_SEARCH, fault, ms, 0, 1);
    is_confirming = true;
}

static void put_and_lose_confirmation(void)
{
    other_puts(TAKEN, D2);
    arm_confirmation(PROXY_LOSE_REQUEST, 0);
}

static void put_and_hold_confirmation(void)
{
    other_puts(TAKEN, D2);
    arm_confirmation(PROXY_HOLD_RESPONSE, PROXY_TOO_LATE_MS);
}

static void put_again(void)
{
    other_puts(TAKEN, D1);
}

static void put_and_lose_confirmation_after_another_put(void)
{
    other_puts(TAKEN, D2);
    proxy_meanwhile(&between, put_again);
    arm_confirmation(PROXY_LOSE_RESPONSE, 0);
}

/* Fires the handle while the confirmation waits for its response. */
static int is_held(void *unused)
{
    (void)unused;
    return is_confirming && proxy_left(&between) == 0;
}

/* Leaves two idle connections in the pool: a list keeps one, and a get takes another one. */
static void add_idle_connection(void)
{
    skv_list *list;

    put("globals/indexed/k", D1);
    list = skv_list_open(store, "globals/indexed", 15, LONG_MS, NULL, reply);
    CHECK_STATUS(reply, SKV_OK);
    get_gives("globals/indexed/k", D1);
    skv_list_close(list);
}

/* Deletes D1, of which nothing is there any more, and expects the other client's document to be kept. */
static void deletion_keeps(const char *document, void (*meanwhile)(void))
{
    put(TAKEN, D1);
    is_confirming = false;
    proxy_meanwhile(&between, meanwhile);
    proxy_arm(&between, PROXY_DELETE, PROXY_HOLD_REQUEST, 0, 0, 1);
    CHECK(skv_delete(store, TAKEN, strlen(TAKEN), SKV_PUT_EXPECT, D1, strlen(D1), LONG_MS, cancel, reply) == SKV_OK);
    CHECK_STR(skv_reply_message(reply), "");
    CHECK(skv_reply_number(reply) == 0);
    CHECK(is_confirming && proxy_left(&between) == 0);
    proxy_meanwhile(&between, NULL);
    get_gives(TAKEN, document);
}

/* The other client's document used to be lost, or reported as lost. */
static void a_document_is_put_back_after_a_failed_confirmation(void)
{
    cancel = skv_cancel_new();
    skv_cancel_watch(cancel, is_held, NULL);
    deletion_keeps(D2, put_and_hold_confirmation);
    add_idle_connection();
    deletion_keeps(D2, put_and_hold_confirmation);
    skv_cancel_free(cancel);
    cancel = NULL;
    add_idle_connection();
    deletion_keeps(D2, put_and_lose_confirmation);
    deletion_keeps(D1, put_and_lose_confirmation_after_another_put);
}

/* Without retries, the failure of the confirmation ends the call. */
static void without_retries(void)
{
    add_idle_connection();
    deletion_keeps(D2, put_and_lose_confirmation);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------ */

/* Any response but a success used to count as "the entry is gone". With four such responses, the confirmation of the
 * next attempt fails, too. */
static void a_tree_is_gone_if_the_server_says_so(void)
{
    static const struct {
        int code, times, status;
    } cases[] = {{53, 2, SKV_DENIED}, {51, 4, SKV_UNAVAILABLE}, {51, 2, SKV_OK}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_gives("globals/indexed/tree/k", D1, 1);
        proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, cases[i].code, 2, cases[i].times);
        CHECK(deletetree("globals/indexed/tree") == cases[i].status);
        CHECK(proxy_left(&between) == 0);
    }
    CHECK(skv_reply_number(reply) == 1);
}

static void an_entry_that_is_shown_late_exists(void)
{
    put_gives("globals/indexed/late", D1, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, 0, 0, 1);
    CHECK(kind("globals/indexed/late") == SKV_KIND_KEY);
    CHECK(proxy_left(&between) == 0);
}

static void memory_scenario(void)
{
    int status = put("globals/unindexed/m", D1);

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = get_with("globals/indexed/k", SKV_GET_STORED);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void tests_through_proxy(void)
{
    an_unchanged_put_takes_one_request();
    a_replacement_is_confirmed();
    a_replacement_that_vanishes_is_made_again_or_in_doubt();
    a_missing_key_is_added_in_two_requests();
    an_entry_that_exists_without_the_index_stays();
    a_batch_does_the_same();
    a_get_for_a_writer_reads_through_the_index();
    a_hidden_entry_stays_an_error();
    a_document_is_put_back_after_a_failed_confirmation();
    a_tree_is_gone_if_the_server_says_so();
    an_entry_that_is_shown_late_exists();
    chaos(memory_scenario);
}

static void tests(void)
{
    run_through(&between, true, (const char *[]){"id=plain", NULL}, tests_through_proxy);
    run_through(&between, true, (const char *[]){"id=plain", "retries=0", NULL}, without_retries);
}

/* slapd reads its root DSE from a file, and has no cn=config here. */
int main(void)
{
    static const char root_dse[] = "dn:\nvendorName: 389 Project\nvendorVersion: 389-Directory/2.3.1\n";
    char file[] = "/tmp/simpkv-root-dse-XXXXXX", schema[512];
    int fd = mkstemp(file);

    reply = skv_reply_new();
    if (CHECK(fd >= 0) && CHECK(write(fd, root_dse, strlen(root_dse)) == (ssize_t)strlen(root_dse))) {
        snprintf(schema, sizeof schema, "%s\nrootDSE %s", DIRECTORY_PLAIN, file);
        run_ldap_tests(schema,
                       "access to dn.subtree=\"" UNINDEXED "\" attrs=entryDN by * none\n"
                       "access to dn.children=\"" HIDDEN "\" by * search\n",
                       false, (const char *[]){"id=plain", NULL}, tests);
        close(fd);
        unlink(file);
    }
    batch_clear();
    skv_reply_free(reply);
    return check_summary("ldap_confirm");
}
