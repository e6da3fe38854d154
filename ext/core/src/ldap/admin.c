/* The entries of a directory that are not keys: reads of one, and of those directly below one. */
#include "ldap/key.h"
#include "ldap/search.h"
#include "json/tree.h"

#include <string.h>

/* The responses with which a server refuses an operation on an entry, beside those that skv_ldap_fail() names. */
static const struct {
    skv_op op;
    skv_ldap_code code;
    skv_status status;
    const char *why;
} refusals[] = {
    {SKV_OP_ENTRY_READ, LDAP_NO_SUCH_OBJECT, SKV_NOT_FOUND, "there is no such entry"},
    {SKV_OP_ENTRY_LIST, LDAP_NO_SUCH_OBJECT, SKV_NOT_FOUND, "there is no such entry"},
    {SKV_OP_ENTRY_ADD, LDAP_NO_SUCH_OBJECT, SKV_NOT_FOUND, "there is no entry above it"},
    {SKV_OP_ENTRY_ADD, LDAP_ALREADY_EXISTS, SKV_EXISTS, "the entry exists already"},
    {SKV_OP_ENTRY_MODIFY, LDAP_NO_SUCH_OBJECT, SKV_NOT_FOUND, "there is no such entry"},
    {SKV_OP_ENTRY_MODIFY, LDAP_ASSERTION_FAILED, SKV_CONFLICT, "the entry was changed meanwhile"},
    {SKV_OP_ENTRY_MODIFY, LDAP_TYPE_OR_VALUE_EXISTS, SKV_CONFLICT, "one of the values to be added exists already"},
    {SKV_OP_ENTRY_MODIFY, LDAP_NO_SUCH_ATTRIBUTE, SKV_CONFLICT, "one of the values to be deleted does not exist"},
    {SKV_OP_ENTRY_DELETE, LDAP_ASSERTION_FAILED, SKV_CONFLICT, "the entry was changed meanwhile"},
    {SKV_OP_ENTRY_PASSWORD, LDAP_NO_SUCH_OBJECT, SKV_NOT_FOUND, "there is no such entry"},
};

skv_status skv_ldap_fail_entry(skv_ldap_call *call, const skv_ldap_response *response)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].op == call->op && refusals[i].code == response->code)
            return skv_ldap_refuse(call, refusals[i].status, refusals[i].why);
    if (response->code == LDAP_INVALID_DN_SYNTAX)
        return skv_ldap_refuse(call, SKV_INVALID, "the server does not accept it as a DN");
    return call->op == SKV_OP_ENTRY_LIST ? skv_ldap_search_failed(call, response) : skv_ldap_fail(call, response);
}

/* ---- Reading ---- */

typedef struct read_call {
    skv_ldap_call call;
    const char **attributes; /* NULL-terminated */
} read_call;

static json_t *values_tree(const struct berval *values)
{
    json_t *tree = json_array();

    for (; values && values->bv_val; values++)
        if (skv_is_utf8(values->bv_val, values->bv_len))
            skv_json_append(&tree, json_stringn(values->bv_val, values->bv_len));
    return tree;
}

/* The values of unknown attributes may be secret. */
static void wipe_values(const struct berval *values)
{
    for (; values && values->bv_val; values++)
        explicit_bzero(values->bv_val, values->bv_len);
}

static void take_values(void *context, const struct berval *name, const struct berval *values)
{
    json_t **entry = context;
    char *copy;

    if (skv_is_utf8(name->bv_val, name->bv_len)) {
        copy = skv_copy_string(name->bv_val, name->bv_len);
        skv_json_put(entry, copy ? copy : "", copy ? values_tree(values) : NULL);
        skv_free(copy);
    }
    wipe_values(values);
}

/* Puts the attributes of an entry into the tree, and wipes the message's values. `dn` points into the message. Returns
 * LDAP_SUCCESS, or libldap's error. */
static skv_ldap_code read_entry(LDAP *handle, LDAPMessage *entry, struct berval *dn, json_t **tree)
{
    return skv_ldap_each_attribute(handle, entry, dn, take_values, tree);
}

static skv_status write_entry_json(skv_ldap_call *call, skv_ldap_response *response)
{
    LDAP *handle = skv_conn_handle(call->conn);
    json_t *tree = json_object();
    struct berval dn;

    response->code = read_entry(handle, ldap_first_entry(handle, response->message), &dn, &tree);
    if (response->code == LDAP_SUCCESS)
        return skv_json_reply(tree, call->reply);
    json_decref(tree);
    return skv_ldap_fail(call, response);
}

static skv_status attempt_entry_read(skv_ldap_call *call)
{
    skv_ldap_response response;

    if (skv_ldap_read(call, call->dn, ((read_call *)call)->attributes, &response) == LDAP_SUCCESS)
        write_entry_json(call, &response);
    else
        skv_ldap_fail_entry(call, &response);
    skv_ldap_response_free(&response);
    return call->reply->status;
}

/* Returns the texts of the arguments as a list that ends in NULL, or NULL when out of memory. It borrows the texts. */
static const char **attribute_list(const skv_entry_args *args)
{
    const char *text = args->texts, **list = skv_alloc_zeroed(args->count + 1, sizeof *list);

    for (size_t i = 0; list && i < args->count; i++, text += strlen(text) + 1)
        list[i] = text;
    return list;
}

skv_status skv_ldap_admin_read(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    read_call read = {.attributes = attribute_list(args)};

    if (!read.attributes)
        return skv_fail_memory(reply);
    if (skv_ldap_begin_entry(&read.call, store, SKV_OP_ENTRY_READ, args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&read.call, attempt_entry_read);
    skv_ldap_end(&read.call);
    skv_free(read.attributes);
    return reply->status;
}

/* ---- Listing ---- */

typedef struct entries_call {
    skv_ldap_call call;
    const char **attributes; /* NULL-terminated */
    const char *filter;      /* NULL: the entries directly below */
    json_t *entries;         /* by DN; owned */
} entries_call;

static skv_ldap_code add_listed_entry(entries_call *list, LDAPMessage *message)
{
    json_t *entry = json_object();
    struct berval dn = {0};
    skv_ldap_code error = read_entry(skv_conn_handle(list->call.conn), message, &dn, &entry);
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

    if (skv_ldap_read(call, call->dn, skv_ldap_no_attributes, &response) != LDAP_SUCCESS)
        skv_ldap_fail_entry(call, &response);
    skv_ldap_response_free(&response);
    return call->reply->status;
}

static skv_status attempt_entry_list(skv_ldap_call *call)
{
    entries_call *list = (entries_call *)call;
    skv_ldap_search_state search = {.dn = call->dn,
                                    .scope = list->filter ? LDAP_SCOPE_SUBTREE : LDAP_SCOPE_ONELEVEL,
                                    .filter = list->filter,
                                    .attributes = list->attributes};
    skv_ldap_response response;

    json_decref(list->entries);
    list->entries = json_object();
    if (read_all_entries(list, &search, &response) != LDAP_SUCCESS)
        skv_ldap_fail_entry(call, &response);
    else if (json_object_size(list->entries) == 0)
        check_entry_above(call);
    skv_ldap_response_free(&response);
    skv_ldap_search_end(call, &search);
    return call->reply->status;
}

skv_status skv_ldap_admin_list(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    entries_call list = {.attributes = attribute_list(args), .filter = args->filter};

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
