#include "pool_fixture.h"

#include "check.h"

#include <string.h>

const skv_pool_limits limits = {
    .size = 4, .connect_timeout_ms = 5000, .pool_timeout_ms = 5000, .idle_timeout_ms = 60000};

skv_deadline within(int64_t timeout_ms, skv_cancel *cancel)
{
    skv_deadline deadline = {0};
    skv_reply *scratch = skv_reply_new();

    skv_deadline_init(&deadline, timeout_ms, cancel, scratch);
    skv_reply_free(scratch);
    return deadline;
}

skv_pool *pool_of(const char *uri, const char *password_file)
{
    static int count;
    char dn[64] = "";
    skv_uris uris;
    skv_identity identity = {dn, (char *)password_file, false, "", "", "", NULL, NULL, NULL};

    snprintf(dn, sizeof dn, "cn=admin,%*sdc=simp", ++count, "");
    skv_reply_reset(reply);
    CHECK(skv_uris_parse(uri, strlen(uri), &uris, reply) == SKV_OK);
    return skv_pool_for(&uris, &identity, reply);
}

skv_conn *borrow(skv_pool *pool, int64_t timeout_ms)
{
    skv_deadline deadline = within(timeout_ms, NULL);

    skv_reply_reset(reply);
    return skv_pool_borrow(pool, &limits, &deadline, reply);
}

bool use(skv_conn *conn)
{
    skv_deadline deadline = within(10000, NULL);
    LDAPMessage *message = NULL;
    int id = 0, rc;

    skv_conn_begin(conn, &deadline);
    rc = ldap_search_ext(skv_conn_handle(conn), "", LDAP_SCOPE_BASE, "(objectClass=*)", NULL, 0, NULL, NULL, NULL, 0,
                         &id);
    rc = rc == LDAP_SUCCESS ? skv_conn_result(conn, id, LDAP_MSG_ALL, &message) : skv_conn_send_error(conn, rc);
    ldap_msgfree(message);
    return rc == LDAP_SUCCESS;
}

json_t *stats(void)
{
    skv_reply *data = skv_reply_new();
    json_t *all;

    CHECK(skv_stats(data) == SKV_OK);
    CHECK(strstr(skv_reply_data(data), SLAPD_PASSWORD) == NULL);
    all = json_loadb(skv_reply_data(data), skv_reply_size(data), 0, NULL);
    skv_reply_free(data);
    return all;
}

json_int_t pool_stat(const char *name)
{
    json_t *all = stats();
    json_int_t value = json_integer_value(json_object_get(json_array_get(json_object_get(all, "pools"), 0), name));

    json_decref(all);
    return value;
}

json_t *server_stats(size_t server)
{
    json_t *all = stats(), *pool = json_array_get(json_object_get(all, "pools"), 0);
    json_t *of_server = json_incref(json_array_get(json_object_get(pool, "servers"), server));

    json_decref(all);
    return of_server;
}

json_int_t server_stat(size_t server, const char *name)
{
    json_t *all = server_stats(server), *value = json_object_get(all, name);
    json_int_t number = json_is_true(value) ? 1 : json_integer_value(value);

    json_decref(all);
    return number;
}

void no_place_was_lost(void)
{
    json_t *all = stats(), *pool;
    size_t i;

    json_array_foreach(json_object_get(all, "pools"), i, pool)
    {
        CHECK(json_integer_value(json_object_get(pool, "opening")) == 0);
        CHECK(json_integer_value(json_object_get(pool, "in_use")) == 0);
        CHECK(json_integer_value(json_object_get(pool, "waiting")) == 0);
    }
    CHECK(i > 2);
    json_decref(all);
}

bool is_at(const skv_conn *conn, const slapd *server)
{
    return strcmp(skv_conn_uri(conn)->text, server->ldap) == 0 || strcmp(skv_conn_uri(conn)->text, server->ldapi) == 0;
}

skv_pool *pool_of_both(const char *uri, const char *other, const char *password_file)
{
    char uris[400];

    snprintf(uris, sizeof uris, "%s %s", uri, other);
    return pool_of(uris, password_file);
}

void set_quarantine(skv_pool *pool, int server, int64_t until)
{
    pthread_mutex_lock(&pool->lock);
    pool->server[server].quarantine_until = until;
    pthread_mutex_unlock(&pool->lock);
}

skv_health health_of(skv_pool *pool, int server)
{
    skv_health health;

    pthread_mutex_lock(&pool->lock);
    health = pool->server[server].health;
    pthread_mutex_unlock(&pool->lock);
    return health;
}

void mark_down(skv_pool *pool, int server)
{
    pthread_mutex_lock(&pool->lock);
    skv_server_mark_down(pool, &pool->server[server], "is left alone", 0);
    pthread_mutex_unlock(&pool->lock);
    set_quarantine(pool, server, INT64_MAX);
}

void return_invalidated(skv_pool *pool, skv_conn *conn)
{
    if (!CHECK(conn != NULL))
        return;
    skv_conn_invalidate(conn);
    skv_pool_return(pool, conn);
}

void is_served_by(skv_pool *pool, const slapd *server, int64_t timeout_ms)
{
    skv_conn *conn = borrow(pool, timeout_ms);

    if (!CHECK_STATUS(reply, SKV_OK))
        return;
    CHECK(is_at(conn, server));
    skv_pool_return(pool, conn);
}
