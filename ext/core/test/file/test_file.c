/* The store in files: its documents and its files. */
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

static void a_get_returns_every_byte_of_the_put(void)
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

static void a_get_returns_a_large_document(void)
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

static void a_delete_may_expect_a_document(void)
{
    put("globals/c", "one");
    del_if_gives("globals/c", "two", 0);
    del_if_gives("globals/c", "one ", 0);
    del_if_gives("globals/c", "One", 0);
    del_if_gives("globals/c", "", 0);
    get_gives("globals/c", "one");
    del_if_gives("globals/c", "one", 1);
    del_if_gives("globals/c", "one", 0);
    del_if_gives("globals/no/such/folder", "one", 0);
    CHECK(names_in("globals") == 0);
    put("globals/c", "");
    del_if_gives("globals/c", "", 1);
    put("globals/f/k", "one");
    CHECK(del_if("globals/f", "one") == SKV_IS_FOLDER);
    write_file("globals/Foo B\xff", "\xff\x01");
    del_if_gives("globals/Foo B\xff", "\xff\x02", 0);
    del_if_gives("globals/Foo B\xff", "\xff\x01", 1);
}

static void a_folder_is_made_with_those_above_it(void)
{
    create_folder_gives("globals/f/g/h", 1);
    create_folder_gives("globals/f/g/h", 0);
    create_folder_gives("globals/f", 0);
    create_folder_gives("/", 0);
    create_folder_gives("globals", 0);
    create_folder_gives("environments", 0);
    CHECK(names_in("globals/f/g") == 1 && (stat_of("globals/f/g/h").st_mode & 07777) == 0770);
    CHECK_STR(listed("globals/f/g/h"), "");
    put("globals/f/k", "one");
    CHECK(create_folder("globals/f/k") == SKV_IS_KEY);
    CHECK(create_folder("globals/f/k/l") == SKV_IS_KEY);
    CHECK(create_folder("globals/f/k/l/m") == SKV_IS_KEY);
    CHECK_HAS(skv_reply_message(reply), "Cannot make folder '");
    CHECK_HAS(skv_reply_message(reply), "'globals/f/k' is a key, not a folder");
    CHECK(deletetree("globals/f") == SKV_OK && !is_there("globals/f"));
}

static void a_missing_key_is_told_from_an_existing_one(void)
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

static void a_key_and_a_folder_cannot_share_a_name(void)
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

/* ---- Facts ------------------------------------------------------------------------------------------------------ */

static void a_key_is_described_by_its_file(void)
{
    const struct timespec times[] = {{.tv_sec = 951782399, .tv_nsec = 999999999}, {.tv_sec = 951782400, .tv_nsec = 1}};
    char expected[128];

    put("globals/f/k", "secret");
    CHECK(utimensat(AT_FDCWD, path("globals/f/k"), times, 0) == 0);
    snprintf(expected, sizeof expected,
             "{\"kind\":\"key\",\"modified_at\":\"2000-02-29T00:00:00Z\",\"size\":6,\"uid\":%u}", (unsigned)getuid());
    CHECK(describe("globals/f/k", SKV_STAT_COUNT) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), expected);
    CHECK(symlink("f/k", path("globals/link")) == 0);
    CHECK(describe("globals/link", 0) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), expected);
    CHECK(describe("globals/f/x", 0) == SKV_NOT_FOUND && describe("globals/f/k/x", 0) == SKV_NOT_FOUND);
    CHECK_HAS(skv_reply_message(reply), "there is no key or folder '");
    CHECK(mkfifo(path("globals/fifo"), 0600) == 0);
    CHECK(describe("globals/fifo", 0) == SKV_UNAVAILABLE);
}

static void a_folder_is_described_with_what_is_directly_below(void)
{
    put("globals/f/a", "d");
    put("globals/f/b", "d");
    put("globals/f/g/c", "d");
    write_file("globals/f/.skv~0123456789abcdef", "half");
    CHECK(describe("globals/f", 0) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "{\"kind\":\"folder\",");
    CHECK_HAS(skv_reply_data(reply), "\"modified_at\":\"2");
    CHECK(!strstr(skv_reply_data(reply), "keys") && !strstr(skv_reply_data(reply), "size"));
    CHECK(describe("globals/f", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"keys\":2,\"folders\":1}");
    for (int i = 0; i < 1200; i++) {
        char name[32];

        snprintf(name, sizeof name, "globals/many%d", i);
        write_file(name, "d");
    }
    CHECK(describe("globals", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"keys\":1200,\"folders\":1}");
    CHECK(describe("", SKV_STAT_COUNT) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"keys\":0,\"folders\":2}");
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

static void folders_keep_their_mode_and_new_ones_inherit_setgid(void)
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

/* The purge of a folder used to read and delete the keys of another environment. */
static void replaced_by_a_link_while_it_is_listed(void)
{
    skv_list *list;

    put("globals/listed/k", "d");
    put("globals/other/k", "other");
    list = skv_list_open(store, "globals/listed", strlen("globals/listed"), 0, NULL, reply);
    CHECK(rename(path("globals/listed"), path("globals/moved")) == 0);
    CHECK(symlink("other", path("globals/listed")) == 0);
    if (CHECK(list != NULL) && CHECK(skv_list_next(list, 0, NULL, reply) == SKV_OK)) {
        CHECK(skv_reply_number(reply) == 1 && skv_reply_data(reply)[0] == 'e');
        CHECK(!memmem(skv_reply_data(reply), skv_reply_size(reply), "other", 5));
    }
    skv_list_close(list);
    CHECK(unlink(path("globals/listed")) == 0);
    CHECK(deletetree("globals/moved") == SKV_OK && deletetree("globals/other") == SKV_OK);
}

static void a_store_that_follows_no_links_refuses_folders_behind_them(void)
{
    skv_store *before = store;

    put("globals/real/sub/k", "d");
    CHECK(symlink("real", path("globals/in")) == 0 && symlink("real/sub/k", path("globals/key")) == 0);
    CHECK(symlink("../real/sub", path("globals/real/again")) == 0);
    store = open_files_with("follow_links", "false");
    if (CHECK(store != NULL)) {
        CHECK(get("globals/in/sub/k") == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply),
                  "globals/in/sub/k': the link 'in' is not followed: name the folder to which");
        CHECK(put("globals/in/sub/k", "changed") == SKV_DENIED && put("globals/in/new", "d") == SKV_DENIED);
        CHECK(del("globals/in/sub/k") == SKV_DENIED && del_if("globals/in/sub/k", "d") == SKV_DENIED);
        CHECK(deletetree("globals/in/sub") == SKV_DENIED);
        CHECK(create_folder("globals/in/f") == SKV_DENIED && delete_folder("globals/in/sub") == SKV_DENIED);
        CHECK(delete_folder("globals/in") == SKV_DENIED);
        CHECK_STR(listed("globals/in"), "denied");
        CHECK_STR(listed("globals/in/sub"), "denied");
        CHECK_STR(listed("globals/real"), "fagain fsub ");
        replaced_by_a_link_while_it_is_listed();
        CHECK(del("globals/key") == SKV_OK && skv_reply_number(reply) == 1 && !is_there("globals/key"));
        CHECK(deletetree("globals/real/again") == SKV_OK && !is_there("globals/real/again"));
        get_gives("globals/real/sub/k", "d");
        skv_close(store);
    }
    store = before;
    CHECK(unlink(path("globals/in")) == 0 && deletetree("globals/real") == SKV_OK);
    CHECK(open_files_with("follow_links", "no") == NULL);
    CHECK_STATUS(reply, SKV_INVALID);
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

/* A key that is a link used to be missing, so that a caller stored another one. */
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

static void a_fifo_is_an_error_at_once(void)
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
    /* Only owner and group can use the store. All users can pass through the folders above it. */
    for (int i = 0; i < 4; i++) {
        mode_t mode = i < 2 ? 0770 : 0755;
        struct stat found = {0};

        CHECK(stat(name, &found) == 0 && (found.st_mode & 07777) == mode);
        *strrchr(name, '/') = '\0';
    }
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Whichever allocation fails, the old document or the new one is stored, whole. */
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
    status = create_folder("globals/made/g");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = describe("globals", SKV_STAT_COUNT);
    if (CHECK(status == SKV_OK || status == SKV_NOMEM) && status == SKV_OK) {
        CHECK_HAS(skv_reply_data(reply), "\"uid\":");
        CHECK_HAS(skv_reply_data(reply), "\"keys\":0,\"folders\":");
    }
    if (get("globals/f/k") == SKV_OK) {
        status = del_if("globals/f/k", "another");
        CHECK((status == SKV_OK && skv_reply_number(reply) == 0) || status == SKV_NOMEM);
        CHECK(is_there("globals/f/k"));
        status = del_if("globals/f/k", new);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        CHECK(is_there("globals/f/k") == !(status == SKV_OK && skv_reply_number(reply) == 1));
    }
    status = deletetree("globals/f");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
    status = deletetree("globals/made");
    CHECK(status == SKV_OK || status == SKV_NOMEM);
}

static void calls_survive_running_out_of_memory(void)
{
    chaos(no_memory_loses_nothing);
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_get_returns_every_byte_of_the_put,
        a_get_returns_a_large_document,
        an_unchanged_document_is_not_rewritten,
        conditions_decide_whether_a_put_writes,
        a_delete_may_expect_a_document,
        a_folder_is_made_with_those_above_it,
        a_missing_key_is_told_from_an_existing_one,
        a_key_and_a_folder_cannot_share_a_name,
        a_key_is_described_by_its_file,
        a_folder_is_described_with_what_is_directly_below,
        names_of_temporary_files_are_no_keys,
        modes_are_0660_and_0770_whatever_the_umask,
        folders_keep_their_mode_and_new_ones_inherit_setgid,
        links_are_followed_inside_the_root_only,
        links_out_of_the_root_and_to_nowhere_are_refused,
        a_store_that_follows_no_links_refuses_folders_behind_them,
        without_proc_a_link_is_an_error,
        the_root_may_be_a_link_and_end_in_slashes,
        a_fifo_is_an_error_at_once,
        an_unusable_root_is_an_error_and_a_missing_one_is_made,
        calls_survive_running_out_of_memory,
    };

    return run_file_tests("store_file", tests, sizeof tests / sizeof *tests);
}
