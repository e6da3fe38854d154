/* The pool with servers that stop, restart, or stay silent. */
#include "chaos.h"
#include "check.h"
#include "pool_fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS SKV_NS_PER_MS
#define S (1000 * MS)

static slapd first, second;

/* A server that accepts connections and never responds. */
typedef struct silent {
    int listener;
    char uri[64];
} silent;

static silent silent_begin(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    silent s = {.listener = socket(AF_INET, SOCK_STREAM, 0)};

    CHECK(bind(s.listener, (struct sockaddr *)&address, len) == 0 && listen(s.listener, 64) == 0 &&
          getsockname(s.listener, (struct sockaddr *)&address, &len) == 0);
    snprintf(s.uri, sizeof s.uri, "ldap://127.0.0.1:%d", ntohs(address.sin_port));
    return s;
}

/* ---- Servers that come and go ----------------------------------------------------------------------------------- */

static void a_stopped_server_is_quarantined_and_used_again(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    int64_t began, connects;
    skv_conn *conn = NULL;

    slapd_stop(&first);
    CHECK(borrow(pool, 10000) == NULL);
    CHECK_STATUS(reply, SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "connection refused");
    /* On a busy machine, a short quarantine may be over at once. */
    for (int i = 0; i < 5 || (i < 100 && server_stat(0, "resting") == 0); i++)
        borrow(pool, 10000);
    CHECK(server_stat(0, "resting") == 1);
    began = skv_now_ns();
    connects = server_stat(0, "connects");
    for (int i = 0; i < 20; i++)
        CHECK(borrow(pool, 10000) == NULL);
    CHECK(server_stat(0, "connects") - connects < 15);
    CHECK_STATUS(reply, SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), first.ldap);
    CHECK(slapd_start(&first));
    while (!conn && skv_now_ns() - began < 30000 * SKV_NS_PER_MS)
        conn = borrow(pool, 10000);
    if (CHECK(conn != NULL))
        skv_pool_return(pool, conn);
    CHECK(server_stat(0, "resting") == 0);
}

static void the_next_server_takes_over_until_the_first_is_back(void)
{
    char uris[200];
    skv_pool *pool;
    skv_conn *conn, *kept;
    int64_t began;

    snprintf(uris, sizeof uris, "%s %s", first.ldap, second.ldap);
    pool = pool_of(uris, first.password_file);
    conn = borrow(pool, 10000);
    CHECK(conn && is_at(conn, &first));
    slapd_kill(&first);
    CHECK(!use(conn));
    CHECK(!skv_conn_is_usable(conn));
    skv_pool_mark_down(pool, conn);
    skv_pool_return(pool, conn);
    kept = borrow(pool, 10000);
    if (!CHECK(kept && is_at(kept, &second)))
        return;
    CHECK(use(kept));
    conn = borrow(pool, 10000);
    CHECK(conn && is_at(conn, &second));
    skv_pool_return(pool, conn);
    CHECK(slapd_start(&first));
    began = skv_now_ns();
    do {
        conn = borrow(pool, 10000);
        if (!CHECK(conn != NULL) || is_at(conn, &first))
            break;
        CHECK(use(conn));
        skv_pool_return(pool, conn);
        usleep(10000);
    } while (skv_now_ns() - began < 60000 * SKV_NS_PER_MS);
    CHECK(conn && is_at(conn, &first));
    skv_pool_return(pool, conn);
    /* Other calls still succeed. */
    CHECK(use(kept));
    skv_pool_return(pool, kept);
    CHECK(server_stat(0, "resting") == 0);
}

static void when_no_server_is_there_each_is_named(void)
{
    skv_pool *pool = pool_of("ldap://127.0.0.1:1 ldap://127.0.0.1:2", first.password_file);

    CHECK(borrow(pool, 10000) == NULL);
    CHECK_STATUS(reply, SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "ldap://127.0.0.1:1: connection refused");
    CHECK_HAS(skv_reply_message(reply), "ldap://127.0.0.1:2: connection refused");
}

/* The longest quarantine of the only server ends after two seconds. After that, a failed probe used to start no
 * quarantine, and every call tried the server. */
static void a_failed_probe_of_the_only_server_starts_another_quarantine(void)
{
    skv_pool *pool = pool_of("ldap://127.0.0.1:1", first.password_file);
    int64_t now = skv_now_ns();

    CHECK(borrow(pool, 10000) == NULL);
    pthread_mutex_lock(&pool->lock);
    pool->server[0].backoff_ns = 30 * S;
    pool->server[0].quarantine_from = now - 3 * S;
    pool->server[0].quarantine_until = now + 27 * S;
    pthread_mutex_unlock(&pool->lock);
    CHECK(borrow(pool, 10000) == NULL);
    CHECK(server_stat(0, "connects") == 2);
    CHECK(pool->server[0].quarantine_from >= now);
}

/* A quarantine could end, or a probe succeed, between two checks of the servers. The call then used to give up without
 * an attempt, and with an empty message. */
static void a_quarantine_that_ends_at_any_moment_is_followed_by_an_attempt(void)
{
    skv_pool *pool = pool_of("ldap://127.0.0.1:1", first.password_file);
    int64_t connects;

    CHECK(borrow(pool, 10000) == NULL);
    for (int i = 0; i < check_rounds(20000); i++) {
        connects = pool->server[0].connects;
        pool->server[0].backoff_ns = 0;
        pool->server[0].quarantine_until = skv_now_ns() + i % 300 * 20;
        CHECK(borrow(pool, 10000) == NULL);
        if (!CHECK(pool->server[0].connects == connects + 1) ||
            !CHECK_HAS(skv_reply_message(reply), "connection refused: check that"))
            return;
    }
}

/* ---- Servers that stay silent ----------------------------------------------------------------------------------- */

/* Borrows until the second server serves. On a busy machine a bind may take longer than its share of the time; the
 * silent first server must not take part again. */
static skv_conn *borrow_at_last(skv_pool *pool, int64_t timeout_ms)
{
    for (int tries = 0; tries < 100; tries++) {
        skv_conn *conn = borrow(pool, timeout_ms);

        CHECK(pool->server[0].health == SKV_SERVER_DOWN);
        set_quarantine(pool, 0, INT64_MAX);
        if (conn || !CHECK_STATUS(reply, SKV_TIMEOUT))
            return conn;
    }
    CHECK_STATUS(reply, SKV_OK);
    return NULL;
}

/* The first server used to take all of the call's time, in every call if that was less than a second. */
static void a_silent_first_server_leaves_time_for_the_second(void)
{
    static const int64_t timeouts_ms[] = {800, 1500};

    for (size_t i = 0; i < 2; i++) {
        silent s = silent_begin();
        skv_pool *pool = pool_of_both(s.uri, first.ldap, first.password_file);

        for (int n = 0; n < 6; n++) {
            skv_conn *conn = borrow_at_last(pool, timeouts_ms[i]);

            if (conn && CHECK(is_at(conn, &first)))
                return_invalidated(pool, conn);
        }
        CHECK(server_stat(0, "resting") == 1);
        CHECK_HAS(pool->server[0].why.text, "timed out");
        CHECK(server_stat(0, "connects") == 1);
        close(s.listener);
    }
}

/* A probe used to take the time of a call that had a connection to the second server. */
static void a_probe_of_a_silent_server_leaves_time_for_the_call(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of_both(s.uri, first.ldap, first.password_file);

    is_served_by(pool, &first, 4000);
    /* On a busy machine, the probe may end after the call's time. */
    for (int tries = 0, served = 0; served < 3 && CHECK(tries < 100); tries++) {
        int64_t connects = server_stat(0, "connects");
        skv_conn *conn;

        set_quarantine(pool, 0, 0);
        conn = borrow(pool, 800);
        CHECK(server_stat(0, "connects") == connects + 1);
        CHECK(pool->server[0].quarantine_until > 0);
        if (!conn && CHECK_STATUS(reply, SKV_TIMEOUT))
            continue;
        CHECK(is_at(conn, &first));
        skv_pool_return(pool, conn);
        served++;
    }
    CHECK(pool_stat("open") == 1);
    close(s.listener);
}

static void a_very_short_call_says_nothing_about_a_server(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of_both(s.uri, first.ldap, first.password_file);

    CHECK(borrow(pool, SKV_ATTEMPT_MIN_NS / MS / 5) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK(health_of(pool, 0) == SKV_SERVER_UP);
    is_served_by(pool, &first, 4000);
    CHECK(health_of(pool, 0) == SKV_SERVER_DOWN);
    close(s.listener);
}

/* A quarantine would fail calls that have enough time to wait for the response. */
static void a_brief_call_does_not_take_the_only_server_from_others(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of(s.uri, first.password_file);

    CHECK(borrow(pool, 200) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK(health_of(pool, 0) == SKV_SERVER_UP);
    CHECK(borrow(pool, 1500) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK(health_of(pool, 0) == SKV_SERVER_DOWN);
    close(s.listener);
}

static void when_all_servers_are_silent_the_call_ends_at_its_deadline_and_names_each(void)
{
    silent a = silent_begin(), b = silent_begin();
    skv_pool *pool;
    int64_t began;
    int tries = 0;

    /* On a busy machine, the first server may take all of the time. */
    do {
        pool = pool_of_both(a.uri, b.uri, first.password_file);
        began = skv_now_ns();
        CHECK(borrow(pool, 400) == NULL);
        CHECK_STATUS(reply, SKV_TIMEOUT);
        CHECK(skv_now_ns() - began >= 400 * MS);
        CHECK_HAS(skv_reply_message(reply), a.uri);
        CHECK(health_of(pool, 0) == SKV_SERVER_DOWN);
    } while (!strstr(skv_reply_message(reply), b.uri) && ++tries < 20);
    CHECK_HAS(skv_reply_message(reply), b.uri);
    close(a.listener);
    close(b.listener);
}

typedef struct caller {
    skv_pool *pool;
    skv_cancel *cancel;
    int64_t timeout_ms;
    int status;
    bool has_message;
} caller;

static void *call(void *argument)
{
    caller *c = argument;
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(c->timeout_ms, c->cancel);
    skv_conn *conn = skv_pool_borrow(c->pool, &limits, &deadline, own);

    c->status = skv_reply_status(own);
    c->has_message = skv_reply_message(own)[0] != '\0';
    if (conn)
        skv_pool_return(c->pool, conn);
    skv_reply_free(own);
    return NULL;
}

static void many_calls_at_once_are_served_by_the_second_server(void)
{
    enum { CALLS = 16 };
    silent s = silent_begin();
    skv_pool *pool = pool_of_both(s.uri, first.ldap, first.password_file);
    pthread_t threads[CALLS];
    caller callers[CALLS];

    for (int i = 0; i < CALLS; i++) {
        callers[i] = (caller){.pool = pool, .timeout_ms = 5000};
        pthread_create(&threads[i], NULL, call, &callers[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(callers[i].status == SKV_OK);
    }
    CHECK(pool_stat("opening") == 0);
    close(s.listener);
}

/* All calls wait for the first one that tries the password. It used to take its whole connect timeout. */
static void a_long_first_call_does_not_keep_others_from_the_second_server(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of_both(s.uri, first.ldap, first.password_file);
    caller patient = {.pool = pool, .timeout_ms = 60000};
    pthread_t thread;

    pthread_create(&thread, NULL, call, &patient);
    while (pool_stat("opening") != 1)
        usleep(5000);
    is_served_by(pool, &first, limits.connect_timeout_ms * 4 / 5);
    pthread_join(thread, NULL);
    CHECK(patient.status == SKV_OK);
    CHECK(server_stat(0, "connects") == 1);
    close(s.listener);
}

/* Calls without a password do not wait for each other. */
static void calls_without_a_password_do_not_wait_for_each_other(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of(s.uri, "");
    skv_search search = {.end = 1};
    skv_turn turns[2];

    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < 2; i++)
        CHECK(skv_server_choose(pool, &search, 10 * S, &turns[i]) == SKV_STEP_ATTEMPT);
    CHECK(!pool->proving);
    pthread_mutex_unlock(&pool->lock);
    close(s.listener);
}

/* While one call tries a server that was down, others use the next one, and leave the first one alone. */
static void one_call_at_a_time_probes_a_server_that_was_down(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of_both(s.uri, first.ldap, "");
    skv_search searches[2] = {{.end = 2}, {.end = 2}};
    skv_turn turns[2];

    mark_down(pool, 0);
    set_quarantine(pool, 0, 0);
    pthread_mutex_lock(&pool->lock);
    CHECK(skv_server_may_improve(pool, 1));
    for (int i = 0; i < 2; i++) {
        CHECK(skv_server_choose(pool, &searches[i], 10 * S, &turns[i]) == SKV_STEP_ATTEMPT);
        CHECK(turns[i].index == i && turns[i].probes == (i == 0));
        CHECK(!skv_server_may_improve(pool, 1));
    }
    skv_server_note(pool, &searches[0], &turns[0], SKV_ATTEMPT_INTERRUPTED, reply);
    CHECK(skv_server_may_improve(pool, 1));
    CHECK(skv_server_choose(pool, &searches[1], 10 * S, &turns[1]) == SKV_STEP_ATTEMPT && turns[1].index == 0);
    pthread_mutex_unlock(&pool->lock);
    close(s.listener);
}

static void an_interrupted_attempt_says_nothing_about_a_server(void)
{
    silent s = silent_begin();
    skv_pool *pool = pool_of(s.uri, first.password_file);
    caller c = {.pool = pool, .cancel = skv_cancel_new(), .timeout_ms = 60000};
    pthread_t thread;

    pthread_create(&thread, NULL, call, &c);
    for (int i = 0; i < 2000 && pool_stat("opening") != 1; i++)
        usleep(5000);
    skv_cancel_fire(c.cancel);
    pthread_join(thread, NULL);
    CHECK(c.status == SKV_INTERRUPTED);
    CHECK(c.has_message);
    CHECK(health_of(pool, 0) == SKV_SERVER_UP);
    CHECK(!pool->server[0].probing && !pool->proving);
    skv_cancel_free(c.cancel);
    close(s.listener);
}

/* Such timeouts used to overflow: they had passed before the call began. */
static void endless_timeouts_do_not_overflow(void)
{
    static const int64_t endless[] = {INT64_C(10000000000000), INT64_MAX};

    for (size_t i = 0; i < 2; i++) {
        skv_pool_limits patient = {
            .size = 2, .connect_timeout_ms = endless[i], .pool_timeout_ms = endless[i], .idle_timeout_ms = endless[i]};
        skv_pool *pool = pool_of(first.ldapi, first.password_file);
        skv_deadline deadline = within(endless[i], NULL), brief;
        skv_conn *conns[2];

        skv_reply_reset(reply);
        for (int n = 0; n < 2; n++)
            conns[n] = skv_pool_borrow(pool, &patient, &deadline, reply);
        if (!CHECK_STATUS(reply, SKV_OK))
            return;
        brief = within(50, NULL);
        CHECK(skv_pool_borrow(pool, &patient, &brief, reply) == NULL);
        CHECK_STATUS(reply, SKV_TIMEOUT);
        CHECK(skv_deadline_left(&brief) == 0);
        for (int n = 0; n < 2; n++)
            skv_pool_return(pool, conns[n]);
        skv_reply_reset(reply);
        conns[0] = skv_pool_borrow(pool, &patient, &deadline, reply);
        if (CHECK_STATUS(reply, SKV_OK))
            skv_pool_return(pool, conns[0]);
        CHECK(server_stat(0, "connects") == 2);
        CHECK(pool_stat("open") == 2);
    }
}

static void without_memory_no_server_is_marked_down(void)
{
    skv_reply *own = skv_reply_new();
    skv_deadline deadline = within(10000, NULL);
    skv_pool *pool;
    skv_conn *conn;

    if (!own)
        return;
    pool = pool_of_both(first.ldapi, first.ldap, first.password_file);
    conn = pool ? skv_pool_borrow(pool, &limits, &deadline, own) : NULL;
    if (conn)
        skv_pool_return(pool, conn);
    else if (pool)
        CHECK(skv_reply_status(own) == SKV_NOMEM && health_of(pool, 0) == SKV_SERVER_UP && !pool->proving);
    skv_reply_free(own);
}

static void run(void)
{
    a_stopped_server_is_quarantined_and_used_again();
    the_next_server_takes_over_until_the_first_is_back();
    when_no_server_is_there_each_is_named();
    a_failed_probe_of_the_only_server_starts_another_quarantine();
    a_quarantine_that_ends_at_any_moment_is_followed_by_an_attempt();
    a_silent_first_server_leaves_time_for_the_second();
    a_probe_of_a_silent_server_leaves_time_for_the_call();
    a_very_short_call_says_nothing_about_a_server();
    a_brief_call_does_not_take_the_only_server_from_others();
    when_all_servers_are_silent_the_call_ends_at_its_deadline_and_names_each();
    many_calls_at_once_are_served_by_the_second_server();
    a_long_first_call_does_not_keep_others_from_the_second_server();
    calls_without_a_password_do_not_wait_for_each_other();
    one_call_at_a_time_probes_a_server_that_was_down();
    an_interrupted_attempt_says_nothing_about_a_server();
    endless_timeouts_do_not_overflow();
}

int main(void)
{
    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(slapd_begin(&first, SLAPD_NO_TLS, "")) &&
        CHECK(slapd_begin(&second, SLAPD_NO_TLS, ""))) {
        run();
        chaos(without_memory_no_server_is_marked_down);
    }
    slapd_end(&first);
    slapd_end(&second);
    skv_reply_free(reply);
    return check_summary("pool_failover");
}
