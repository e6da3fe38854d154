/* What 389-DS needs (ldap/confirm.h), with a slapd that says it is one: puts read an entry through the index, and what
 * it lacks, without it. slapd keeps no deleted entry; it hides entries of one folder from the index. See
 * spec/integration/half_deleted_entries_spec.rb for the server itself. */
#include "batches.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"
#include "simpkv_faults.h"

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
    chaos(memory_scenario);
}

static void tests(void)
{
    run_through(&between, true, (const char *[]){"id=plain", NULL}, tests_through_proxy);
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
