/* The pool: that its cap holds, and that nothing is lost. test_pool_failover.c has servers that come and go. */
#include "chaos.h"
#include "check.h"
#include "pool_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static slapd first, second;

static void one_pool_serves_all_who_ask_for_the_same(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_identity a = {"cn=a", "/pw", false, "", "", "", NULL}, b = a;
    skv_uris uris;

    CHECK(pool != NULL);
    skv_uris_parse(first.ldap, strlen(first.ldap), &uris, reply);
    CHECK(skv_pool_for(&uris, &a, reply) == skv_pool_for(&uris, &b, reply));
    b.bind_dn = "cn=b";
    CHECK(skv_pool_for(&uris, &a, reply) != skv_pool_for(&uris, &b, reply));
    b = a;
    b.cacert = "/ca";
    CHECK(skv_pool_for(&uris, &a, reply) != skv_pool_for(&uris, &b, reply));
    b = a;
    b.starttls = true;
    CHECK(skv_pool_for(&uris, &a, reply) != skv_pool_for(&uris, &b, reply));
    pool = skv_pool_for(&uris, &a, reply);
    skv_uris_parse(second.ldap, strlen(second.ldap), &uris, reply);
    CHECK(skv_pool_for(&uris, &a, reply) != pool);
}

static void a_connection_is_used_again(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *conn = borrow(pool, 10000), *again;

    if (!CHECK(conn != NULL))
        return;
    CHECK(pool_stat("in_use") == 1);
    CHECK(use(conn));
    skv_pool_count(pool, conn, SKV_OP_GET, 5000);
    skv_pool_count_retry(pool, conn, SKV_RETRY_LOST);
    skv_pool_return(pool, conn);
    CHECK(pool_stat("idle") == 1);
    CHECK(pool_stat("in_use") == 0);
    again = borrow(pool, 10000);
    CHECK(again == conn);
    skv_pool_return(pool, again);
    CHECK(server_stat(0, "connects") == 1);
    CHECK(server_stat(0, "binds") == 1);
    CHECK(pool_stat("waits") == 0);
}

static void an_unusable_connection_is_replaced(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *conn = borrow(pool, 10000);

    skv_conn_invalidate(conn);
    skv_pool_return(pool, conn);
    CHECK(pool_stat("open") == 0);
    conn = borrow(pool, 10000);
    skv_pool_return(pool, conn);
    CHECK(pool_stat("open") == 1);
    CHECK(server_stat(0, "connects") == 2);
}

static void what_was_idle_for_too_long_is_closed(void)
{
    skv_pool_limits brief = limits;
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *a = borrow(pool, 10000), *b = borrow(pool, 10000);
    skv_deadline deadline = within(10000, NULL);

    skv_pool_return(pool, a);
    skv_pool_return(pool, b);
    CHECK(pool_stat("idle") == 2);
    brief.idle_timeout_ms = 20;
    usleep(50000);
    skv_reply_reset(reply);
    a = skv_pool_borrow(pool, &brief, &deadline, reply);
    CHECK(a != NULL);
    skv_pool_return(pool, a);
    CHECK(pool_stat("open") == 1);
    CHECK(server_stat(0, "connects") == 3);
}

static void a_full_pool_says_so_in_time(void)
{
    skv_pool_limits brief = limits;
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *taken[4];
    skv_deadline deadline = within(10000, NULL);
    int64_t began;

    for (int i = 0; i < 4; i++)
        CHECK((taken[i] = borrow(pool, 10000)) != NULL);
    brief.pool_timeout_ms = 50;
    began = skv_now_ns();
    skv_reply_reset(reply);
    CHECK(skv_pool_borrow(pool, &brief, &deadline, reply) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "all 4 connections were in use");
    CHECK(skv_now_ns() - began >= 50 * SKV_NS_PER_MS);
    CHECK(borrow(pool, 20) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK(pool_stat("wait_timeouts") == 2);
    CHECK(pool_stat("waiting") == 0);
    /* The largest size that anybody asked for wins. */
    brief.size = 5;
    skv_reply_reset(reply);
    skv_pool_return(pool, skv_pool_borrow(pool, &brief, &deadline, reply));
    CHECK(pool_stat("open") == 5);
    for (int i = 0; i < 4; i++)
        skv_pool_return(pool, taken[i]);
}

typedef struct queued {
    skv_pool *pool;
    skv_cancel *cancel;
    int *order, place;
    atomic_int *next;
    int status;
} queued;

static void *stand_in_line(void *argument)
{
    queued *q = argument;
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(20000, q->cancel);
    skv_pool_limits patient = limits;
    skv_conn *conn;

    patient.pool_timeout_ms = 20000;
    conn = skv_pool_borrow(q->pool, &patient, &deadline, own);
    q->status = skv_reply_status(own);
    if (conn) {
        if (q->order)
            q->order[atomic_fetch_add(q->next, 1)] = q->place;
        skv_pool_return(q->pool, conn);
    }
    skv_reply_free(own);
    return NULL;
}

static void wait_until(const char *name, json_int_t value)
{
    for (int i = 0; i < 2000 && pool_stat(name) != value; i++)
        usleep(5000);
    CHECK(pool_stat(name) == value);
}

static void those_who_wait_are_served_in_the_order_of_asking(void)
{
    enum { WAITING = 6 };
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *taken[4];
    pthread_t threads[WAITING];
    queued all[WAITING];
    int order[WAITING];
    atomic_int next = 0;

    for (int i = 0; i < 4; i++)
        CHECK((taken[i] = borrow(pool, 10000)) != NULL);
    for (int i = 0; i < WAITING; i++) {
        all[i] = (queued){.pool = pool, .order = order, .place = i, .next = &next};
        pthread_create(&threads[i], NULL, stand_in_line, &all[i]);
        wait_until("waiting", i + 1);
    }
    /* A connection that is lost frees its place for the first in line. */
    skv_conn_invalidate(taken[0]);
    skv_pool_return(pool, taken[0]);
    for (int i = 0; i < WAITING; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WAITING; i++)
        CHECK(order[i] == i);
    for (int i = 1; i < 4; i++)
        skv_pool_return(pool, taken[i]);
    CHECK(pool_stat("open") == 4);
    CHECK(pool_stat("idle") == 4);
}

static void waiting_can_be_interrupted(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_cancel *cancel = skv_cancel_new();
    queued q = {.pool = pool, .cancel = cancel};
    skv_conn *taken[4];
    pthread_t thread;

    for (int i = 0; i < 4; i++)
        CHECK((taken[i] = borrow(pool, 10000)) != NULL);
    pthread_create(&thread, NULL, stand_in_line, &q);
    wait_until("waiting", 1);
    skv_cancel_fire(cancel);
    pthread_join(thread, NULL);
    CHECK(q.status == SKV_INTERRUPTED);
    CHECK(pool_stat("waiting") == 0);
    for (int i = 0; i < 4; i++)
        skv_pool_return(pool, taken[i]);
    skv_cancel_free(cancel);
}

static void a_connection_that_the_server_closed_is_not_handed_out(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *a = borrow(pool, 10000), *b = borrow(pool, 10000);

    skv_pool_return(pool, a);
    skv_pool_return(pool, b);
    slapd_stop(&first);
    CHECK(slapd_start(&first));
    a = borrow(pool, 10000);
    if (CHECK_STATUS(reply, SKV_OK))
        CHECK(use(a));
    skv_pool_return(pool, a);
    CHECK(pool_stat("open") == 1);
}

/* Ends a child by a signal: what is left to the parent on purpose is no leak. */
static void leave(bool well)
{
    kill(getpid(), well ? SIGKILL : SIGTERM);
    pause();
}

/* The TLS context is shared by a pool's connections, and by no others. */
static void each_pool_goes_by_its_own_ca(void)
{
    char path[128], line[400];
    skv_identity own = {SLAPD_ADMIN, first.password_file, false, path, "", "", NULL}, other = own;
    skv_deadline deadline = within(60000, NULL);
    skv_pool *good, *bad;
    skv_conn *conn;
    skv_uris uris;
    int status = -1;
    pid_t pid;

    snprintf(path, sizeof path, "%s/ca-to-change", first.folder);
    snprintf(line, sizeof line, "cp %s %s", first.cacert, path);
    CHECK(system(line) == 0);
    other.cacert = first.other_cacert;
    skv_uris_parse(first.ldaps, strlen(first.ldaps), &uris, reply);
    bad = skv_pool_for(&uris, &other, reply);
    good = skv_pool_for(&uris, &own, reply);
    for (int i = 0; i < 3; i++) {
        skv_reply_reset(reply);
        conn = skv_pool_borrow(good, &limits, &deadline, reply);
        if (!CHECK_STATUS(reply, SKV_OK))
            return;
        CHECK(use(conn));
        skv_conn_invalidate(conn);
        skv_pool_return(good, conn);
        CHECK(skv_pool_borrow(bad, &limits, &deadline, reply) == NULL);
        CHECK_STATUS(reply, SKV_DENIED);
    }
    snprintf(line, sizeof line, "cp %s %s", first.other_cacert, path);
    CHECK(system(line) == 0);
    /* In a child, because libldap has no way to let go of the old context. */
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        skv_reply_reset(reply);
        conn = skv_pool_borrow(good, &limits, &deadline, reply);
        leave(!conn && reply->status == SKV_DENIED && strstr(reply->message, path));
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void *borrow_once(void *argument)
{
    queued *q = argument;
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(1500, NULL);

    CHECK(skv_pool_borrow(q->pool, &limits, &deadline, own) == NULL);
    q->status = skv_reply_status(own);
    skv_reply_free(own);
    return NULL;
}

static void an_idle_connection_is_had_while_another_connect_hangs(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *conn = borrow(pool, 10000), *other;
    queued q = {.pool = pool};
    pthread_t thread;
    int64_t began, slowest = 0;

    if (!CHECK(conn != NULL))
        return;
    slapd_freeze(&first);
    pthread_create(&thread, NULL, borrow_once, &q);
    wait_until("opening", 1);
    skv_pool_return(pool, conn);
    for (int i = 0; i < 1000; i++) {
        began = skv_now_ns();
        other = borrow(pool, 10000);
        if (other)
            skv_pool_return(pool, other);
        if (skv_now_ns() - began > slowest)
            slowest = skv_now_ns() - began;
        CHECK(other == conn);
    }
    CHECK(slowest < 500 * SKV_NS_PER_MS);
    pthread_join(thread, NULL);
    slapd_thaw(&first);
    CHECK(q.status == SKV_TIMEOUT);
    CHECK(pool_stat("opening") == 0);
}

static bool is_well_in_the_child(skv_pool *pool, skv_conn *borrowed)
{
    skv_conn *conn;
    bool used;

    skv_pool_return(pool, borrowed);
    if (pool_stat("open") != 0 || pool_stat("opening") != 0)
        return false;
    conn = borrow(pool, 10000);
    if (!conn)
        return false;
    used = use(conn);
    skv_pool_return(pool, conn);
    return used && pool_stat("open") == 1;
}

static void a_child_leaves_its_parents_sessions_alone(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_conn *a = borrow(pool, 10000), *b = borrow(pool, 10000);
    int status = -1;
    pid_t pid;

    skv_pool_return(pool, a);
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        leave(is_well_in_the_child(pool, b));
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(use(b));
    skv_pool_return(pool, b);
    CHECK(pool_stat("open") == 2);
    a = borrow(pool, 10000);
    CHECK(use(a));
    skv_pool_return(pool, a);
    CHECK(server_stat(0, "connects") == 2);
}

/* ---- Many threads, few connections, a server that comes and goes ------------------------------------------------ */

#define THREADS 64

typedef struct crowd {
    skv_pool *pool;
    atomic_bool stop;
    atomic_int in_use, most, done, failed;
} crowd;

static void *work(void *argument)
{
    crowd *c = argument;
    skv_reply *own = skv_reply_new();
    unsigned seed = (unsigned)(uintptr_t)own;

    while (!atomic_load(&c->stop)) {
        skv_deadline deadline = within(50 + rand_r(&seed) % 2000, NULL);
        skv_conn *conn;
        int now, most;

        skv_reply_reset(own);
        conn = skv_pool_borrow(c->pool, &limits, &deadline, own);
        if (!conn) {
            CHECK(skv_reply_message(own)[0] != '\0');
            atomic_fetch_add(&c->failed, 1);
            usleep(1000);
            continue;
        }
        now = atomic_fetch_add(&c->in_use, 1) + 1;
        for (most = atomic_load(&c->most); now > most && !atomic_compare_exchange_weak(&c->most, &most, now);)
            ;
        if (use(conn))
            atomic_fetch_add(&c->done, 1);
        else
            skv_pool_mark_down(c->pool, conn);
        /* Its effect on the other connections used to be a data race. */
        if (rand_r(&seed) % 50 == 0)
            skv_pool_mark_timed_out(c->pool, conn);
        if (rand_r(&seed) % 200 == 0)
            skv_conn_invalidate(conn);
        atomic_fetch_sub(&c->in_use, 1);
        skv_pool_return(c->pool, conn);
    }
    skv_reply_free(own);
    return NULL;
}

static void nothing_is_lost_among_many(void)
{
    const char *given = getenv("POOL_SECONDS");
    int64_t end = skv_now_ns() + (given ? atoi(given) : 3) * 1000 * SKV_NS_PER_MS;
    crowd c = {.pool = pool_of(first.ldap, first.password_file)};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &c);
    while (skv_now_ns() < end) {
        usleep(400000);
        slapd_kill(&first);
        usleep(100000);
        CHECK(slapd_start(&first));
    }
    atomic_store(&c.stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("pool: %d operations, %d borrows that failed, at most %d connections in use\n", atomic_load(&c.done),
           atomic_load(&c.failed), atomic_load(&c.most));
    CHECK(atomic_load(&c.done) > 0);
    CHECK(atomic_load(&c.most) <= 4);
    CHECK(pool_stat("in_use") == 0);
    CHECK(pool_stat("opening") == 0);
    CHECK(pool_stat("waiting") == 0);
    CHECK(pool_stat("open") == pool_stat("idle"));
    CHECK(pool_stat("open") <= 4);
}

static void borrowing_an_idle_connection_is_quick(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_deadline deadline = within(60000, NULL);
    int64_t began = 0;
    enum { TIMES = 20000 };

    for (int i = -1; i < TIMES; i++) {
        skv_conn *conn = skv_pool_borrow(pool, &limits, &deadline, reply);
        if (!CHECK(conn != NULL))
            return;
        skv_pool_return(pool, conn);
        if (i < 0)
            began = skv_now_ns();
    }
    printf("pool: a borrow and return took %.2f us\n", (double)(skv_now_ns() - began) / 1000 / TIMES);
}

static void without_memory_a_pool_says_so(void)
{
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(10000, NULL);
    skv_pool *pool;
    skv_conn *conn;

    if (!own)
        return;
    pool = pool_of(first.ldapi, first.password_file);
    if (!pool) {
        CHECK_STATUS(reply, SKV_NOMEM);
    } else {
        conn = skv_pool_borrow(pool, &limits, &deadline, own);
        CHECK(conn || skv_reply_status(own) == SKV_NOMEM);
        if (conn)
            skv_pool_return(pool, conn);
    }
    skv_reply_free(own);
}

/* Of any of the pools that the tests made. */
static void no_place_was_lost(void)
{
    json_t *all = stats(), *pool;
    size_t i;

    json_array_foreach(json_object_get(all, "pools"), i, pool)
    {
        CHECK(json_integer_value(json_object_get(pool, "opening")) == 0);
        CHECK(json_integer_value(json_object_get(pool, "in_use")) == 0);
        CHECK(json_integer_value(json_object_get(pool, "waiting")) == 0);
    }
    CHECK(i > 10);
    json_decref(all);
}

static void run(void)
{
    one_pool_serves_all_who_ask_for_the_same();
    a_connection_is_used_again();
    an_unusable_connection_is_replaced();
    what_was_idle_for_too_long_is_closed();
    a_full_pool_says_so_in_time();
    those_who_wait_are_served_in_the_order_of_asking();
    waiting_can_be_interrupted();
    a_connection_that_the_server_closed_is_not_handed_out();
    each_pool_goes_by_its_own_ca();
    an_idle_connection_is_had_while_another_connect_hangs();
    a_child_leaves_its_parents_sessions_alone();
    nothing_is_lost_among_many();
    borrowing_an_idle_connection_is_quick();
}

int main(void)
{
    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(slapd_begin(&first, SLAPD_TLS, "")) &&
        CHECK(slapd_begin(&second, SLAPD_NO_TLS, ""))) {
        run();
        chaos(without_memory_a_pool_says_so);
        no_place_was_lost();
    }
    slapd_end(&first);
    slapd_end(&second);
    skv_reply_free(reply);
    return check_summary("pool");
}
