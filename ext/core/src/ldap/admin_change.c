/* The entries of a directory that are not keys: changes and deletions, on condition of a version. */
#include "ldap/admin.h"
#include "ldap/entry.h"
#include "ldap/key.h"
#include "name/key.h"

#include <string.h>

/* The changes as libldap wants them. */
typedef struct changes {
    struct berval *values;
    struct berval **rows; /* of values, one for each modification, each ending in a NULL */
    LDAPMod *mods, **list;
} changes;

static void free_changes(changes *c)
{
    skv_free(c->values);
    skv_free(c->rows);
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

/* Reads the triples. Those that follow each other with the same operation and attribute become one modification. */
static skv_status read_changes(changes *c, const skv_entry_args *args, skv_reply *reply)
{
    const char *text = args->texts, *operation = "", *attribute = "";
    size_t count = args->count / 3, mods = 0;
    struct berval **row = c->rows;

    for (size_t i = 0; i < count; i++) {
        const char *next_operation = text, *next_attribute = text + strlen(text) + 1;
        int op = change_operation(next_operation);

        text = next_attribute + strlen(next_attribute) + 1;
        if (op < 0)
            return skv_fail(reply, SKV_INVALID, "'%s' is no change: expected 'add', 'delete', 'replace' or 'clear'",
                            skv_quoted(next_operation, strlen(next_operation)).text);
        if (mods == 0 || strcmp(operation, next_operation) != 0 || strcmp(attribute, next_attribute) != 0) {
            row += mods > 0;
            c->mods[mods] = (LDAPMod){.mod_op = op | LDAP_MOD_BVALUES, .mod_type = SKV_LDAP_TEXT(next_attribute)};
            c->mods[mods].mod_bvalues = row;
            c->list[mods] = &c->mods[mods];
            mods++;
        }
        operation = next_operation;
        attribute = next_attribute;
        c->values[i] = (struct berval){strlen(text), SKV_LDAP_TEXT(text)};
        if (strcmp(operation, "clear") != 0)
            *row++ = &c->values[i];
        text += strlen(text) + 1;
    }
    return SKV_OK;
}

static skv_status make_changes(changes *c, const skv_entry_args *args, skv_reply *reply)
{
    size_t count = args->count / 3;

    *c = (changes){.values = skv_alloc_zeroed(count, sizeof *c->values),
                   .rows = skv_alloc_zeroed(2 * count, sizeof(struct berval *)),
                   .mods = skv_alloc_zeroed(count, sizeof *c->mods),
                   .list = skv_alloc_zeroed(count + 1, sizeof(LDAPMod *))};
    if (!c->values || !c->rows || !c->mods || !c->list)
        return skv_fail_memory(reply);
    return read_changes(c, args, reply);
}

typedef struct change_call {
    skv_ldap_call call;
    const char *version;
    changes changes;
} change_call;

static skv_ldap_code send_entry_modify(change_call *change, int *id)
{
    skv_ldap_call *call = &change->call;
    LDAPControl *controls[] = {NULL, NULL};
    skv_ldap_code error = skv_ldap_version_control(call, change->version, &controls[0]);

    if (error == LDAP_SUCCESS)
        error = ldap_modify_ext(skv_conn_handle(call->conn), call->dn, change->changes.list, controls, NULL, id);
    ldap_control_free(controls[0]);
    return error;
}

static skv_status attempt_entry_modify(skv_ldap_call *call)
{
    skv_ldap_code error = skv_ldap_start(call);
    skv_ldap_response response;
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = send_entry_modify((change_call *)call, &id);
    switch (skv_ldap_finish_change(call, error, id, &response)) {
    case LDAP_SUCCESS:
        break;
    case LDAP_ASSERTION_FAILED:
        skv_ldap_refuse(call, SKV_CONFLICT, "the entry was changed meanwhile");
        break;
    case LDAP_TYPE_OR_VALUE_EXISTS:
        skv_ldap_refuse(call, SKV_CONFLICT, "one of the values to be added exists already");
        break;
    case LDAP_NO_SUCH_ATTRIBUTE:
        skv_ldap_refuse(call, SKV_CONFLICT, "one of the values to be deleted does not exist");
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

skv_status skv_ldap_admin_modify(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    change_call change = {.version = args->version};

    if (make_changes(&change.changes, args, reply) == SKV_OK &&
        skv_ldap_begin_entry(&change.call, store, SKV_OP_ENTRY_MODIFY, args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&change.call, attempt_entry_modify);
    skv_ldap_end(&change.call);
    free_changes(&change.changes);
    return reply->status;
}

static skv_status attempt_entry_delete(skv_ldap_call *call)
{
    bool was_in_doubt = call->in_doubt;
    skv_ldap_response response;

    switch (skv_ldap_entry_delete(call, ((change_call *)call)->version, &response)) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_ASSERTION_FAILED:
        skv_ldap_refuse(call, SKV_CONFLICT, "the entry was changed meanwhile");
        break;
    case LDAP_NO_SUCH_OBJECT:
        call->reply->number = was_in_doubt;
        break;
    default:
        skv_ldap_fail_entry(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

skv_status skv_ldap_admin_delete(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    change_call change = {.version = args->version};

    if (skv_ldap_begin_entry(&change.call, store, SKV_OP_ENTRY_DELETE, args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&change.call, attempt_entry_delete);
    skv_ldap_end(&change.call);
    return reply->status;
}
