/* The LDAP store, used by several threads at once. */
#include "check.h"
#include "directory.h"

#include <pthread.h>
#include <string.h>

#define WRITERS 6
#define WRITES 60

/* Increments a number; each step is conditional on the number that was read. */
static void *count_up(void *unused)
{
    skv_reply *mine = skv_reply_new();

    for (int written = 0; written < check_rounds(WRITES);) {
        char old[64], new[64];
        int number;

        CHECK(skv_get(store, "globals/n", 9, SKV_GET_ANY, LONG_MS, NULL, mine) == SKV_OK);
        snprintf(old, sizeof old, "%s", skv_reply_data(mine));
        if (sscanf(old, "{\"value\":%d}", &number) != 1)
            break;
        snprintf(new, sizeof new, "{\"value\":%d}", number + 1);
        skv_put(store, "globals/n", 9, new, strlen(new), SKV_PUT_EXPECT, old, strlen(old), LONG_MS, NULL, mine);
        written += skv_reply_status(mine) == SKV_OK;
        if (skv_reply_status(mine) != SKV_OK && skv_reply_status(mine) != SKV_CONFLICT)
            CHECK_STATUS(mine, SKV_OK);
    }
    skv_reply_free(mine);
    return unused;
}

static void no_conditional_write_is_lost(void)
{
    pthread_t threads[WRITERS];
    char expected[64];

    put_gives("globals/n", "{\"value\":0}", 1);
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, count_up, NULL) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    snprintf(expected, sizeof expected, "{\"value\":%d}", WRITERS * check_rounds(WRITES));
    get_gives("globals/n", expected);
}

/* Puts keys of its own into a folder that another thread keeps deleting. */
static void *put_on(void *argument)
{
    const char *name = argument;
    skv_reply *mine = skv_reply_new();

    for (int i = 0; i < check_rounds(WRITES); i++) {
        char key[64];
        int len = snprintf(key, sizeof key, "globals/churn/f%d/%s", i % 3, name);

        skv_put(store, key, (size_t)len, D1, strlen(D1), SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine);
        CHECK_STATUS(mine, SKV_OK);
    }
    skv_reply_free(mine);
    return NULL;
}

static void *delete_on(void *unused)
{
    skv_reply *mine = skv_reply_new();

    for (int i = 0; i < check_rounds(WRITES) / 2; i++) {
        int status = skv_deletetree(store, "globals/churn", 13, LONG_MS, NULL, mine);

        CHECK(status == SKV_OK || status == SKV_UNAVAILABLE);
    }
    skv_reply_free(mine);
    return unused;
}

static void writers_and_deleters_do_not_disturb_each_other(void)
{
    static char names[][2] = {"a", "b", "c"};
    pthread_t threads[4];

    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, put_on, names[i]) == 0);
    CHECK(pthread_create(&threads[3], NULL, delete_on, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(deletetree("globals/churn") == SKV_OK);
}

static void all_tests(void)
{
    no_conditional_write_is_lost();
    run_without_assertions(no_conditional_write_is_lost);
    writers_and_deleters_do_not_disturb_each_other();
}

int main(void)
{
    static const char *const plain[] = {"id=plain", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, plain, all_tests);
    skv_reply_free(reply);
    return check_summary("store_ldap_shared");
}
