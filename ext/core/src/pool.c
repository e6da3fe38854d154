#include "pool_failover.h"

#include "handle.h"
#include "lookup.h"
#include "tls_context.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The most idle connections that one call closes because they have been idle for too long. */
#define REAP_MAX 4

/* ---- The registry ----------------------------------------------------------------------------------------------- */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static skv_pool *registry;                                    /* pools are added at its front and never removed */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER; /* one fork at a time */

/*
 * A fork takes every lock of the core first: a lock that another thread holds would stay locked in the child. The order
 * is that of waiting: libldap's initialisation and the TLS contexts read files and the network, and no other thread
 * waits for the fork meanwhile, because the locks of the registry and the pools come last.
 */
static void before_fork(void)
{
    const skv_pool *locked = NULL;

    pthread_mutex_lock(&fork_lock);
    skv_handle_before_fork();
    pthread_mutex_lock(&registry_lock);
    while (registry != locked) {
        skv_pool *newest = registry;

        pthread_mutex_unlock(&registry_lock);
        for (skv_pool *pool = newest; pool != locked; pool = pool->next)
            skv_tls_context_lock(pool->identity.tls);
        locked = newest;
        pthread_mutex_lock(&registry_lock);
    }
    for (skv_pool *pool = registry; pool; pool = pool->next)
        pthread_mutex_lock(&pool->lock);
}

static void after_fork_in_parent(void)
{
    for (skv_pool *pool = registry; pool; pool = pool->next) {
        pthread_mutex_unlock(&pool->lock);
        skv_tls_context_unlock(pool->identity.tls);
    }
    pthread_mutex_unlock(&registry_lock);
    pthread_mutex_unlock(&fork_lock);
}

/* The sessions are the parent's: their sockets are closed without a word, and all else that belongs to them is leaked,
 * for it may have been in use by a thread that is not here. */
static void abandon(skv_pool *pool)
{
    for (skv_slot *slot = pool->slots; slot; slot = slot->next)
        skv_conn_discard(slot->conn, true);
    pool->generation++;
    pool->places = 0;
    pool->slots = NULL;
    pool->waiter_first = pool->waiter_last = NULL;
    pool->proving = false;
    for (int i = 0; i < pool->servers; i++) {
        pool->server[i].idle_first = pool->server[i].idle_last = NULL;
        pool->server[i].open = pool->server[i].idle = 0;
        pool->server[i].probing = false;
    }
}

static void after_fork_in_child(void)
{
    for (skv_pool *pool = registry; pool; pool = pool->next)
        abandon(pool);
    skv_lookup_after_fork();
    skv_handle_after_fork();
    after_fork_in_parent();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static bool same_identity(const skv_identity *a, const skv_identity *b)
{
    return a->starttls == b->starttls && strcmp(a->bind_dn, b->bind_dn) == 0 &&
           strcmp(a->password_file, b->password_file) == 0 && strcmp(a->cacert, b->cacert) == 0 &&
           strcmp(a->cert, b->cert) == 0 && strcmp(a->key, b->key) == 0;
}

static bool is_for(const skv_pool *pool, const skv_uris *uris, const skv_identity *identity)
{
    if (pool->servers != uris->count || !same_identity(&pool->identity, identity))
        return false;
    for (int i = 0; i < uris->count; i++)
        if (strcmp(pool->server[i].uri.text, uris->uri[i].text) != 0)
            return false;
    return true;
}

static void pool_free(skv_pool *pool)
{
    skv_free(pool->identity.bind_dn);
    skv_free(pool->identity.password_file);
    skv_free(pool->identity.cacert);
    skv_free(pool->identity.cert);
    skv_free(pool->identity.key);
    skv_tls_context_free(pool->identity.tls);
    skv_free(pool);
}

static char *copy(const char *text)
{
    return skv_copy_string(text, strlen(text));
}

static skv_pool *pool_new(const skv_uris *uris, const skv_identity *identity)
{
    skv_pool *pool = skv_alloc_zeroed(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->identity = (skv_identity){
        .bind_dn = copy(identity->bind_dn),
        .password_file = copy(identity->password_file),
        .starttls = identity->starttls,
        .cacert = copy(identity->cacert),
        .cert = copy(identity->cert),
        .key = copy(identity->key),
        .tls = skv_tls_context_new(),
    };
    pool->servers = uris->count;
    for (int i = 0; i < uris->count; i++)
        pool->server[i].uri = uris->uri[i];
    pool->generation = 1;
    pool->random = (uint32_t)skv_now_ns() | 1;
    if (pool->identity.bind_dn && pool->identity.password_file && pool->identity.cacert && pool->identity.cert &&
        pool->identity.key && pool->identity.tls && pthread_mutex_init(&pool->lock, NULL) == 0)
        return pool;
    pool_free(pool);
    return NULL;
}

skv_pool *skv_pool_for(const skv_uris *uris, const skv_identity *identity, skv_reply *reply)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    skv_pool *pool;

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&registry_lock);
    for (pool = registry; pool && !is_for(pool, uris, identity); pool = pool->next)
        ;
    if (!pool) {
        pool = pool_new(uris, identity);
        if (pool) {
            pool->next = registry;
            registry = pool;
        }
    }
    pthread_mutex_unlock(&registry_lock);
    if (!pool)
        skv_fail_memory(reply);
    return pool;
}

void skv_pool_each(void (*visit)(skv_pool *pool, void *context), void *context)
{
    pthread_mutex_lock(&registry_lock);
    for (skv_pool *pool = registry; pool; pool = pool->next) {
        pthread_mutex_lock(&pool->lock);
        visit(pool, context);
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&registry_lock);
}

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

static void take_idle(skv_pool *pool, skv_slot *slot)
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

/* Hands an idle connection, or a place (NULL), to who has waited longest. False when nobody waits. */
static bool grant(skv_pool *pool, skv_slot *slot)
{
    skv_waiter *waiter = pool->waiter_first;
    uint64_t one = 1;

    if (!waiter)
        return false;
    pool->waiter_first = waiter->next;
    if (!pool->waiter_first)
        pool->waiter_last = NULL;
    waiter->slot = slot;
    waiter->granted = true;
    /* Under the lock: the waiter's descriptor is there until it has seen that it was granted something. */
    while (write(waiter->event, &one, sizeof one) < 0 && errno == EINTR)
        ;
    return true;
}

static void release_place(skv_pool *pool)
{
    if (!grant(pool, NULL))
        pool->places--;
}

/* A connection that somebody may use at once. */
static void release_slot(skv_pool *pool, skv_slot *slot)
{
    if (!grant(pool, slot))
        push_idle(pool, slot);
}

/* ---- Borrowing -------------------------------------------------------------------------------------------------- */

/* Takes out what has been idle for too long, to be closed without the lock. */
static int reap(skv_borrow *borrow, skv_conn **out)
{
    skv_pool *pool = borrow->pool;
    int64_t since = skv_now_ns() - skv_ms_to_ns(borrow->limits->idle_timeout_ms);
    int count = 0;

    for (int i = 0; i < pool->servers; i++)
        while (count < REAP_MAX && pool->server[i].idle_last && pool->server[i].idle_last->idle_since < since) {
            skv_slot *slot = pool->server[i].idle_last;

            take_idle(pool, slot);
            out[count++] = skv_slot_remove(pool, slot);
            release_place(pool);
        }
    return count;
}

/* Takes an idle connection or a place; false when there is neither, or others were first. */
static bool take(skv_borrow *borrow, skv_slot **slot)
{
    skv_pool *pool = borrow->pool;

    *slot = NULL;
    if (pool->waiter_first)
        return false;
    for (int i = 0; i < pool->servers && !*slot; i++)
        *slot = pool->server[i].idle_first;
    if (*slot) {
        take_idle(pool, *slot);
        borrow->expired = skv_now_ns() >= (*slot)->expires;
        return true;
    }
    if (pool->places >= pool->size)
        return false;
    pool->places++;
    return true;
}

/* Under the lock. */
static void enqueue(skv_pool *pool, skv_waiter *waiter)
{
    if (pool->waiter_last)
        pool->waiter_last->next = waiter;
    else
        pool->waiter_first = waiter;
    pool->waiter_last = waiter;
    pool->waits++;
}

static void dequeue(skv_pool *pool, const skv_waiter *waiter)
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

static void fail_exhausted(skv_borrow *borrow, int status)
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

/* Waits in the queue; what was granted is in waiter. */
static int stand_in_line(skv_borrow *borrow, skv_waiter *waiter)
{
    skv_pool *pool = borrow->pool;
    struct pollfd event = {.fd = waiter->event, .events = POLLIN};
    int64_t began = skv_now_ns();
    int status = skv_wait_poll(borrow->wait, &event, 1, skv_deadline_in(skv_ms_to_ns(borrow->limits->pool_timeout_ms)));

    pthread_mutex_lock(&pool->lock);
    pool->wait_ns += skv_now_ns() - began;
    if (borrow->generation != pool->generation) {
        /* The queue is the parent's. */
        waiter->granted = false;
        status = status == SKV_OK ? SKV_INTERRUPTED : status;
    } else if (!waiter->granted) {
        dequeue(pool, waiter);
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

/* A connection that was idle, or (NULL) a place for a new one. False with the reply filled. */
static bool wait_for_turn(skv_borrow *borrow, skv_slot **slot)
{
    skv_pool *pool = borrow->pool;
    skv_waiter waiter = {.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int status = SKV_OK;
    bool taken;

    if (waiter.event < 0) {
        skv_fail_errno(borrow->reply, errno, "%s: cannot wait for a connection", pool->server[0].uri.text);
        return false;
    }
    pthread_mutex_lock(&pool->lock);
    taken = take(borrow, slot);
    if (!taken)
        enqueue(pool, &waiter);
    pthread_mutex_unlock(&pool->lock);
    if (!taken) {
        status = stand_in_line(borrow, &waiter);
        *slot = waiter.slot;
    }
    close(waiter.event);
    if (status != SKV_OK)
        fail_exhausted(borrow, status);
    return status == SKV_OK;
}

static bool acquire(skv_borrow *borrow, skv_slot **slot)
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
    while (pool->places < pool->size && grant(pool, NULL))
        pool->places++;
    count = reap(borrow, stale);
    taken = take(borrow, slot);
    pthread_mutex_unlock(&pool->lock);
    while (count > 0)
        skv_conn_close(stale[--count]);
    return taken || wait_for_turn(borrow, slot);
}

/* Gives up a place, and what is in it. */
static void drop(skv_borrow *borrow, skv_slot *slot, bool alive)
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

/* Makes a connection that was idle fit for use; NULL, and its place given up, if it is not, or the call was
 * interrupted. */
static skv_slot *revive(skv_borrow *borrow, skv_slot *slot)
{
    bool alive = skv_conn_is_alive(slot->conn);

    if (!alive || borrow->expired) {
        drop(borrow, slot, alive);
        return NULL;
    }
    if (slot->server > 0)
        slot = skv_pool_improve(borrow, slot);
    if (borrow->reply->status == SKV_OK)
        return slot;
    skv_pool_return(borrow->pool, slot->conn);
    return NULL;
}

skv_conn *skv_pool_borrow(skv_pool *pool, const skv_pool_limits *limits, skv_wait *wait, skv_reply *reply)
{
    skv_borrow borrow = {.pool = pool, .limits = limits, .wait = wait, .reply = reply};
    skv_slot *slot;

    while (acquire(&borrow, &slot)) {
        if (slot) {
            slot = revive(&borrow, slot);
            if (slot)
                return slot->conn;
            if (reply->status != SKV_OK)
                return NULL;
            continue;
        }
        slot = skv_pool_open(&borrow);
        if (slot)
            return slot->conn;
        drop(&borrow, NULL, false);
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
        /* Borrowed before a fork: the parent's. */
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

void skv_pool_blame(skv_pool *pool, const skv_conn *conn)
{
    const skv_slot *slot = skv_conn_owner(conn);
    skv_server *server = &pool->server[slot->server];

    pthread_mutex_lock(&pool->lock);
    server->blames++;
    skv_server_mark_down(pool, server, "was lost or unavailable");
    pthread_mutex_unlock(&pool->lock);
}

void skv_pool_suspect(skv_pool *pool, const skv_conn *conn)
{
    const skv_slot *slot = skv_conn_owner(conn);
    skv_server *server = &pool->server[slot->server];

    pthread_mutex_lock(&pool->lock);
    server->timeouts++;
    for (skv_slot *other = pool->slots; other; other = other->next)
        if (other->server == slot->server)
            other->expires = 0;
    skv_server_mark_down(pool, server, "did not answer in time");
    pthread_mutex_unlock(&pool->lock);
}
