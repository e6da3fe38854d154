/* The pool, used by more threads than it has connections. */
#include "check.h"
#include "pool_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static slapd server;

typedef struct queued {
    skv_pool *pool;
    skv_cancel *cancel;
    int *order, place;
    atomic_int *next;
    int status;
} queued;

static void *borrow_in_turn(void *argument)
{
    queued *q = argument;
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(20000, q->cancel);
    skv_pool_limits long_wait = limits;
    skv_conn *conn;

    long_wait.pool_timeout_ms = 20000;
    conn = skv_pool_borrow(q->pool, &long_wait, &deadline, own);
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

static void waiting_calls_are_served_in_the_order_of_arrival(void)
{
    enum { WAITING = 6 };
    skv_pool *pool = pool_of(server.ldap, server.password_file);
    skv_conn *taken[4];
    pthread_t threads[WAITING];
    queued all[WAITING];
    int order[WAITING];
    atomic_int next = 0;

    for (int i = 0; i < 4; i++)
        CHECK((taken[i] = borrow(pool, 10000)) != NULL);
    for (int i = 0; i < WAITING; i++) {
        all[i] = (queued){.pool = pool, .order = order, .place = i, .next = &next};
        pthread_create(&threads[i], NULL, borrow_in_turn, &all[i]);
        wait_until("waiting", i + 1);
    }
    /* A lost connection frees its place for the first call of the queue. */
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
    skv_pool *pool = pool_of(server.ldap, server.password_file);
    skv_cancel *cancel = skv_cancel_new();
    queued q = {.pool = pool, .cancel = cancel};
    skv_conn *taken[4];
    pthread_t thread;

    for (int i = 0; i < 4; i++)
        CHECK((taken[i] = borrow(pool, 10000)) != NULL);
    pthread_create(&thread, NULL, borrow_in_turn, &q);
    wait_until("waiting", 1);
    skv_cancel_fire(cancel);
    pthread_join(thread, NULL);
    CHECK(q.status == SKV_INTERRUPTED);
    CHECK(pool_stat("waiting") == 0);
    for (int i = 0; i < 4; i++)
        skv_pool_return(pool, taken[i]);
    skv_cancel_free(cancel);
}

/* Connects until it is interrupted. */
static void *connect_in_vain(void *argument)
{
    queued *q = argument;
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(120000, q->cancel);
    skv_pool_limits patient = limits;

    patient.connect_timeout_ms = 120000;
    CHECK(skv_pool_borrow(q->pool, &patient, &deadline, own) == NULL);
    q->status = skv_reply_status(own);
    skv_reply_free(own);
    return NULL;
}

static void an_idle_connection_is_borrowed_while_another_connect_hangs(void)
{
    skv_pool *pool = pool_of(server.ldap, server.password_file);
    skv_conn *conn = borrow(pool, 10000), *other;
    queued q = {.pool = pool, .cancel = skv_cancel_new()};
    pthread_t thread;

    if (!CHECK(conn != NULL))
        return;
    slapd_freeze(&server);
    pthread_create(&thread, NULL, connect_in_vain, &q);
    wait_until("opening", 1);
    skv_pool_return(pool, conn);
    for (int i = 0; i < check_rounds(1000); i++) {
        other = borrow(pool, 20000);
        if (!CHECK(other == conn))
            break;
        skv_pool_return(pool, other);
    }
    CHECK(pool_stat("opening") == 1);
    skv_cancel_fire(q.cancel);
    pthread_join(thread, NULL);
    slapd_thaw(&server);
    CHECK(q.status == SKV_INTERRUPTED);
    CHECK(pool_stat("opening") == 0);
    skv_cancel_free(q.cancel);
}

/* ---- Many threads, few connections, and a server that restarts ---- */

#define THREADS 64

typedef struct contention {
    skv_pool *pool;
    atomic_bool stop;
    atomic_uint started;
    atomic_int in_use, most, done, failed;
} contention;

static void *borrow_again_and_again(void *argument)
{
    contention *c = argument;
    skv_reply *own = skv_reply_new();
    unsigned seed = atomic_fetch_add(&c->started, 1);

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
            skv_pool_mark_timed_out(c->pool, conn, 0);
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
    int64_t late = end + 60000 * SKV_NS_PER_MS;
    contention c = {.pool = pool_of(server.ldap, server.password_file)};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, borrow_again_and_again, &c);
    while (skv_now_ns() < end || (atomic_load(&c.done) == 0 && skv_now_ns() < late)) {
        usleep(400000);
        slapd_kill(&server);
        usleep(100000);
        CHECK(slapd_start(&server));
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

int main(void)
{
    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(slapd_begin(&server, SLAPD_NO_TLS, ""))) {
        waiting_calls_are_served_in_the_order_of_arrival();
        waiting_can_be_interrupted();
        an_idle_connection_is_borrowed_while_another_connect_hangs();
        nothing_is_lost_among_many();
        no_place_was_lost();
    }
    slapd_end(&server);
    skv_reply_free(reply);
    return check_summary("pool_contention");
}
