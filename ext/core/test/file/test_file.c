/* The store in files: what it keeps, and what it leaves on the disk. */
#include "chaos.h"
#include "check.h"
#include "file_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call of readlink(): newer architectures have readlinkat() alone. */
#ifdef SYS_readlink
#define READLINK SYS_readlink
#else
#define READLINK SYS_readlinkat
#endif

/* ---- Documents -------------------------------------------------------------------------------------------------- */

static void a_document_comes_back_byte_for_byte(void)
{
    put_gives("environments/dev/a/b", "one", 1);
    get_gives("environments/dev/a/b", "one");
    put_gives("environments/dev/a/b", "a longer one", 1);
    get_gives("environments/dev/a/b", "a longer one");
    put_gives("environments/dev/a/b", "", 1);
    get_gives("environments/dev/a/b", "");
    CHECK(skv_put(store, "globals/nul", 11, "a\0b", 3, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    CHECK(get("globals/nul") == SKV_OK);
    CHECK(skv_reply_size(reply) == 3 && memcmp(skv_reply_data(reply), "a\0b", 4) == 0);
}

static void a_large_document_comes_back_too(void)
{
    size_t size = (size_t)3 << 20;
    char *document = malloc(size);

    memset(document, 'x', size);
    CHECK(skv_put(store, "globals/big", 11, document, size, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    CHECK(get("globals/big") == SKV_OK);
    CHECK(skv_reply_size(reply) == size && memcmp(skv_reply_data(reply), document, size) == 0);
    free(document);
}

static void an_unchanged_document_is_not_rewritten(void)
{
    struct stat before, after;

    put("globals/k", "{\"value\":1.0}");
    before = stat_of("globals/k");
    put_gives("globals/k", "{\"value\":1.0}", 0);
    put_gives("globals/k", "{ \"value\": 1e0, \"metadata\": {} }", 0);
    after = stat_of("globals/k");
    CHECK(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    get_gives("globals/k", "{\"value\":1.0}");
    put_gives("globals/k", "{\"value\":1}", 1);
    get_gives("globals/k", "{\"value\":1}");
}

static void conditions_decide_whether_a_put_writes(void)
{
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one") == SKV_CONFLICT);
    CHECK(put_if("globals/no/such/folder", "two", SKV_PUT_EXPECT, "one") == SKV_CONFLICT);
    CHECK(names_in("globals") == 0);
    CHECK(put_if("globals/c", "one", SKV_PUT_ABSENT, NULL) == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    CHECK(put_if("globals/c", "one", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one ") == SKV_CONFLICT);
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "") == SKV_CONFLICT);
    CHECK(strstr(skv_reply_message(reply), "two") == NULL);
    get_gives("globals/c", "one");
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "one") == SKV_OK);
    get_gives("globals/c", "two");
    CHECK(put_if("globals/c", "two", SKV_PUT_EXPECT, "two") == SKV_OK);
    CHECK(skv_reply_number(reply) == 0);
}

static void what_is_not_there_is_told_from_what_is(void)
{
    CHECK(get("globals/x") == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "Key not found: '");
    CHECK(kind("globals/x") == SKV_KIND_NONE);
    CHECK(del("globals/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(del("globals/x/y/z") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/x/y") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK_STR(listed("globals/x"), "not_found");
    put("globals/a/k", "d");
    CHECK(kind("globals/a") == SKV_KIND_FOLDER && kind("globals/a/k") == SKV_KIND_KEY);
    CHECK(kind("globals/a/k/x") == SKV_KIND_NONE);
    CHECK(get("globals/a/k/x") == SKV_NOT_FOUND);
    CHECK(del("globals/a/k/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(deletetree("globals/a/k/x") == SKV_OK && skv_reply_number(reply) == 0);
    CHECK(del("globals/a/k") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(kind("globals/a/k") == SKV_KIND_NONE && kind("globals/a") == SKV_KIND_FOLDER);
}

static void keys_and_folders_are_not_taken_for_each_other(void)
{
    put("globals/k", "d");
    put("globals/f/k", "d");
    CHECK(get("globals/f") == SKV_IS_FOLDER);
    CHECK_HAS(skv_reply_message(reply), "Key specifies a folder: '");
    CHECK(put("globals/f", "d") == SKV_IS_FOLDER);
    CHECK(del("globals/f") == SKV_IS_FOLDER);
    CHECK(deletetree("globals/k") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_STR(listed("globals/k"), "not_found");
    CHECK(put("globals/k/x/y", "d") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "'globals/k' is a key, not a folder");
    CHECK(put_if("globals/k/x", "d", SKV_PUT_EXPECT, "d") == SKV_IS_KEY);
    get_gives("globals/k", "d");
}

static void names_of_temporary_files_are_no_keys(void)
{
    CHECK(put(".skv~1", "d") == SKV_INVALID);
    CHECK(put("globals/.skv~0123456789abcdef", "d") == SKV_INVALID);
    CHECK(put("globals/.skv~x/y", "d") == SKV_INVALID);
    CHECK(get("globals/.skv~x") == SKV_INVALID);
    CHECK_STR(listed("globals/.skv~x"), "invalid");
    put_gives("globals/a.skv~1", "d", 1);
    put_gives("globals/.skv", "d", 1);
    write_file("globals/.skv~0123456789abcdef", "half");
    CHECK_STR(listed("globals"), "k.skv=d ka.skv~1=d ");
}

/* ---- Modes and links -------------------------------------------------------------------------------------------- */

static void modes_are_0660_and_0770_whatever_the_umask(void)
{
    static const mode_t masks[] = {077, 000, 022, 0177};

    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        mode_t before = umask(masks[i]);

        put("globals/a/b/k", "d");
        put("globals/a/b/k", "other");
        umask(before);
        CHECK((stat_of("globals/a/b/k").st_mode & 07777) == 0660);
        CHECK((stat_of("globals/a/b").st_mode & 07777) == 0770);
        CHECK((stat_of("globals/a").st_mode & 07777) == 0770);
        deletetree("globals/a");
    }
}

static void folders_that_are_there_keep_their_mode_and_new_ones_inherit_setgid(void)
{
    CHECK(mkdir(path("globals/s"), 0700) == 0 && chmod(path("globals/s"), 02750) == 0);
    put("globals/s/t/k", "d");
    CHECK((stat_of("globals/s").st_mode & 07777) == 02750);
    CHECK((stat_of("globals/s/t").st_mode & 07777) == 02770);
}

static void links_are_followed_inside_the_root_only(void)
{
    put("globals/real/k", "d");
    CHECK(symlink("real", path("globals/in")) == 0 && symlink("../globals/real/k", path("globals/key")) == 0);
    CHECK(symlink(path("globals/key"), path("globals/twice")) == 0);
    get_gives("globals/in/k", "d");
    get_gives("globals/key", "d");
    get_gives("globals/twice", "d");
    CHECK(kind("globals/in") == SKV_KIND_FOLDER && kind("globals/key") == SKV_KIND_KEY);
    CHECK_STR(listed("globals/in"), "kk=d ");
    put_gives("globals/twice", "changed", 1);
    get_gives("globals/real/k", "changed");
    CHECK(S_ISLNK(stat_of("globals/key").st_mode) && S_ISLNK(stat_of("globals/twice").st_mode));
    put_gives("globals/in/new/k", "d", 1);
    get_gives("globals/real/new/k", "d");
    CHECK(del("globals/in") == SKV_IS_FOLDER);
    CHECK(deletetree("globals/key") == SKV_IS_KEY);
    CHECK(del("globals/twice") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/twice") && is_there("globals/real/k"));
    CHECK(deletetree("globals/in") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(!is_there("globals/in") && is_there("globals/real/k"));
}

static void links_out_of_the_root_and_to_nowhere_are_refused(void)
{
    static const char *const targets[] = {"../..", "../../outside", "/etc/passwd", "nowhere", "link", "../../root2"};
    char outside[128], beside[128];

    snprintf(outside, sizeof outside, "%s/outside", scratch);
    snprintf(beside, sizeof beside, "%s/root2", scratch);
    CHECK(mkdir(outside, 0770) == 0 && mkdir(beside, 0770) == 0);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        CHECK(symlink(targets[i], path("globals/link")) == 0);
        CHECK(get("globals/link") == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), i < 3 || i > 4 ? "leads out of the root" : "leads nowhere");
        CHECK(get("globals/link/k") == SKV_DENIED);
        CHECK(put("globals/link", "d") == SKV_DENIED);
        CHECK(put("globals/link/k", "d") == SKV_DENIED);
        CHECK(kind("globals/link") == -1);
        CHECK_STATUS(reply, SKV_DENIED);
        CHECK(del("globals/link") == SKV_DENIED);
        CHECK(del("globals/link/k") == SKV_DENIED);
        CHECK(deletetree("globals/link") == SKV_DENIED);
        CHECK_STR(listed("globals/link"), "denied");
        CHECK_STR(listed("globals"), "elink= ");
        CHECK(unlink(path("globals/link")) == 0);
    }
    CHECK(rmdir(outside) == 0 && rmdir(beside) == 0);
}

static void follow_without_proc(void)
{
    CHECK(get("globals/key") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "globals/key': the link 'key' cannot be followed without /proc");
    CHECK(get("globals/in/k") == SKV_DENIED);
    CHECK(kind("globals/key") == -1);
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK(put("globals/key", "changed") == SKV_DENIED);
    CHECK(del("globals/key") == SKV_DENIED);
    CHECK_STR(listed("globals/real"), "kk=d ");
    get_gives("globals/real/k", "d");
}

/* A key that is a link was not found, so that a caller stored another one. */
static void without_proc_a_link_is_an_error(void)
{
    put("globals/real/k", "d");
    CHECK(symlink("real", path("globals/in")) == 0 && symlink("real/k", path("globals/key")) == 0);
    CHECK(in_child_without(READLINK, ENOENT, follow_without_proc));
    get_gives("globals/key", "d");
}

static void the_root_may_be_a_link_and_end_in_slashes(void)
{
    char link[128], slashes[160];
    skv_store *before = store;

    snprintf(link, sizeof link, "%s/link", scratch);
    snprintf(slashes, sizeof slashes, "/%s///", link);
    CHECK(symlink("root", link) == 0);
    CHECK(symlink("k", path("globals/l")) == 0);
    store = open_at(slashes);
    if (CHECK(store != NULL)) {
        put_gives("globals/k", "d", 1);
        get_gives("globals/l", "d");
        CHECK_STR(listed("globals"), "kk=d kl=d ");
        skv_close(store);
    }
    store = before;
    get_gives("globals/k", "d");
    CHECK(unlink(link) == 0);
}

static void what_is_no_file_is_an_error_at_once(void)
{
    CHECK(mkfifo(path("globals/fifo"), 0660) == 0);
    CHECK(get("globals/fifo") == SKV_UNAVAILABLE);
    CHECK(put("globals/fifo", "d") == SKV_UNAVAILABLE);
    CHECK(kind("globals/fifo") == -1);
    CHECK(del("globals/fifo") == SKV_UNAVAILABLE);
    CHECK_STR(listed("globals"), "efifo= ");
    CHECK(deletetree("globals") == SKV_OK && !is_there("globals/fifo"));
}

static void an_unusable_root_is_an_error_and_a_missing_one_is_made(void)
{
    char name[128];
    skv_store *made;

    CHECK(open_at("/dev/null") == NULL);
    CHECK_HAS(skv_reply_message(reply), "Cannot access root path '/dev/null': ");
    CHECK(open_at("/dev/null/x") == NULL);
    CHECK_HAS(skv_reply_message(reply), "Unable to create configured root path '/dev/null/x': ");
    snprintf(name, sizeof name, "%s/made/a/b", scratch);
    umask(077);
    made = open_at(name);
    umask(022);
    CHECK(made != NULL);
    skv_close(made);
    strcat(name, "/globals");
    /* The store is for its owner and group alone; what it shares with others, they can pass through. */
    for (int i = 0; i < 4; i++) {
        mode_t mode = i < 2 ? 0770 : 0755;
        struct stat found = {0};

        CHECK(stat(name, &found) == 0 && (found.st_mode & 07777) == mode);
        *strrchr(name, '/') = '\0';
    }
}

/* ---- Trees ------------------------------------------------------------------------------------------------------ */

static void a_tree_is_deleted_however_deep_and_wide(void)
{
    /* Without openat2(), each way into the depth takes a system call a level. */
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

static void what_vanishes_while_it_is_listed_is_left_out(void)
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

static void a_tree_has_all_that_is_below(void)
{
    put("globals/t/k", "d");
    put("globals/t/a/b/c/k", "e");
    put("globals/t/a/k", "f");
    put("globals/t/z/k", "g");
    CHECK(mkdir(path("globals/t/none"), 0770) == 0);
    write_file("globals/t/a/.skv~0123456789abcdef", "half");
    CHECK_STR(tree_of("globals/t"), "fa fa/b fa/b/c fnone fz ka/b/c/k=e ka/k=f kk=d kz/k=g ");
    CHECK_STR(names_below("globals/t"), "fa fa/b fa/b/c fnone fz ka/b/c/k= ka/k= kk= kz/k= ");
    CHECK_STR(tree_of("globals/t/a/b"), "fc kc/k=e ");
    CHECK_STR(tree_of("globals/t/none"), "");
    CHECK_STR(names_below(""), "fenvironments fglobals fglobals/t fglobals/t/a fglobals/t/a/b fglobals/t/a/b/c "
                               "fglobals/t/none fglobals/t/z kglobals/t/a/b/c/k= kglobals/t/a/k= kglobals/t/k= "
                               "kglobals/t/z/k= ");
    CHECK_STR(tree_of("globals/t/k"), "not_found");
    CHECK_STR(tree_of("globals/none"), "not_found");
    CHECK_STR(tree_of("globals/.skv~x"), "invalid");
}

static void a_tree_ends_at_links_and_what_is_no_file(void)
{
    put("globals/t/f/k", "d");
    CHECK(symlink("..", path("globals/t/f/up")) == 0 && symlink("f/k", path("globals/t/key")) == 0);
    CHECK(symlink("/etc", path("globals/t/out")) == 0 && symlink("t", path("globals/in")) == 0);
    CHECK(mkfifo(path("globals/t/f/fifo"), 0660) == 0);
    CHECK_STR(tree_of("globals/t"), "ef/fifo= eout= ff ff/up kf/k=d kkey=d ");
    CHECK_STR(names_below("globals/t"), "ef/fifo= eout= ff ff/up kf/k= kkey= ");
    CHECK_STR(tree_of("globals/in/f"), "efifo= fup kk=d ");
}

/* Somebody else can make a folder whose path is longer than a key's. */
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

static void what_vanishes_on_the_way_is_left_out_of_a_tree(void)
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

/* Whatever allocation fails, the old document or the new one is there, whole. */
static void no_memory_loses_nothing(void)
{
    static const char old[] = "{\"value\":\"old\",\"metadata\":{}}", new[] = "{\"value\":\"new\",\"metadata\":{}}";
    skv_store *before = store;
    int status = put("globals/f/k", old);

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    if (status == SKV_OK) {
        status = put("globals/f/k", new);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        if (get("globals/f/k") == SKV_OK)
            CHECK_STR(skv_reply_data(reply), status == SKV_OK ? new : old);
        else
            CHECK_STATUS(reply, SKV_NOMEM);
    }
    store = open_at(root);
    if (store)
        skv_close(store);
    else
        CHECK_STATUS(reply, SKV_NOMEM);
    store = before;
    CHECK(names_in("globals/f") <= 1);
    status = deletetree("globals/f");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

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

static void prepare_list(void)
{
    put("globals/l/a", "d");
    put("globals/l/b/k", "d");
}

static void no_allocation_that_fails_does_harm(void)
{
    chaos(no_memory_loses_nothing);
    prepare_list();
    chaos(no_memory_ends_a_list);
    chaos(no_memory_ends_a_tree);
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_document_comes_back_byte_for_byte,
        a_large_document_comes_back_too,
        an_unchanged_document_is_not_rewritten,
        conditions_decide_whether_a_put_writes,
        what_is_not_there_is_told_from_what_is,
        keys_and_folders_are_not_taken_for_each_other,
        names_of_temporary_files_are_no_keys,
        modes_are_0660_and_0770_whatever_the_umask,
        folders_that_are_there_keep_their_mode_and_new_ones_inherit_setgid,
        links_are_followed_inside_the_root_only,
        links_out_of_the_root_and_to_nowhere_are_refused,
        without_proc_a_link_is_an_error,
        the_root_may_be_a_link_and_end_in_slashes,
        what_is_no_file_is_an_error_at_once,
        an_unusable_root_is_an_error_and_a_missing_one_is_made,
        a_tree_is_deleted_however_deep_and_wide,
        pages_end_and_give_each_name_once,
        what_vanishes_while_it_is_listed_is_left_out,
        a_tree_has_all_that_is_below,
        a_tree_ends_at_links_and_what_is_no_file,
        a_tree_ends_where_no_key_can_be,
        what_vanishes_on_the_way_is_left_out_of_a_tree,
        no_allocation_that_fails_does_harm,
    };

    return run_file_tests("store_file", tests, sizeof tests / sizeof *tests);
}
