/* The store in files: permissions, owners, ACLs, and full disks. */
#include "check.h"
#include "file_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* ---- Permissions ------------------------------------------------------------------------------------------------ */

static void open_for_all(void)
{
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
}

static void use_a_closed_folder(void)
{
    CHECK(put("globals/f/k", "a longer document") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot modify '");
    CHECK_HAS(skv_reply_message(reply), "globals/f': Permission denied: uid ");
    CHECK_HAS(skv_reply_message(reply), " needs write permission on this folder");
    get_gives("globals/f/k", "d");
    CHECK(put("globals/f/new", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), " needs write permission on this folder");
    CHECK(del("globals/f/k") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Delete of '");
    CHECK_HAS(skv_reply_message(reply), " needs write permission on its folder");
}

/* The file used to be written in place: a writer that was killed left a part of each document. */
static void a_file_in_a_closed_folder_is_not_written(void)
{
    struct stat before, after;

    put("globals/f/k", "d");
    open_for_all();
    CHECK(chmod(path("globals/f"), 0555) == 0 && chmod(path("globals/f/k"), 0666) == 0);
    before = stat_of("globals/f/k");
    as_nobody(use_a_closed_folder);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino == after.st_ino && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

static void put_of_another_users_file(void)
{
    CHECK(put("globals/f/k", "new") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot modify '");
    CHECK_HAS(skv_reply_message(reply), "the sticky bit");
    get_gives("globals/f/k", "old");
}

static void a_file_in_a_sticky_folder_is_replaced_by_its_owner_only(void)
{
    if (geteuid() != 0)
        return;
    put("globals/f/k", "old");
    CHECK(chmod(path("globals/f"), 01777) == 0 && chmod(path("globals/f/k"), 0666) == 0);
    open_for_all();
    as_nobody(put_of_another_users_file);
    CHECK(names_in("globals/f") == 1);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

static void use_closed_files(void)
{
    CHECK(kind("globals/f/k") == -1);
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot access '");
    CHECK(get("globals/f/k") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot read '");
    CHECK(put("globals/f/k", "d") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot write to '");
    CHECK(deletetree("globals/f") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_STR(listed("globals/f"), "denied");
    CHECK_STR(listed("globals"), "ek= ff ");
    CHECK_STR(tree_of("globals"), "ef= ek= ff ");
    CHECK_STR(names_below("globals"), "ef= ff kk= ");
    CHECK_STR(tree_of("globals/f"), "denied");
    CHECK(get("globals/k") == SKV_DENIED);
    CHECK(kind("globals/k") == SKV_KIND_KEY);
}

static void an_unreadable_folder_is_an_error(void)
{
    put("globals/f/k", "d");
    put("globals/k", "d");
    CHECK(chmod(path("globals/f"), 0) == 0 && chmod(path("globals/k"), 0) == 0);
    open_for_all();
    as_nobody(use_closed_files);
    CHECK(chmod(path("globals/f"), 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

static void read_without_write_permission(void)
{
    skv_store *writable = store;

    store = open_at(root);
    if (CHECK(store != NULL)) {
        get_gives("globals/f/k", "d");
        CHECK(kind("globals/f") == SKV_KIND_FOLDER && kind("globals/f/none") == SKV_KIND_NONE);
        CHECK_STR(listed("globals/f"), "kk=d ");
        CHECK_STR(tree_of("globals"), "ff kf/k=d ");
        CHECK(get("environments/none/k") == SKV_NOT_FOUND);
        put_gives("globals/f/k", "d", 0);
        CHECK(put_if("globals/f/k", "e", SKV_PUT_ABSENT, NULL) == SKV_EXISTS);
        CHECK(put("globals/f/k", "e") == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), " needs read and write permission on the file");
        CHECK(put("globals/n/k", "e") == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), " needs read and write permission on the file");
        CHECK(deletetree("globals/f") == SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), " needs write permission on its folder");
        CHECK(deletetree("globals/none") == SKV_OK && del("globals/none") == SKV_OK);
    }
    skv_close(store);
    store = writable;
}

/* The store used to fail to open. */
static void a_user_who_may_only_read_can_read(void)
{
    put("globals/f/k", "d");
    CHECK(rmdir(path("environments")) == 0);
    CHECK(chmod(path("globals/f/k"), 0444) == 0 && chmod(path("globals/f"), 0555) == 0);
    CHECK(chmod(path("globals"), 0555) == 0 && chmod(root, 0555) == 0 && chmod(scratch, 0755) == 0);
    as_nobody(read_without_write_permission);
    CHECK(chmod(root, 0770) == 0 && chmod(path("globals"), 0770) == 0 && chmod(path("globals/f"), 0770) == 0);
    CHECK(mkdir(path("environments"), 0770) == 0);
}

static void open_a_closed_root(void)
{
    CHECK(open_at(root) == NULL);
    CHECK_HAS(skv_reply_message(reply), "Cannot access root path '");
    CHECK_HAS(skv_reply_message(reply), "Permission denied: uid ");
    CHECK_HAS(skv_reply_message(reply), " needs read and search permission on it");
}

static void a_root_that_cannot_be_read_is_an_error(void)
{
    open_for_all();
    CHECK(chmod(root, geteuid() == 0 ? 0700 : 0000) == 0);
    as_nobody(open_a_closed_root);
    CHECK(chmod(root, 0770) == 0 && chmod(path("globals"), 0770) == 0);
}

/* Makes an ACL in the kernel's format: the user `id` may read. */
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

/* The mode used to become 0660. */
static void an_update_keeps_the_mode(void)
{
    static const mode_t modes[] = {0600, 0640, 0660, 0664, 0400};

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        mode_t before = umask(i % 2 ? 0 : 077);
        ino_t inode;

        put("globals/k", "old");
        CHECK(chmod(path("globals/k"), modes[i]) == 0);
        inode = stat_of("globals/k").st_ino;
        if (geteuid() == 0 || modes[i] & 0200)
            put_gives("globals/k", "new", 1);
        CHECK((stat_of("globals/k").st_mode & 07777) == modes[i]);
        CHECK(stat_of("globals/k").st_ino != inode || !(modes[i] & 0200));
        umask(before);
        del("globals/k");
    }
}

static void put_of_nobody(void)
{
    put_gives("globals/f/k", "new", 1);
}

/* Makes globals/f/k in a folder of the user nobody, who may not give a file its owner or its group. */
static void make_foreign(uid_t owner, gid_t group, mode_t mode)
{
    put("globals/f/k", "old");
    CHECK(chown(path("globals/f/k"), owner, group) == 0 && chmod(path("globals/f/k"), mode) == 0);
    CHECK(chown(path("globals/f"), NOBODY, NOBODY) == 0);
    open_for_all();
}

static void an_update_keeps_the_group_if_it_cannot_keep_the_owner(void)
{
    struct stat before, after;

    if (geteuid() != 0)
        return;
    make_foreign(1234, NOBODY, 0660);
    before = stat_of("globals/f/k");
    as_nobody(put_of_nobody);
    after = stat_of("globals/f/k");
    CHECK(before.st_ino != after.st_ino && after.st_uid == NOBODY && after.st_gid == NOBODY);
    CHECK((after.st_mode & 07777) == 0660);
    CHECK(chmod(path("globals"), 0770) == 0);
}

static void put_into_a_foreign_group(void)
{
    CHECK(put("globals/f/k", "new") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "Cannot write to '");
    CHECK_HAS(skv_reply_message(reply),
              "cannot give the new file the group of the old one: add the user to that group");
}

/* The file used to be written in place. */
static void a_put_that_cannot_keep_the_group_is_refused(void)
{
    if (geteuid() != 0)
        return;
    make_foreign(NOBODY, 4321, 0660);
    as_nobody(put_into_a_foreign_group);
    get_gives("globals/f/k", "old");
    CHECK(names_in("globals/f") == 1);
    CHECK(chmod(path("globals"), 0770) == 0);
}

static void a_group_without_rights_of_its_own_need_not_be_kept(void)
{
    static const mode_t modes[] = {0600, 0644, 0666};

    if (geteuid() != 0)
        return;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct stat before, after;

        make_foreign(NOBODY, 4321, modes[i]);
        before = stat_of("globals/f/k");
        as_nobody(put_of_nobody);
        after = stat_of("globals/f/k");
        CHECK(before.st_ino != after.st_ino && after.st_gid == NOBODY && (after.st_mode & 07777) == modes[i]);
        CHECK(chmod(path("globals"), 0770) == 0);
        deletetree("globals/f");
    }
}

static bool belongs_to(const char *name, uid_t owner, gid_t group)
{
    struct stat found = stat_of(name);

    return found.st_uid == owner && found.st_gid == group;
}

/* The files used to belong to root, and the user puppet could not read them. */
static void files_of_root_belong_to_the_owner_of_the_folder(void)
{
    if (geteuid() != 0)
        return;
    CHECK(chown(path("globals"), 1234, 4321) == 0);
    put("globals/f/g/k", "d");
    put("globals/f/g/k", "e");
    put("environments/k", "d");
    CHECK(belongs_to("globals/f", 1234, 4321) && belongs_to("globals/f/g", 1234, 4321));
    CHECK(belongs_to("globals/f/g/k", 1234, 4321) && belongs_to("environments/k", 0, getegid()));
    CHECK((stat_of("globals/f").st_mode & 07777) == 0770 && (stat_of("globals/f/g/k").st_mode & 07777) == 0660);
    CHECK(chown(path("globals"), 0, 0) == 0);
}

/* ---- Errors ----------------------------------------------------------------------------------------------------- */

/* Returns the status of a put in a process in which that system call fails. */
static int put_without(long number, int error_number)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(forbid_call((unsigned)number, (unsigned)error_number) ? put("globals/k", "new") : 99);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void access_that_cannot_be_copied_fails_the_put(void)
{
    static const struct {
        int error_number, status;
    } cases[] = {{ENOSPC, SKV_FULL},  {EDQUOT, SKV_FULL},   {EIO, SKV_UNAVAILABLE}, {ENOMEM, SKV_NOMEM},
                 {EPERM, SKV_DENIED}, {EACCES, SKV_DENIED}, {ENOTSUP, SKV_DENIED}};
    unsigned char acl[64];
    size_t len = make_acl(acl, 12345);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stat before;

        put("globals/k", "old");
        CHECK(setxattr(path("globals/k"), "system.posix_acl_access", acl, len, 0) == 0);
        before = stat_of("globals/k");
        CHECK(put_without(SYS_fsetxattr, cases[i].error_number) == cases[i].status);
        get_gives("globals/k", "old");
        CHECK(stat_of("globals/k").st_ino == before.st_ino);
        CHECK(names_in("globals") == 1);
        del("globals/k");
    }
}

static void put_of_a_large_document_fails(void)
{
    static char large[100000];

    memset(large, 'x', sizeof large - 1);
    CHECK(put("globals/k", large) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "Key write to '");
    CHECK_HAS(skv_reply_message(reply), "' failed: File too large");
    CHECK(put("globals/n", large) == SKV_TOO_LARGE);
    get_gives("globals/k", "old");
    CHECK(names_in("globals") == 1);
}

/* Returns true if the signal is blocked in this thread, or waits. */
static bool is_in(int (*read_set)(sigset_t *))
{
    sigset_t set;

    return read_set(&set) == 0 && sigismember(&set, SIGXFSZ) == 1;
}

static int read_mask(sigset_t *mask)
{
    return pthread_sigmask(SIG_BLOCK, NULL, mask);
}

/* SIGXFSZ used to end the process, and the temporary file stayed. */
static void a_limit_on_the_size_of_files_is_an_error_and_no_signal(void)
{
    struct rlimit limit, small;
    sigset_t set;

    put("globals/k", "old");
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = (struct rlimit){.rlim_cur = 50000, .rlim_max = limit.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    put_of_a_large_document_fails();
    CHECK(!is_in(read_mask) && !is_in(sigpending));
    /* The caller's own mask and signal stay. */
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    put_of_a_large_document_fails();
    CHECK(is_in(read_mask) && !is_in(sigpending));
    CHECK(pthread_kill(pthread_self(), SIGXFSZ) == 0);
    put_of_a_large_document_fails();
    CHECK(is_in(read_mask) && is_in(sigpending));
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){0}) == SIGXFSZ);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_file_in_a_closed_folder_is_not_written,
        a_file_in_a_sticky_folder_is_replaced_by_its_owner_only,
        an_unreadable_folder_is_an_error,
        a_user_who_may_only_read_can_read,
        a_root_that_cannot_be_read_is_an_error,
        an_update_keeps_owner_group_and_acl,
        an_update_does_not_pick_up_the_default_acl_of_the_folder,
        an_update_keeps_the_mode,
        an_update_keeps_the_group_if_it_cannot_keep_the_owner,
        a_put_that_cannot_keep_the_group_is_refused,
        a_group_without_rights_of_its_own_need_not_be_kept,
        files_of_root_belong_to_the_owner_of_the_folder,
        access_that_cannot_be_copied_fails_the_put,
        a_limit_on_the_size_of_files_is_an_error_and_no_signal,
    };

    return run_file_tests("store_file_access", tests, sizeof tests / sizeof *tests);
}
