#include "net/pool_password.h"

#include "net/pool_state.h"

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

/* ---- Tries of passwords that are not the pool's ---- */

/* Connects to one server. Returns SKV_OK with *is_right set, or the reply's failure. */
static skv_status try_at_server(const skv_uri *uri, const skv_identity *identity, int64_t most_ms,
                                const skv_deadline *call, bool *is_right, skv_reply *reply)
{
    skv_deadline deadline = *call;
    int64_t end = skv_now_plus_ns(skv_ms_to_ns(most_ms));
    skv_conn_failure failure;
    skv_conn *conn;

    if (end < deadline.end_ns)
        deadline.end_ns = end;
    conn = skv_conn_open(uri, identity, &deadline, reply, &failure);
    *is_right = conn != NULL;
    if (conn)
        skv_conn_close(conn);
    if (failure == SKV_CONN_WRONG_PASSWORD)
        skv_reply_reset(reply);
    return reply->status;
}

skv_status skv_pool_try_password(skv_pool *pool, const skv_pool_limits *limits, const char *dn, const char *password,
                                 skv_deadline *deadline, bool *is_right, skv_reply *reply)
{
    skv_identity identity = pool->identity;

    *is_right = false;
    identity.bind_dn = (char *)(uintptr_t)dn;
    identity.password = password;
    for (int i = 0; i < pool->servers; i++) {
        skv_reply_reset(reply);
        if (try_at_server(&pool->server[i].uri, &identity, limits->connect_timeout_ms, deadline, is_right, reply) !=
                SKV_UNAVAILABLE &&
            (reply->status != SKV_TIMEOUT || skv_deadline_left(deadline) == 0))
            break;
    }
    return reply->status;
}
