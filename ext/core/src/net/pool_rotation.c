#include "net/pool_rotation.h"

void skv_pool_get_rotation(const skv_pool *pool, const skv_search *search, int server, skv_rotation *rotation)
{
    *rotation = pool->rotation;
    rotation->begins_with_last = rotation->last.len && skv_stamp_equals(&pool->rotation_file, &search->stamp);
    rotation->is_file_refused = rotation->is_file_refused && rotation->begins_with_last;
    rotation->is_last_refused = pool->server[server].has_refused_last;
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
