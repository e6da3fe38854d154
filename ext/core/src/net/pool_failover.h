/*
 * net/pool_failover.h - which server a new connection goes to. skv_server_choose() picks a server, the caller connects
 * to it, and skv_server_note() judges the outcome. All functions are called under the pool's lock, and none does
 * network I/O.
 *
 *     UP --------- unreachable, late, lost --------> DOWN      quarantine of 0.2 s, doubling to 30 s
 *     UP, DOWN --- credentials refused ------------> REFUSING  quarantine of 10 s, doubling to 60 s
 *     any -------- connected ----------------------> UP
 *
 * The quarantine of a server that kept silent begins with the time for which it did. A late attempt counts if it had 50
 * ms, or 1 s at the only server that is up. After its quarantine a server that is not up is probed by one call at a
 * time; a failed probe starts the next quarantine. An interrupt, a lack of memory or a missing file of this machine
 * changes nothing.
 */
#ifndef SKV_NET_POOL_FAILOVER_H
#define SKV_NET_POOL_FAILOVER_H

#include "net/pool_state.h"

/* The outcomes of an attempt to connect to a server. */
typedef enum skv_outcome {
    SKV_ATTEMPT_CONNECTED,
    SKV_ATTEMPT_CONNECTED_BY_LAST, /* connected with the last password: the server refused the file's */
    SKV_ATTEMPT_REFUSED,           /* the server refused the credentials */
    SKV_ATTEMPT_UNREACHABLE,       /* no connection, no TLS, or the server cannot serve now */
    SKV_ATTEMPT_LATE,              /* the attempt's time ran out */
    SKV_ATTEMPT_MISCONFIGURED,     /* a file of this machine is missing or wrong: says nothing about the server */
    SKV_ATTEMPT_INTERRUPTED,       /* these two say nothing about the server either */
    SKV_ATTEMPT_NO_MEMORY
} skv_outcome;

/* One call's search for a server, from skv_server_choose() to skv_server_choose(). */
typedef struct skv_search {
    int end;                  /* servers with a lower index are candidates */
    bool improves;            /* the call holds a connection already: it never waits, and only probes */
    bool tried[SKV_URIS_MAX]; /* each server is tried once */
    bool has_tried;           /* any of them */
    int64_t wait_ends;        /* how long the call waits for the end of a quarantine; 0: it has not waited yet */
    skv_stamp stamp;          /* of the password file before this step */
} skv_search;

typedef enum skv_step {
    SKV_STEP_ATTEMPT, /* connect to turn->index, then call skv_server_note() */
    SKV_STEP_WAIT,    /* until turn->until, then choose again */
    SKV_STEP_GIVE_UP
} skv_step;

typedef struct skv_turn {
    int index;
    bool probes, proves; /* skv_server_note() releases these */
    int64_t most_ns;     /* how long the attempt may take */
    int64_t until;
} skv_turn;

/* The shortest time without a response that says something about a server. An attempt gets at least that much, if the
 * call has it. */
#define SKV_ATTEMPT_MIN_NS (50 * SKV_NS_PER_MS)

/* Decides the search's next step. `left_ns` is how much time the call has. An attempt gets an equal share of it for
 * each server that may be tried, and 1 s at the most if another server may be tried and other calls wait for the
 * outcome. */
skv_step skv_server_choose(skv_pool *pool, skv_search *search, int64_t left_ns, skv_turn *turn);

/* Notes the outcome of an attempt: no other function judges one. The reply says why it failed. */
void skv_server_note(skv_pool *pool, const skv_search *search, const skv_turn *turn, skv_outcome outcome,
                     const skv_reply *reply);

/* Notes that a connection which had worked was lost, or a response did not come: the server is down for `min_ns` or
 * longer, unless it is the last one. */
void skv_server_mark_down(skv_pool *pool, skv_server *server, const char *what, int64_t min_ns);

/* Returns true if a call that has a connection could try a server before `end`: a cheap check, before the stamp of the
 * password file. */
bool skv_server_may_improve(const skv_pool *pool, int end);

/* Returns the time at which the server may be tried again; 0 for now. */
int64_t skv_server_quarantine_end(const skv_pool *pool, int index, const skv_stamp *stamp, int64_t now);

/*
 * The passwords of a pool while an administrator replaces the password, first in the file and then in the directory.
 * The pool keeps the last password that a server accepted, until a server accepts another one.
 *
 * Binds begin with that password while the file is the same. If the file has changed, one call at a time binds with its
 * new password. If the server refuses the new password, the call tries the last one once. If the server accepts that,
 * binds begin with the last password until a server refuses it, or the file changes again. So a replacement costs two
 * refused binds, one when the file changes and one when the directory does, and an accepted one follows each: the
 * server does not lock the account.
 */

/* Copies the pool's passwords for an attempt to connect. The caller wipes the copy. Under the lock. */
void skv_pool_get_rotation(const skv_pool *pool, const skv_search *search, const skv_turn *turn,
                           skv_rotation *rotation);

/* Notes the outcome of that attempt, unless another one has changed the pool's passwords meanwhile: a bind that is
 * older than the replacement must not bring the old password back. Under the lock. */
void skv_pool_note_rotation(skv_pool *pool, const skv_search *search, int server, const skv_rotation *rotation,
                            bool is_connected);

/* A number between 0 and below - 1, not for secrets. Under the lock. */
uint32_t skv_pool_random(skv_pool *pool, uint32_t below);

#endif
