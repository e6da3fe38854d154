/* The memory of jansson is wiped: trees, the buffers of its reader, and the results of rules. A
 * secret longer than a buffer's first size shows each of the blocks that the buffer moves through. */
#include "check.h"
#include "freed.h"
#include "simpkv_rules.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECRET                                                                                                         \
    "0-pl4nted-first-40-bytes-of-a-long-text-1-pl4nted-next-40-bytes-of-a-long-text--2-pl4nted-third-40-bytes-of-a-"   \
    "long-text-3-pl4nted-fourth-40-bytes-of-a-long-text-4-pl4nted-end-of-it"

const char *const secrets[] = {SECRET, "the-name-of-a-secret-member", NULL};

static skv_reply *reply;

/* Returns the number of blocks with a part of the secret that `run` freed. */
static int spilled_by(void (*run)(void))
{
    reply = skv_reply_new();
    looked = spilled = 0;
    watching = true;
    run();
    skv_reply_free(reply);
    watching = false;
    CHECK(looked > 5);
    return spilled;
}

#define SAME(a, b) skv_document_same(a, strlen(a), b, strlen(b), reply)

static void compare_documents(void)
{
    CHECK(SAME("{\"value\":\"" SECRET "\"}", "{\"value\" :\"" SECRET "\"}") == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(SAME("{\"value\":[{\"the-name-of-a-secret-member\":\"" SECRET "\"}]}",
               "{\"value\":[{\"the-name-of-a-secret-member\":\"\\n" SECRET "\"}]}") == SKV_OK);
    CHECK(skv_reply_number(reply) == 0);
}

static void read_malformed_documents(void)
{
    CHECK(SAME("{\"value\":\"" SECRET "\",}", "{\"value\":1}") == SKV_OK);
    CHECK(SAME("{\"value\":\"" SECRET, "{\"value\":1}") == SKV_OK);
    CHECK(skv_reply_number(reply) == 0);
}

static void apply_rules(void)
{
    static const char text[] =
        "{\"rules\":[{\"uuid\":\"3f1c0e62-0d5e-4b7a-9c55-0a6e5d8f2b11\",\"sensitive\":true,"
        "\"conditions\":[{\"op\":\"eq\",\"args\":{\"values\":[\"{inventory[a]}\",\"" SECRET "\"]}}],"
        "\"actions\":[{\"op\":\"set-attribute\",\"args\":{\"path\":\"/parameters/password\","
        "\"value\":\"x{inventory[a]}\"}}]}],\"actions\":[]}",
                      input[] = "{\"phases\":[\"main\"],\"inventory\":{\"a\":\"" SECRET
                                "\"},\"node\":{\"name\":\"web01.example.org\"}}";
    skv_rules *rules = skv_rules_new(text, strlen(text), NULL, reply);

    CHECK_STATUS(reply, SKV_OK);
    CHECK(rules && skv_rules_inspect(rules, input, strlen(input), NULL, reply) == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK_HAS(skv_reply_data(reply), SECRET);
    skv_rules_free(rules);
}

/* Other users of jansson in the process keep what is documented: json_dumps() returns a block for free(). */
static void other_users_may_free_what_jansson_allocated(void)
{
    json_t *tree = json_pack("{ss}", "a", "b");
    char *text = json_dumps(tree, JSON_COMPACT);

    CHECK_STR(text, "{\"a\":\"b\"}");
    free(text);
    json_decref(tree);
}

int main(void)
{
    a_block_with_a_secret_is_seen();
    CHECK(spilled_by(compare_documents) == 0);
    CHECK(spilled_by(read_malformed_documents) == 0);
    CHECK(spilled_by(apply_rules) == 0);
    other_users_may_free_what_jansson_allocated();
    return check_summary("json_wipe");
}
