/* An audit log in a file: rotation, wrong targets, torn lines and full disks. */
#include "audit_fixture.h"
#include "chaos.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- A disk that becomes full, in place of the C library's calls ---- */

static struct {
    size_t room; /* the bytes that the next write() may take, if `full` */
    bool full;
    int reserving_fails; /* an errno, or 0 */
    int reservations;
} disk;

ssize_t write(int fd, const void *bytes, size_t count)
{
    if (!disk.full || count <= disk.room)
        return syscall(SYS_write, fd, bytes, count);
    if (disk.room == 0) {
        errno = ENOSPC;
        return -1;
    }
    count = disk.room;
    disk.room = 0;
    return syscall(SYS_write, fd, bytes, count);
}

int fallocate(int fd, int mode, off_t at, off_t len)
{
    disk.reservations++;
    if (disk.reserving_fails) {
        errno = disk.reserving_fails;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, at, len);
}

/* ---- Writing and rotation ---- */

static void lines_are_appended(void)
{
    skv_audit *audit = open_log_file();
    struct stat file;
    mode_t mask = umask(077);

    CHECK(stat(log_file, &file) < 0);
    CHECK(write_text(audit, "one\n") == SKV_OK);
    umask(mask);
    CHECK(write_text(audit, "two\nthree\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "one\ntwo\nthree\n");
    CHECK(stat(log_file, &file) == 0 && (file.st_mode & 07777) == 0660);
    skv_audit_close(audit);
    audit = open_log_file();
    CHECK(chmod(log_file, 0600) == 0);
    CHECK(write_text(audit, "four\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "one\ntwo\nthree\nfour\n");
    CHECK(stat(log_file, &file) == 0 && (file.st_mode & 07777) == 0600);
    skv_audit_close(audit);
}

static void a_renamed_or_deleted_file_is_opened_again(void)
{
    skv_audit *audit = open_log_file();
    char old[80];

    snprintf(old, sizeof old, "%s.1", log_file);
    CHECK(write_text(audit, "one\n") == SKV_OK);
    CHECK(rename(log_file, old) == 0);
    CHECK(write_text(audit, "two\n") == SKV_OK);
    CHECK_STR(content_of(old), "one\n");
    CHECK_STR(content_of(log_file), "two\n");
    CHECK(unlink(log_file) == 0);
    CHECK(skv_audit_reserve(audit, 100, WAIT_MS, result) == SKV_OK);
    CHECK(write_text(audit, "three\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "three\n");
    CHECK(truncate(log_file, 0) == 0);
    CHECK(write_text(audit, "four\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "four\n");
    skv_audit_close(audit);
}

static void a_torn_line_is_ended(void)
{
    skv_audit *audit = open_log_file();

    set_content(log_file, "torn");
    CHECK(write_text(audit, "one\n") == SKV_OK);
    CHECK(write_text(audit, "two\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "torn\none\ntwo\n");
    set_content(log_file, "one\nlonger");
    CHECK(write_text(audit, "two\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "one\nlonger\ntwo\n");
    skv_audit_close(audit);
}

/* ---- Wrong targets ---- */

static void check_refused(const char *target, skv_status status, const char *message)
{
    skv_audit *audit = open_target(target);

    CHECK(write_text(audit, "one\n") == status);
    CHECK_HAS(skv_reply_message(result), message);
    CHECK(skv_audit_reserve(audit, 10, WAIT_MS, result) == status);
    CHECK_HAS(skv_reply_message(result), message);
    skv_audit_close(audit);
}

static void links_folders_and_pipes_are_refused(void)
{
    char other[80], missing[96];

    snprintf(other, sizeof other, "%s/other", log_folder);
    CHECK(symlink(other, log_file) == 0);
    check_refused(log_file, SKV_INVALID, "is a symbolic link: name the file itself");
    CHECK(access(other, F_OK) < 0 && unlink(log_file) == 0);
    CHECK(mkfifo(log_file, 0600) == 0);
    check_refused(log_file, SKV_INVALID, "is not a regular file");
    CHECK(unlink(log_file) == 0);
    check_refused(log_folder, SKV_UNAVAILABLE, "cannot open the audit log '");
    check_refused("/dev/null", SKV_INVALID, "is not a regular file");
    snprintf(missing, sizeof missing, "%s/no/audit.log", log_folder);
    check_refused(missing, SKV_UNAVAILABLE, "No such file or directory");
}

static void malformed_targets_are_refused(void)
{
    static const char nul[] = "/tmp/x\0y";
    char socket[140];

    memset(socket, 'x', sizeof socket - 1);
    memcpy(socket, "syslog:/", 8);
    socket[sizeof socket - 1] = '\0';
    CHECK(!open_target("audit.log") && !open_target("") && !open_target("syslog:") && !open_target("syslogd"));
    CHECK(!open_target("syslog:dev/log") && !open_target(socket));
    CHECK(!skv_audit_open(nul, sizeof nul - 1, result) && !skv_audit_open(NULL, 5, result));
    CHECK_HAS(skv_reply_message(result), "must be 'syslog', 'syslog:' and the path of a socket, or the absolute path");
    CHECK(!skv_audit_open("/tmp/x", 6, NULL));
    skv_audit_close(NULL);
}

static void malformed_lines_are_refused(void)
{
    skv_audit *audit = open_log_file();

    CHECK(write_text(audit, "one") == SKV_INVALID && write_text(audit, "") == SKV_INVALID);
    CHECK(skv_audit_write(audit, NULL, 1, WAIT_MS, result) == SKV_INVALID);
    CHECK(write_text(NULL, "one\n") == SKV_INVALID && write_within(audit, "one\n", -1) == SKV_INVALID);
    CHECK(skv_audit_reserve(NULL, 1, WAIT_MS, result) == SKV_INVALID);
    CHECK(skv_audit_reserve(audit, (size_t)SKV_DATA_MAX + 1, WAIT_MS, result) == SKV_INVALID);
    CHECK_STR(content_of(log_file), "");
    skv_audit_close(audit);
}

/* ---- Full disks ---- */

static void a_full_disk_takes_no_part_of_a_line(void)
{
    skv_audit *audit = open_log_file();

    CHECK(write_text(audit, "one\n") == SKV_OK);
    disk.full = true;
    for (size_t room = 0; room < 8; room++) {
        disk.room = room;
        CHECK(write_text(audit, "second\nt\n") == SKV_FULL);
        CHECK_HAS(skv_reply_message(result), "cannot write the audit log '");
        CHECK_HAS(skv_reply_message(result), "No space left on device");
        CHECK_STR(content_of(log_file), "one\n");
    }
    disk.full = false;
    CHECK(write_text(audit, "three\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "one\nthree\n");
    skv_audit_close(audit);
}

/* SIGXFSZ used to end the process. */
static void a_limit_on_the_size_of_files_is_an_error_and_no_signal(void)
{
    skv_audit *audit = open_log_file();
    struct rlimit limit, small;

    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    small = (struct rlimit){.rlim_cur = 8, .rlim_max = limit.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(write_text(audit, "one\n") == SKV_OK);
    CHECK(write_text(audit, "second\nt\n") == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(result), "cannot write the audit log '");
    CHECK_HAS(skv_reply_message(result), "File too large");
    CHECK_STR(content_of(log_file), "one\n");
    CHECK(write_text(audit, "two\n") == SKV_OK);
    CHECK(write_text(audit, "three\n") == SKV_TOO_LARGE);
    CHECK_STR(content_of(log_file), "one\ntwo\n");
    skv_audit_close(audit);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

/* tmpfs applies the limit to reserved space. */
static void a_limit_on_the_size_of_files_holds_for_reserved_space(void)
{
    char file[] = "/dev/shm/simpkv-test-audit-XXXXXX";
    struct rlimit limit, small;
    skv_audit *audit;
    int fd = mkstemp(file);

    CHECK(fd >= 0 && close(fd) == 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0);
    audit = open_target(file);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(skv_audit_reserve(audit, 10, WAIT_MS, result) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(result), "cannot reserve disk space for the audit log '");
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(skv_audit_reserve(audit, 10, WAIT_MS, result) == SKV_OK);
    skv_audit_close(audit);
    CHECK(unlink(file) == 0);
}

static void space_is_reserved_ahead_of_the_end(void)
{
    skv_audit *audit = open_log_file();
    struct stat file;

    disk.reservations = 0;
    CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK);
    CHECK(stat(log_file, &file) == 0 && file.st_size == 0 && file.st_blocks * 512 >= 64 * 1024);
    for (int i = 0; i < 100; i++)
        CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK && write_text(audit, "line\n") == SKV_OK);
    CHECK(disk.reservations == 1);
    CHECK(skv_audit_reserve(audit, 1024 * 1024, WAIT_MS, result) == SKV_OK);
    CHECK(stat(log_file, &file) == 0 && file.st_size == 500 && file.st_blocks * 512 >= 1024 * 1024);
    /* A truncated file has lost what was reserved. */
    CHECK(truncate(log_file, 0) == 0);
    CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK && disk.reservations == 3);
    skv_audit_close(audit);
}

/* Each rotated file used to keep 128 KiB of reserved space. */
static void a_rotated_file_gives_reserved_space_back(void)
{
    skv_audit *audit = open_log_file();
    struct stat file;
    char old[80];

    snprintf(old, sizeof old, "%s.1", log_file);
    /* A process notices the rotation in a write, or in a reservation. */
    for (int i = 0; i < 2; i++) {
        CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK && write_text(audit, "line\n") == SKV_OK);
        CHECK(stat(log_file, &file) == 0 && file.st_blocks * 512 >= 64 * 1024);
        CHECK(rename(log_file, old) == 0);
        if (i == 0)
            CHECK(write_text(audit, "next\n") == SKV_OK);
        else
            CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK);
        CHECK(stat(old, &file) == 0 && file.st_blocks * 512 < 64 * 1024);
        CHECK_STR(content_of(old), i == 0 ? "line\n" : "next\nline\n");
    }
    skv_audit_close(audit);
}

static void space_that_cannot_be_reserved_is_an_error(void)
{
    skv_audit *audit = open_log_file();

    disk.reserving_fails = ENOSPC;
    CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_FULL);
    CHECK_HAS(skv_reply_message(result), "cannot reserve disk space for the audit log '");
    disk.reserving_fails = EOPNOTSUPP;
    CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), "cannot reserve disk space, which 'required' needs");
    disk.reserving_fails = 0;
    CHECK(skv_audit_reserve(audit, 1000, WAIT_MS, result) == SKV_OK);
    skv_audit_close(audit);
}

/* ---- Memory ---- */

static void write_without_memory(void)
{
    skv_reply *own = skv_reply_new();
    skv_audit *audit = own ? skv_audit_open(log_file, strlen(log_file), own) : NULL;

    CHECK(!own || skv_reply_status(own) == (audit ? SKV_OK : SKV_NOMEM));
    if (audit) {
        CHECK(skv_audit_reserve(audit, 100, WAIT_MS, own) == SKV_OK);
        CHECK(skv_audit_write(audit, "one\n", 4, WAIT_MS, own) == SKV_OK);
    }
    skv_audit_close(audit);
    skv_reply_free(own);
}

static void memory_runs_out(void)
{
    chaos(write_without_memory);
}

int main(void)
{
    static void (*const tests[])(void) = {lines_are_appended,
                                          a_renamed_or_deleted_file_is_opened_again,
                                          a_torn_line_is_ended,
                                          links_folders_and_pipes_are_refused,
                                          malformed_targets_are_refused,
                                          malformed_lines_are_refused,
                                          a_full_disk_takes_no_part_of_a_line,
                                          a_limit_on_the_size_of_files_is_an_error_and_no_signal,
                                          a_limit_on_the_size_of_files_holds_for_reserved_space,
                                          space_is_reserved_ahead_of_the_end,
                                          a_rotated_file_gives_reserved_space_back,
                                          space_that_cannot_be_reserved_is_an_error,
                                          memory_runs_out};

    return run_audit_tests("audit", tests, sizeof tests / sizeof *tests);
}
