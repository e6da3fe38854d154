/* pool_fixture.h - for the tests of the pool: pools of their own, and short words for what they do and count. */
#ifndef SKV_TEST_POOL_FIXTURE_H
#define SKV_TEST_POOL_FIXTURE_H

#include "calls.h"
#include "pool.h"
#include "slapd.h"

#include <jansson.h>

extern const skv_pool_limits limits;

skv_wait within(int64_t timeout_ms, skv_cancel *cancel);

/* Makes a pool that no other test shares: the bind DN differs for the registry, and not for the server. */
skv_pool *pool_of(const char *uri, const char *password_file);

/* Borrows a connection; NULL with `reply` filled. */
skv_conn *borrow(skv_pool *pool, int64_t timeout_ms);

/* Does one operation. Returns whether it was answered. */
bool use(skv_conn *conn);

bool is_at(const skv_conn *conn, const slapd *server);

/* The statistics of all pools, which the caller releases; of the pool made last; of one of its servers. */
json_t *stats(void);
json_int_t pool_stat(const char *name);
json_int_t server_stat(size_t server, const char *name);

#endif
