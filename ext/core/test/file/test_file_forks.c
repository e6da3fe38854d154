/* The store in files, used by forked processes. */
#include "check.h"
#include "file_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)
#define WHOLE (16 * LARGE)

static char large[2][LARGE];

/* In memory that children share. */
static atomic_bool *over;

/* Runs `work` in a child until `over`. The exit status of the child is the number of failures. */
static pid_t run_in_child(int (*work)(void))
{
    int failures = 0;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    do
        failures += work();
    while (!atomic_load(over) && failures < 100);
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
        failures += skv_put(store, "globals/k", 9, large[i % 2], LARGE, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != 0;
        failures += skv_get(store, "globals/k", 9, SKV_GET_ANY, LONG_MS, NULL, mine) != SKV_OK;
        if (i % 8 == 0)
            failures += skv_delete(store, "globals/k", 9, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != SKV_OK;
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
#define PUTS 10
#define IN_PLACE 4

static int read_key(void)
{
    return skv_get(store, "globals/k", 9, SKV_GET_ANY, LONG_MS, NULL, reply) != SKV_OK;
}

/* The readers read until the writer has had its turns. */
static void many_readers_do_not_keep_a_writer_from_its_turn(void)
{
    pid_t readers[READERS];

    memset(large[0], 'a', LARGE);
    memset(large[1], 'b', LARGE);
    CHECK(skv_put(store, "globals/k", 9, large[1], LARGE, SKV_PUT_ANY, NULL, 0, 0, NULL, reply) == SKV_OK);
    atomic_store(over, false);
    for (int i = 0; i < READERS; i++)
        readers[i] = run_in_child(read_key);
    for (int i = 0; i < PUTS; i++) {
        skv_put(store, "globals/k", 9, large[i % 2], LARGE, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, reply);
        if (!CHECK_STATUS(reply, SKV_OK))
            break;
    }
    atomic_store(over, true);
    for (int i = 0; i < READERS; i++)
        CHECK(failures_of(readers[i]) == 0);
}

/* Writes in place under the lock, as another program might. Starts at the end, which readers reach last. */
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
    return 0;
}

static int read_torn(void)
{
    const char *data;

    if (skv_get(store, "globals/k", 9, SKV_GET_ANY, LONG_MS, NULL, reply) != SKV_OK)
        return 1;
    data = skv_reply_data(reply);
    return data[0] != data[WHOLE - 1];
}

static void a_document_that_is_written_in_place_is_not_torn(void)
{
    pid_t readers[2];

    write_file("globals/k", "");
    CHECK(truncate(path("globals/k"), WHOLE) == 0);
    atomic_store(over, false);
    for (int i = 0; i < 2; i++)
        readers[i] = run_in_child(read_torn);
    for (int i = 0; i < IN_PLACE; i++) {
        CHECK(write_in_place() == 0);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    atomic_store(over, true);
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

    over = mmap(NULL, sizeof *over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (over == MAP_FAILED)
        return 1;
    return run_file_tests("store_file_forks", tests, sizeof tests / sizeof *tests);
}
