/* pool_fixture.h - for the tests of the pool: pools of their own, and their statistics. */
#ifndef SKV_TEST_POOL_FIXTURE_H
#define SKV_TEST_POOL_FIXTURE_H

#include "calls.h"
#include "net/pool_failover.h"
#include "slapd.h"

#include <jansson.h>

extern const skv_pool_limits limits;

skv_deadline within(int64_t timeout_ms, skv_cancel *cancel);

/* Makes a pool that no other test shares. Its bind DN differs for the registry, but not for the server. */
skv_pool *pool_of(const char *uri, const char *password_file);

/* Borrows a connection; NULL with `reply` filled. */
skv_conn *borrow(skv_pool *pool, int64_t timeout_ms);

/* Does one operation. Returns true if the server responded. */
bool use(skv_conn *conn);

bool is_at(const skv_conn *conn, const slapd *server);

/* The statistics of all pools, and of a server of the pool that was made last. The caller releases them. */
json_t *stats(void);
json_t *server_stats(size_t server);

/* One number of the pool that was made last, or of one of its servers. */
json_int_t pool_stat(const char *name);
json_int_t server_stat(size_t server, const char *name);

/* Checks that no pool of the process counts a connection that nobody holds. */
void no_place_was_lost(void);

/* ---- Pools of several servers, and what they know of them ---- */

/* A pool of two servers. */
skv_pool *pool_of_both(const char *uri, const char *other, const char *password_file);

/* Ends the quarantine of a server, or prolongs it, without waiting. */
void set_quarantine(skv_pool *pool, int server, int64_t until);

skv_health health_of(skv_pool *pool, int server);

/* Puts a server that is up into a quarantine that lasts for the test. */
void mark_down(skv_pool *pool, int server);

/* Gives a connection back so that the next borrow opens a new one. */
void return_invalidated(skv_pool *pool, skv_conn *conn);

/* Borrows and returns a connection, and checks its server. */
void is_served_by(skv_pool *pool, const slapd *server, int64_t timeout_ms);

#endif
