/* The entries of a directory that are not keys: reads and additions. */
#include "ldap/admin.h"

#include "ldap/key.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static void put_values(json_t **entry, const struct berval *name, const struct berval *values)
{
    char *copy = skv_copy_string(name->bv_val, name->bv_len);

    skv_json_put(entry, copy ? copy : "", copy ? values_tree(values) : NULL);
    skv_free(copy);
}

/* The values of unknown attributes may be secret. */
static void wipe_values(const struct berval *values)
{
    for (; values && values->bv_val; values++)
        explicit_bzero(values->bv_val, values->bv_len);
}

skv_ldap_code skv_ldap_read_entry(LDAP *handle, LDAPMessage *entry, struct berval *dn, json_t **tree)
{
    BerElement *ber = NULL;
    struct berval name;
    skv_ldap_code error = ldap_get_dn_ber(handle, entry, &ber, dn);

    while (error == LDAP_SUCCESS) {
        struct berval *values = NULL;

        error = ldap_get_attribute_ber(handle, entry, ber, &name, &values);
        if (error != LDAP_SUCCESS || !name.bv_val)
            break;
        if (skv_is_utf8(name.bv_val, name.bv_len))
            put_values(tree, &name, values);
        wipe_values(values);
        ldap_memfree(values);
    }
    ber_free(ber, 0);
    return error;
}

static skv_status write_entry_json(skv_ldap_call *call, skv_ldap_response *response)
{
    LDAP *handle = skv_conn_handle(call->conn);
    json_t *tree = json_object();
    struct berval dn;

    response->code = skv_ldap_read_entry(handle, ldap_first_entry(handle, response->message), &dn, &tree);
    if (response->code == LDAP_SUCCESS)
        return skv_json_reply(tree, call->reply);
    json_decref(tree);
    return skv_ldap_fail(call, response);
}

skv_status skv_ldap_fail_entry(skv_ldap_call *call, const skv_ldap_response *response)
{
    if (response->code == LDAP_INVALID_DN_SYNTAX)
        return skv_ldap_refuse(call, SKV_INVALID, "the server does not accept it as a DN");
    return skv_ldap_fail(call, response);
}

static skv_status attempt_entry_read(skv_ldap_call *call)
{
    skv_ldap_response response;

    switch (skv_ldap_read(call, call->dn, ((read_call *)call)->attributes, &response)) {
    case LDAP_SUCCESS:
        write_entry_json(call, &response);
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

const char **skv_ldap_attribute_list(const skv_entry_args *args)
{
    const char *text = args->texts, **list = skv_alloc_zeroed(args->count + 1, sizeof *list);

    for (size_t i = 0; list && i < args->count; i++, text += strlen(text) + 1)
        list[i] = text;
    return list;
}

skv_status skv_ldap_admin_read(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    read_call read = {.attributes = skv_ldap_attribute_list(args)};

    if (!read.attributes)
        return skv_fail_memory(reply);
    if (skv_ldap_begin_entry(&read.call, store, SKV_OP_ENTRY_READ, args->dn, deadline, reply) == SKV_OK)
        skv_ldap_run(&read.call, attempt_entry_read);
    skv_ldap_end(&read.call);
    skv_free(read.attributes);
    return reply->status;
}

/* ---- Adding ---- */

/* An attribute and one of its values. */
typedef struct pair {
    const char *attribute;
    struct berval value;
} pair;

/* The additions as libldap wants them: each attribute once, with all of its values. */
typedef struct additions {
    pair *pairs;
    size_t count;
    LDAPMod *mods, **list;
    struct berval **values; /* the rows of all attributes, each ending in a NULL */
} additions;

static void free_additions(additions *a)
{
    skv_free(a->pairs);
    skv_free(a->mods);
    skv_free(a->list);
    skv_free(a->values);
}

/* Borrows the texts. Returns false when out of memory. */
static bool read_addition_pairs(additions *a, const skv_entry_args *args)
{
    const char *text = args->texts;

    a->count = args->count / 2;
    a->pairs = skv_alloc_zeroed(a->count, sizeof *a->pairs);
    a->mods = skv_alloc_zeroed(a->count, sizeof *a->mods);
    a->list = skv_alloc_zeroed(a->count + 1, sizeof(LDAPMod *));
    a->values = skv_alloc_zeroed(2 * a->count, sizeof(struct berval *));
    if (!a->pairs || !a->mods || !a->list || !a->values)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        a->pairs[i].attribute = text;
        text += strlen(text) + 1;
        a->pairs[i].value = (struct berval){strlen(text), SKV_LDAP_TEXT(text)};
        text += strlen(text) + 1;
    }
    return true;
}

/* Sorts by attribute, and keeps the order of the values of each. */
static int compare_pairs(const void *left, const void *right)
{
    const char *a = ((const pair *)left)->attribute, *b = ((const pair *)right)->attribute;
    int order = strcasecmp(a, b);

    return order ? order : (a > b) - (a < b);
}

static bool read_additions(additions *a, const skv_entry_args *args)
{
    struct berval **row;
    size_t mods = 0;

    *a = (additions){0};
    if (!read_addition_pairs(a, args))
        return false;
    qsort(a->pairs, a->count, sizeof *a->pairs, compare_pairs);
    row = a->values;
    for (size_t i = 0; i < a->count; i++) {
        if (i == 0 || strcasecmp(a->pairs[i - 1].attribute, a->pairs[i].attribute) != 0) {
            row += mods > 0;
            a->mods[mods] =
                (LDAPMod){.mod_op = LDAP_MOD_ADD | LDAP_MOD_BVALUES, .mod_type = SKV_LDAP_TEXT(a->pairs[i].attribute)};
            a->mods[mods].mod_bvalues = row;
            a->list[mods] = &a->mods[mods];
            mods++;
        }
        *row++ = &a->pairs[i].value;
    }
    return true;
}

typedef struct add_call {
    skv_ldap_call call;
    additions additions;
} add_call;

static skv_status attempt_entry_add(skv_ldap_call *call)
{
    skv_ldap_response response;

    switch (skv_ldap_add(call, call->dn, ((add_call *)call)->additions.list, &response)) {
    case LDAP_SUCCESS:
        break;
    case LDAP_ALREADY_EXISTS:
        skv_ldap_refuse(call, SKV_EXISTS, "the entry exists already");
        break;
    case LDAP_NO_SUCH_OBJECT:
        skv_ldap_refuse(call, SKV_NOT_FOUND, "there is no entry above it");
        break;
    default:
        skv_ldap_fail_entry(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

skv_status skv_ldap_admin_add(skv_store *store, const skv_entry_args *args, skv_deadline *deadline, skv_reply *reply)
{
    add_call add;

    if (skv_ldap_begin_entry(&add.call, store, SKV_OP_ENTRY_ADD, args->dn, deadline, reply) == SKV_OK) {
        if (read_additions(&add.additions, args))
            skv_ldap_run(&add.call, attempt_entry_add);
        else
            skv_fail_memory(reply);
        free_additions(&add.additions);
    }
    skv_ldap_end(&add.call);
    return reply->status;
}
