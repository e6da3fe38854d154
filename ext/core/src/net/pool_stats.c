/* The statistics of pools, as JSON. They never contain a password. */
#include "net/pool_state.h"
#include "json/tree.h"

#include <string.h>

static const char *const op_names[SKV_OP_COUNT] = {
    [SKV_OP_GET] = "get",
    [SKV_OP_EXISTS] = "exists",
    [SKV_OP_PUT] = "put",
    [SKV_OP_DELETE] = "delete",
    [SKV_OP_DELETETREE] = "deletetree",
    [SKV_OP_CREATE_FOLDER] = "create_folder",
    [SKV_OP_DELETE_FOLDER] = "delete_folder",
    [SKV_OP_LIST] = "list",
    [SKV_OP_ENTRY_READ] = "entry_read",
    [SKV_OP_ENTRY_ADD] = "entry_add",
    [SKV_OP_ENTRY_MODIFY] = "entry_modify",
    [SKV_OP_ENTRY_DELETE] = "entry_delete",
    [SKV_OP_ENTRY_LIST] = "entry_list",
    [SKV_OP_ENTRY_PASSWORD] = "entry_password",
};

static const char *const retry_names[SKV_RETRY_COUNT] = {
    [SKV_RETRY_BUSY] = "busy",
    [SKV_RETRY_UNAVAILABLE] = "unavailable",
    [SKV_RETRY_LOST] = "lost",
};

static int latency_bucket(int64_t nanoseconds)
{
    int64_t microseconds = nanoseconds / 1000;
    int bucket = 0;

    while (microseconds > 0 && bucket < SKV_LATENCY_BUCKETS - 1) {
        microseconds >>= 1;
        bucket++;
    }
    return bucket;
}

static skv_server *server_of_connection(skv_pool *pool, const skv_conn *conn)
{
    const skv_slot *slot = skv_conn_owner(conn);

    return &pool->server[slot->server];
}

void skv_pool_count(skv_pool *pool, const skv_conn *conn, skv_op op, int64_t nanoseconds)
{
    skv_server *server = server_of_connection(pool, conn);

    pthread_mutex_lock(&pool->lock);
    server->operations[op]++;
    server->latency[latency_bucket(nanoseconds)]++;
    pthread_mutex_unlock(&pool->lock);
}

void skv_pool_count_retry(skv_pool *pool, const skv_conn *conn, skv_retry why)
{
    skv_server *server = server_of_connection(pool, conn);

    pthread_mutex_lock(&pool->lock);
    server->retries[why]++;
    pthread_mutex_unlock(&pool->lock);
}

static void put_number(json_t **object, const char *name, int64_t value)
{
    skv_json_put(object, name, json_integer(value));
}

/* A DN or a path may hold bytes that are not UTF-8. */
static void put_text(json_t **object, const char *name, const char *text)
{
    skv_json_put(object, name, json_string(skv_is_utf8(text, strlen(text)) ? text : "?"));
}

/* Puts null for "", which stands for an unknown text. */
static void put_known(json_t **object, const char *name, const char *text)
{
    if (text[0])
        put_text(object, name, text);
    else
        skv_json_put(object, name, json_null());
}

static json_t *counts_tree(const char *const *names, const int64_t *counts, int count)
{
    json_t *tree = json_object();

    for (int i = 0; i < count; i++)
        put_number(&tree, names[i], counts[i]);
    return tree;
}

static json_t *latency_tree(const skv_server *server)
{
    json_t *tree = json_array();

    for (int i = 0; i < SKV_LATENCY_BUCKETS; i++)
        skv_json_append(&tree, json_integer(server->latency[i]));
    return tree;
}

static json_t *tls_tree(const skv_tls_facts *tls)
{
    json_t *tree = tls->is_on ? json_object() : json_null();

    if (!tls->is_on)
        return tree;
    put_known(&tree, "protocol", tls->protocol);
    put_known(&tree, "cipher", tls->cipher);
    skv_json_put(&tree, "certificate_ends", tls->is_dated ? json_integer(tls->certificate_ends) : json_null());
    return tree;
}

static json_t *server_tree(const skv_server *server)
{
    int64_t left = server->quarantine_until - skv_now_ns();
    bool is_up = server->health == SKV_SERVER_UP;
    json_t *tree = json_object();

    put_text(&tree, "uri", server->uri.text);
    put_known(&tree, "vendor", server->vendor);
    skv_json_put(&tree, "tls", tls_tree(&server->tls));
    put_number(&tree, "open", server->open);
    put_number(&tree, "idle", server->idle);
    put_number(&tree, "in_use", server->open - server->idle);
    put_number(&tree, "connects", server->connects);
    put_number(&tree, "binds", server->binds);
    put_number(&tree, "failures", server->failures);
    put_number(&tree, "blames", server->times_down);
    put_number(&tree, "timeouts", server->timeouts);
    skv_json_put(&tree, "resting", json_boolean(!is_up));
    put_number(&tree, "retry_after_ms", !is_up && left > 0 ? left / SKV_NS_PER_MS + 1 : 0);
    put_text(&tree, "last_failure", server->why.text);
    skv_json_put(&tree, "retries", counts_tree(retry_names, server->retries, SKV_RETRY_COUNT));
    skv_json_put(&tree, "operations", counts_tree(op_names, server->operations, SKV_OP_COUNT));
    skv_json_put(&tree, "latency_log2_us", latency_tree(server));
    return tree;
}

static json_t *servers_tree(const skv_pool *pool)
{
    json_t *tree = json_array();

    for (int i = 0; i < pool->servers; i++)
        skv_json_append(&tree, server_tree(&pool->server[i]));
    return tree;
}

static void append_pool(skv_pool *pool, void *pools)
{
    json_t *tree = json_object();
    int open = 0, idle = 0, waiting = 0;

    for (int i = 0; i < pool->servers; i++) {
        open += pool->server[i].open;
        idle += pool->server[i].idle;
    }
    for (const skv_waiter *waiter = pool->waiter_first; waiter; waiter = waiter->next)
        waiting++;
    put_text(&tree, "identity", pool->identity.bind_dn[0] ? pool->identity.bind_dn : "SASL EXTERNAL");
    put_known(&tree, "refused_password_file", pool->rotation.is_file_refused ? pool->identity.password_file : "");
    put_number(&tree, "size", pool->size);
    put_number(&tree, "open", open);
    put_number(&tree, "idle", idle);
    put_number(&tree, "in_use", open - idle);
    put_number(&tree, "opening", pool->places - open);
    put_number(&tree, "waiting", waiting);
    put_number(&tree, "waits", pool->waits);
    put_number(&tree, "wait_timeouts", pool->wait_timeouts);
    put_number(&tree, "wait_ms", pool->wait_ns / SKV_NS_PER_MS);
    skv_json_put(&tree, "servers", servers_tree(pool));
    skv_json_append(pools, tree);
}

skv_status skv_stats(skv_reply *reply)
{
    json_t *tree, *pools;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    tree = json_object();
    pools = json_array();
    skv_pool_each(append_pool, &pools);
    skv_json_put(&tree, "pools", pools);
    return skv_json_reply(tree, reply);
}
