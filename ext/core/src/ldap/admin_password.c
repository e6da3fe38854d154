/* Passwords of entries. */
#include "ldap/admin.h"
#include "ldap/key.h"

#include <string.h>

typedef struct password_call {
    skv_ldap_call call;
    struct berval password; /* borrowed */
} password_call;

/* slapd stores the value of a modification as it is, and hashes the password of this operation (RFC 3062). */
static skv_ldap_code request_new_password(password_call *set, skv_ldap_response *response)
{
    skv_ldap_call *call = &set->call;
    struct berval user = {strlen(call->dn), call->dn};
    skv_ldap_code error = skv_ldap_start(call);
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = ldap_passwd(skv_conn_handle(call->conn), &user, NULL, &set->password, NULL, NULL, &id);
    return skv_ldap_finish_change(call, error, id, response);
}

/* 389-DS hashes each password, and accepts the operation of RFC 3062 over TLS alone. */
static skv_ldap_code replace_password(password_call *set, skv_ldap_response *response)
{
    struct berval *values[] = {&set->password, NULL};
    LDAPMod mod = {.mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES, .mod_type = SKV_LDAP_TEXT("userPassword")};
    LDAPMod *mods[] = {&mod, NULL};

    mod.mod_bvalues = values;
    return skv_ldap_modify(&set->call, set->call.dn, mods, response);
}

static skv_status attempt_set_password(skv_ldap_call *call)
{
    password_call *set = (password_call *)call;
    bool is_389ds = skv_conn_features(call->conn)->is_389ds;
    skv_ldap_response response;

    switch (is_389ds ? replace_password(set, &response) : request_new_password(set, &response)) {
    case LDAP_SUCCESS:
        break;
    case LDAP_NO_SUCH_OBJECT:
        skv_ldap_refuse(call, SKV_NOT_FOUND, "there is no such entry");
        break;
    default:
        skv_ldap_fail_entry(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

skv_status skv_ldap_admin_set_password(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                       skv_reply *reply)
{
    password_call set = {.password = {args->count, SKV_LDAP_TEXT(args->texts)}};

    if (skv_ldap_begin_entry(&set.call, store, SKV_OP_ENTRY_PASSWORD, args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&set.call, attempt_set_password);
    skv_ldap_end(&set.call);
    return reply->status;
}

skv_status skv_ldap_admin_check_password(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                         skv_reply *reply)
{
    const skv_ldap_store *ldap = (const skv_ldap_store *)store;
    bool is_right = false;

    if (skv_pool_try_password(ldap->writes, &ldap->limits, args->dn, args->texts, deadline, &is_right, reply) == SKV_OK)
        reply->number = is_right;
    return reply->status;
}
