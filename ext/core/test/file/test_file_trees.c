/* The store in files: lists, trees and their deletion. */
#include "chaos.h"
#include "check.h"
#include "file_fixture.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void a_tree_is_deleted_however_deep_and_wide(void)
{
    /* Without openat2(), opening a folder takes a system call a level. */
    size_t deepest = by_walking ? SKV_KEY_MAX / 8 : SKV_KEY_MAX;
    char key[SKV_KEY_MAX + 1] = "globals/t";

    while (strlen(key) + 2 < deepest)
        strcat(key, "/d");
    put_gives(key, "d", 1);
    get_gives(key, "d");
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "globals/t/f%d/k%d", i % 20, i);
        put(key, "d");
    }
    CHECK(symlink("/etc", path("globals/t/out")) == 0 && symlink("../..", path("globals/t/f1/up")) == 0);
    put("globals/u", "d");
    CHECK(deletetree("globals/t") == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/t") && is_there("globals/u"));
}

static void pages_end_and_give_each_name_once(void)
{
    static char document[2000];
    skv_list *list;
    char key[64];
    int64_t total = 0;
    int pages = 0;

    memset(document, 'd', sizeof document - 1);
    for (int i = 0; i < 1101; i++) {
        snprintf(key, sizeof key, "globals/k%d", i);
        write_file(key, i < 600 ? "" : document);
    }
    list = skv_list_open(store, "globals", 7, 0, NULL, reply);
    CHECK(list != NULL);
    for (; skv_list_next(list, 0, NULL, reply) == SKV_OK; pages++) {
        CHECK(skv_reply_number(reply) > 0 && skv_reply_number(reply) <= 500);
        CHECK(skv_reply_size(reply) < 300000);
        total += skv_reply_number(reply);
    }
    CHECK_STATUS(reply, SKV_END);
    CHECK(skv_reply_size(reply) == 0);
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    CHECK(total == 1101 && pages > 3);
    skv_list_close(list);
}

static void a_list_leaves_out_keys_that_are_deleted_meanwhile(void)
{
    skv_list *list;

    put("globals/a", "d");
    list = skv_list_open(store, "globals", 7, 0, NULL, reply);
    del("globals/a");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
    put("globals/f/a", "d");
    list = skv_list_open(store, "globals/f", 9, 0, NULL, reply);
    deletetree("globals/f");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
}

static void a_tree_has_all_keys_and_folders_below(void)
{
    put("globals/t/k", "d");
    put("globals/t/a/b/c/k", "e");
    put("globals/t/a/k", "f");
    put("globals/t/z/k", "g");
    CHECK(mkdir(path("globals/t/none"), 0770) == 0);
    write_file("globals/t/a/.skv~0123456789abcdef", "half");
    CHECK_STR(tree_of("globals/t"), "fa fa/b fa/b/c fnone fz ka/b/c/k=e ka/k=f kk=d kz/k=g ");
    CHECK_STR(names_below("globals/t"), "fa fa/b fa/b/c fnone fz ka/b/c/k= ka/k= kk= kz/k= ");
    CHECK_STR(names_of_one_level("globals/t"), "fa fnone fz kk= ");
    CHECK_STR(tree_of("globals/t/a/b"), "fc kc/k=e ");
    CHECK_STR(tree_of("globals/t/none"), "");
    CHECK_STR(names_below(""), "fenvironments fglobals fglobals/t fglobals/t/a fglobals/t/a/b fglobals/t/a/b/c "
                               "fglobals/t/none fglobals/t/z kglobals/t/a/b/c/k= kglobals/t/a/k= kglobals/t/k= "
                               "kglobals/t/z/k= ");
    CHECK_STR(tree_of("globals/t/k"), "not_found");
    CHECK_STR(tree_of("globals/none"), "not_found");
    CHECK_STR(tree_of("globals/.skv~x"), "invalid");
}

static void a_tree_follows_no_links(void)
{
    put("globals/t/f/k", "d");
    CHECK(symlink("..", path("globals/t/f/up")) == 0 && symlink("f/k", path("globals/t/key")) == 0);
    CHECK(symlink("/etc", path("globals/t/out")) == 0 && symlink("t", path("globals/in")) == 0);
    CHECK(mkfifo(path("globals/t/f/fifo"), 0660) == 0);
    CHECK_STR(tree_of("globals/t"), "ef/fifo= eout= ff ff/up kf/k=d kkey=d ");
    CHECK_STR(names_below("globals/t"), "ef/fifo= eout= ff ff/up kf/k= kkey= ");
    CHECK_STR(tree_of("globals/in/f"), "efifo= fup kk=d ");
}

/* Another program makes a folder whose path is longer than a key can be. */
static void a_tree_ends_where_no_key_can_be(void)
{
    size_t deepest = by_walking ? SKV_KEY_MAX / 8 : SKV_KEY_MAX, levels = 0;
    char key[SKV_KEY_MAX + 1] = "globals/t";
    int folder, next;

    for (; strlen(key) + 2 < deepest; levels++)
        strcat(key, "/d");
    put_gives(key, "d", 1);
    folder = open(path("globals/t"), O_PATH | O_DIRECTORY);
    for (size_t i = 1; i < levels; i++, folder = next) {
        next = openat(folder, "d", O_PATH | O_DIRECTORY);
        close(folder);
    }
    CHECK(mkdirat(folder, "name", 0770) == 0 && mkdirat(folder, "name/below", 0770) == 0);
    close(folder);
    CHECK(count_of(skv_tree_open(store, "globals/t", 9, 0, 0, NULL, reply)) == (int)levels + 1 + by_walking);
}

static void a_tree_leaves_out_folders_that_are_deleted_meanwhile(void)
{
    skv_list *list;
    char key[64];

    put("globals/t/f/g/k", "d");
    list = skv_tree_open(store, "globals/t", 9, 0, 0, NULL, reply);
    deletetree("globals/t/f");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
    for (int i = 0; i < 600; i++) {
        snprintf(key, sizeof key, "globals/t/f%d/k", i);
        put(key, "d");
    }
    list = skv_tree_open(store, "globals/t", 9, 0, 0, NULL, reply);
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_OK && skv_reply_number(reply) == 500);
    deletetree("globals/t");
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_OK && skv_reply_number(reply) == 100);
    CHECK(skv_list_next(list, 0, NULL, reply) == SKV_END);
    skv_list_close(list);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void no_memory_ends_a_list(void)
{
    skv_list *list = skv_list_open(store, "globals/l", 9, 0, NULL, reply);
    int64_t records = 0;

    if (!list) {
        CHECK_STATUS(reply, SKV_NOMEM);
        return;
    }
    while (skv_list_next(list, 0, NULL, reply) == SKV_OK)
        records += skv_reply_number(reply);
    if (skv_reply_status(reply) == SKV_END)
        CHECK(records == 2);
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    skv_list_close(list);
}

static void no_memory_ends_a_tree(void)
{
    const char *found = tree_of("globals/l");

    CHECK(skv_reply_status(reply) == SKV_NOMEM || strcmp(found, "fb ka=d kb/k=d ") == 0);
}

static void calls_survive_running_out_of_memory(void)
{
    put("globals/l/a", "d");
    put("globals/l/b/k", "d");
    chaos(no_memory_ends_a_list);
    chaos(no_memory_ends_a_tree);
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_tree_is_deleted_however_deep_and_wide,
        pages_end_and_give_each_name_once,
        a_list_leaves_out_keys_that_are_deleted_meanwhile,
        a_tree_has_all_keys_and_folders_below,
        a_tree_follows_no_links,
        a_tree_ends_where_no_key_can_be,
        a_tree_leaves_out_folders_that_are_deleted_meanwhile,
        calls_survive_running_out_of_memory,
    };

    return run_file_tests("store_file_trees", tests, sizeof tests / sizeof *tests);
}
