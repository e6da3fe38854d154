/* The pool with servers that refuse the password. */
#include "check.h"
#include "pool_fixture.h"
#include "proxy.h"
#include "simpkv_faults.h"

#include <sys/stat.h>

#define S (1000 * SKV_NS_PER_MS)

/* More binds than a test makes. */
#define BINDS 1000

static slapd first, second;

static void refuse_binds(proxy *p)
{
    proxy_arm(p, PROXY_BIND, PROXY_RESPOND, 49, 0, BINDS);
}

static int refused_binds(proxy *p)
{
    return BINDS - proxy_left(p);
}

static void a_refused_password_is_not_tried_until_the_file_changes(void)
{
    char path[128];
    skv_pool *pool;
    skv_conn *conn;

    snprintf(path, sizeof path, "%s/rotating", first.folder);
    slapd_write(path, "not it");
    pool = pool_of(first.ldap, path);
    for (int i = 0; i < 5; i++) {
        CHECK(borrow(pool, 10000) == NULL);
        CHECK_STATUS(reply, SKV_DENIED);
        CHECK_STR(skv_reply_fault(reply), "credentials");
        CHECK_HAS(skv_reply_message(reply), "wrong password or bind DN");
    }
    CHECK_HAS(skv_reply_message(reply), "unless the file changes");
    CHECK(server_stat(0, "connects") == 1);
    slapd_write(path, SLAPD_PASSWORD);
    conn = borrow(pool, 10000);
    if (!CHECK_STATUS(reply, SKV_OK))
        return;
    slapd_write(path, "not it again");
    CHECK(use(conn));
    skv_pool_return(pool, conn);
    /* Bound connections survive a rotation of the password. */
    conn = borrow(pool, 10000);
    CHECK_STATUS(reply, SKV_OK);
    skv_pool_return(pool, conn);
    CHECK(pool_stat("open") == 1);
}

/* Writes the file again with the same content. */
static void rewrite(const char *path)
{
    char was[64];
    struct stat before, after;

    CHECK(stat(path, &before) == 0);
    snprintf(was, sizeof was, "%s", SLAPD_PASSWORD "\n");
    do {
        slapd_write(path, was);
        CHECK(stat(path, &after) == 0);
    } while (before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
}

/* Every call after the quarantine of the first server used to bind to it in vain: 20 gets made 20 refused binds. */
static void a_server_that_comes_back_with_another_password_is_not_hammered(void)
{
    char path[128];
    skv_pool *pool;
    proxy p;

    snprintf(path, sizeof path, "%s/out-of-step", first.folder);
    slapd_write(path, SLAPD_PASSWORD "\n");
    if (!CHECK(proxy_begin(&p, first.port)))
        return;
    pool = pool_of_both(p.uri, second.ldap, path);
    mark_down(pool, 0);
    is_served_by(pool, &second, 10000);
    refuse_binds(&p);
    set_quarantine(pool, 0, 0);
    for (int i = 0; i < 20; i++)
        is_served_by(pool, &second, 10000);
    CHECK(refused_binds(&p) == 1);
    CHECK(health_of(pool, 0) == SKV_SERVER_REFUSING);
    CHECK_HAS(pool->server[0].why.text, "wrong password or bind DN");
    /* New connections go to the second server at once, because it has accepted the password. */
    return_invalidated(pool, borrow(pool, 10000));
    is_served_by(pool, &second, 10000);
    CHECK(refused_binds(&p) == 1);
    /* After each quarantine one call binds to the first server again. */
    set_quarantine(pool, 0, 0);
    for (int i = 0; i < 20; i++)
        is_served_by(pool, &second, 10000);
    CHECK(refused_binds(&p) == 2);
    /* A changed file also leads to one more bind. */
    rewrite(path);
    for (int i = 0; i < 20; i++)
        is_served_by(pool, &second, 10000);
    CHECK(refused_binds(&p) == 3);
    /* Calls return to the server when it accepts the password again. */
    proxy_arm(&p, PROXY_BIND, PROXY_RESPOND, 49, 0, 0);
    set_quarantine(pool, 0, 0);
    return_invalidated(pool, borrow(pool, 10000));
    CHECK(health_of(pool, 0) == SKV_SERVER_UP);
    proxy_end(&p);
}

/* The servers of a directory share the counter of failed binds, so that a bind to each of them would lock the account
 * sooner. */
static void a_password_that_no_server_has_accepted_is_shown_to_one_at_a_time(void)
{
    skv_pool *pool;
    proxy p;

    if (!CHECK(proxy_begin(&p, first.port)))
        return;
    pool = pool_of_both(p.uri, second.ldap, first.password_file);
    refuse_binds(&p);
    for (int i = 0; i < 5; i++) {
        CHECK(borrow(pool, 10000) == NULL);
        CHECK_STATUS(reply, SKV_DENIED);
        CHECK_HAS(skv_reply_message(reply), p.uri);
    }
    CHECK_HAS(skv_reply_message(reply), "unless the file changes");
    CHECK(refused_binds(&p) == 1);
    CHECK(server_stat(1, "connects") == 0);
    /* The next attempt goes to the other server, which accepts the password. The first one has another password. */
    set_quarantine(pool, 0, 0);
    return_invalidated(pool, borrow(pool, 10000));
    CHECK_STATUS(reply, SKV_OK);
    CHECK(server_stat(1, "binds") == 1);
    CHECK(refused_binds(&p) == 1);
    proxy_end(&p);
}

/* The quarantine used to double up to five minutes. */
static void the_backoff_after_a_refused_password_is_at_most_a_minute(void)
{
    skv_pool *pool = pool_of(first.ldapi, first.wrong_password_file);
    int64_t last = 0;

    for (int i = 0; i < 6; i++) {
        int64_t backoff, left;

        set_quarantine(pool, 0, 0);
        CHECK(borrow(pool, 10000) == NULL);
        CHECK_STATUS(reply, SKV_DENIED);
        backoff = pool->server[0].backoff_ns;
        left = pool->server[0].quarantine_until - skv_now_ns();
        CHECK(backoff >= last && backoff <= 60 * S && backoff >= 10 * S);
        CHECK(left <= backoff);
        last = backoff;
    }
    CHECK(last == 60 * S);
    CHECK(server_stat(0, "connects") == 6);
    /* A new date of the file ends the quarantine, also with the same content: `simpkv ping` relies on that. */
    CHECK(chmod(first.wrong_password_file, 0400) == 0);
    CHECK(borrow(pool, 10000) == NULL);
    CHECK(server_stat(0, "connects") == 7);
    CHECK(pool->server[0].backoff_ns == 10 * S);
}

int main(void)
{
    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(slapd_begin(&first, SLAPD_NO_TLS, "")) &&
        CHECK(slapd_begin(&second, SLAPD_NO_TLS, ""))) {
        a_refused_password_is_not_tried_until_the_file_changes();
        a_server_that_comes_back_with_another_password_is_not_hammered();
        a_password_that_no_server_has_accepted_is_shown_to_one_at_a_time();
        the_backoff_after_a_refused_password_is_at_most_a_minute();
    }
    slapd_end(&first);
    slapd_end(&second);
    skv_reply_free(reply);
    return check_summary("pool_refusals");
}
