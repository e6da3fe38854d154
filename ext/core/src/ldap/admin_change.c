/* The entries of a directory that are not keys: additions, changes and deletions, and passwords. */
#include "ldap/entry.h"
#include "ldap/key.h"
#include "name/key.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Changes ---- */

/* A value of an attribute, and what is done with it. The texts are borrowed. */
typedef struct attribute_change {
    const char *operation, *attribute;
    struct berval value;
} attribute_change;

/* Changes as libldap wants them: those that follow each other with the same operation and attribute are one. */
typedef struct changes {
    attribute_change *changes;
    size_t count;
    struct berval **values; /* the rows of all modifications, each ending in a NULL */
    LDAPMod *mods, **list;
} changes;

static void free_changes(changes *c)
{
    skv_free(c->changes);
    skv_free(c->values);
    skv_free(c->mods);
    skv_free(c->list);
}

/* Returns the operation of libldap, or -1 for an unknown one. "clear" replaces all values by none, also if there are
 * none: a deletion would fail then. */
static int change_operation(const char *name)
{
    if (strcmp(name, "add") == 0)
        return LDAP_MOD_ADD;
    if (strcmp(name, "delete") == 0)
        return LDAP_MOD_DELETE;
    return strcmp(name, "replace") == 0 || strcmp(name, "clear") == 0 ? LDAP_MOD_REPLACE : -1;
}

static const char *next_text(const char **text)
{
    const char *found = *text;

    *text += strlen(found) + 1;
    return found;
}

/* Sorts by attribute, and keeps the order of the values of each. */
static int compare_attributes(const void *left, const void *right)
{
    const char *a = ((const attribute_change *)left)->attribute, *b = ((const attribute_change *)right)->attribute;
    int order = strcasecmp(a, b);

    return order ? order : (a > b) - (a < b);
}

static bool is_same_change(const attribute_change *a, const attribute_change *b, bool adds_entry)
{
    int order = adds_entry ? strcasecmp(a->attribute, b->attribute) : strcmp(a->attribute, b->attribute);

    return order == 0 && strcmp(a->operation, b->operation) == 0;
}

static skv_status list_changes(changes *c, bool adds_entry, skv_reply *reply)
{
    struct berval **value = c->values;
    size_t mods = 0;

    for (size_t i = 0; i < c->count; i++) {
        attribute_change *change = &c->changes[i];
        int op = change_operation(change->operation);

        if (op < 0)
            return skv_fail(reply, SKV_INVALID, "'%s' is no change: expected 'add', 'delete', 'replace' or 'clear'",
                            skv_quoted(change->operation, strlen(change->operation)).text);
        if (i == 0 || !is_same_change(change - 1, change, adds_entry)) {
            value += mods > 0;
            c->mods[mods] = (LDAPMod){.mod_op = op | LDAP_MOD_BVALUES, .mod_type = SKV_LDAP_TEXT(change->attribute)};
            c->mods[mods].mod_bvalues = value;
            c->list[mods] = &c->mods[mods];
            mods++;
        }
        if (strcmp(change->operation, "clear") != 0)
            *value++ = &change->value;
    }
    return SKV_OK;
}

/* Reads triples of operation, attribute and value; of a new entry, pairs of attribute and value. */
static skv_status read_changes(changes *c, const skv_entry_args *args, bool adds_entry, skv_reply *reply)
{
    const char *text = args->texts;
    size_t count = args->count / (adds_entry ? 2 : 3);

    *c = (changes){.changes = skv_alloc_zeroed(count, sizeof *c->changes),
                   .count = count,
                   .values = skv_alloc_zeroed(2 * count, sizeof(struct berval *)),
                   .mods = skv_alloc_zeroed(count, sizeof *c->mods),
                   .list = skv_alloc_zeroed(count + 1, sizeof(LDAPMod *))};
    if (!c->changes || !c->values || !c->mods || !c->list)
        return skv_fail_memory(reply);
    for (size_t i = 0; i < count; i++) {
        attribute_change *change = &c->changes[i];

        change->operation = adds_entry ? "add" : next_text(&text);
        change->attribute = next_text(&text);
        change->value = (struct berval){strlen(text), SKV_LDAP_TEXT(text)};
        next_text(&text);
    }
    /* A server refuses an entry to which an attribute is added twice. */
    if (adds_entry)
        qsort(c->changes, count, sizeof *c->changes, compare_attributes);
    return list_changes(c, adds_entry, reply);
}

/* ---- Requests ---- */

typedef struct change_call {
    skv_ldap_call call;
    const skv_entry_args *args;
    skv_ldap_code (*send)(struct change_call *change, int *id);
    changes changes; /* of an addition or a modification */
} change_call;

static skv_ldap_code send_entry_add(change_call *add, int *id)
{
    return ldap_add_ext(skv_conn_handle(add->call.conn), add->call.dn, add->changes.list, NULL, NULL, id);
}

static skv_ldap_code send_entry_modify(change_call *change, int *id)
{
    skv_ldap_call *call = &change->call;
    LDAPControl *controls[] = {NULL, NULL};
    skv_ldap_code error = skv_ldap_version_control(call, change->args->version, &controls[0]);

    if (error == LDAP_SUCCESS)
        error = ldap_modify_ext(skv_conn_handle(call->conn), call->dn, change->changes.list, controls, NULL, id);
    ldap_control_free(controls[0]);
    return error;
}

static skv_ldap_code send_entry_delete(change_call *delete, int *id)
{
    return skv_ldap_entry_start_delete(&delete->call, delete->call.dn, delete->args->version, id);
}

/* slapd stores the value of a modification as it is, and hashes the password of an operation of its own (RFC 3062).
 * 389-DS hashes each password, and accepts that operation over TLS alone. */
static skv_ldap_code send_new_password(change_call *set, int *id)
{
    skv_ldap_call *call = &set->call;
    struct berval user = {strlen(call->dn), call->dn};
    struct berval password = {set->args->count, SKV_LDAP_TEXT(set->args->texts)}, *values[] = {&password, NULL};
    LDAPMod mod = {.mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES, .mod_type = SKV_LDAP_TEXT("userPassword")};
    LDAPMod *mods[] = {&mod, NULL};

    mod.mod_bvalues = values;
    if (skv_conn_features(call->conn)->is_389ds)
        return ldap_modify_ext(skv_conn_handle(call->conn), call->dn, mods, NULL, NULL, id);
    return ldap_passwd(skv_conn_handle(call->conn), &user, NULL, &password, NULL, NULL, id);
}

static skv_status attempt_change(skv_ldap_call *call)
{
    change_call *change = (change_call *)call;
    bool deletes = call->op == SKV_OP_ENTRY_DELETE, was_in_doubt = call->in_doubt;
    skv_ldap_code error = skv_ldap_start(call);
    skv_ldap_response response;
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = change->send(change, &id);
    skv_ldap_finish_change(call, error, id, &response);
    if (response.code == LDAP_SUCCESS)
        call->reply->number = deletes;
    else if (response.code == LDAP_NO_SUCH_OBJECT && deletes)
        call->reply->number = was_in_doubt;
    else
        skv_ldap_fail_entry(call, &response);
    skv_ldap_response_free(&response);
    return call->reply->status;
}

/* ---- Calls ---- */

static skv_status run_change(change_call *change, skv_store *store, skv_op op, skv_deadline *deadline, skv_reply *reply)
{
    if (skv_ldap_begin_entry(&change->call, store, op, change->args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&change->call, attempt_change);
    skv_ldap_end(&change->call);
    return reply->status;
}

skv_status skv_ldap_admin_add(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    change_call add = {.args = args, .send = send_entry_add};

    if (read_changes(&add.changes, args, true, reply) == SKV_OK)
        run_change(&add, store, SKV_OP_ENTRY_ADD, deadline, reply);
    free_changes(&add.changes);
    return reply->status;
}

skv_status skv_ldap_admin_modify(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    change_call modify = {.args = args, .send = send_entry_modify};

    if (read_changes(&modify.changes, args, false, reply) == SKV_OK)
        run_change(&modify, store, SKV_OP_ENTRY_MODIFY, deadline, reply);
    free_changes(&modify.changes);
    return reply->status;
}

skv_status skv_ldap_admin_delete(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    change_call delete = {.args = args, .send = send_entry_delete};

    return run_change(&delete, store, SKV_OP_ENTRY_DELETE, deadline, reply);
}

skv_status skv_ldap_admin_set_password(skv_store *store, const skv_entry_args *args, skv_deadline *deadline,
                                       skv_reply *reply)
{
    change_call set = {.args = args, .send = send_new_password};

    return run_change(&set, store, SKV_OP_ENTRY_PASSWORD, deadline, reply);
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
