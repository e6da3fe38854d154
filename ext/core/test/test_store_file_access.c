/* The store in files: permissions, owners and ACLs, and disks that are full. */
#include "check.h"
#include "file_fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NOBODY 65534

/* ---- Permissions ------------------------------------------------------------------------------------------------ */

/* Runs as a user who is not root; the root of the store is the user's, and what was put before is root's. */
static void as_nobody(void (*run)(void))
{
    bool is_root = geteuid() == 0;

    if (is_root)
        CHECK(setegid(NOBODY) == 0 && seteuid(NOBODY) == 0);
    run();
    if (is_root)
        CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

static void put_in_place(void)
{
    put_gives("globals/f/k", "a longer document", 1);
    get_gives("globals/f/k", "a longer document");
    put_gives("globals/f/k", "short", 1);
    get_gives("globals/f/k", "short");
    CHECK(put("globals/f/new", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot modify '");
    CHECK_HAS(skv_reply_message(reply), "globals/f'");
    CHECK(del("globals/f/k") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Delete of '");
}

static void where_a_file_cannot_be_replaced_it_is_written_in_place(void)
{
    struct stat before, after;

    put("globals/f/k", "d");
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    CHECK(chmod(path("globals/f"), 0555) == 0 && chmod(path("globals/f/k"), 0666) == 0);
    before = stat_of("globals/f/k");
    as_nobody(put_in_place);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino == after.st_ino && before.st_uid == after.st_uid && after.st_mode == before.st_mode);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

static void meet_closed_doors(void)
{
    CHECK(kind("globals/f/k") == -1);
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot access '");
    CHECK(get("globals/f/k", 0) == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot read '");
    CHECK(put("globals/f/k", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot write to '");
    CHECK(deletetree("globals/f") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_STR(listed("globals/f"), "denied");
    CHECK_STR(listed("globals"), "ek= ff ");
    CHECK(get("globals/k", 0) == SKV_DENIED);
    CHECK(kind("globals/k") == SKV_KIND_KEY);
}

static void what_cannot_be_looked_at_is_an_error(void)
{
    put("globals/f/k", "d");
    put("globals/k", "d");
    CHECK(chmod(path("globals/f"), 0) == 0 && chmod(path("globals/k"), 0) == 0);
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    as_nobody(meet_closed_doors);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

/* An ACL as the kernel keeps it: the user `id` may read; the mask lets him. */
static size_t make_acl(unsigned char acl[64], uint32_t id)
{
    static const struct {
        uint16_t tag, rights;
    } entries[] = {{0x01, 6}, {0x02, 4}, {0x04, 4}, {0x10, 6}, {0x20, 0}};
    const uint32_t version = 2, none = UINT32_MAX;
    size_t used = sizeof version;

    memcpy(acl, &version, sizeof version);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        memcpy(acl + used, &entries[i], 4);
        memcpy(acl + used + 4, entries[i].tag == 0x02 ? &id : &none, 4);
        used += 8;
    }
    return used;
}

static void an_update_keeps_owner_group_and_acl(void)
{
    unsigned char acl[64], kept[64];
    size_t len = make_acl(acl, 12345);
    struct stat before, after;

    put("globals/k", "old");
    if (geteuid() == 0)
        CHECK(chown(path("globals/k"), 1234, 4321) == 0);
    CHECK(setxattr(path("globals/k"), "system.posix_acl_access", acl, len, 0) == 0);
    before = stat_of("globals/k");
    put_gives("globals/k", "new", 1);
    after = stat_of("globals/k");
    CHECK(before.st_ino != after.st_ino);
    CHECK(before.st_uid == after.st_uid && before.st_gid == after.st_gid && before.st_mode == after.st_mode);
    CHECK(getxattr(path("globals/k"), "system.posix_acl_access", kept, sizeof kept) == (ssize_t)len);
    CHECK(memcmp(acl, kept, len) == 0);
}

static void an_update_does_not_pick_up_the_default_acl_of_the_folder(void)
{
    unsigned char acl[64];
    size_t len = make_acl(acl, 12345);

    put("globals/k", "old");
    CHECK(setxattr(path("globals"), "system.posix_acl_default", acl, len, 0) == 0);
    put_gives("globals/k", "new", 1);
    CHECK(getxattr(path("globals/k"), "system.posix_acl_access", NULL, 0) == -1);
    CHECK((stat_of("globals/k").st_mode & 07777) == 0660);
    CHECK(removexattr(path("globals"), "system.posix_acl_default") == 0);
}

static void put_of_own_group(void)
{
    put_gives("globals/f/k", "new", 1);
}

static void where_the_owner_cannot_be_kept_the_group_is(void)
{
    struct stat before, after;

    if (geteuid() != 0)
        return;
    put("globals/f/k", "old");
    CHECK(chown(path("globals/f/k"), 1234, NOBODY) == 0 && chown(path("globals/f"), 1234, NOBODY) == 0);
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    before = stat_of("globals/f/k");
    as_nobody(put_of_own_group);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino != after.st_ino && after.st_uid == NOBODY && after.st_gid == NOBODY);
    CHECK((after.st_mode & 07777) == 0660);
    CHECK(chmod(path("globals"), 0770) == 0);
}

/* What a full disk does, a limit on the size of files does as well. */
static void a_full_disk_loses_nothing_and_leaves_nothing_behind(void)
{
    static char large[100000];
    struct rlimit limit, small;

    memset(large, 'x', sizeof large - 1);
    put("globals/k", "old");
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = (struct rlimit){.rlim_cur = 50000, .rlim_max = limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(put("globals/k", large) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "Key write to '");
    CHECK_HAS(skv_reply_message(reply), "' failed: ");
    CHECK(put("globals/n", large) == SKV_TOO_LARGE);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    get_gives("globals/k", "old");
    CHECK(names_in("globals") == 1);
}

int main(void)
{
    static void (*const tests[])(void) = {
        where_a_file_cannot_be_replaced_it_is_written_in_place,
        what_cannot_be_looked_at_is_an_error,
        an_update_keeps_owner_group_and_acl,
        an_update_does_not_pick_up_the_default_acl_of_the_folder,
        where_the_owner_cannot_be_kept_the_group_is,
        a_full_disk_loses_nothing_and_leaves_nothing_behind,
    };

    return run_file_tests("store_file_access", tests, sizeof tests / sizeof *tests);
}
