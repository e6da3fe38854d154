/* Forks while another thread initialises libldap or holds a lock of the core. libldap is initialised once in a process,
 * so each test runs in a process of its own. */
#include "check.h"
#include "directory.h"
#include "net/handle.h"
#include "net/pool_state.h"
#include "net/tls_context.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_MS 20000

/* ---- A name service that hangs while libldap looks up this machine's own name ----------------------------------- */

static atomic_bool hangs, asked;

__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                                                       struct addrinfo **addresses)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (hints && hints->ai_flags & AI_CANONNAME) {
        atomic_store(&asked, true);
        while (atomic_load(&hangs))
            usleep(1000);
        return EAI_AGAIN;
    }
    return real(host, port, hints, addresses);
}

/* ---- Threads and forks ------------------------------------------------------------------------------------------ */

static atomic_bool forking, forked;
static atomic_int forker;

/* Runs before the core's own handler, because it is registered after it. */
static void note_fork(void)
{
    atomic_store(&forker, (int)syscall(SYS_gettid));
    atomic_store(&forking, true);
}

/* Waits for the flag, and checks that it is set. */
static void wait_for_flag(atomic_bool *flag)
{
    for (int i = 0; i < TIMEOUT_MS && !atomic_load(flag); i++)
        usleep(1000);
    CHECK(atomic_load(flag));
}

static bool sleeps(int thread)
{
    char path[64], line[256] = "", *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    file = fopen(path, "r");
    if (!file)
        return false;
    end = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return end && strncmp(end, ") S", 3) == 0;
}

/* Waits until fork() waits in its handlers, or has ended. */
static void wait_for_fork(void)
{
    wait_for_flag(&forking);
    for (int i = 0; i < TIMEOUT_MS && !atomic_load(&forked) && !sleeps(atomic_load(&forker)); i++)
        usleep(1000);
}

/* Forks. Returns true if `works` holds in the child. The child ends by SIGKILL then, because valgrind would report the
 * memory of threads that only the parent has as leaks. */
static bool fork_works(bool (*works)(void))
{
    int status = -1;
    pid_t pid;

    atomic_store(&forked, false);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        if (works())
            raise(SIGKILL);
        _exit(1);
    }
    atomic_store(&forked, true);
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool store_responds(void)
{
    return skv_exists(store, "", 0, TIMEOUT_MS, NULL, reply) == SKV_OK;
}

static void *ask_store(void *status)
{
    skv_reply *own = skv_reply_new();

    *(int *)status = skv_exists(store, "", 0, LONG_MS, NULL, own);
    skv_reply_free(own);
    return NULL;
}

/* Starts a call, and returns when its thread is in the initialisation of libldap. */
static pthread_t begin_initialisation(int *status)
{
    pthread_t thread;

    atomic_store(&hangs, true);
    pthread_create(&thread, NULL, ask_store, status);
    wait_for_flag(&asked);
    return thread;
}

/* ---- The tests -------------------------------------------------------------------------------------------------- */

static void *end_hanging(void *unused)
{
    wait_for_fork();
    atomic_store(&hangs, false);
    return unused;
}

/* Every call in the child used to time out. */
static void a_child_works_that_is_forked_while_libldap_is_initialised(void)
{
    pthread_t caller, releaser;
    int status = -1;

    caller = begin_initialisation(&status);
    pthread_create(&releaser, NULL, end_hanging, NULL);
    CHECK(fork_works(store_responds));
    pthread_join(releaser, NULL);
    pthread_join(caller, NULL);
    CHECK(status == SKV_OK);
    CHECK(store_responds());
}

static bool fails_at_once(void)
{
    int64_t began = skv_now_ns();

    return !store_responds() && skv_reply_status(reply) == SKV_UNAVAILABLE &&
           strstr(skv_reply_message(reply), "was forked while libldap was looking up this machine's own name") &&
           skv_now_ns() - began < TIMEOUT_MS / 2 * SKV_NS_PER_MS;
}

/* libldap is locked in the child, which cannot use it. The message of each call says so. */
static void forks_wait_for_a_name_service_no_longer_than_the_limit(void)
{
    int64_t began;
    int status = -1;
    pthread_t caller = begin_initialisation(&status);

    began = skv_now_ns();
    CHECK(fork_works(fails_at_once));
    CHECK(skv_now_ns() - began >= SKV_FORK_WAIT_MS * SKV_NS_PER_MS);
    CHECK(skv_now_ns() - began < 10 * SKV_FORK_WAIT_MS * SKV_NS_PER_MS);
    began = skv_now_ns();
    CHECK(fork_works(fails_at_once));
    CHECK(skv_now_ns() - began < SKV_FORK_WAIT_MS * SKV_NS_PER_MS);
    atomic_store(&hangs, false);
    pthread_join(caller, NULL);
    CHECK(status == SKV_OK);
    CHECK(store_responds());
}

static skv_pool *first_pool;

static void note_first_pool(skv_pool *pool, void *unused)
{
    (void)unused;
    first_pool = pool;
}

static void *fork_in_thread(void *works)
{
    *(bool *)works = fork_works(store_responds);
    return NULL;
}

static void *read_statistics(void *status)
{
    skv_reply *own = skv_reply_new();

    atomic_store((atomic_int *)status, (int)skv_stats(own));
    skv_reply_free(own);
    return NULL;
}

/* A thread that reads a CA file from a slow disk holds the lock of the TLS context. fork() used to wait for it with the
 * pools locked, and all other threads waited for fork(). */
static void other_threads_work_while_a_fork_waits_for_a_tls_context(void)
{
    pthread_t thread, other;
    bool works = false;
    atomic_int status = -1;

    CHECK(store_responds());
    skv_pool_each(note_first_pool, NULL);
    skv_tls_context_lock(first_pool->identity.tls);
    atomic_store(&forking, false);
    pthread_create(&thread, NULL, fork_in_thread, &works);
    wait_for_fork();
    pthread_create(&other, NULL, read_statistics, &status);
    for (int i = 0; i < TIMEOUT_MS && atomic_load(&status) < 0; i++)
        usleep(1000);
    CHECK(atomic_load(&status) == SKV_OK);
    CHECK(!atomic_load(&forked));
    skv_tls_context_unlock(first_pool->identity.tls);
    pthread_join(other, NULL);
    pthread_join(thread, NULL);
    CHECK(works);
}

/* The file has a new password already, and the directory has the old one. */
static void a_child_binds_with_the_last_password_of_its_parent(void)
{
    skv_close(store);
    store = open_with(false, (const char *[]){"id=plain", NULL});
    CHECK(store_responds());
    CHECK(slapd_write(server.password_file, "the next one"));
    CHECK(fork_works(store_responds));
    CHECK(slapd_write(server.password_file, SLAPD_PASSWORD));
}

/* Opens the store and runs a test, in a process of its own. */
static void run_in_process(const char *name, void (*test)(void))
{
    int status = -1;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        reply = skv_reply_new();
        store = open_with(true, (const char *[]){"id=plain", NULL});
        pthread_atfork(note_fork, NULL, NULL);
        test();
        skv_close(store);
        skv_reply_free(reply);
        status = check_summary(name);
        fflush(stdout);
        _exit(status);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    if (CHECK(directory_begin(&server, DIRECTORY_PLAIN, ""))) {
        run_in_process("fork, initialising", a_child_works_that_is_forked_while_libldap_is_initialised);
        run_in_process("fork, hanging", forks_wait_for_a_name_service_no_longer_than_the_limit);
        run_in_process("fork, TLS context", other_threads_work_while_a_fork_waits_for_a_tls_context);
        run_in_process("fork, password", a_child_binds_with_the_last_password_of_its_parent);
    }
    slapd_end(&server);
    return check_summary("fork");
}
