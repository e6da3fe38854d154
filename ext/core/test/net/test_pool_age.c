/* The maximum age of a connection in the pool. */
#include "check.h"
#include "net/pool_state.h"
#include "slapd.h"

#include <string.h>

#define MINUTE (60000 * SKV_NS_PER_MS)

static slapd server;
static skv_reply *reply;
static skv_pool *pool;

static const skv_pool_limits limits = {
    .size = 32, .connect_timeout_ms = 5000, .pool_timeout_ms = 5000, .idle_timeout_ms = 60000};

static skv_slot *borrow(void)
{
    skv_deadline deadline;
    skv_conn *conn;

    skv_reply_reset(reply);
    skv_deadline_init(&deadline, 10000, NULL, reply);
    conn = skv_pool_borrow(pool, &limits, &deadline, reply);
    CHECK_STATUS(reply, SKV_OK);
    return conn ? skv_conn_owner(conn) : NULL;
}

static void connections_end_within_half_an_hour_and_not_all_at_once(void)
{
    enum { COUNT = 20 };
    skv_slot *slots[COUNT];
    int64_t now, first = INT64_MAX, last = 0;

    for (int i = 0; i < COUNT; i++) {
        slots[i] = borrow();
        if (!slots[i])
            return;
        first = slots[i]->expires < first ? slots[i]->expires : first;
        last = slots[i]->expires > last ? slots[i]->expires : last;
    }
    now = skv_now_ns();
    CHECK(first > now + 25 * MINUTE);
    CHECK(last <= now + 30 * MINUTE);
    CHECK(last - first > MINUTE / 2);
    for (int i = 0; i < COUNT; i++)
        skv_pool_return(pool, slots[i]->conn);
}

static void a_connection_that_is_too_old_is_replaced(void)
{
    int64_t before = pool->server[0].connects;
    skv_slot *slot = borrow();

    CHECK(pool->server[0].connects == before);
    /* While it is in use, and while it is idle. */
    slot->expires = skv_now_ns() - 1;
    skv_pool_return(pool, slot->conn);
    CHECK(pool->server[0].open == 19);
    for (skv_slot *idle = pool->slots; idle; idle = idle->next)
        idle->expires = skv_now_ns() - 1;
    slot = borrow();
    CHECK(pool->server[0].connects > before);
    CHECK(slot->expires > skv_now_ns());
    skv_pool_return(pool, slot->conn);
}

int main(void)
{
    skv_identity identity = {SLAPD_ADMIN, NULL, false, "", "", "", NULL, NULL, NULL};
    skv_uris uris;

    reply = skv_reply_new();
    if (slapd_is_installed() && CHECK(slapd_begin(&server, SLAPD_NO_TLS, ""))) {
        identity.password_file = server.password_file;
        CHECK(skv_uris_parse(server.ldap, strlen(server.ldap), &uris, reply) == SKV_OK);
        pool = skv_pool_for(&uris, &identity, reply);
        connections_end_within_half_an_hour_and_not_all_at_once();
        a_connection_that_is_too_old_is_replaced();
    }
    slapd_end(&server);
    skv_reply_free(reply);
    return check_summary("pool_age");
}
