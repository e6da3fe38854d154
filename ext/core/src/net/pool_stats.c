/* What a pool counts, and how it is told: never a password. */
#include "net/pool_state.h"
#include "json/writer.h"

#include <string.h>

static const char *const op_names[SKV_OP_COUNT] = {
    [SKV_OP_GET] = "get",
    [SKV_OP_EXISTS] = "exists",
    [SKV_OP_PUT] = "put",
    [SKV_OP_DELETE] = "delete",
    [SKV_OP_DELETETREE] = "deletetree",
    [SKV_OP_LIST] = "list",
    [SKV_OP_ENTRY_READ] = "entry_read",
    [SKV_OP_ENTRY_ADD] = "entry_add",
    [SKV_OP_ENTRY_EXTEND] = "entry_extend",
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

static void write_member_name(skv_json_writer *w, const char *name)
{
    skv_json_write_name(w, name, strlen(name));
}

static void write_int_member(skv_json_writer *w, const char *name, int64_t value)
{
    write_member_name(w, name);
    skv_json_write_int(w, value);
}

/* A DN or path may hold anything; JSON may not. */
static void write_text_member(skv_json_writer *w, const char *name, const char *text)
{
    size_t len = strlen(text);

    write_member_name(w, name);
    if (skv_is_utf8(text, len))
        skv_json_write_string(w, text, len);
    else
        skv_json_write_string(w, "?", 1);
}

static void write_counts(skv_json_writer *w, const char *name, const char *const *names, const int64_t *counts,
                         int count)
{
    write_member_name(w, name);
    skv_json_begin_object(w);
    for (int i = 0; i < count; i++)
        write_int_member(w, names[i], counts[i]);
    skv_json_end_object(w);
}

/* What is not known is null. */
static void write_text_or_null(skv_json_writer *w, const char *name, const char *text)
{
    if (text[0]) {
        write_text_member(w, name, text);
        return;
    }
    write_member_name(w, name);
    skv_json_write_null(w);
}

static void write_tls(skv_json_writer *w, const skv_tls_facts *tls)
{
    write_member_name(w, "tls");
    if (!tls->is_on) {
        skv_json_write_null(w);
        return;
    }
    skv_json_begin_object(w);
    write_text_or_null(w, "protocol", tls->protocol);
    write_text_or_null(w, "cipher", tls->cipher);
    if (tls->is_dated) {
        write_int_member(w, "certificate_ends", tls->certificate_ends);
    } else {
        write_member_name(w, "certificate_ends");
        skv_json_write_null(w);
    }
    skv_json_end_object(w);
}

static void write_server(skv_json_writer *w, const skv_server *server)
{
    int64_t left = server->quarantine_until - skv_now_ns();
    bool is_up = server->health == SKV_SERVER_UP;

    skv_json_begin_object(w);
    write_text_member(w, "uri", server->uri.text);
    write_text_or_null(w, "vendor", server->vendor);
    write_tls(w, &server->tls);
    write_int_member(w, "open", server->open);
    write_int_member(w, "idle", server->idle);
    write_int_member(w, "in_use", server->open - server->idle);
    write_int_member(w, "connects", server->connects);
    write_int_member(w, "binds", server->binds);
    write_int_member(w, "failures", server->failures);
    write_int_member(w, "blames", server->times_down);
    write_int_member(w, "timeouts", server->timeouts);
    write_member_name(w, "resting");
    skv_json_write_bool(w, !is_up);
    write_int_member(w, "retry_after_ms", !is_up && left > 0 ? left / SKV_NS_PER_MS + 1 : 0);
    write_text_member(w, "last_failure", server->why);
    write_counts(w, "retries", retry_names, server->retries, SKV_RETRY_COUNT);
    write_counts(w, "operations", op_names, server->operations, SKV_OP_COUNT);
    write_member_name(w, "latency_log2_us");
    skv_json_begin_array(w);
    for (int i = 0; i < SKV_LATENCY_BUCKETS; i++)
        skv_json_write_int(w, server->latency[i]);
    skv_json_end_array(w);
    skv_json_end_object(w);
}

static void write_pool(skv_pool *pool, void *writer)
{
    skv_json_writer *w = writer;
    int open = 0, idle = 0, waiting = 0;

    for (int i = 0; i < pool->servers; i++) {
        open += pool->server[i].open;
        idle += pool->server[i].idle;
    }
    for (const skv_waiter *waiter = pool->waiter_first; waiter; waiter = waiter->next)
        waiting++;
    skv_json_begin_object(w);
    write_text_member(w, "identity", pool->identity.bind_dn[0] ? pool->identity.bind_dn : "SASL EXTERNAL");
    write_int_member(w, "size", pool->size);
    write_int_member(w, "open", open);
    write_int_member(w, "idle", idle);
    write_int_member(w, "in_use", open - idle);
    write_int_member(w, "opening", pool->places - open);
    write_int_member(w, "waiting", waiting);
    write_int_member(w, "waits", pool->waits);
    write_int_member(w, "wait_timeouts", pool->wait_timeouts);
    write_int_member(w, "wait_ms", pool->wait_ns / SKV_NS_PER_MS);
    write_member_name(w, "servers");
    skv_json_begin_array(w);
    for (int i = 0; i < pool->servers; i++)
        write_server(w, &pool->server[i]);
    skv_json_end_array(w);
    skv_json_end_object(w);
}

skv_status skv_stats(skv_reply *reply)
{
    skv_json_writer writer;

    if (!reply)
        return SKV_INVALID;
    skv_reply_reset(reply);
    skv_json_write_init(&writer, &reply->data);
    skv_json_begin_object(&writer);
    write_member_name(&writer, "pools");
    skv_json_begin_array(&writer);
    skv_pool_each(write_pool, &writer);
    skv_json_end_array(&writer);
    skv_json_end_object(&writer);
    return skv_reply_done(reply);
}
