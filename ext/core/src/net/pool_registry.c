/* The registry of pools, and their handling in a fork. */
#include "net/pool_state.h"

#include "net/handle.h"
#include "net/resolve.h"
#include "net/tls_context.h"

#include <string.h>

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static skv_pool *registry;                                    /* pools are added at its front and never removed */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER; /* one fork at a time */

/*
 * A fork takes every lock of the core first: a lock that another thread holds would stay locked in the child. Locks
 * that are held for long come first: libldap's initialisation and the TLS contexts read files and use the network. The
 * locks of the registry and the pools come last, so that other threads do not wait for them meanwhile.
 */
static void before_fork(void)
{
    const skv_pool *locked = NULL;

    pthread_mutex_lock(&fork_lock);
    skv_handle_before_fork();
    pthread_mutex_lock(&registry_lock);
    while (registry != locked) {
        skv_pool *newest = registry;

        pthread_mutex_unlock(&registry_lock);
        for (skv_pool *pool = newest; pool != locked; pool = pool->next)
            skv_tls_context_lock(pool->identity.tls);
        locked = newest;
        pthread_mutex_lock(&registry_lock);
    }
    for (skv_pool *pool = registry; pool; pool = pool->next)
        pthread_mutex_lock(&pool->lock);
}

static void after_fork_in_parent(void)
{
    for (skv_pool *pool = registry; pool; pool = pool->next) {
        pthread_mutex_unlock(&pool->lock);
        skv_tls_context_unlock(pool->identity.tls);
    }
    pthread_mutex_unlock(&registry_lock);
    pthread_mutex_unlock(&fork_lock);
}

/* The sessions are the parent's. The child closes their sockets without sending anything, and leaks their memory: a
 * thread that does not exist in the child may have been using it. */
static void abandon_sessions(skv_pool *pool)
{
    for (skv_slot *slot = pool->slots; slot; slot = slot->next)
        skv_conn_discard(slot->conn, true);
    pool->generation++;
    pool->places = 0;
    pool->slots = NULL;
    pool->waiter_first = pool->waiter_last = NULL;
    pool->proving = false;
    for (int i = 0; i < pool->servers; i++) {
        pool->server[i].idle_first = pool->server[i].idle_last = NULL;
        pool->server[i].open = pool->server[i].idle = 0;
        pool->server[i].probing = false;
    }
}

static void after_fork_in_child(void)
{
    for (skv_pool *pool = registry; pool; pool = pool->next)
        abandon_sessions(pool);
    skv_resolve_after_fork();
    skv_handle_after_fork();
    after_fork_in_parent();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static bool is_same_identity(const skv_identity *a, const skv_identity *b)
{
    return a->starttls == b->starttls && strcmp(a->bind_dn, b->bind_dn) == 0 &&
           strcmp(a->password_file, b->password_file) == 0 && strcmp(a->cacert, b->cacert) == 0 &&
           strcmp(a->cert, b->cert) == 0 && strcmp(a->key, b->key) == 0;
}

static bool is_pool_for(const skv_pool *pool, const skv_uris *uris, const skv_identity *identity)
{
    if (pool->servers != uris->count || !is_same_identity(&pool->identity, identity))
        return false;
    for (int i = 0; i < uris->count; i++)
        if (strcmp(pool->server[i].uri.text, uris->uri[i].text) != 0)
            return false;
    return true;
}

static void free_pool(skv_pool *pool)
{
    skv_free(pool->identity.bind_dn);
    skv_free(pool->identity.password_file);
    skv_free(pool->identity.cacert);
    skv_free(pool->identity.cert);
    skv_free(pool->identity.key);
    skv_tls_context_free(pool->identity.tls);
    skv_free(pool);
}

static char *copy_text(const char *text)
{
    return skv_copy_string(text, strlen(text));
}

static skv_pool *new_pool(const skv_uris *uris, const skv_identity *identity)
{
    skv_pool *pool = skv_alloc_zeroed(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->identity = (skv_identity){
        .bind_dn = copy_text(identity->bind_dn),
        .password_file = copy_text(identity->password_file),
        .starttls = identity->starttls,
        .cacert = copy_text(identity->cacert),
        .cert = copy_text(identity->cert),
        .key = copy_text(identity->key),
        .tls = skv_tls_context_new(),
    };
    pool->servers = uris->count;
    for (int i = 0; i < uris->count; i++)
        pool->server[i].uri = uris->uri[i];
    pool->generation = 1;
    pool->random = (uint32_t)skv_now_ns() | 1;
    if (pool->identity.bind_dn && pool->identity.password_file && pool->identity.cacert && pool->identity.cert &&
        pool->identity.key && pool->identity.tls && pthread_mutex_init(&pool->lock, NULL) == 0)
        return pool;
    free_pool(pool);
    return NULL;
}

skv_pool *skv_pool_for(const skv_uris *uris, const skv_identity *identity, skv_reply *reply)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    skv_pool *pool;

    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&registry_lock);
    for (pool = registry; pool && !is_pool_for(pool, uris, identity); pool = pool->next)
        ;
    if (!pool) {
        pool = new_pool(uris, identity);
        if (pool) {
            pool->next = registry;
            registry = pool;
        }
    }
    pthread_mutex_unlock(&registry_lock);
    if (!pool)
        skv_fail_memory(reply);
    return pool;
}

void skv_pool_each(void (*visit)(skv_pool *pool, void *context), void *context)
{
    pthread_mutex_lock(&registry_lock);
    for (skv_pool *pool = registry; pool; pool = pool->next) {
        pthread_mutex_lock(&pool->lock);
        visit(pool, context);
        pthread_mutex_unlock(&pool->lock);
    }
    pthread_mutex_unlock(&registry_lock);
}
