/* The store in files, used by forked processes. */
#include "check.h"
#include "file_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)
#define WHOLE (16 * LARGE)

static char large[2][LARGE];

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Runs `work` in a child for some seconds. The exit status of the child is the number of failures. */
static pid_t run_for(double seconds, int (*work)(void))
{
    double end = now() + seconds;
    int failures = 0;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    while (now() < end && failures < 100)
        failures += work();
    _exit(failures);
}

static int failures_of(pid_t pid)
{
    int status = -1;

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Forks in the middle of a call ------------------------------------------------------------------------------ */

#define CHILDREN 40

/* Makes calls that hold a lock for long. */
static void *write_and_read_large(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t failures = 0;

    (void)data;
    for (int i = 0; i < CHILDREN; i++) {
        failures += skv_put(store, "globals/k", 9, large[i % 2], LARGE, SKV_PUT_ANY, NULL, 0, 1000, NULL, mine) != 0;
        failures += skv_get(store, "globals/k", 9, SKV_GET_ANY, 1000, NULL, mine) != SKV_OK;
        if (i % 8 == 0)
            failures += skv_delete(store, "globals/k", 9, 1000, NULL, mine) != SKV_OK;
        if (failures)
            break;
    }
    skv_reply_free(mine);
    return (void *)failures;
}

/* A child keeps the descriptors of its parent open for its whole life. */
static void a_child_that_is_forked_during_a_call_does_not_keep_its_lock(void)
{
    pid_t children[CHILDREN];
    pthread_t thread;
    void *failures;
    int life[2];
    char end;

    memset(large[0], 'a', LARGE);
    memset(large[1], 'b', LARGE);
    CHECK(pipe(life) == 0);
    pthread_create(&thread, NULL, write_and_read_large, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(life[1]);
            _exit(read(life[0], &end, 1) == 0 ? 0 : 1);
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    pthread_join(thread, &failures);
    CHECK(failures == NULL);
    close(life[0]);
    close(life[1]);
    for (int i = 0; i < CHILDREN; i++)
        CHECK(failures_of(children[i]) == 0);
}

/* ---- Readers and writers ---------------------------------------------------------------------------------------- */

#define READERS 16

static int read_key(void)
{
    return skv_get(store, "globals/k", 9, SKV_GET_ANY, 5000, NULL, reply) != SKV_OK;
}

static void many_readers_do_not_keep_a_writer_from_its_turn(void)
{
    double end;
    pid_t readers[READERS];
    int puts = 0;

    memset(large[0], 'a', LARGE);
    memset(large[1], 'b', LARGE);
    CHECK(skv_put(store, "globals/k", 9, large[1], LARGE, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    for (int i = 0; i < READERS; i++)
        readers[i] = run_for(2, read_key);
    end = now() + 1;
    for (; now() < end; puts++) {
        skv_put(store, "globals/k", 9, large[puts % 2], LARGE, SKV_PUT_ANY, NULL, 0, 5000, NULL, reply);
        if (!CHECK_STATUS(reply, SKV_OK))
            break;
    }
    CHECK(puts > 0);
    for (int i = 0; i < READERS; i++)
        CHECK(failures_of(readers[i]) == 0);
}

/* Another program writes in place under the lock, at long intervals. It starts at the end, which readers reach last. */
static int write_in_place(void)
{
    static char letter = 'b';
    int fd = open(path("globals/k"), O_RDWR);

    if (flock(fd, LOCK_EX) < 0)
        return 1;
    letter = letter == 'a' ? 'b' : 'a';
    if (pwrite(fd, &letter, 1, WHOLE - 1) != 1)
        return 1;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (pwrite(fd, &letter, 1, 0) != 1)
        return 1;
    close(fd);
    nanosleep(&(struct timespec){.tv_nsec = 130000000}, NULL);
    return 0;
}

static int read_torn(void)
{
    const char *data;

    if (skv_get(store, "globals/k", 9, SKV_GET_ANY, 5000, NULL, reply) != SKV_OK)
        return 1;
    data = skv_reply_data(reply);
    return data[0] != data[WHOLE - 1];
}

static void a_document_that_is_written_in_place_is_not_torn(void)
{
    pid_t writer, readers[2];

    write_file("globals/k", "");
    CHECK(truncate(path("globals/k"), WHOLE) == 0);
    writer = run_for(2, write_in_place);
    for (int i = 0; i < 2; i++)
        readers[i] = run_for(2, read_torn);
    CHECK(failures_of(writer) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(failures_of(readers[i]) == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {
        a_child_that_is_forked_during_a_call_does_not_keep_its_lock,
        many_readers_do_not_keep_a_writer_from_its_turn,
        a_document_that_is_written_in_place_is_not_torn,
    };

    return run_file_tests("store_file_forks", tests, sizeof tests / sizeof *tests);
}
