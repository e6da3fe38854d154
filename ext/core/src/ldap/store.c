/* The LDAP store keeps one entry a key. It borrows pools of connections, which outlive it. */
#include "ldap/store.h"

#include "ldap/entry.h"
#include "ldap/key.h"
#include "name/key.h"

#include <string.h>

static void close_ldap_store(skv_store *store)
{
    skv_ldap_store *ldap = (skv_ldap_store *)store;

    skv_free(ldap->base_dn);
    skv_free(ldap->instance_dn);
    skv_free(ldap->identity);
    skv_free(ldap);
}

static const skv_store_ops ops = {
    .close = close_ldap_store,
    .get = skv_ldap_get,
    .exists = skv_ldap_exists,
    .stat = skv_ldap_stat,
    .put = skv_ldap_put,
    .put_many = skv_ldap_put_many,
    .get_many = skv_ldap_get_many,
    .del = skv_ldap_delete_key,
    .create_folder = skv_ldap_create_folder,
    .delete_folder = skv_ldap_delete_folder,
    .deletetree = skv_ldap_deletetree,
    .list_open = skv_ldap_list_open,
    .list_next = skv_ldap_list_next,
    .list_close = skv_ldap_list_close,
    .changes_open = skv_ldap_changes_open,
    .changes_next = skv_ldap_changes_next,
    .changes_close = skv_ldap_changes_close,
    .entry_read = skv_ldap_admin_read,
    .entry_add = skv_ldap_admin_add,
    .entry_modify = skv_ldap_admin_modify,
    .entry_delete = skv_ldap_admin_delete,
    .entry_list = skv_ldap_admin_list,
    .entry_set_password = skv_ldap_admin_set_password,
    .entry_check_password = skv_ldap_admin_check_password,
};

/* ---- Checks of several options ---- */

/* Sets the DN of the instance, from the DN of its folder "globals". Checks that base_dn and id make a DN. */
static skv_status locate_instance(skv_ldap_store *store, const skv_ldap_settings *s, skv_reply *reply)
{
    static const char root[] = "globals", root_rdn[] = "ou=globals,";
    const char *why;

    if (!*s->id)
        return skv_fail(reply, SKV_INVALID, "a store of type 'ldap' needs an 'id'");
    if (skv_dn_from_path(s->layout, SKV_KIND_FOLDER, s->base_dn, strlen(s->base_dn), s->id, strlen(s->id), root,
                         strlen(root), reply) != SKV_OK)
        return reply->status;
    store->instance_dn_len = skv_reply_size(reply) - strlen(root_rdn);
    store->instance_dn = skv_copy_string(skv_reply_data(reply) + strlen(root_rdn), store->instance_dn_len);
    skv_reply_reset(reply);
    if (!store->instance_dn)
        return skv_fail_memory(reply);
    why = s->layout == SKV_LAYOUT_HEX || s->fold_case ? NULL : skv_ldap_why_ambiguous(s->id, strlen(s->id));
    if (!why)
        return reply->status;
    return skv_fail(reply, SKV_INVALID, "id '%s' %s, or use the layout 'hex'", s->id, why);
}

static bool has_scheme(const skv_uris *uris, skv_scheme scheme)
{
    for (int i = 0; i < uris->count; i++)
        if (uris->uri[i].scheme == scheme)
            return true;
    return false;
}

static skv_status check_servers(const skv_ldap_settings *s, const skv_uris *uris, skv_reply *reply)
{
    bool tls = has_scheme(uris, SKV_LDAPS) || (s->enable_tls && has_scheme(uris, SKV_LDAP));

    if (!*s->admin_pw_file && !s->anonymous && (has_scheme(uris, SKV_LDAP) || has_scheme(uris, SKV_LDAPS)))
        return skv_fail(reply, SKV_INVALID, "Plugin missing 'admin_pw_file' configuration");
    if (*s->admin_pw_file && !*s->admin_dn)
        return skv_fail(reply, SKV_INVALID, "'admin_pw_file' needs an 'admin_dn'");
    if (tls && !*s->tls_cacert)
        return skv_fail(reply, SKV_INVALID, "TLS configuration incomplete: 'tls_cacert' is missing");
    if (tls && !*s->tls_cert != !*s->tls_key)
        return skv_fail(reply, SKV_INVALID, "TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair");
    return SKV_OK;
}

/* ---- Opening ---- */

static skv_pool *pool_for_uris(const skv_ldap_settings *s, const char *text, skv_reply *reply)
{
    const char *external_or_anonymous = s->anonymous ? SKV_ANONYMOUS : "";
    /* The pool copies the strings. */
    const skv_identity identity = {
        .bind_dn = (char *)(uintptr_t)(*s->admin_pw_file ? s->admin_dn : external_or_anonymous),
        .password_file = (char *)(uintptr_t)s->admin_pw_file,
        .starttls = s->enable_tls,
        .cacert = (char *)(uintptr_t)s->tls_cacert,
        .cert = (char *)(uintptr_t)s->tls_cert,
        .key = (char *)(uintptr_t)s->tls_key,
    };
    skv_uris *uris = skv_alloc(sizeof *uris);
    skv_pool *pool = NULL;

    if (!uris)
        skv_fail_memory(reply);
    else if (skv_uris_parse(text, strlen(text), uris, reply) == SKV_OK && check_servers(s, uris, reply) == SKV_OK)
        pool = skv_pool_for(uris, &identity, reply);
    skv_free(uris);
    return pool;
}

static skv_status init_ldap_store(skv_ldap_store *store, const skv_ldap_settings *s, skv_reply *reply)
{
    const char *without_password = s->anonymous ? SKV_ANONYMOUS : "the local user (SASL EXTERNAL)";
    const char *identity = *s->admin_pw_file ? s->admin_dn : without_password;

    store->store.ops = &ops;
    atomic_init(&store->wrote, false);
    atomic_init(&store->sees_base, false);
    store->limits = (skv_pool_limits){
        .size = (int)s->pool_size,
        .connect_timeout_ms = s->connect_timeout_ms,
        .pool_timeout_ms = s->pool_timeout_ms,
        .idle_timeout_ms = s->idle_timeout_ms,
    };
    store->layout = s->layout;
    store->retries = (int)s->retries;
    store->page_size = (int)s->page_size;
    store->strict_paths = s->strict_paths;
    store->fold_case = s->fold_case;
    store->base_depth = skv_dn_depth(s->base_dn, strlen(s->base_dn));
    store->base_dn = skv_copy_string(s->base_dn, strlen(s->base_dn));
    store->identity = skv_copy_string(identity, strlen(identity));
    if (!store->base_dn || !store->identity)
        return skv_fail_memory(reply);
    store->reads = pool_for_uris(s, s->ldap_uri, reply);
    store->writes = store->reads && *s->write_uri ? pool_for_uris(s, s->write_uri, reply) : store->reads;
    return reply->status;
}

skv_store *skv_ldap_open(const char *options, size_t options_len, skv_reply *reply)
{
    skv_ldap_store *store;
    skv_ldap_settings s;

    if (skv_read_options(&skv_ldap_options, options, options_len, &s, reply) != SKV_OK)
        return NULL;
    if (s.anonymous)
        s.admin_pw_file = "";
    if (!*s.ldap_uri) {
        skv_fail(reply, SKV_INVALID, "Plugin missing 'ldap_uri' configuration");
        return NULL;
    }
    store = skv_alloc_zeroed(1, sizeof *store);
    if (!store) {
        skv_fail_memory(reply);
        return NULL;
    }
    if (locate_instance(store, &s, reply) == SKV_OK && init_ldap_store(store, &s, reply) == SKV_OK)
        return &store->store;
    close_ldap_store(&store->store);
    return NULL;
}
