/* Replacements of the bind password, first in the file and then in the directory. The directory locks an account whose
 * password is wrong twice in a row. */
#include "check.h"
#include "directory.h"
#include "net/pool_failover.h"
#include "pool_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* More binds than a test makes. */
#define BINDS 1000

#define POLICY_DN "cn=policy,dc=simp"
#define LOCKING "overlay ppolicy\nppolicy_default " POLICY_DN "\n"

static const char policy[] = "dn: " POLICY_DN "\nobjectClass: device\nobjectClass: pwdPolicy\ncn: policy\n"
                             "pwdAttribute: userPassword\npwdLockout: TRUE\npwdMaxFailure: 2\n";

static char file[128];

/* The first part of the replacement: writes the file of all pools. */
static void write_file(const char *password)
{
    CHECK(slapd_write(file, password));
}

/* The second part. */
static void set_in_directory(const char *password)
{
    char ldif[256];

    snprintf(ldif, sizeof ldif,
             "dn: " DIRECTORY_USER_DN "\nchangetype: modify\nreplace: userPassword\nuserPassword: %s\n", password);
    CHECK(directory_modify(&server, ldif));
}

/* A pool that no other test shares, with a password in both places. */
static skv_pool *pool_of_user(const char *uri, const char *password)
{
    static int count;
    char dn[64];
    skv_uris uris;
    skv_identity identity = {dn, file, false, "", "", "", NULL, NULL, NULL};

    write_file(password);
    set_in_directory(password);
    snprintf(dn, sizeof dn, "cn=simpkv,%*sdc=simp", ++count, "");
    skv_reply_reset(reply);
    CHECK(skv_uris_parse(uri, strlen(uri), &uris, reply) == SKV_OK);
    return skv_pool_for(&uris, &identity, reply);
}

/* Opens a new connection and drops it. */
static bool connects(skv_pool *pool)
{
    skv_conn *conn = borrow(pool, 10000);

    if (!conn)
        return false;
    skv_conn_invalidate(conn);
    skv_pool_return(pool, conn);
    return true;
}

static void check_refused_file(bool is_refused)
{
    json_t *all = stats(), *pool = json_array_get(json_object_get(all, "pools"), 0);
    json_t *name = json_object_get(pool, "refused_password_file");

    CHECK(is_refused ? json_is_string(name) && strcmp(json_string_value(name), file) == 0 : json_is_null(name));
    json_decref(all);
}

static bool remembers(skv_pool *pool, const char *password)
{
    bool found;

    pthread_mutex_lock(&pool->lock);
    found = memmem(pool, sizeof *pool, password, strlen(password)) != NULL;
    pthread_mutex_unlock(&pool->lock);
    return found;
}

/* Each new connection used to fail until the directory had the new password as well. */
static void connections_renew_while_the_file_is_ahead_of_the_directory(void)
{
    skv_pool *pool = pool_of_user(server.ldap, "the first one");

    CHECK(connects(pool));
    check_refused_file(false);
    write_file("the second one\n");
    for (int i = 0; i < 5; i++)
        CHECK(connects(pool));
    check_refused_file(true);
    CHECK(server_stat(0, "failures") == 0);
    set_in_directory("the second one");
    for (int i = 0; i < 5; i++)
        CHECK(connects(pool));
    check_refused_file(false);
    CHECK(remembers(pool, "the second one") && !remembers(pool, "the first one"));
    /* And again, with the password that was the new one. */
    write_file("the third one, which is longer\n");
    CHECK(connects(pool));
    set_in_directory("the third one, which is longer");
    CHECK(connects(pool) && connects(pool));
    write_file("4");
    CHECK(connects(pool));
    set_in_directory("4");
    CHECK(connects(pool) && connects(pool));
    CHECK(!remembers(pool, "third"));
}

static void a_file_that_gets_its_old_content_again_is_accepted(void)
{
    skv_pool *pool = pool_of_user(server.ldap, "as before");

    CHECK(connects(pool));
    write_file("a mistake");
    CHECK(connects(pool));
    check_refused_file(true);
    write_file("as before");
    CHECK(connects(pool));
    check_refused_file(false);
    CHECK(!remembers(pool, "a mistake"));
}

/* It is not accepted: the file is not finished. */
static void an_empty_file_does_not_end_the_use_of_the_last_password(void)
{
    skv_pool *pool = pool_of_user(server.ldap, "still here");

    CHECK(connects(pool));
    write_file("");
    CHECK(connects(pool) && connects(pool));
    check_refused_file(true);
    set_in_directory("another");
    CHECK(!connects(pool));
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "holds no password");
    write_file("another");
    CHECK(connects(pool));
    check_refused_file(false);
}

/* Each of them used to be reported as a wrong password (49), which no server had said, and put the healthy server into
 * quarantine. */
static void a_file_without_a_password_is_no_refusal(void)
{
    char too_long[SKV_PASSWORD_MAX + 2];
    const struct {
        const char *content, *message;
    } cases[] = {{"", "holds no password"}, {NULL, "does not exist"}, {too_long, "is longer than"}};
    skv_stamp stamp;

    memset(too_long, 'x', sizeof too_long - 1);
    too_long[sizeof too_long - 1] = '\0';
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_pool *pool = pool_of_user(server.ldap, "before");

        CHECK(connects(pool));
        set_in_directory("after");
        /* In the last case, the server refuses the last password before the file changes. */
        if (i == 2)
            CHECK(!connects(pool));
        if (cases[i].content)
            write_file(cases[i].content);
        else
            CHECK(unlink(file) == 0);
        stamp = skv_stamp_of(file);
        for (int round = 0; round < 3; round++) {
            CHECK(!connects(pool));
            CHECK_STATUS(reply, SKV_INVALID);
            CHECK_HAS(skv_reply_message(reply), cases[i].message);
        }
        pthread_mutex_lock(&pool->lock);
        CHECK(skv_server_quarantine_end(pool, 0, &stamp, skv_now_ns()) == 0);
        pthread_mutex_unlock(&pool->lock);
        write_file("after");
        CHECK(connects(pool));
        check_refused_file(false);
    }
}

static void a_pool_that_never_bound_knows_no_other_password(void)
{
    skv_pool *pool = pool_of_user(server.ldap, "not seen");

    write_file("new\n");
    CHECK(!connects(pool));
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "wrong password or bind DN");
    check_refused_file(false);
    set_in_directory("new");
}

static int refused_binds(proxy *p)
{
    return BINDS - proxy_left(p);
}

/* Both passwords are wrong: the pool stops as after any refused bind. */
static void two_wrong_passwords_are_two_binds(void)
{
    skv_pool *pool;
    proxy p;

    if (!CHECK(proxy_begin(&p, server.port)))
        return;
    pool = pool_of_user(p.uri, "right");
    CHECK(connects(pool));
    proxy_arm(&p, PROXY_BIND, PROXY_RESPOND, 49, 0, BINDS);
    write_file("wrong");
    for (int i = 0; i < 3; i++) {
        CHECK(!connects(pool));
        CHECK_STATUS(reply, SKV_DENIED);
    }
    CHECK(refused_binds(&p) == 2);
    check_refused_file(false);
    proxy_end(&p);
}

/* The directory has another password first, and then the file has a third one. */
static void a_last_password_that_a_server_refuses_is_not_tried_again(void)
{
    skv_pool *pool;
    proxy p;

    if (!CHECK(proxy_begin(&p, server.port)))
        return;
    pool = pool_of_user(p.uri, "old");
    CHECK(connects(pool));
    proxy_arm(&p, PROXY_BIND, PROXY_RESPOND, 49, 0, BINDS);
    /* The file has the last password: one bind. */
    CHECK(!connects(pool));
    CHECK(refused_binds(&p) == 1);
    write_file("wrong");
    for (int i = 0; i < 3; i++) {
        CHECK(!connects(pool));
        CHECK_STATUS(reply, SKV_DENIED);
    }
    CHECK(refused_binds(&p) == 2);
    set_quarantine(pool, 0, 0);
    CHECK(!connects(pool));
    CHECK(refused_binds(&p) == 3);
    /* The refusal is forgotten when the server accepts a password. */
    proxy_arm(&p, PROXY_BIND, PROXY_RESPOND, 49, 0, 0);
    write_file("old");
    CHECK(connects(pool));
    CHECK(!pool->server[0].has_refused_last);
    proxy_end(&p);
}

/* The server that refuses both passwords does not keep the pool from the one that accepts the last one. */
static void a_server_that_accepts_the_last_password_serves_on(void)
{
    skv_pool *pool;
    char uris[400];
    proxy p;

    if (!CHECK(proxy_begin(&p, server.port)))
        return;
    snprintf(uris, sizeof uris, "%s %s", p.uri, server.ldap);
    pool = pool_of_user(uris, "one");
    CHECK(connects(pool));
    mark_down(pool, 0);
    CHECK(connects(pool));
    write_file("two");
    CHECK(connects(pool));
    check_refused_file(true);
    proxy_arm(&p, PROXY_BIND, PROXY_RESPOND, 49, 0, BINDS);
    set_quarantine(pool, 0, 0);
    for (int i = 0; i < 5; i++)
        CHECK(connects(pool));
    CHECK(health_of(pool, 0) == SKV_SERVER_REFUSING);
    CHECK(refused_binds(&p) == 2);
    set_in_directory("two");
    CHECK(connects(pool));
    check_refused_file(false);
    proxy_end(&p);
}

static skv_step choose(skv_pool *pool, const skv_stamp *stamp, skv_turn *turn)
{
    skv_search search = {.end = pool->servers, .stamp = *stamp};
    skv_step step;

    pthread_mutex_lock(&pool->lock);
    step = skv_server_choose(pool, &search, 10000 * SKV_NS_PER_MS, turn);
    pthread_mutex_unlock(&pool->lock);
    return step;
}

static bool begins_with_last(skv_pool *pool, const skv_stamp *stamp, const skv_turn *turn)
{
    skv_search search = {.end = pool->servers, .stamp = *stamp};
    skv_rotation rotation;

    pthread_mutex_lock(&pool->lock);
    skv_pool_get_rotation(pool, &search, turn, &rotation);
    pthread_mutex_unlock(&pool->lock);
    return rotation.begins_with_last;
}

/* Calls that had looked at the file before another call noted the new one used to bind with the new password, all at
 * the same time, and locked the account. */
static void a_call_that_has_seen_the_old_file_refuses_no_password_beside_others(void)
{
    skv_pool *pool = pool_of_user(server.ldap, "seen");
    skv_turn early, late, next;
    skv_stamp old;

    CHECK(connects(pool));
    old = skv_stamp_of(file);
    CHECK(choose(pool, &old, &early) == SKV_STEP_ATTEMPT && !early.proves);
    write_file("not seen yet");
    CHECK(connects(pool));
    CHECK(begins_with_last(pool, &old, &early));
    CHECK(choose(pool, &old, &late) == SKV_STEP_ATTEMPT && late.proves && !begins_with_last(pool, &old, &late));
    CHECK(choose(pool, &old, &next) == SKV_STEP_WAIT);
    pool->proving = false;
    CHECK(connects(pool));
}

/* ---- Many threads ---- */

static atomic_bool stops;
static atomic_int connected, failed;
static skv_pool *shared;

static void *connect_again_and_again(void *unused)
{
    skv_reply *mine = skv_reply_new();

    while (!atomic_load(&stops)) {
        skv_deadline deadline = {0};
        skv_conn *conn;

        skv_reply_reset(mine);
        skv_deadline_init(&deadline, 20000, NULL, mine);
        conn = skv_pool_borrow(shared, &limits, &deadline, mine);
        if (!conn) {
            fprintf(stderr, "%s\n", skv_reply_message(mine));
            atomic_fetch_add(&failed, 1);
            continue;
        }
        skv_conn_invalidate(conn);
        skv_pool_return(shared, conn);
        atomic_fetch_add(&connected, 1);
    }
    skv_reply_free(mine);
    return unused;
}

/* Waits until each thread has opened connections. */
static void await_connections(void)
{
    int target = atomic_load(&connected) + 50;

    for (int i = 0; i < 20000 && atomic_load(&connected) < target; i++)
        usleep(1000);
    CHECK(atomic_load(&connected) >= target);
}

static void many_threads_survive_replacements_without_locking_the_account(void)
{
    pthread_t threads[8];

    shared = pool_of_user(server.ldapi, "0");
    CHECK(connects(shared));
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, connect_again_and_again, NULL) == 0);
    for (int i = 1; i <= 5; i++) {
        char password[32];

        snprintf(password, sizeof password, "%d", i);
        write_file(password);
        await_connections();
        set_in_directory(password);
        await_connections();
    }
    atomic_store(&stops, true);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&failed) == 0);
}

int main(void)
{
    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(directory_begin(&server, DIRECTORY_PLAIN "\nmoduleload ppolicy", LOCKING)) &&
        CHECK(directory_modify(&server, policy))) {
        snprintf(file, sizeof file, "%s/rotating", server.folder);
        connections_renew_while_the_file_is_ahead_of_the_directory();
        a_file_that_gets_its_old_content_again_is_accepted();
        an_empty_file_does_not_end_the_use_of_the_last_password();
        a_file_without_a_password_is_no_refusal();
        a_pool_that_never_bound_knows_no_other_password();
        two_wrong_passwords_are_two_binds();
        a_last_password_that_a_server_refuses_is_not_tried_again();
        a_server_that_accepts_the_last_password_serves_on();
        a_call_that_has_seen_the_old_file_refuses_no_password_beside_others();
        many_threads_survive_replacements_without_locking_the_account();
        no_place_was_lost();
    }
    slapd_end(&server);
    skv_reply_free(reply);
    return check_summary("pool_rotation");
}
