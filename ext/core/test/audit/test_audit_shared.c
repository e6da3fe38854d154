/* An audit log that threads, processes and forked children write at once, while it is rotated. */
#include "audit_fixture.h"
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS 4
#define LINES 1500
#define FILES_MAX 64

/* ---- Lines ---- */

/* A line of its writer: "<writer> <number> xxx...", of 100 to 699 bytes. */
static size_t make_line(char *line, int writer, int number)
{
    size_t len = (size_t)(100 + (number * 7 + writer) % 600), head;

    memset(line, 'x', len);
    head = (size_t)snprintf(line, len, "%d %d ", writer, number);
    line[head] = 'x';
    line[len - 1] = '\n';
    line[len] = '\0';
    return len;
}

static long write_numbered(skv_audit *audit, int writer)
{
    skv_reply *own = skv_reply_new();
    char line[800];
    long failures = 0;

    for (int i = 0; i < check_rounds(LINES); i++) {
        failures += skv_audit_write(audit, line, make_line(line, writer, i), WAIT_MS, own) != SKV_OK;
        if (i % 10 == 0)
            usleep(1000);
    }
    skv_reply_free(own);
    return failures;
}

static char seen[WRITERS][LINES];

/* Counts the lines of a file, each of which must be as it was written. */
static void count_lines(const char *name)
{
    FILE *file = fopen(name, "re");
    char line[800], expected[800];

    while (file && fgets(line, sizeof line, file)) {
        char *rest;
        long writer = strtol(line, &rest, 10), number = strtol(rest, NULL, 10);
        bool known = writer >= 0 && writer < WRITERS && number >= 0 && number < LINES;

        if (!CHECK(known))
            break;
        make_line(expected, (int)writer, (int)number);
        CHECK_STR(line, expected);
        seen[writer][number]++;
    }
    if (file)
        fclose(file);
}

static void check_each_line_is_there_once(void)
{
    long missing = 0, doubled = 0;

    for (int writer = 0; writer < WRITERS; writer++) {
        for (int i = 0; i < check_rounds(LINES); i++) {
            missing += seen[writer][i] == 0;
            doubled += seen[writer][i] > 1;
        }
    }
    CHECK(missing == 0 && doubled == 0);
    memset(seen, 0, sizeof seen);
}

/* ---- Threads ---- */

static skv_audit *shared;
static atomic_long failed_writes;

static void *write_in_thread(void *number)
{
    failed_writes += write_numbered(shared, (int)(intptr_t)number);
    return NULL;
}

static void threads_write_whole_lines(void)
{
    pthread_t thread[WRITERS];

    shared = open_log_file();
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&thread[i], NULL, write_in_thread, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(thread[i], NULL);
    skv_audit_close(shared);
    CHECK(failed_writes == 0);
    count_lines(log_file);
    check_each_line_is_there_once();
    check_tally("threads with one audit log", 0, WRITERS * check_rounds(LINES));
}

/* ---- Processes and rotation ---- */

static char *rotated_name(int number)
{
    static char name[96];

    snprintf(name, sizeof name, "%s.%d", log_file, number);
    return name;
}

/* Renames the log whenever it has grown, until all writers have ended. Returns the number of rotations. */
static int rotate_until_all_end(void)
{
    int ended = 0, rotations = 0, status;
    struct stat file;

    while (ended < WRITERS) {
        if (rotations < FILES_MAX && stat(log_file, &file) == 0 && file.st_size > 20000)
            CHECK(rename(log_file, rotated_name(rotations++)) == 0);
        if (waitpid(-1, &status, WNOHANG) > 0) {
            CHECK(status == 0);
            ended++;
        }
    }
    return rotations;
}

static void rotation_loses_no_line_of_several_processes(void)
{
    int rotations;

    /* Opened before the fork, as a server may do. */
    shared = open_log_file();
    CHECK(skv_audit_reserve(shared, 10, WAIT_MS, result) == SKV_OK);
    fflush(stdout);
    for (int writer = 0; writer < WRITERS; writer++) {
        if (fork() == 0)
            _exit(write_numbered(shared, writer) ? 1 : 0);
    }
    rotations = rotate_until_all_end();
    for (int i = 0; i < rotations; i++)
        count_lines(rotated_name(i));
    count_lines(log_file);
    check_each_line_is_there_once();
    CHECK(rotations > 1);
    skv_audit_close(shared);
    check_tally("processes with one audit log that is rotated", rotations, WRITERS * check_rounds(LINES));
}

/* ---- Locks ---- */

static int lock_log(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(log_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    return fd;
}

static void a_locked_file_does_not_hang(void)
{
    skv_audit *audit = open_log_file();
    int fd = lock_log();
    int64_t began = now_ms();

    CHECK(write_within(audit, "one\n", 200) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(result), "another process keeps the audit log '");
    CHECK(now_ms() - began >= 200 && now_ms() - began < 20000);
    /* Each further wait is short. Without such waits, six processes lost 22,944 lines in 2.5 s. */
    began = now_ms();
    for (int i = 0; i < 5; i++)
        CHECK(write_within(audit, "two\n", 60000) == SKV_TIMEOUT);
    CHECK(now_ms() - began >= 45 && now_ms() - began < 20000);
    CHECK(write_within(audit, "two\n", 0) == SKV_TIMEOUT);
    close(fd);
    CHECK(write_text(audit, "three\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "three\n");
    skv_audit_close(audit);
}

static void *unlock_later(void *fd)
{
    usleep(100000);
    close((int)(intptr_t)fd);
    return NULL;
}

static void a_writer_waits_for_the_lock(void)
{
    skv_audit *audit = open_log_file();
    pthread_t thread;
    int fd = lock_log();

    CHECK(pthread_create(&thread, NULL, unlock_later, (void *)(intptr_t)fd) == 0);
    CHECK(write_text(audit, "one\n") == SKV_OK);
    pthread_join(thread, NULL);
    CHECK_STR(content_of(log_file), "one\n");
    skv_audit_close(audit);
}

/* ---- Forks ---- */

static atomic_bool over;
static skv_reply *of_thread; /* a child cannot free what only a thread of its parent knows */

static void *write_always(void *unused)
{
    (void)unused;
    while (!over)
        failed_writes += skv_audit_write(shared, "thread\n", 7, WAIT_MS, of_thread) != SKV_OK;
    return NULL;
}

static bool child_writes(void)
{
    return write_text(shared, "child\n") == SKV_OK;
}

/* The child must not get a lock that a thread of the parent holds. */
static void children_write_while_a_thread_of_the_parent_does(void)
{
    pthread_t thread;
    int children = check_rounds(100), good = 0;

    shared = open_log_file();
    of_thread = skv_reply_new();
    CHECK(pthread_create(&thread, NULL, write_always, NULL) == 0);
    for (int i = 0; i < children; i++)
        good += child_returns(child_writes);
    over = true;
    pthread_join(thread, NULL);
    CHECK(good == children && failed_writes == 0);
    skv_audit_close(shared);
    skv_reply_free(of_thread);
}

static bool child_locks_apart_from_its_parent(void)
{
    int fd = lock_log();
    bool excluded = write_within(shared, "child\n", 0) == SKV_TIMEOUT;

    close(fd);
    return excluded && write_text(shared, "child\n") == SKV_OK;
}

static void a_child_has_an_open_file_of_its_own(void)
{
    shared = open_log_file();
    CHECK(write_text(shared, "parent\n") == SKV_OK);
    CHECK(child_returns(child_locks_apart_from_its_parent));
    CHECK(write_text(shared, "parent\n") == SKV_OK);
    CHECK_STR(content_of(log_file), "parent\nchild\nparent\n");
    skv_audit_close(shared);
}

int main(void)
{
    static void (*const tests[])(void) = {threads_write_whole_lines,
                                          rotation_loses_no_line_of_several_processes,
                                          a_locked_file_does_not_hang,
                                          a_writer_waits_for_the_lock,
                                          children_write_while_a_thread_of_the_parent_does,
                                          a_child_has_an_open_file_of_its_own};

    return run_audit_tests("audit_shared", tests, sizeof tests / sizeof *tests);
}
