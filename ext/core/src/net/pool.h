/*
 * net/pool.h - connections that outlive calls, stores and catalogs. One registry of pools is the only mutable global of
 * the core. No network I/O happens under its locks, and no thread runs in the background: a borrow closes idle
 * connections and probes servers.
 */
#ifndef SKV_NET_POOL_H
#define SKV_NET_POOL_H

#include "net/connection.h"

typedef struct skv_pool skv_pool;

/* The limits of a call that needs a connection. The largest size of all calls is that of the pool; each call has its
 * own times. */
typedef struct skv_pool_limits {
    int size;
    int64_t connect_timeout_ms, pool_timeout_ms, idle_timeout_ms;
} skv_pool_limits;

/* Returns the pool for these servers and this identity (both are copied), and makes it if there is none. It lives as
 * long as the process. Returns NULL with the reply filled when out of memory. Thread-safe. */
skv_pool *skv_pool_for(const skv_uris *uris, const skv_identity *identity, skv_reply *reply);

/*
 * Borrows a bound connection: an idle one, else a new one while there are fewer than limits->size, else the first that
 * another call returns. Waiting calls are served in the order of their arrival. Give back with skv_pool_return().
 * Thread-safe.
 *
 * The pool tries servers in order. An attempt gets the connect timeout, or its share of the call's remaining time if
 * that is less: a silent first server leaves time for the others. If there is another server, an attempt gets at most
 * 1 s until a server has accepted the password file, because other calls wait for that. A server that failed is in
 * quarantine for 0.2 s, doubling to 30 s; then one call at a time probes it. Calls return to the first server when it
 * is up again.
 *
 * A refused bind counts against the server that refused it: its quarantine is 10 s, doubling to 60 s, and ends when the
 * password file changes. A server that has accepted the same file continues to serve. A server that comes back with
 * another password is asked once per quarantine. Until a server has accepted the file, one refusal holds for the whole
 * pool, and the next attempt goes to another server: the servers of a directory usually share their count of failed
 * binds, and asking each of them would lock the account sooner.
 *
 * If the file has a new password that a server refuses, the pool goes on with the last password that one accepted, so
 * that an administrator can replace the password in the file before the directory (skv_rotation in net/password.h).
 *
 * Returns NULL on failure, with the reply filled, which must be empty before. The message is never empty, and names the
 * failure of each server.
 *   SKV_UNAVAILABLE    no server can be reached: a later attempt may succeed
 *   SKV_DENIED         the password is refused, or no server's certificate can be verified
 *   SKV_INVALID        a file of this machine is missing or malformed
 *   SKV_TIMEOUT, SKV_INTERRUPTED, SKV_NOMEM
 */
skv_conn *skv_pool_borrow(skv_pool *pool, const skv_pool_limits *limits, skv_deadline *deadline, skv_reply *reply);

/* Binds once as another identity, on a connection of its own to the first server that can be reached, and closes the
 * connection. The failures of the bind do not count in the pool. Returns SKV_OK with *is_right telling if the server
 * accepts the password, or the reply's failure. Thread-safe. */
skv_status skv_pool_try_password(skv_pool *pool, const skv_pool_limits *limits, const char *dn, const char *password,
                                 skv_deadline *deadline, bool *is_right, skv_reply *reply);

/* The kinds of operations, for the statistics. */
typedef enum skv_op {
    SKV_OP_GET,
    SKV_OP_EXISTS,
    SKV_OP_PUT,
    SKV_OP_DELETE,
    SKV_OP_DELETETREE,
    SKV_OP_CREATE_FOLDER,
    SKV_OP_DELETE_FOLDER,
    SKV_OP_LIST,
    SKV_OP_ENTRY_READ,
    SKV_OP_ENTRY_ADD,
    SKV_OP_ENTRY_MODIFY,
    SKV_OP_ENTRY_DELETE,
    SKV_OP_ENTRY_LIST,
    SKV_OP_ENTRY_PASSWORD,
    SKV_OP_COUNT
} skv_op;

/* The reasons to try an operation again, for the statistics. */
typedef enum skv_retry { SKV_RETRY_BUSY, SKV_RETRY_UNAVAILABLE, SKV_RETRY_LOST, SKV_RETRY_COUNT } skv_retry;

/* Gives a connection back. The pool discards one that is not usable, and frees its place. */
void skv_pool_return(skv_pool *pool, skv_conn *conn);

/* Takes a borrowed connection out of the pool, and frees its place. It is the caller's to close. What happens to it
 * says nothing about its server any more: the three functions below ignore it. */
void skv_pool_detach(skv_pool *pool, skv_conn *conn);

/* Marks the connection's server as down (52, lost connection), unless it is the only one that is up. */
void skv_pool_mark_down(skv_pool *pool, const skv_conn *conn);

/* The same for a server that did not respond in time. The pool closes its other connections instead of lending them.
 * The quarantine lasts as long as the server was silent, or longer, so that probes of a server that hangs cost little.
 */
void skv_pool_mark_timed_out(skv_pool *pool, const skv_conn *conn, int64_t silence_ns);

/* Returns the longest time for which the connection's server may keep silent before a read goes to another server: an
 * equal share of the time that is left for each server that is up. Returns INT64_MAX if no other server is up, or if
 * the share is too short to say anything about the server. */
int64_t skv_pool_share(skv_pool *pool, const skv_conn *conn, int64_t left_ns);

void skv_pool_count(skv_pool *pool, const skv_conn *conn, skv_op op, int64_t nanoseconds);
void skv_pool_count_retry(skv_pool *pool, const skv_conn *conn, skv_retry why);

#endif
