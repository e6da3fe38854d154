#include "net/pool_failover.h"

#include <stdio.h>
#include <string.h>

#define MS SKV_NS_PER_MS
#define S (1000 * MS)

/* The quarantine of a server that is down. It is shorter if no other server is up. */
#define DOWN_MIN_NS (200 * MS)
#define DOWN_MAX_NS (30 * S)
#define DOWN_ALONE_NS (2 * S)

/* The quarantine of a server that refused the credentials: more refusals may lock the account. */
#define REFUSING_MIN_NS (10 * S)
#define REFUSING_MAX_NS (60 * S)

/* The time that a call waits for the end of a quarantine, or of another call's probe. */
#define QUARANTINE_WAIT_NS (500 * MS)

/* The interval at which a call checks the attempt of another call. */
#define LOOK_NS (2 * MS)

/* The limit of a probe while another server is up; also of an attempt for which other calls wait, if there is another
 * server. */
#define PROBE_NS (1 * S)

uint32_t skv_pool_random(skv_pool *pool, uint32_t below)
{
    pool->random ^= pool->random << 13;
    pool->random ^= pool->random >> 17;
    pool->random ^= pool->random << 5;
    return pool->random % below;
}

/* ---- The password file ------------------------------------------------------------------------------------------ */

/* Returns false for an identity that binds without a password: refused binds cannot lock an account then. */
static bool has_password(const skv_pool *pool)
{
    return pool->identity.password_file[0] != '\0';
}

/* Returns true if a server has accepted the password file as it is now, and none of its later binds was refused. */
static bool is_stamp_accepted(const skv_pool *pool, const skv_stamp *stamp)
{
    for (int i = 0; i < pool->servers; i++)
        if (pool->server[i].has_accepted && skv_stamp_equals(&pool->server[i].accepted, stamp))
            return true;
    return false;
}

static bool has_refused_stamp(const skv_server *server, const skv_stamp *stamp)
{
    return server->health == SKV_SERVER_REFUSING && skv_stamp_equals(&server->refused, stamp);
}

/* Returns true while the pool binds with the last password, because a server has refused the file and accepted that. */
static bool uses_last_password(const skv_pool *pool, const skv_stamp *stamp)
{
    return pool->rotation.is_file_refused && skv_stamp_equals(&pool->rotation_file, stamp);
}

/* Returns true while the pool does not use the password: a server has refused it, and none has accepted it. */
static bool is_password_barred(const skv_pool *pool, const skv_stamp *stamp, int64_t now)
{
    for (int i = 0; i < pool->servers; i++)
        if (has_refused_stamp(&pool->server[i], stamp) && now < pool->server[i].quarantine_until)
            return !is_stamp_accepted(pool, stamp) && !uses_last_password(pool, stamp);
    return false;
}

/* Returns true if binds with this file may run at the same time: all of them begin with the password that a server has
 * accepted. While the file differs from that of the pool's passwords, a bind may begin with a wrong password. That
 * holds even if this stamp is the older one, because the bind reads the file anew. Two refusals without an accepted
 * bind between them may lock the account. */
static bool may_bind_together(const skv_pool *pool, const skv_stamp *stamp)
{
    return !has_password(pool) || (skv_stamp_equals(&pool->rotation_file, stamp) && is_stamp_accepted(pool, stamp));
}

/* ---- Quarantine ------------------------------------------------------------------------------------------------- */

static bool another_is_up(const skv_pool *pool, int but)
{
    for (int i = 0; i < pool->servers; i++)
        if (i != but && pool->server[i].health == SKV_SERVER_UP)
            return true;
    return false;
}

int64_t skv_server_quarantine_end(const skv_pool *pool, int index, const skv_stamp *stamp, int64_t now)
{
    const skv_server *server = &pool->server[index];
    int64_t until = server->quarantine_until;

    if (server->health == SKV_SERVER_UP || (server->health == SKV_SERVER_REFUSING && !has_refused_stamp(server, stamp)))
        return 0;
    if (server->health == SKV_SERVER_DOWN && until > server->quarantine_from + DOWN_ALONE_NS &&
        !another_is_up(pool, index))
        until = server->quarantine_from + DOWN_ALONE_NS;
    return until > now ? until : 0;
}

/* The next back-off: twice the longest that any server has for the same reason. */
static int64_t next_backoff(const skv_pool *pool, const skv_server *server, skv_health health, const skv_stamp *stamp)
{
    int64_t min = health == SKV_SERVER_DOWN ? DOWN_MIN_NS : REFUSING_MIN_NS;
    int64_t max = health == SKV_SERVER_DOWN ? DOWN_MAX_NS : REFUSING_MAX_NS, last = 0;

    if (health == SKV_SERVER_DOWN)
        last = server->health == health ? server->backoff_ns : 0;
    for (int i = 0; i < pool->servers && health == SKV_SERVER_REFUSING; i++)
        if (has_refused_stamp(&pool->server[i], stamp) && pool->server[i].backoff_ns > last)
            last = pool->server[i].backoff_ns;
    if (!last)
        return min;
    return last < max / 2 ? 2 * last : max;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Starts a quarantine of `min_ns` or longer. Of several attempts that fail at the same time, the first one counts. */
static void start_quarantine(skv_pool *pool, skv_server *server, skv_health health, const skv_stamp *stamp,
                             const skv_why *why, int64_t min_ns)
{
    int64_t now = skv_now_ns(), jitter;

    if (server->health >= health && skv_server_quarantine_end(pool, (int)(server - pool->server), stamp, now))
        return;
    server->why = *why;
    server->backoff_ns = larger(next_backoff(pool, server, health, stamp), min_ns);
    server->health = health;
    if (health == SKV_SERVER_REFUSING)
        server->refused = *stamp;
    jitter = server->backoff_ns / 100 * (int64_t)skv_pool_random(pool, 25);
    server->quarantine_from = now;
    /* The jitter shortens the quarantine after a refusal: a corrected password works within 60 s. */
    server->quarantine_until = now + server->backoff_ns + (health == SKV_SERVER_DOWN ? jitter : -jitter);
}

void skv_server_mark_down(skv_pool *pool, skv_server *server, const char *what, int64_t min_ns)
{
    skv_why why = {.status = SKV_UNAVAILABLE};
    bool alone = true;

    for (int i = 0; i < pool->servers; i++)
        alone = alone && (&pool->server[i] == server || pool->server[i].health != SKV_SERVER_UP);
    if (alone)
        return;
    snprintf(why.text, sizeof why.text, "%s: the server %s a moment ago", server->uri.text, what);
    start_quarantine(pool, server, SKV_SERVER_DOWN, &server->refused, &why,
                     min_ns < DOWN_MAX_NS ? min_ns : DOWN_MAX_NS);
}

/* ---- Choosing --------------------------------------------------------------------------------------------------- */

/* Returns true if the search may try the server now. */
static bool is_candidate(const skv_pool *pool, const skv_search *search, int index, int64_t now)
{
    const skv_server *server = &pool->server[index];

    return !search->tried[index] && !server->probing && !skv_server_quarantine_end(pool, index, &search->stamp, now);
}

/* Returns the first candidate, -1 for none. While no server has accepted the password, one that has refused it comes
 * last. */
static int first_candidate(const skv_pool *pool, const skv_search *search, bool accepted, int64_t now)
{
    int last = -1;

    for (int i = 0; i < search->end; i++) {
        if (!is_candidate(pool, search, i, now))
            continue;
        if (accepted || !has_refused_stamp(&pool->server[i], &search->stamp))
            return i;
        last = last < 0 ? i : last;
    }
    return last;
}

/* Returns the limit of an attempt. A connection that the call holds already counts as another server. */
static int64_t attempt_limit(const skv_pool *pool, const skv_search *search, const skv_turn *turn, int64_t left_ns,
                             int64_t now)
{
    int64_t parts = search->improves ? 2 : 1, most;

    for (int i = 0; i < search->end && !search->improves; i++)
        parts += i != turn->index && is_candidate(pool, search, i, now);
    most = left_ns / parts;
    if (most < SKV_ATTEMPT_MIN_NS)
        most = SKV_ATTEMPT_MIN_NS;
    if (most > PROBE_NS &&
        (search->improves || (turn->probes && another_is_up(pool, turn->index)) || (turn->proves && parts > 1)))
        most = PROBE_NS;
    return most < left_ns ? most : left_ns;
}

/* Decides without a candidate: to wait for the end of a quarantine or of a probe, or to give up if the call has tried a
 * server already or the wait would be too long. */
static skv_step wait_or_give_up(const skv_pool *pool, skv_search *search, int64_t now, skv_turn *turn)
{
    int64_t soonest = INT64_MAX;

    for (int i = 0; i < search->end; i++) {
        int64_t end = pool->server[i].probing ? now + LOOK_NS : skv_server_quarantine_end(pool, i, &search->stamp, now);

        soonest = end < soonest ? end : soonest;
    }
    if (!search->wait_ends)
        search->wait_ends = now + QUARANTINE_WAIT_NS;
    turn->until = soonest;
    return search->has_tried || search->improves || soonest > search->wait_ends ? SKV_STEP_GIVE_UP : SKV_STEP_WAIT;
}

skv_step skv_server_choose(skv_pool *pool, skv_search *search, int64_t left_ns, skv_turn *turn)
{
    int64_t now = skv_now_ns();
    bool accepted = may_bind_together(pool, &search->stamp);
    int index = first_candidate(pool, search, accepted, now);

    *turn = (skv_turn){.index = index};
    if (is_password_barred(pool, &search->stamp, now))
        return SKV_STEP_GIVE_UP;
    if (index < 0)
        return wait_or_give_up(pool, search, now, turn);
    if (!accepted && pool->proving) {
        turn->until = now + LOOK_NS;
        return search->improves ? SKV_STEP_GIVE_UP : SKV_STEP_WAIT;
    }
    turn->probes = pool->server[index].health != SKV_SERVER_UP;
    turn->proves = !accepted;
    turn->most_ns = attempt_limit(pool, search, turn, left_ns, now);
    if (search->improves && turn->most_ns < SKV_ATTEMPT_MIN_NS)
        return SKV_STEP_GIVE_UP;
    pool->server[index].probing |= turn->probes;
    pool->proving |= turn->proves;
    return SKV_STEP_ATTEMPT;
}

bool skv_server_may_improve(const skv_pool *pool, int end)
{
    int64_t now = skv_now_ns();

    for (int i = 0; i < end; i++) {
        const skv_server *server = &pool->server[i];

        if (!server->probing && (server->health != SKV_SERVER_DOWN || now >= server->quarantine_until))
            return true;
    }
    return false;
}

/* ---- Outcomes --------------------------------------------------------------------------------------------------- */

/* Returns true if a late attempt shows that the server is down. A very short one shows nothing. The only server that is
 * up gets more time, because its quarantine would fail calls that have enough time. */
static bool is_timeout_conclusive(const skv_pool *pool, const skv_turn *turn)
{
    return turn->most_ns >= (another_is_up(pool, turn->index) ? SKV_ATTEMPT_MIN_NS : PROBE_NS);
}

static void mark_up(skv_server *server)
{
    server->binds++;
    server->health = SKV_SERVER_UP;
    server->quarantine_until = server->backoff_ns = 0;
}

void skv_server_note(skv_pool *pool, const skv_search *search, const skv_turn *turn, skv_outcome outcome,
                     const skv_reply *reply)
{
    skv_server *server = &pool->server[turn->index];
    skv_why why = {.status = reply->status == SKV_TIMEOUT ? SKV_UNAVAILABLE : reply->status, .fault = reply->fault};

    snprintf(why.text, sizeof why.text, "%.*s", (int)sizeof why.text - 1, reply->message);
    if (turn->probes)
        server->probing = false;
    if (turn->proves)
        pool->proving = false;
    server->connects++;
    server->failures += outcome != SKV_ATTEMPT_CONNECTED && outcome != SKV_ATTEMPT_CONNECTED_BY_LAST;
    switch (outcome) {
    case SKV_ATTEMPT_CONNECTED:
        server->has_accepted = true;
        server->accepted = search->stamp;
        mark_up(server);
        break;
    case SKV_ATTEMPT_CONNECTED_BY_LAST:
        mark_up(server);
        break;
    case SKV_ATTEMPT_REFUSED:
        server->has_accepted = false;
        start_quarantine(pool, server, has_password(pool) ? SKV_SERVER_REFUSING : SKV_SERVER_DOWN, &search->stamp, &why,
                         0);
        break;
    case SKV_ATTEMPT_LATE:
        if (is_timeout_conclusive(pool, turn))
            start_quarantine(pool, server, SKV_SERVER_DOWN, &search->stamp, &why, 0);
        break;
    case SKV_ATTEMPT_UNREACHABLE:
        start_quarantine(pool, server, SKV_SERVER_DOWN, &search->stamp, &why, 0);
        break;
    case SKV_ATTEMPT_MISCONFIGURED:
    case SKV_ATTEMPT_INTERRUPTED:
    case SKV_ATTEMPT_NO_MEMORY:
        break;
    }
}

/* ---- Passwords -----------------------------------------------------------------------------------------------------
 */

void skv_pool_get_rotation(const skv_pool *pool, const skv_search *search, const skv_turn *turn, skv_rotation *rotation)
{
    *rotation = pool->rotation;
    /* A turn that proves nothing may run beside others, which may have noted a new file since it was chosen. */
    rotation->begins_with_last =
        rotation->last.len && (!turn->proves || skv_stamp_equals(&pool->rotation_file, &search->stamp));
    rotation->is_file_refused = rotation->is_file_refused && rotation->begins_with_last;
    rotation->is_last_refused = pool->server[turn->index].has_refused_last;
}

void skv_pool_note_rotation(skv_pool *pool, const skv_search *search, int server, const skv_rotation *rotation,
                            bool is_connected)
{
    bool same = skv_password_equals(&rotation->last, &pool->rotation.last);

    if (rotation->version != pool->rotation.version)
        return;
    for (int i = 0; i < pool->servers; i++)
        pool->server[i].has_refused_last = pool->server[i].has_refused_last && same;
    pool->server[server].has_refused_last = rotation->is_last_refused;
    if (same && (rotation->begins_with_last || (!rotation->is_file_refused && !is_connected)))
        return;
    pool->rotation = *rotation;
    pool->rotation.version++;
    pool->rotation_file = search->stamp;
}
