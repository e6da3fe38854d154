/* Keys: the checks, and the join with a prefix. */
#include "chaos.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static skv_reply *reply;

static void check_key(const test_case *c)
{
    skv_key_check(c->field[0], c->len[0], atoi(c->field[1]), reply);
    CHECK_STATUS(reply, status_named(c->field[2]));
    CHECK_HAS(skv_reply_message(reply), c->field[3]);
}

static void check_join(const test_case *c)
{
    int wanted = status_named(c->field[2]);

    skv_key_join(c->field[0], c->len[0], c->field[1], c->len[1], reply);
    CHECK_STATUS(reply, wanted);
    if (wanted == SKV_OK)
        CHECK_STR(skv_reply_data(reply), c->field[3]);
    else
        CHECK_HAS(skv_reply_message(reply), c->field[3]);
}

static void limits_are_exact(void)
{
    char key[SKV_KEY_MAX + 2];

    memset(key, 'k', sizeof key);
    CHECK(skv_key_check(key, 255, 0, reply) == SKV_OK);
    CHECK(skv_key_check(key, 256, 0, reply) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "256 bytes");
    for (size_t i = 99; i < sizeof key; i += 100)
        key[i] = '/';
    CHECK(skv_key_check(key, SKV_KEY_MAX, 0, reply) == SKV_OK);
    CHECK(skv_key_check(key, SKV_KEY_MAX + 1, 0, reply) == SKV_TOO_LARGE);
    CHECK(skv_key_join("", 0, key, SKV_KEY_MAX, reply) == SKV_OK);
    CHECK(skv_reply_size(reply) == SKV_KEY_MAX);
    CHECK(skv_key_join("", 0, key, SKV_KEY_MAX + 1, reply) == SKV_TOO_LARGE);
    CHECK(skv_key_join("p", 1, key, SKV_KEY_MAX - 2, reply) == SKV_OK);
    CHECK(skv_key_join("p", 1, key, SKV_KEY_MAX - 1, reply) == SKV_TOO_LARGE);
}

static void missing_arguments_are_refused(void)
{
    CHECK(skv_key_check(NULL, 3, 0, reply) == SKV_INVALID);
    CHECK(skv_key_join(NULL, 0, "a", 1, reply) == SKV_INVALID);
    CHECK(skv_key_join("a", 1, NULL, 0, reply) == SKV_INVALID);
}

static void join_survives_a_failed_allocation(void)
{
    skv_reply *mine = skv_reply_new();
    int status;

    if (!mine)
        return;
    status = skv_key_join("environments/dev", 16, "a", 1, mine);
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    CHECK(status == SKV_NOMEM || strcmp(skv_reply_data(mine), "environments/dev/a") == 0);
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    each_case("keys.tsv", check_key);
    each_case("joins.tsv", check_join);
    limits_are_exact();
    missing_arguments_are_refused();
    chaos(join_survives_a_failed_allocation);
    skv_reply_free(reply);
    return check_summary("key");
}
