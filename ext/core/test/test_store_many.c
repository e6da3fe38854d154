/* Batches: each record has the outcome of a single call, in every type of store. */
#include "batches.h"
#include "chaos.h"
#include "check.h"
#include "directory.h"

#include <stdlib.h>
#include <string.h>

/* The stores that are compared: records are put one by one into the first, at once into the second. */
static skv_store *one, *many;

/* Four numbers below 256, packed on a machine with little-endian numbers. */
#define FOUR(a, b, c, d) a "\0\0\0" b "\0\0\0" c "\0\0\0" d "\0\0\0"

/* The document D1 in another spelling. */
#define D1_SPELLED "{ \"metadata\": {}, \"value\": 1 }"

static void a_batch_has_the_outcomes_of_single_puts(void)
{
    static char large[200000];

    memset(large, 'x', sizeof large);
    for (int round = 0; round < 4; round++) {
        batch_clear();
        batch_add("globals/o/a", round < 2 ? D1 : D2);
        batch_add("globals/o/b", round < 1 ? D1 : D1_SPELLED);
        batch_add("globals/o/c/d/e/f/g", D1);
        batch_add("globals/o/c/d/e/f/h", D2);
        batch_add("globals/o/c", D1);
        batch_add("globals/o/a/below", D1);
        batch_add("//globals///o/slashes/", D1);
        batch_add("globals/o/../x", D1);
        batch_add("globals", D1);
        batch_add("", D1);
        batch_add("environments/e", D1);
        batch_add("environments/e/k", D1);
        batch_add("environments/E/k", D1);
        batch_add("elsewhere/k", D1);
        batch_add("globals/o/empty", "");
        batch_add("globals/o/bytes", "\xff\xfe");
        batch_add("globals/o/twice", D1);
        batch_add("globals/o/twice", D2);
        batch_add("globals/o/Twice", D1);
        batch_add_bytes("globals/o/large", large, sizeof large - (size_t)round % 2);
        batch_compare(one, many, round == 3 ? SKV_PUT_ABSENT : SKV_PUT_ANY);
    }
}

/* One batch has records with every condition. */
static void each_record_has_a_condition_of_its_own(void)
{
    static char large[100000];

    memset(large, 'x', sizeof large - 1);
    for (int round = 0; round < 3; round++) {
        batch_clear();
        batch_add("globals/e/new", D1);
        batch_add_expecting("globals/e/missing", D2, D1);
        batch_add_expecting("globals/e/no/folder", D2, D1);
        batch_add("globals/e/f/k", D1);
        batch_add_expecting("globals/e/f", D2, D1);
        batch_add("globals/e/a", round == 0 ? D1 : D1_SPELLED);
        batch_add_expecting("globals/e/a", D2, D1_SPELLED);
        batch_add_expecting("globals/e/a", D1, D1);
        batch_add_expecting("globals/e/a", "no JSON", D1);
        batch_add_expecting("globals/e/new2", D1, "");
        batch_add_expecting("globals/e/../x", D2, D1);
        batch_add_expecting("globals", D2, D1);
        batch_add_expecting("globals/e/there", round == 1 ? D2 : D1, round == 2 ? D2 : D1);
        batch_add_expecting("globals/e/same", D1_SPELLED, D1);
        batch_add_expecting("globals/e/large", large, round == 1 ? D1 : large);
        batch_compare(one, many, round == 0 ? SKV_PUT_ANY : SKV_PUT_ABSENT);
        batch_clear();
        batch_add("globals/e/there", D1);
        batch_add("globals/e/same", D1);
        batch_add("globals/e/large", D1);
        batch_compare(one, many, round == 0 ? SKV_PUT_ANY : SKV_PUT_ABSENT);
    }
}

static void a_malformed_condition_is_refused(void)
{
    batch_clear();
    batch_add("globals/c/a", D1);
    CHECK(batch_put(many, 3, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_INVALID, 0) == 1);
    CHECK_STR(outcomes[0].text, "unknown condition 3");
    CHECK(batch_put(many, SKV_PUT_EXPECT, LONG_MS, NULL) == SKV_OK);
    /* Without an expected document, an empty one is expected. */
    CHECK(batch_tally(SKV_CONFLICT, 0) == 1);
}

static void names_that_a_directory_equates_are_put_in_order(void)
{
    for (int condition = SKV_PUT_ANY; condition <= SKV_PUT_ABSENT; condition++) {
        batch_clear();
        batch_add("globals/n/two  words", D1);
        batch_add("globals/n/two words", D2);
        batch_add("globals/n/\xc3\x84", D1);
        batch_add("globals/n/\xc3\xa4", D2);
        batch_compare(one, many, condition);
    }
}

static uint64_t seed = 42;

static unsigned at_random(unsigned below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(seed >> 33) % below;
}

static void add_at_random(void)
{
    static const char *const documents[] = {D1, D2, D1_SPELLED, "no JSON", ""};
    static const char *const names[] = {"a", "b", "c", "B", "d.e", "f"};
    char key[512] = "";
    unsigned depth = 1 + at_random(4);

    strcpy(key, at_random(3) ? "globals" : at_random(2) ? "environments/p" : "environments/q");
    for (unsigned i = 0; i < depth; i++) {
        strcat(key, "/");
        strcat(key, names[at_random(sizeof names / sizeof *names)]);
    }
    batch_add(key, documents[at_random(20) ? at_random(4) : 4]);
    if (at_random(3) == 0)
        batch[batch_count - 1].expect = documents[at_random(4)];
}

static void delete_at_random(void)
{
    const char *key = batch[at_random((unsigned)batch_count)].key;

    for (int i = 0; i < 2; i++) {
        skv_store *from = i ? many : one;

        skv_delete(from, key, strlen(key), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, reply);
    }
}

static void random_batches_have_the_outcomes_of_single_puts(void)
{
    for (int round = 0; round < 60; round++) {
        batch_clear();
        for (unsigned left = 1 + at_random(40); left > 0; left--)
            add_at_random();
        batch_compare(one, many, at_random(2) ? SKV_PUT_ANY : SKV_PUT_ABSENT);
        for (unsigned left = at_random(20); left > 0; left--)
            delete_at_random();
        for (int i = 0; i < 2 && round % 7 == 6; i++)
            skv_deletetree(i ? many : one, "globals/a", 9, LONG_MS, NULL, reply);
    }
}

static void add_many(const char *folder, int count)
{
    char key[64];

    batch_clear();
    for (int i = 0; i < count; i++) {
        snprintf(key, sizeof key, "%s/k%d", folder, i);
        batch_add(key, D1);
    }
}

static void a_large_batch_is_written_once(void)
{
    add_many("globals/large/of/them", 1200);
    CHECK(batch_put(many, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 1200);
    CHECK(batch_put(many, SKV_PUT_ABSENT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_EXISTS, 0) == 1200);
    CHECK(batch_put(many, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 0) == 1200);
    CHECK(batch_get(many, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 0) == 1200);
    CHECK_STR(outcomes[1199].text, D1);
}

/* In files, no record is ever in doubt. */
static void a_record_in_doubt_was_written_if_its_document_is_stored(void)
{
    add_many("globals/large/of/them", 300);
    CHECK(batch_put(many, SKV_PUT_ANY | SKV_PUT_IN_DOUBT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 300);
    batch[7].document = D2;
    CHECK(batch_put(many, SKV_PUT_ABSENT | SKV_PUT_IN_DOUBT, LONG_MS, NULL) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 299);
    CHECK(outcomes[7].status == SKV_UNAVAILABLE);
    CHECK_HAS(outcomes[7].text, "the outcome is unknown");
}

static void large_documents_are_put_with_small_ones(void)
{
    static char document[1200000];

    memset(document, 'y', sizeof document);
    batch_clear();
    for (int i = 0; i < 40; i++) {
        char key[32];

        snprintf(key, sizeof key, "globals/sizes/k%d", i);
        batch_add_bytes(key, document, (size_t)1 << (i % 21));
    }
    batch_compare(one, many, SKV_PUT_ANY);
}

static void an_empty_batch_succeeds(void)
{
    batch_clear();
    CHECK(batch_put(many, SKV_PUT_ANY, LONG_MS, NULL) == SKV_OK && skv_reply_size(reply) == 0);
    CHECK(batch_get(many, LONG_MS, NULL) == SKV_OK && skv_reply_size(reply) == 0);
    CHECK(skv_put_many(many, NULL, 0, LONG_MS, NULL, reply) == SKV_OK);
}

static void a_malformed_batch_is_refused(void)
{
    static const char records[] = FOUR("\1", "\1", "\1", "\2") "kde\1\0\0",
                      long_expect[] = FOUR("\1", "\1", "\2", "\2") "kde",
                      long_all[] = FOUR("\xff", "\xff", "\xff", "\0");

    CHECK(skv_put_many(many, records, 22, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "record 1 is cut off");
    CHECK(skv_reply_size(reply) == 0);
    CHECK(skv_put_many(many, long_expect, 19, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_put_many(many, long_all, 16, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_get_many(many, "\1\0\0", 3, LONG_MS, NULL, reply) == SKV_INVALID);
    CHECK(skv_put_many(many, records, 19, -1, NULL, reply) == SKV_INVALID);
    CHECK(skv_put_many(many, NULL, 19, 1, NULL, reply) == SKV_INVALID);
    CHECK(skv_put_many(NULL, records, 19, 1, NULL, reply) == SKV_INVALID);
    CHECK(skv_put_many(many, records, 19, 1, NULL, NULL) == SKV_INVALID);
}

static void an_interrupt_before_the_first_record_writes_none(void)
{
    skv_cancel *cancel = skv_cancel_new();

    add_many("globals/interrupted", 5);
    skv_cancel_fire(cancel);
    CHECK(batch_put(many, SKV_PUT_ABSENT, LONG_MS, cancel) == SKV_INTERRUPTED);
    CHECK(batch_tally(SKV_INTERRUPTED, 0) == 5);
    CHECK_HAS(outcomes[4].text, "'globals/interrupted/k4' was not reached: ");
    CHECK(batch_put(many, SKV_PUT_ABSENT, LONG_MS, cancel) == SKV_OK);
    CHECK(batch_tally(SKV_OK, 1) == 5);
    skv_cancel_free(cancel);
}

/* An earlier call may have written the records. The binding used to forget that if a second interrupt came before they
 * were sent again: the third call took its own documents for those of another client. */
static void records_stay_in_doubt_when_they_are_interrupted_again(void)
{
    skv_cancel *cancel = skv_cancel_new();

    add_many("globals/doubted", 5);
    skv_cancel_fire(cancel);
    CHECK(batch_put(many, SKV_PUT_ABSENT | SKV_PUT_IN_DOUBT, LONG_MS, cancel) == SKV_INTERRUPTED);
    CHECK(batch_tally(SKV_INTERRUPTED, 1) == 5);
    skv_cancel_free(cancel);
}

/* Adds or replaces two documents, then replaces one of them and refuses to replace the other one. */
static void memory_scenario(void)
{
    static const char any[] = FOUR("\x9", "\1", "\0", "\0") "globals/md" FOUR("\x9", "\1", "\0", "\0") "globals/nd",
                      expecting[] =
                          FOUR("\x9", "\1", "\1", "\2") "globals/med" FOUR("\x9", "\1", "\1", "\2") "globals/nef";
    int status;

    status = skv_put_many(many, any, sizeof any - 1, LONG_MS, NULL, reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = skv_put_many(many, expecting, sizeof expecting - 1, LONG_MS, NULL, reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = skv_get_many(many, "\x9\0\0\0globals/m\x9\0\0\0globals/o", 26, LONG_MS, NULL, reply);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void all_tests(void)
{
    an_empty_batch_succeeds();
    a_malformed_batch_is_refused();
    a_malformed_condition_is_refused();
    a_batch_has_the_outcomes_of_single_puts();
    each_record_has_a_condition_of_its_own();
    names_that_a_directory_equates_are_put_in_order();
    random_batches_have_the_outcomes_of_single_puts();
    a_large_batch_is_written_once();
    large_documents_are_put_with_small_ones();
    an_interrupt_before_the_first_record_writes_none();
    records_stay_in_doubt_when_they_are_interrupted_again();
    chaos(memory_scenario);
    batch_clear();
}

static void directory_tests_with(const char *layout, const char *more)
{
    one = open_with(false, (const char *[]){"id=one", layout, more, NULL});
    CHECK_STATUS(reply, SKV_OK);
    many = open_with(false, (const char *[]){"id=many", layout, more, NULL});
    CHECK_STATUS(reply, SKV_OK);
    all_tests();
    a_record_in_doubt_was_written_if_its_document_is_stored();
    CHECK(skv_deletetree(one, "globals", 7, LONG_MS, NULL, reply) == SKV_OK);
    CHECK(skv_deletetree(many, "globals", 7, LONG_MS, NULL, reply) == SKV_OK);
    CHECK(skv_deletetree(one, "environments", 12, LONG_MS, NULL, reply) == SKV_OK);
    CHECK(skv_deletetree(many, "environments", 12, LONG_MS, NULL, reply) == SKV_OK);
    skv_close(one);
    skv_close(many);
}

static void plain_tests(void)
{
    directory_tests_with("layout=plain", NULL);
    directory_tests_with("layout=plain", "strict_paths=true");
    directory_tests_with("layout=plain", "fold_case=true");
}

static void hex_tests(void)
{
    directory_tests_with("layout=hex", NULL);
    directory_tests_with("layout=hex", "fold_case=true");
}

static void file_tests(void)
{
    char root[32] = "/tmp/simpkv-many-XXXXXX", options[64], command[64];

    if (!CHECK(mkdtemp(root)))
        return;
    for (int i = 0; i < 2; i++) {
        size_t len = (size_t)snprintf(options, sizeof options, "root_path%c%s/%d", '\0', root, i) + 1;
        skv_store *opened = skv_open("file", 4, options, len, reply);

        CHECK_STATUS(reply, SKV_OK);
        *(i ? &many : &one) = opened;
    }
    all_tests();
    skv_close(one);
    skv_close(many);
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0);
}

int main(void)
{
    static const char unlimited[] = "limits dn.exact=\"" DIRECTORY_USER_DN "\" size=unlimited size.prtotal=unlimited";
    static const char *const plain[] = {"id=x", NULL}, *const hex[] = {"id=x", "layout=hex", NULL};

    reply = skv_reply_new();
    file_tests();
    run_ldap_tests(DIRECTORY_PLAIN, unlimited, false, plain, plain_tests);
    run_ldap_tests(DIRECTORY_HEX, unlimited, false, hex, hex_tests);
    skv_reply_free(reply);
    return check_summary("store_many");
}
