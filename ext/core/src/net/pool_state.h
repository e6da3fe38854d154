/* net/pool_state.h - the state of a pool, for its own files. */
#ifndef SKV_NET_POOL_STATE_H
#define SKV_NET_POOL_STATE_H

#include "base/stamp.h"
#include "net/pool.h"

#include <pthread.h>

/* Bucket n of the histogram counts operations of less than 2^n microseconds; the last one, all that took longer. */
#define SKV_LATENCY_BUCKETS 26

/* The state of a server for its pool. */
typedef enum skv_health {
    SKV_SERVER_UP,
    SKV_SERVER_DOWN,    /* it failed: not used until quarantine_until, and then probed by one call at a time */
    SKV_SERVER_REFUSING /* it refused the password file: the same, until the file changes */
} skv_health;

/* Why the last attempt to use a server failed. */
typedef struct skv_why {
    skv_status status;
    skv_fault fault;
    char text[1024];
} skv_why;

/* A server, its idle connections, and the outcome of attempts to connect to it. */
typedef struct skv_server {
    skv_uri uri;
    struct skv_slot *idle_first, *idle_last; /* the first is the one used last */
    skv_health health;
    int64_t quarantine_from, quarantine_until;
    int64_t backoff_ns;    /* the length of this quarantine, before jitter; the next one is twice as long */
    bool probing;          /* one call tries the server, though it is not up */
    skv_stamp refused;     /* SKV_SERVER_REFUSING: the file that it refused */
    bool has_accepted;     /* the last bind that it responded to succeeded, */
    skv_stamp accepted;    /* with this file */
    bool has_refused_last; /* the last password that the pool's servers have accepted */
    skv_why why;
    /* From the newest connection. */
    skv_tls_facts tls;
    char vendor[SKV_VENDOR_MAX];
    /* Statistics. */
    int open, idle;
    int64_t connects, binds, failures, times_down, timeouts;
    int64_t operations[SKV_OP_COUNT], retries[SKV_RETRY_COUNT], latency[SKV_LATENCY_BUCKETS];
} skv_server;

/* A connection with the state that the pool keeps for it. */
typedef struct skv_slot {
    struct skv_slot *prev, *next;           /* all of the pool's */
    struct skv_slot *idle_prev, *idle_next; /* of one server's idle ones */
    skv_conn *conn;
    int server;
    unsigned generation;
    int64_t idle_since, expires;
} skv_slot;

/* A call that waits for a connection, on the stack of skv_pool_borrow(). It gets an idle connection, or a place for a
 * new one. */
typedef struct skv_waiter {
    struct skv_waiter *next;
    int event; /* an eventfd */
    bool granted;
    skv_slot *slot; /* NULL: a place */
} skv_waiter;

struct skv_pool {
    struct skv_pool *next;
    skv_identity identity;
    pthread_mutex_t lock; /* for the members below. No call waits under it, or does I/O except to wake a waiter */
    unsigned generation;  /* counts forks */
    int size;             /* the most places */
    int places;           /* taken: idle, in use, or about to be opened */
    skv_slot *slots;
    skv_waiter *waiter_first, *waiter_last;
    uint32_t random;
    /* Until a server has accepted the password file, one call at a time binds. Eight threads then try a wrong password
     * once, and not eight times. */
    bool proving;
    skv_rotation rotation;   /* begins_with_last and is_last_refused are those of an attempt */
    skv_stamp rotation_file; /* that a server accepted, or refused if rotation.is_file_refused */
    /* Statistics. */
    int64_t waits, wait_timeouts, wait_ns;
    int servers;
    skv_server server[SKV_URIS_MAX];
};

/* The state of a borrow. */
typedef struct skv_borrow {
    skv_pool *pool;
    const skv_pool_limits *limits;
    skv_deadline *deadline;
    skv_reply *reply;
    unsigned generation;
    bool expired; /* the idle connection that acquire_slot() took is too old */
} skv_borrow;

/* Opens a connection to the first server that accepts one, for a place that the borrower holds and keeps. Returns NULL
 * with the reply filled. Not under the lock. */
skv_slot *skv_pool_open(skv_borrow *borrow);

/* Tries to replace a connection by one to a server that comes before its own. Returns the better one, or the same; the
 * reply holds a failure only if the call was interrupted. Not under the lock. */
skv_slot *skv_pool_improve(skv_borrow *borrow, skv_slot *slot);

/* Calls `visit` for each pool, under the registry's lock and the pool's. */
void skv_pool_each(void (*visit)(skv_pool *pool, void *context), void *context);

/* Takes the slot out of the pool and frees it; its place stays taken. Returns the connection, which the caller closes
 * after it has released the lock. Under the lock. */
skv_conn *skv_slot_remove(skv_pool *pool, skv_slot *slot);

#endif
