/* The entries directly below another one. */
#include "ldap/admin.h"
#include "ldap/key.h"
#include "ldap/search.h"

typedef struct entries_call {
    skv_ldap_call call;
    const char **attributes; /* NULL-terminated */
    json_t *entries;         /* by DN; owned */
} entries_call;

static skv_ldap_code add_listed_entry(entries_call *list, LDAPMessage *message)
{
    json_t *entry = json_object();
    struct berval dn = {0};
    skv_ldap_code error = skv_ldap_read_entry(skv_conn_handle(list->call.conn), message, &dn, &entry);
    char *name = error == LDAP_SUCCESS ? skv_copy_string(dn.bv_val, dn.bv_len) : NULL;

    if (error != LDAP_SUCCESS) {
        json_decref(entry);
        return error;
    }
    skv_json_put(&list->entries, name ? name : "", name ? entry : NULL);
    if (!name)
        json_decref(entry);
    skv_free(name);
    return LDAP_SUCCESS;
}

/* Reads all entries. Returns the code of the failure, which the response describes. */
static skv_ldap_code read_all_entries(entries_call *list, skv_ldap_search_state *search, skv_ldap_response *response)
{
    LDAPMessage *message;

    do {
        if (skv_ldap_search_next(&list->call, search, response, &message) != LDAP_SUCCESS)
            break;
        if (message)
            response->code = add_listed_entry(list, message);
    } while (!search->over && response->code == LDAP_SUCCESS);
    return response->code;
}

/* 389-DS responds to a paged search below a missing entry as if the entry existed: checks that it does. */
static skv_status check_entry_above(skv_ldap_call *call)
{
    skv_ldap_response response;

    switch (skv_ldap_read(call, call->dn, skv_ldap_no_attributes, &response)) {
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

static skv_status attempt_entry_list(skv_ldap_call *call)
{
    entries_call *list = (entries_call *)call;
    skv_ldap_search_state search = {.dn = call->dn, .scope = LDAP_SCOPE_ONELEVEL, .attributes = list->attributes};
    skv_ldap_response response;

    json_decref(list->entries);
    list->entries = json_object();
    switch (read_all_entries(list, &search, &response)) {
    case LDAP_SUCCESS:
        if (json_object_size(list->entries) == 0)
            check_entry_above(call);
        break;
    case LDAP_NO_SUCH_OBJECT:
        skv_ldap_refuse(call, SKV_NOT_FOUND, "there is no such entry");
        break;
    case LDAP_INVALID_DN_SYNTAX:
        skv_ldap_fail_entry(call, &response);
        break;
    default:
        skv_ldap_search_failed(call, &response);
    }
    skv_ldap_response_free(&response);
    skv_ldap_search_end(call, &search);
    return call->reply->status;
}

skv_status skv_ldap_admin_list(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    entries_call list = {.attributes = skv_ldap_attribute_list(args)};

    if (!list.attributes)
        return skv_fail_memory(reply);
    if (skv_ldap_begin_entry(&list.call, store, SKV_OP_ENTRY_LIST, args->dn, deadline, reply) == SKV_OK &&
        skv_ldap_run(&list.call, attempt_entry_list) == SKV_OK)
        skv_json_reply(list.entries, reply);
    else
        json_decref(list.entries);
    skv_ldap_end(&list.call);
    skv_free(list.attributes);
    return reply->status;
}
