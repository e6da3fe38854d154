/* pool_state.h - what a pool consists of; for its own files. */
#ifndef SKV_POOL_STATE_H
#define SKV_POOL_STATE_H

#include "pool.h"

#include <pthread.h>

/* Bucket n of the histogram counts operations of less than 2^n microseconds; the last one, all that took longer. */
#define SKV_LATENCY_BUCKETS 26

/* A server, its idle connections, and what became of attempts to reach it. */
typedef struct skv_server {
    skv_uri uri;
    struct skv_slot *idle_first, *idle_last; /* the first is the one used last */
    /* The retry-after state. A server rests from a failure until rest_until (0: it does not rest). */
    int64_t rest_from, rest_until;
    int64_t rest_ns; /* how long its next rest is, before jitter */
    bool probing;    /* one borrower tries it, resting though it is */
    int why_status;  /* of that failure */
    char why[512];
    /* What the newest connection has learnt of it. */
    skv_tls_facts tls;
    char vendor[SKV_VENDOR_MAX];
    /* Statistics. */
    int open, idle;
    int64_t connects, binds, failures, blames, timeouts;
    int64_t operations[SKV_OP_COUNT], retries[SKV_RETRY_COUNT], latency[SKV_LATENCY_BUCKETS];
} skv_server;

/* A connection, and what the pool keeps with it: its owner, in conn.h's sense. */
typedef struct skv_slot {
    struct skv_slot *prev, *next;           /* all of the pool's */
    struct skv_slot *idle_prev, *idle_next; /* of one server's idle ones */
    skv_conn *conn;
    int server;
    unsigned generation;
    int64_t idle_since, expires;
} skv_slot;

/* Who waits for a connection: on the stack of skv_pool_borrow(). Gets an idle connection or a place for a new one. */
typedef struct skv_waiter {
    struct skv_waiter *next;
    int event; /* an eventfd */
    bool granted;
    skv_slot *slot; /* NULL: a place */
} skv_waiter;

struct skv_pool {
    struct skv_pool *next;
    skv_identity identity;
    pthread_mutex_t lock; /* for what follows. Nothing waits under it, and there is no I/O but waking a waiter */
    unsigned generation;  /* counts forks */
    int size;             /* the most places */
    int places;           /* taken: idle, in use, or about to be opened */
    skv_slot *slots;
    skv_waiter *waiter_first, *waiter_last;
    uint32_t random;
    /* Until a bind has succeeded, one borrower at a time opens: a wrong password is tried once, not eight times. */
    bool proven, proving;
    /* After the password was refused: until when the same file is not tried again, and what was said. */
    int64_t refused_until, refused_ns;
    int64_t refused_stamp[4];
    char refused_why[1024];
    /* Statistics. */
    int64_t waits, wait_timeouts, wait_ns;
    int servers;
    skv_server server[SKV_URIS_MAX];
};

/* One call's way to a connection. */
typedef struct skv_borrow {
    skv_pool *pool;
    const skv_pool_limits *limits;
    skv_wait *wait;
    skv_reply *reply;
    unsigned generation;
    bool proving; /* whether it is this one who opens while the pool is not proven */
} skv_borrow;

/* A number between 0 and below - 1, not for secrets. Under the lock. */
uint32_t skv_pool_random(skv_pool *pool, uint32_t below);

/* Opens a connection to the first server that can be had, into a place that the borrower holds, and keeps. NULL with
 * the reply filled. Not under the lock. */
skv_slot *skv_pool_open(skv_borrow *borrow);

/* Tries to replace a connection to a server that is not the first by one to a server before it: the way back. Answers
 * the better one, or the same; the reply then holds a failure only if the call was interrupted. Not under the lock. */
skv_slot *skv_pool_improve(skv_borrow *borrow, skv_slot *slot);

/* Takes the slot out of the pool and frees it; its place stays taken. Answers the connection, to be closed by the
 * caller when the lock is released. Under the lock. */
skv_conn *skv_slot_remove(skv_pool *pool, skv_slot *slot);

/* Notes a failure of a server, which rests from now on. Under the lock. */
void skv_server_rest(skv_pool *pool, skv_server *server, int status, const char *why);

/* Calls `visit` for each pool, under the registry's lock and the pool's. */
void skv_pool_each(void (*visit)(skv_pool *pool, void *context), void *context);

#endif
