/* Which server a new connection goes to, and what is remembered of those that failed. */
#include "pool_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MS SKV_NS_PER_MS
#define S (1000 * MS)

/* A rest doubles with each failure in a row. When there is no other server, nothing is gained by a long one. */
#define REST_MIN_NS (200 * MS)
#define REST_MAX_NS (30 * S)
#define REST_ALONE_NS (2 * S)

/* How long a borrower waits for a server's rest to end, or for the probe of another borrower. */
#define PATIENCE_NS (500 * MS)

/* What a probe may take while there is another server. */
#define PROBE_NS (1 * S)

/* A refused password is left alone so long, lest the account be locked. */
#define REFUSED_MIN_NS (10 * S)
#define REFUSED_MAX_NS (300 * S)

/* How old a connection gets: half an hour, less up to a tenth, so that they do not all end at once. */
#define AGE_NS (1800 * S)

uint32_t skv_pool_random(skv_pool *pool, uint32_t below)
{
    pool->random ^= pool->random << 13;
    pool->random ^= pool->random >> 17;
    pool->random ^= pool->random << 5;
    return pool->random % below;
}

/* ---- Servers that rest ------------------------------------------------------------------------------------------ */

void skv_server_rest(skv_pool *pool, skv_server *server, int status, const char *why)
{
    int64_t now = skv_now_ns(), jitter;

    server->probing = false;
    server->why_status = status;
    snprintf(server->why, sizeof server->why, "%s", why);
    if (now < server->rest_until)
        return;
    server->rest_ns = server->rest_ns ? server->rest_ns * 2 : REST_MIN_NS;
    if (server->rest_ns > REST_MAX_NS)
        server->rest_ns = REST_MAX_NS;
    jitter = server->rest_ns / 100 * (int64_t)skv_pool_random(pool, 25);
    server->rest_from = now;
    server->rest_until = now + server->rest_ns + jitter;
}

static bool another_is_well(const skv_pool *pool, int but)
{
    for (int i = 0; i < pool->servers; i++)
        if (i != but && !pool->server[i].rest_until)
            return true;
    return false;
}

/* When the server may be tried again; 0 for now. */
static int64_t rests_until(const skv_pool *pool, int index)
{
    const skv_server *server = &pool->server[index];
    int64_t until = server->rest_until;

    if (until > server->rest_from + REST_ALONE_NS && !another_is_well(pool, index))
        until = server->rest_from + REST_ALONE_NS;
    return until > skv_now_ns() ? until : 0;
}

/* The first server from `from` up to before `end` that may be tried now; -1 for none. If it rested, this is its probe.
 */
static int claim(skv_pool *pool, int from, int end)
{
    for (int i = from; i < end; i++) {
        skv_server *server = &pool->server[i];

        if (!server->rest_until)
            return i;
        if (!server->probing && !rests_until(pool, i)) {
            server->probing = true;
            return i;
        }
    }
    return -1;
}

/* ---- One attempt ------------------------------------------------------------------------------------------------ */

/* The limits of an attempt: the call's deadline, or sooner. */
static skv_wait attempt_wait(const skv_borrow *borrow, int64_t most_ns)
{
    int64_t now = skv_now_ns(), timeout = borrow->limits->connect_timeout_ms * MS;
    skv_wait wait = *borrow->wait;

    if (timeout > most_ns)
        timeout = most_ns;
    if (timeout < wait.deadline_ns - now)
        wait.deadline_ns = now + timeout;
    return wait;
}

static void link_slot(skv_pool *pool, skv_slot *slot)
{
    slot->prev = NULL;
    slot->next = pool->slots;
    if (pool->slots)
        pool->slots->prev = slot;
    pool->slots = slot;
    pool->server[slot->server].open++;
}

/* What an attempt has taught. Under the lock. */
static void note(skv_borrow *borrow, int index, skv_slot *slot, skv_conn_failure failure, bool fault)
{
    skv_pool *pool = borrow->pool;
    skv_server *server = &pool->server[index];

    if (borrow->generation != pool->generation)
        return;
    server->connects++;
    if (slot->conn) {
        server->binds++;
        server->tls = *skv_conn_tls(slot->conn);
        memcpy(server->vendor, skv_conn_features(slot->conn)->vendor, sizeof server->vendor);
        server->rest_until = server->rest_ns = 0;
        server->probing = false;
        pool->proven = true;
        pool->refused_until = pool->refused_ns = 0;
        slot->generation = pool->generation;
        slot->expires = skv_now_ns() + AGE_NS - AGE_NS / 1000 * (int64_t)skv_pool_random(pool, 100);
        link_slot(pool, slot);
        return;
    }
    server->failures++;
    if (failure == SKV_CONN_UNREACHABLE && fault)
        skv_server_rest(pool, server, borrow->reply->status, borrow->reply->message);
    server->probing = false;
}

/* Opens a connection to one server; NULL with the reply filled. */
static skv_slot *attempt(skv_borrow *borrow, int index, int64_t most_ns, skv_conn_failure *failure)
{
    skv_pool *pool = borrow->pool;
    skv_wait wait = attempt_wait(borrow, most_ns);
    skv_slot *slot = skv_alloc_zeroed(1, sizeof *slot);
    int64_t began = skv_now_ns();
    bool late;

    *failure = SKV_CONN_STOPPED;
    if (!slot) {
        skv_fail_memory(borrow->reply);
        pthread_mutex_lock(&pool->lock);
        pool->server[index].probing = false;
        pthread_mutex_unlock(&pool->lock);
        return NULL;
    }
    slot->server = index;
    slot->conn = skv_conn_open(&pool->server[index].uri, &pool->identity, &wait, borrow->reply, failure);
    late = borrow->reply->status == SKV_TIMEOUT && skv_now_ns() >= borrow->wait->deadline_ns;
    if (borrow->reply->status == SKV_TIMEOUT && !late)
        borrow->reply->status = SKV_UNAVAILABLE;
    pthread_mutex_lock(&pool->lock);
    /* A call that had next to no time left says nothing about the server. */
    note(borrow, index, slot, *failure, !late || skv_now_ns() - began >= PROBE_NS);
    pthread_mutex_unlock(&pool->lock);
    if (slot->conn) {
        skv_conn_set_owner(slot->conn, slot);
        return slot;
    }
    if (late)
        *failure = SKV_CONN_STOPPED;
    skv_free(slot);
    return NULL;
}

/* ---- A password that was refused -------------------------------------------------------------------------------- */

/* What changes when the password file does; false when there is none to be seen. */
static bool read_stamp(const skv_pool *pool, int64_t stamp[4])
{
    struct stat file;

    if (!pool->identity.password_file[0] || stat(pool->identity.password_file, &file) < 0)
        return false;
    stamp[0] = (int64_t)file.st_ino;
    stamp[1] = file.st_size;
    stamp[2] = file.st_mtim.tv_sec;
    stamp[3] = file.st_mtim.tv_nsec;
    return true;
}

/* Whether the reply was filled with what the server said of this very file a while ago. */
static bool is_refused(skv_borrow *borrow)
{
    skv_pool *pool = borrow->pool;
    int64_t stamp[4] = {0}, left;
    bool seen = read_stamp(pool, stamp);

    pthread_mutex_lock(&pool->lock);
    left = pool->refused_until - skv_now_ns();
    if (!seen || memcmp(stamp, pool->refused_stamp, sizeof stamp) != 0)
        left = 0;
    if (left > 0)
        skv_fail(borrow->reply, SKV_DENIED, "%s (not tried again for %" PRId64 " s, unless the file changes)",
                 pool->refused_why, left / S + 1);
    pthread_mutex_unlock(&pool->lock);
    return left > 0;
}

static void note_refusal(skv_borrow *borrow)
{
    skv_pool *pool = borrow->pool;
    int64_t stamp[4];

    if (borrow->reply->status != SKV_DENIED || !read_stamp(pool, stamp))
        return;
    pthread_mutex_lock(&pool->lock);
    pool->refused_ns = pool->refused_ns ? pool->refused_ns * 2 : REFUSED_MIN_NS;
    if (pool->refused_ns > REFUSED_MAX_NS || memcmp(stamp, pool->refused_stamp, sizeof stamp) != 0)
        pool->refused_ns = pool->refused_ns > REFUSED_MAX_NS ? REFUSED_MAX_NS : REFUSED_MIN_NS;
    memcpy(pool->refused_stamp, stamp, sizeof stamp);
    pool->refused_until = skv_now_ns() + pool->refused_ns;
    pool->proven = false;
    snprintf(pool->refused_why, sizeof pool->refused_why, "%.1000s", borrow->reply->message);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- All servers ------------------------------------------------------------------------------------------------ */

/* What was wrong with each server, for the reply. */
typedef struct reasons {
    int status;
    char text[SKV_MESSAGE_MAX];
} reasons;

static void add_reason(reasons *r, const char *text, const char *more, int status)
{
    size_t used = strlen(r->text);

    snprintf(r->text + used, sizeof r->text - used, "%s%s%s", used ? "; " : "", text, more);
    if (!used || status == SKV_UNAVAILABLE)
        r->status = status;
}

/* The servers that were not tried. Under the lock. */
static void add_resting(skv_pool *pool, reasons *r, const bool *tried)
{
    for (int i = 0; i < pool->servers; i++) {
        const skv_server *server = &pool->server[i];
        int64_t left = rests_until(pool, i) - skv_now_ns();
        char more[64] = " (being tried again at the moment)";

        if (tried[i] || !server->rest_until)
            continue;
        if (left > 0)
            snprintf(more, sizeof more, " (tried again in %" PRId64 " ms)", left / MS + 1);
        /* It was not this call that ran out of time. */
        add_reason(r, server->why, more, server->why_status == SKV_TIMEOUT ? SKV_UNAVAILABLE : server->why_status);
    }
}

static void fail_all(skv_borrow *borrow, reasons *r, const bool *tried)
{
    pthread_mutex_lock(&borrow->pool->lock);
    add_resting(borrow->pool, r, tried);
    pthread_mutex_unlock(&borrow->pool->lock);
    skv_fail(borrow->reply, r->status, "%s", r->text);
}

/* Tries each server that may be tried, in order. *done is set when there is nothing more to try: a connection, or a
 * failure that the next server would have as well. */
static skv_slot *try_all(skv_borrow *borrow, reasons *r, bool *tried, bool *done)
{
    skv_pool *pool = borrow->pool;
    skv_conn_failure failure;
    skv_slot *slot;
    int index = -1;

    *done = false;
    for (;;) {
        int64_t most = INT64_MAX;

        pthread_mutex_lock(&pool->lock);
        index = claim(pool, index + 1, pool->servers);
        if (index >= 0 && pool->server[index].probing && another_is_well(pool, index))
            most = PROBE_NS;
        pthread_mutex_unlock(&pool->lock);
        if (index < 0)
            return NULL;
        slot = attempt(borrow, index, most, &failure);
        *done = slot || failure == SKV_CONN_STOPPED || failure == SKV_CONN_REJECTED;
        if (failure == SKV_CONN_REJECTED)
            note_refusal(borrow);
        if (*done)
            return slot;
        tried[index] = true;
        add_reason(r, borrow->reply->message, "", borrow->reply->status);
        skv_reply_reset(borrow->reply);
    }
}

/* When it is worth while to wait for a server that rests, or is being probed: until when; else 0. */
static int64_t worth_waiting(skv_pool *pool, int64_t patience_ends)
{
    int64_t now = skv_now_ns(), soonest = INT64_MAX;

    pthread_mutex_lock(&pool->lock);
    for (int i = 0; i < pool->servers; i++) {
        int64_t until = pool->server[i].probing ? now + 5 * MS : rests_until(pool, i);
        if (until < soonest)
            soonest = until;
    }
    pthread_mutex_unlock(&pool->lock);
    return soonest <= patience_ends ? soonest : 0;
}

/* Waits for the turn to open. */
static bool enter(skv_borrow *borrow)
{
    skv_pool *pool = borrow->pool;

    for (;;) {
        bool free;
        int status;

        pthread_mutex_lock(&pool->lock);
        free = pool->proven || !pool->proving;
        if (free && !pool->proven)
            pool->proving = borrow->proving = true;
        pthread_mutex_unlock(&pool->lock);
        if (free)
            return true;
        status = skv_wait_pause(borrow->wait, 2 * MS);
        if (status != SKV_OK) {
            skv_fail(borrow->reply, status, "%s: %s while another call was connecting", pool->server[0].uri.text,
                     status == SKV_TIMEOUT ? "timed out" : "interrupted");
            return false;
        }
    }
}

static void leave(skv_borrow *borrow)
{
    if (!borrow->proving)
        return;
    pthread_mutex_lock(&borrow->pool->lock);
    borrow->pool->proving = borrow->proving = false;
    pthread_mutex_unlock(&borrow->pool->lock);
}

static skv_slot *open_somewhere(skv_borrow *borrow)
{
    int64_t patience_ends = skv_now_ns() + PATIENCE_NS, until;
    reasons r = {.status = SKV_UNAVAILABLE};
    bool tried[SKV_URIS_MAX] = {false}, done;
    skv_slot *slot;
    int status;

    for (;;) {
        slot = try_all(borrow, &r, tried, &done);
        if (done)
            return slot;
        until = r.text[0] ? 0 : worth_waiting(borrow->pool, patience_ends);
        if (!until) {
            fail_all(borrow, &r, tried);
            return NULL;
        }
        status = skv_wait_pause(borrow->wait, until - skv_now_ns() > 0 ? until - skv_now_ns() : 0);
        if (status != SKV_OK) {
            r.status = status;
            fail_all(borrow, &r, tried);
            return NULL;
        }
    }
}

skv_slot *skv_pool_open(skv_borrow *borrow)
{
    skv_slot *slot = NULL;

    if (!enter(borrow))
        return NULL;
    if (!is_refused(borrow))
        slot = open_somewhere(borrow);
    leave(borrow);
    return slot;
}

skv_slot *skv_pool_improve(skv_borrow *borrow, skv_slot *slot)
{
    skv_pool *pool = borrow->pool;
    skv_conn_failure failure;
    skv_slot *better;
    skv_conn *old;
    int index;

    pthread_mutex_lock(&pool->lock);
    index = pool->refused_until ? -1 : claim(pool, 0, slot->server);
    pthread_mutex_unlock(&pool->lock);
    if (index < 0)
        return slot;
    better = attempt(borrow, index, PROBE_NS, &failure);
    if (!better && borrow->reply->status != SKV_INTERRUPTED)
        skv_reply_reset(borrow->reply);
    if (!better)
        return slot;
    pthread_mutex_lock(&pool->lock);
    old = skv_slot_remove(pool, slot);
    pthread_mutex_unlock(&pool->lock);
    skv_conn_close(old);
    return better;
}
