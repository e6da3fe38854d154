/* Borrowing and giving back: idle connections, places for new ones, and the queue of waiting calls. */
#include "base/io.h"
#include "net/pool_failover.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The most connections that one call closes after their idle timeout. */
#define REAP_MAX 4

/* ---- Slots: all under the lock ---------------------------------------------------------------------------------- */

static void push_idle(skv_pool *pool, skv_slot *slot)
{
    skv_server *server = &pool->server[slot->server];

    slot->idle_since = skv_now_ns();
    slot->idle_prev = NULL;
    slot->idle_next = server->idle_first;
    if (server->idle_first)
        server->idle_first->idle_prev = slot;
    else
        server->idle_last = slot;
    server->idle_first = slot;
    server->idle++;
}

static void unlink_idle(skv_pool *pool, skv_slot *slot)
{
    skv_server *server = &pool->server[slot->server];

    if (slot->idle_prev)
        slot->idle_prev->idle_next = slot->idle_next;
    else
        server->idle_first = slot->idle_next;
    if (slot->idle_next)
        slot->idle_next->idle_prev = slot->idle_prev;
    else
        server->idle_last = slot->idle_prev;
    server->idle--;
}

/* Hands an idle connection, or a place (NULL), to the first call of the queue. Returns false if the queue is empty. */
static bool grant_to_waiter(skv_pool *pool, skv_slot *slot)
{
    skv_waiter *waiter = pool->waiter_first;

    if (!waiter)
        return false;
    pool->waiter_first = waiter->next;
    if (!pool->waiter_first)
        pool->waiter_last = NULL;
    waiter->slot = slot;
    waiter->granted = true;
    /* Under the lock: the waiter keeps its descriptor until it has seen the grant. */
    skv_event_signal(waiter->event);
    return true;
}

static void release_place(skv_pool *pool)
{
    if (!grant_to_waiter(pool, NULL))
        pool->places--;
}

/* Releases a connection for immediate use. */
static void release_slot(skv_pool *pool, skv_slot *slot)
{
    if (!grant_to_waiter(pool, slot))
        push_idle(pool, slot);
}

/* ---- Borrowing -------------------------------------------------------------------------------------------------- */

/* Takes out connections after their idle timeout. The caller closes them without the lock. */
static int reap_idle(skv_borrow *borrow, skv_conn **out)
{
    skv_pool *pool = borrow->pool;
    int64_t since = skv_now_ns() - skv_ms_to_ns(borrow->limits->idle_timeout_ms);
    int count = 0;

    for (int i = 0; i < pool->servers; i++)
        while (count < REAP_MAX && pool->server[i].idle_last && pool->server[i].idle_last->idle_since < since) {
            skv_slot *slot = pool->server[i].idle_last;

            unlink_idle(pool, slot);
            out[count++] = skv_slot_remove(pool, slot);
            release_place(pool);
        }
    return count;
}

/* Takes an idle connection or a place. Returns false if there is neither, or if other calls wait already. */
static bool take_idle_or_place(skv_borrow *borrow, skv_slot **slot)
{
    skv_pool *pool = borrow->pool;

    *slot = NULL;
    if (pool->waiter_first)
        return false;
    for (int i = 0; i < pool->servers && !*slot; i++)
        *slot = pool->server[i].idle_first;
    if (*slot) {
        unlink_idle(pool, *slot);
        borrow->expired = skv_now_ns() >= (*slot)->expires;
        return true;
    }
    if (pool->places >= pool->size)
        return false;
    pool->places++;
    return true;
}

/* Adds a call to the queue. Under the lock. */
static void enqueue_waiter(skv_pool *pool, skv_waiter *waiter)
{
    if (pool->waiter_last)
        pool->waiter_last->next = waiter;
    else
        pool->waiter_first = waiter;
    pool->waiter_last = waiter;
    pool->waits++;
}

static void dequeue_waiter(skv_pool *pool, const skv_waiter *waiter)
{
    skv_waiter *before = NULL;

    for (skv_waiter *w = pool->waiter_first; w && w != waiter; w = w->next)
        before = w;
    if (before)
        before->next = waiter->next;
    else
        pool->waiter_first = waiter->next;
    if (pool->waiter_last == waiter)
        pool->waiter_last = before;
}

static void fail_exhausted(skv_borrow *borrow, skv_status status)
{
    skv_pool *pool = borrow->pool;
    int size;

    pthread_mutex_lock(&pool->lock);
    size = pool->size;
    pthread_mutex_unlock(&pool->lock);
    if (status == SKV_TIMEOUT)
        skv_fail(borrow->reply, status,
                 "%s: all %d connections were in use for the whole time of waiting: raise 'pool_size' or "
                 "'pool_timeout_seconds'",
                 pool->server[0].uri.text, size);
    else if (status == SKV_INTERRUPTED)
        skv_fail(borrow->reply, status, "%s: interrupted while waiting for a connection", pool->server[0].uri.text);
    else
        skv_fail_memory(borrow->reply);
}

/* Waits in the queue for a grant, which is in `waiter`. */
static skv_status wait_in_queue(skv_borrow *borrow, skv_waiter *waiter)
{
    skv_pool *pool = borrow->pool;
    struct pollfd event = {.fd = waiter->event, .events = POLLIN};
    int64_t began = skv_now_ns();
    skv_status status =
        skv_deadline_poll(borrow->deadline, &event, 1, skv_now_plus_ns(skv_ms_to_ns(borrow->limits->pool_timeout_ms)));

    pthread_mutex_lock(&pool->lock);
    pool->wait_ns += skv_now_ns() - began;
    if (borrow->generation != pool->generation) {
        /* After a fork, the queue belongs to the parent process. */
        waiter->granted = false;
        status = status == SKV_OK ? SKV_INTERRUPTED : status;
    } else if (!waiter->granted) {
        dequeue_waiter(pool, waiter);
        pool->wait_timeouts += status == SKV_TIMEOUT;
    } else if (status == SKV_INTERRUPTED) {
        if (waiter->slot)
            release_slot(pool, waiter->slot);
        else
            release_place(pool);
    } else {
        status = SKV_OK;
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* Takes an idle connection, or a place for a new one (NULL), if necessary after a wait. Returns false with the reply
 * filled. */
static bool take_or_wait(skv_borrow *borrow, skv_slot **slot)
{
    skv_pool *pool = borrow->pool;
    skv_waiter waiter = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    skv_status status = SKV_OK;
    bool taken;

    if (waiter.event < 0) {
        skv_fail_errno(borrow->reply, errno, "%s: cannot wait for a connection", pool->server[0].uri.text);
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    taken = take_idle_or_place(borrow, slot);
    if (!taken)
        enqueue_waiter(pool, &waiter);
    pthread_mutex_unlock(&pool->lock);
    if (!taken) {
        status = wait_in_queue(borrow, &waiter);
        *slot = waiter.slot;
    }
    close(waiter.event);
    if (status != SKV_OK)
        fail_exhausted(borrow, status);
    return status == SKV_OK;
}

static bool acquire_slot(skv_borrow *borrow, skv_slot **slot)
{
    skv_pool *pool = borrow->pool;
    skv_conn *stale[REAP_MAX];
    bool taken;
    int count;

    borrow->expired = false;
    pthread_mutex_lock(&pool->lock);
    borrow->generation = pool->generation;
    if (borrow->limits->size > pool->size)
        pool->size = borrow->limits->size;
    while (pool->places < pool->size && grant_to_waiter(pool, NULL))
        pool->places++;
    count = reap_idle(borrow, stale);
    taken = take_idle_or_place(borrow, slot);
    pthread_mutex_unlock(&pool->lock);
    while (count > 0)
        skv_conn_close(stale[--count]);
    return taken || take_or_wait(borrow, slot);
}

/* Gives up a place and its connection. */
static void drop_place(skv_borrow *borrow, skv_slot *slot, bool alive)
{
    skv_pool *pool = borrow->pool;
    skv_conn *conn = NULL;

    pthread_mutex_lock(&pool->lock);
    if (borrow->generation == pool->generation) {
        if (slot)
            conn = skv_slot_remove(pool, slot);
        release_place(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    if (conn && alive)
        skv_conn_close(conn);
    else if (conn)
        skv_conn_discard(conn, false);
}

/* Checks a connection that was idle. Returns it, or a better one. Returns NULL, and gives up the place, if it is not
 * usable any more; also NULL if the call was interrupted. */
static skv_slot *revive_idle(skv_borrow *borrow, skv_slot *slot)
{
    bool alive = skv_conn_is_alive(slot->conn);

    if (!alive || borrow->expired) {
        drop_place(borrow, slot, alive);
        return NULL;
    }
    if (slot->server > 0)
        slot = skv_pool_improve(borrow, slot);
    if (borrow->reply->status == SKV_OK)
        return slot;
    skv_pool_return(borrow->pool, slot->conn);
    return NULL;
}

skv_conn *skv_pool_borrow(skv_pool *pool, const skv_pool_limits *limits, skv_deadline *deadline, skv_reply *reply)
{
    skv_borrow borrow = {.pool = pool, .limits = limits, .deadline = deadline, .reply = reply};
    skv_slot *slot;

    while (acquire_slot(&borrow, &slot)) {
        if (slot) {
            slot = revive_idle(&borrow, slot);
            if (slot)
                return slot->conn;
            if (reply->status != SKV_OK)
                return NULL;
            continue;
        }
        slot = skv_pool_open(&borrow);
        if (slot)
            return slot->conn;
        drop_place(&borrow, NULL, false);
        return NULL;
    }
    return NULL;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------ */

void skv_pool_return(skv_pool *pool, skv_conn *conn)
{
    skv_slot *slot = skv_conn_owner(conn);
    bool usable = skv_conn_is_usable(conn), keep;

    skv_conn_begin(conn, NULL);
    pthread_mutex_lock(&pool->lock);
    if (slot->generation != pool->generation) {
        /* A connection that was borrowed before a fork belongs to the parent process. */
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    keep = usable && skv_now_ns() < slot->expires;
    if (keep) {
        release_slot(pool, slot);
    } else {
        skv_slot_remove(pool, slot);
        release_place(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    if (!keep && usable)
        skv_conn_close(conn);
    else if (!keep)
        skv_conn_discard(conn, false);
}

void skv_pool_detach(skv_pool *pool, skv_conn *conn)
{
    skv_slot *slot = skv_conn_owner(conn);

    skv_conn_begin(conn, NULL);
    skv_conn_set_owner(conn, NULL);
    pthread_mutex_lock(&pool->lock);
    if (slot->generation == pool->generation) {
        skv_slot_remove(pool, slot);
        release_place(pool);
    }
    pthread_mutex_unlock(&pool->lock);
}

void skv_pool_mark_down(skv_pool *pool, const skv_conn *conn)
{
    const skv_slot *slot = skv_conn_owner(conn);
    skv_server *server;

    if (!slot)
        return;
    server = &pool->server[slot->server];
    pthread_mutex_lock(&pool->lock);
    server->times_down++;
    skv_server_mark_down(pool, server, "was lost or unavailable", 0);
    pthread_mutex_unlock(&pool->lock);
}

void skv_pool_mark_timed_out(skv_pool *pool, const skv_conn *conn, int64_t silence_ns)
{
    const skv_slot *slot = skv_conn_owner(conn);
    skv_server *server;

    if (!slot)
        return;
    server = &pool->server[slot->server];
    pthread_mutex_lock(&pool->lock);
    server->timeouts++;
    for (skv_slot *other = pool->slots; other; other = other->next)
        if (other->server == slot->server)
            other->expires = 0;
    skv_server_mark_down(pool, server, "did not answer in time", silence_ns);
    pthread_mutex_unlock(&pool->lock);
}

int64_t skv_pool_share(skv_pool *pool, const skv_conn *conn, int64_t left_ns)
{
    const skv_slot *slot = skv_conn_owner(conn);
    int64_t parts = 1;

    if (pool->servers == 1 || !slot)
        return INT64_MAX;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->servers; i++)
        parts += i != slot->server && pool->server[i].health == SKV_SERVER_UP;
    pthread_mutex_unlock(&pool->lock);
    return parts == 1 || left_ns / parts < SKV_ATTEMPT_MIN_NS ? INT64_MAX : left_ns / parts;
}
