/* New connections: the attempts that skv_server_choose() decides on, and the message if all of them fail. */
#include "net/pool_failover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MS SKV_NS_PER_MS
#define S (1000 * MS)

/* The maximum age of a connection: half an hour, less up to a tenth, so that they do not all end at the same time. */
#define AGE_NS (1800 * S)

/* ---- One attempt ------------------------------------------------------------------------------------------------ */

static skv_outcome attempt_outcome(const skv_conn *conn, const skv_rotation *rotation, skv_conn_failure failure,
                                   const skv_reply *reply)
{
    if (conn)
        return rotation->is_file_refused ? SKV_ATTEMPT_CONNECTED_BY_LAST : SKV_ATTEMPT_CONNECTED;
    switch (failure) {
    case SKV_CONN_REFUSED:
        return SKV_ATTEMPT_REFUSED;
    case SKV_CONN_REJECTED:
        return SKV_ATTEMPT_MISCONFIGURED;
    case SKV_CONN_STOPPED:
        return reply->status == SKV_NOMEM ? SKV_ATTEMPT_NO_MEMORY : SKV_ATTEMPT_INTERRUPTED;
    default:
        return reply->status == SKV_TIMEOUT ? SKV_ATTEMPT_LATE : SKV_ATTEMPT_UNREACHABLE;
    }
}

/* Returns true if an attempt at another server would fail as well. */
static bool is_final_outcome(skv_outcome outcome)
{
    return outcome == SKV_ATTEMPT_MISCONFIGURED || outcome == SKV_ATTEMPT_INTERRUPTED ||
           outcome == SKV_ATTEMPT_NO_MEMORY;
}

/* Returns the deadline of the attempt: the earliest of the turn's, the connect timeout's and the call's. */
static skv_deadline attempt_deadline(const skv_borrow *borrow, const skv_turn *turn)
{
    int64_t most = skv_ms_to_ns(borrow->limits->connect_timeout_ms), end;
    skv_deadline deadline = *borrow->deadline;

    end = skv_now_plus_ns(turn->most_ns < most ? turn->most_ns : most);
    if (end < deadline.end_ns)
        deadline.end_ns = end;
    return deadline;
}

/* Adds the connection to the pool. Under the lock. */
static void link_slot(skv_pool *pool, skv_slot *slot)
{
    skv_server *server = &pool->server[slot->server];

    server->tls = *skv_conn_tls(slot->conn);
    memcpy(server->vendor, skv_conn_features(slot->conn)->vendor, sizeof server->vendor);
    server->open++;
    slot->generation = pool->generation;
    slot->expires = skv_now_ns() + AGE_NS - AGE_NS / 1000 * (int64_t)skv_pool_random(pool, 100);
    slot->prev = NULL;
    slot->next = pool->slots;
    if (pool->slots)
        pool->slots->prev = slot;
    pool->slots = slot;
}

/* Connects with the pool's passwords. They are noted as well if the connection fails after the bind. */
static skv_conn *connect_to(skv_borrow *borrow, const skv_search *search, const skv_turn *turn, skv_rotation *rotation,
                            skv_conn_failure *failure)
{
    skv_pool *pool = borrow->pool;
    skv_deadline deadline = attempt_deadline(borrow, turn);
    skv_identity identity = pool->identity;

    pthread_mutex_lock(&pool->lock);
    skv_pool_get_rotation(pool, search, turn, rotation);
    pthread_mutex_unlock(&pool->lock);
    identity.rotation = rotation;
    return skv_conn_open(&pool->server[turn->index].uri, &identity, &deadline, borrow->reply, failure);
}

/* Connects to the turn's server and notes the outcome. Returns NULL with the reply filled. */
static skv_slot *attempt_connect(skv_borrow *borrow, const skv_search *search, const skv_turn *turn,
                                 skv_outcome *outcome)
{
    skv_pool *pool = borrow->pool;
    skv_conn_failure failure = SKV_CONN_STOPPED;
    skv_rotation rotation = {.version = 0};
    skv_slot *slot = skv_alloc_zeroed(1, sizeof *slot);

    if (slot) {
        slot->server = turn->index;
        slot->conn = connect_to(borrow, search, turn, &rotation, &failure);
    } else {
        skv_fail_memory(borrow->reply);
    }
    *outcome = attempt_outcome(slot ? slot->conn : NULL, &rotation, failure, borrow->reply);
    pthread_mutex_lock(&pool->lock);
    /* After a fork, the turn belongs to the parent process. */
    if (borrow->generation == pool->generation) {
        if (slot)
            skv_pool_note_rotation(pool, search, turn->index, &rotation, slot->conn != NULL);
        skv_server_note(pool, search, turn, *outcome, borrow->reply);
        if (slot && slot->conn)
            link_slot(pool, slot);
    }
    pthread_mutex_unlock(&pool->lock);
    explicit_bzero(&rotation, sizeof rotation);
    if (slot && slot->conn) {
        skv_conn_set_owner(slot->conn, slot);
        return slot;
    }
    skv_free(slot);
    return NULL;
}

/* ---- The message of a failure ----------------------------------------------------------------------------------- */

/* The failure of each server. */
typedef struct reasons {
    skv_status status;
    skv_fault fault;
    char text[SKV_MESSAGE_MAX];
} reasons;

static void add_reason(reasons *r, const char *text, const char *more, skv_status status, skv_fault fault)
{
    size_t used = strlen(r->text);

    snprintf(r->text + used, sizeof r->text - used, "%s%s%s", used ? "; " : "", text, more);
    if (!used || status == SKV_UNAVAILABLE) {
        r->status = status;
        r->fault = fault;
    }
}

/* Adds the servers in quarantine, which this call did not try. Under the lock. */
static void add_quarantined(const skv_pool *pool, reasons *r, const skv_search *search)
{
    int64_t now = skv_now_ns();

    for (int i = 0; i < pool->servers; i++) {
        const skv_server *server = &pool->server[i];
        int64_t left = skv_server_quarantine_end(pool, i, &search->stamp, now) - now;
        char more[64] = " (being tried again at the moment)";

        if (search->tried[i] || server->health == SKV_SERVER_UP)
            continue;
        if (left > 0 && server->health == SKV_SERVER_REFUSING)
            snprintf(more, sizeof more, " (not tried again for %" PRId64 " s, unless the file changes)", left / S + 1);
        else if (left > 0)
            snprintf(more, sizeof more, " (tried again in %" PRId64 " ms)", left / MS + 1);
        add_reason(r, server->why.text, more, server->why.status, server->why.fault);
    }
}

/* Fails the reply with the reasons. `status` is the failure of the wait, or SKV_OK. */
static void fail_with_reasons(skv_borrow *borrow, reasons *r, const skv_search *search, skv_status status)
{
    const skv_pool *pool = borrow->pool;

    pthread_mutex_lock(&borrow->pool->lock);
    add_quarantined(pool, r, search);
    pthread_mutex_unlock(&borrow->pool->lock);
    if (status != SKV_OK)
        r->status = status;
    if (!r->text[0])
        snprintf(r->text, sizeof r->text, "%s: %s while another call was connecting", pool->server[0].uri.text,
                 r->status == SKV_INTERRUPTED ? "interrupted" : "timed out");
    skv_fail(borrow->reply, r->status, "%s", r->text);
    skv_reply_set_fault(borrow->reply, r->fault);
}

/* ---- All attempts ----------------------------------------------------------------------------------------------- */

static skv_step choose_server(skv_borrow *borrow, skv_search *search, skv_turn *turn)
{
    skv_step step;

    /* Not under the lock, because it reads from a file system. An identity without a password file has the stamp of no
     * file. */
    search->stamp = skv_stamp_of(borrow->pool->identity.password_file);
    pthread_mutex_lock(&borrow->pool->lock);
    step = skv_server_choose(borrow->pool, search, skv_deadline_left(borrow->deadline), turn);
    pthread_mutex_unlock(&borrow->pool->lock);
    return step;
}

/* Takes the turn. Returns SKV_OK if the search continues. */
static skv_status take_turn(skv_borrow *borrow, skv_search *search, const skv_turn *turn, reasons *r, skv_slot **slot)
{
    skv_outcome outcome;

    *slot = attempt_connect(borrow, search, turn, &outcome);
    if (*slot || is_final_outcome(outcome))
        return borrow->reply->status;
    search->tried[turn->index] = search->has_tried = true;
    if (borrow->reply->status == SKV_TIMEOUT && skv_deadline_left(borrow->deadline) > 0)
        borrow->reply->status = SKV_UNAVAILABLE;
    add_reason(r, borrow->reply->message, "", borrow->reply->status, borrow->reply->fault);
    skv_reply_reset(borrow->reply);
    return skv_deadline_left(borrow->deadline) > 0 ? SKV_OK : SKV_TIMEOUT;
}

skv_slot *skv_pool_open(skv_borrow *borrow)
{
    skv_search search = {.end = borrow->pool->servers};
    reasons r = {.status = SKV_UNAVAILABLE};
    skv_slot *slot = NULL;
    skv_status status = SKV_OK;

    while (!slot && status == SKV_OK) {
        skv_turn turn;
        skv_step step = choose_server(borrow, &search, &turn);

        if (step == SKV_STEP_GIVE_UP)
            break;
        if (step == SKV_STEP_WAIT)
            status = skv_deadline_sleep(borrow->deadline, turn.until - skv_now_ns());
        else
            status = take_turn(borrow, &search, &turn, &r, &slot);
    }
    if (!slot && borrow->reply->status == SKV_OK)
        fail_with_reasons(borrow, &r, &search, status);
    return slot;
}

skv_slot *skv_pool_improve(skv_borrow *borrow, skv_slot *slot)
{
    skv_pool *pool = borrow->pool;
    skv_search search = {.end = slot->server, .improves = true};
    skv_outcome outcome;
    skv_slot *better;
    skv_turn turn;
    skv_conn *old;
    bool may;

    pthread_mutex_lock(&pool->lock);
    may = skv_server_may_improve(pool, slot->server);
    pthread_mutex_unlock(&pool->lock);
    if (!may || choose_server(borrow, &search, &turn) != SKV_STEP_ATTEMPT)
        return slot;
    better = attempt_connect(borrow, &search, &turn, &outcome);
    if (!better && outcome != SKV_ATTEMPT_INTERRUPTED)
        skv_reply_reset(borrow->reply);
    if (!better)
        return slot;
    pthread_mutex_lock(&pool->lock);
    old = skv_slot_remove(pool, slot);
    pthread_mutex_unlock(&pool->lock);
    skv_conn_close(old);
    return better;
}

skv_conn *skv_slot_remove(skv_pool *pool, skv_slot *slot)
{
    skv_conn *conn = slot->conn;

    if (slot->prev)
        slot->prev->next = slot->next;
    else
        pool->slots = slot->next;
    if (slot->next)
        slot->next->prev = slot->prev;
    pool->server[slot->server].open--;
    skv_free(slot);
    return conn;
}

/* ---- Tries of passwords that are not the pool's --------------------------------------------------------------------
 */

/* Connects to one server. Returns SKV_OK with *is_right set, or the reply's failure. */
static skv_status try_at_server(const skv_uri *uri, const skv_identity *identity, int64_t most_ms,
                                const skv_deadline *call, bool *is_right, skv_reply *reply)
{
    skv_deadline deadline = *call;
    int64_t end = skv_now_plus_ns(skv_ms_to_ns(most_ms));
    skv_conn_failure failure;
    skv_conn *conn;

    if (end < deadline.end_ns)
        deadline.end_ns = end;
    conn = skv_conn_open(uri, identity, &deadline, reply, &failure);
    *is_right = conn != NULL;
    if (conn)
        skv_conn_close(conn);
    if (failure == SKV_CONN_WRONG_PASSWORD)
        skv_reply_reset(reply);
    return reply->status;
}

skv_status skv_pool_try_password(skv_pool *pool, const skv_pool_limits *limits, const char *dn, const char *password,
                                 skv_deadline *deadline, bool *is_right, skv_reply *reply)
{
    skv_identity identity = pool->identity;

    *is_right = false;
    identity.bind_dn = (char *)(uintptr_t)dn;
    identity.password = password;
    for (int i = 0; i < pool->servers; i++) {
        skv_reply_reset(reply);
        if (try_at_server(&pool->server[i].uri, &identity, limits->connect_timeout_ms, deadline, is_right, reply) !=
                SKV_UNAVAILABLE &&
            (reply->status != SKV_TIMEOUT || skv_deadline_left(deadline) == 0))
            break;
    }
    return reply->status;
}
