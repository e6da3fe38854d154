/* The pool: its limits, and when it uses a connection again. test_pool_contention.c has many threads, and
 * test_pool_failover.c servers that come and go. */
#include "chaos.h"
#include "check.h"
#include "pool_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static slapd first, second;

static void one_pool_serves_all_who_ask_for_the_same(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_identity a = {"cn=a", "/pw", false, "", "", "", NULL, NULL, NULL}, b = a;
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

static void a_connection_is_closed_after_its_idle_timeout(void)
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
    /* The pool takes the largest size that any call has asked for. */
    brief.size = 5;
    skv_reply_reset(reply);
    skv_pool_return(pool, skv_pool_borrow(pool, &brief, &deadline, reply));
    CHECK(pool_stat("open") == 5);
    for (int i = 0; i < 4; i++)
        skv_pool_return(pool, taken[i]);
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

/* Ends a child by a signal, so that no leak checker runs: the memory of the parent's sessions is leaked on purpose. */
static void leave(bool well)
{
    kill(getpid(), well ? SIGKILL : SIGTERM);
    pause();
}

/* The TLS context is shared by a pool's connections, and by no others. */
static void each_pool_goes_by_its_own_ca(void)
{
    char path[128], line[400];
    skv_identity own = {SLAPD_ADMIN, first.password_file, false, path, "", "", NULL, NULL, NULL}, other = own;
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
    /* In a child, because libldap cannot free the old context. */
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

static void borrowing_an_idle_connection_is_quick(void)
{
    skv_pool *pool = pool_of(first.ldap, first.password_file);
    skv_deadline deadline = within(60000, NULL);
    int64_t began = 0;
    int times = check_rounds(20000);

    for (int i = -1; i < times; i++) {
        skv_conn *conn = skv_pool_borrow(pool, &limits, &deadline, reply);
        if (!CHECK(conn != NULL))
            return;
        skv_pool_return(pool, conn);
        if (i < 0)
            began = skv_now_ns();
    }
    printf("pool: a borrow and return took %.2f us\n", (double)(skv_now_ns() - began) / 1000 / times);
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

static void run(void)
{
    one_pool_serves_all_who_ask_for_the_same();
    a_connection_is_used_again();
    an_unusable_connection_is_replaced();
    a_connection_is_closed_after_its_idle_timeout();
    a_full_pool_says_so_in_time();
    a_connection_that_the_server_closed_is_not_handed_out();
    each_pool_goes_by_its_own_ca();
    a_child_leaves_its_parents_sessions_alone();
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
