#include "ldap/version.h"

#include <string.h>
#include <strings.h>

#define KEY_TYPE "simpkvKey="
#define FOLDER_TYPE "ou="

/* ---- DNs ---- */

static char *concatenate(const char *start, const char *rest)
{
    size_t start_len = strlen(start), rest_len = strlen(rest);
    char *text = skv_alloc(start_len + rest_len + 1);

    if (!text)
        return NULL;
    memcpy(text, start, start_len);
    memcpy(text + start_len, rest, rest_len + 1);
    return text;
}

char *skv_ldap_twin(const char *dn)
{
    if (strncmp(dn, KEY_TYPE, strlen(KEY_TYPE)) == 0)
        return concatenate(FOLDER_TYPE, dn + strlen(KEY_TYPE));
    return concatenate(KEY_TYPE, dn + strlen(FOLDER_TYPE));
}

/* ---- Reading ---- */

const char *const *skv_ldap_attributes(const skv_ldap_call *call, int wanted)
{
    static const char *const plain[][3] = {
        {LDAP_NO_ATTRS}, {"simpkvJsonValue"}, {"entryCSN"}, {"simpkvJsonValue", "entryCSN"}};
    static const char *const hex[][4] = {{"objectClass"},
                                         {"objectClass", "simpkvJsonValue"},
                                         {"objectClass", "entryCSN"},
                                         {"objectClass", "simpkvJsonValue", "entryCSN"}};

    return call->store->layout == SKV_LAYOUT_HEX ? hex[wanted] : plain[wanted];
}

skv_ldap_code skv_ldap_entry_start_read(skv_ldap_call *call, const char *dn, int wanted, int *id)
{
    return skv_ldap_search(call, dn, LDAP_SCOPE_BASE, NULL, skv_ldap_attributes(call, wanted), NULL, LDAP_NO_LIMIT, id);
}

const char *skv_ldap_any_entry(const skv_ldap_call *call)
{
    return skv_conn_features(call->conn)->is_389ds ? "(|(objectClass=*)(objectClass=ldapSubEntry))" : NULL;
}

bool skv_ldap_is_text(const struct berval *value, const char *text)
{
    return value->bv_len == strlen(text) && strncasecmp(value->bv_val, text, value->bv_len) == 0;
}

static bool has_rdn_type(const struct berval *dn, const char *type)
{
    return dn->bv_len >= strlen(type) && strncasecmp(dn->bv_val, type, strlen(type)) == 0;
}

static void read_entry_attribute(void *context, const struct berval *type, const struct berval *values)
{
    skv_ldap_entry *entry = context;

    if (!values || !values[0].bv_val)
        return;
    if (skv_ldap_is_text(type, "simpkvJsonValue")) {
        entry->document = values[0];
    } else if (skv_ldap_is_text(type, "entryCSN")) {
        entry->csn = values[0];
    } else if (skv_ldap_is_text(type, "objectClass")) {
        entry->has_class = true;
        for (; values->bv_val; values++) {
            entry->is_key |= skv_ldap_is_text(values, "simpkvEntry");
            entry->is_folder |=
                skv_ldap_is_text(values, "organizationalUnit") || skv_ldap_is_text(values, "simpkvFolder");
        }
    }
}

skv_ldap_code skv_ldap_each_attribute(LDAP *handle, LDAPMessage *entry, struct berval *dn,
                                      void (*take)(void *context, const struct berval *type,
                                                   const struct berval *values),
                                      void *context)
{
    BerElement *ber = NULL;
    skv_ldap_code error = ldap_get_dn_ber(handle, entry, &ber, dn);

    while (error == LDAP_SUCCESS) {
        struct berval type, *values = NULL;

        error = ldap_get_attribute_ber(handle, entry, ber, &type, &values);
        if (error != LDAP_SUCCESS || !type.bv_val)
            break;
        take(context, &type, values);
        ldap_memfree(values);
    }
    ber_free(ber, 0);
    return error;
}

skv_ldap_code skv_ldap_entry_read(skv_ldap_call *call, LDAPMessage *message, skv_ldap_entry *entry)
{
    skv_ldap_code error;

    *entry = (skv_ldap_entry){0};
    error = skv_ldap_each_attribute(skv_conn_handle(call->conn), message, &entry->dn, read_entry_attribute, entry);
    if (call->store->layout == SKV_LAYOUT_PLAIN) {
        entry->is_key = has_rdn_type(&entry->dn, KEY_TYPE);
        entry->is_folder = has_rdn_type(&entry->dn, FOLDER_TYPE);
    }
    return error;
}

skv_ldap_code skv_ldap_entry_of(skv_ldap_call *call, skv_ldap_response *response, skv_ldap_entry *entry)
{
    skv_ldap_code error =
        skv_ldap_entry_read(call, ldap_first_entry(skv_conn_handle(call->conn), response->message), entry);

    if (error != LDAP_SUCCESS)
        response->code = error;
    return error;
}

void skv_ldap_entry_wipe(skv_ldap_entry *entry)
{
    if (entry->document.bv_val)
        explicit_bzero(entry->document.bv_val, entry->document.bv_len);
}

/* ---- Writing ---- */

#define ATTRIBUTES_MAX 4

/* Attributes as libldap wants them. */
typedef struct attributes {
    LDAPMod mods[ATTRIBUTES_MAX], *list[ATTRIBUTES_MAX + 1];
    struct berval *values[ATTRIBUTES_MAX][3];
    int count;
} attributes;

/* Borrows the values. `second` may be NULL. */
static void put_attribute(attributes *a, const char *type, struct berval *first, struct berval *second)
{
    LDAPMod *mod = &a->mods[a->count];

    a->values[a->count][0] = first;
    a->values[a->count][1] = second;
    mod->mod_type = SKV_LDAP_TEXT(type);
    mod->mod_op = LDAP_MOD_ADD | LDAP_MOD_BVALUES;
    mod->mod_bvalues = a->values[a->count];
    a->list[a->count++] = mod;
}

static struct berval text_value(const char *text)
{
    return (struct berval){strlen(text), SKV_LDAP_TEXT(text)};
}

/* A new entry. The attributes point to the other members. */
typedef struct new_entry {
    attributes attributes;
    struct berval top, class, name, raw, content;
    skv_rdn rdn, plain;
} new_entry;

/* Returns false for a DN that is not of simpkv. */
static bool describe_new_entry(new_entry *new, const char *dn, int kind, const struct berval *document)
{
    attributes *a = &new->attributes;
    bool hex;

    *a = (attributes){0};
    if (!skv_rdn_first(dn, strlen(dn), &new->rdn))
        return false;
    hex = skv_rdn_is(&new->rdn, "simpkvHexId");
    new->top = text_value("top");
    new->class = text_value(kind == SKV_KIND_KEY ? "simpkvEntry" : hex ? "simpkvFolder" : "organizationalUnit");
    new->name = (struct berval){new->rdn.len, new->rdn.value};
    put_attribute(a, "objectClass", &new->top, &new->class);
    put_attribute(a, hex ? "simpkvHexId" : kind == SKV_KIND_KEY ? "simpkvKey" : "ou", &new->name, NULL);
    if (hex) {
        new->plain = new->rdn;
        skv_rdn_unhex(&new->plain);
        new->raw = (struct berval){new->plain.len, new->plain.value};
        put_attribute(a, "simpkvId", &new->raw, NULL);
    }
    if (kind == SKV_KIND_KEY) {
        new->content = *document;
        put_attribute(a, "simpkvJsonValue", &new->content, NULL);
    }
    return true;
}

skv_ldap_code skv_ldap_entry_start_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document,
                                       int *id)
{
    new_entry new;

    if (!describe_new_entry(&new, dn, kind, document))
        return LDAP_INVALID_DN_SYNTAX;
    return ldap_add_ext(skv_conn_handle(call->conn), dn, new.attributes.list, NULL, NULL, id);
}

skv_ldap_code skv_ldap_entry_add(skv_ldap_call *call, const char *dn, int kind, const struct berval *document,
                                 skv_ldap_response *response)
{
    skv_ldap_code error = skv_ldap_start(call);
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = skv_ldap_entry_start_add(call, dn, kind, document, &id);
    return skv_ldap_finish_change(call, error, id, response);
}

skv_ldap_code skv_ldap_entry_start_replace(skv_ldap_call *call, const char *dn, struct berval *document,
                                           const char *version, int *id)
{
    LDAPControl *controls[] = {NULL, NULL};
    attributes a = {0};
    skv_ldap_code error = skv_ldap_version_control(call, version, &controls[0]);

    put_attribute(&a, "simpkvJsonValue", document, NULL);
    a.mods[0].mod_op = LDAP_MOD_REPLACE | LDAP_MOD_BVALUES;
    if (error == LDAP_SUCCESS)
        error = ldap_modify_ext(skv_conn_handle(call->conn), dn, a.list, controls, NULL, id);
    ldap_control_free(controls[0]);
    return error;
}

skv_ldap_code skv_ldap_entry_start_delete(skv_ldap_call *call, const char *dn, const char *version, int *id)
{
    LDAPControl *controls[] = {NULL, NULL};
    skv_ldap_code error = skv_ldap_version_control(call, version, &controls[0]);

    if (error == LDAP_SUCCESS)
        error = ldap_delete_ext(skv_conn_handle(call->conn), dn, controls, NULL, id);
    ldap_control_free(controls[0]);
    return error;
}

skv_ldap_code skv_ldap_entry_delete(skv_ldap_call *call, const char *version, skv_ldap_response *response)
{
    skv_ldap_code error = skv_ldap_start(call);
    int id = 0;

    if (error == LDAP_SUCCESS)
        error = skv_ldap_entry_start_delete(call, call->dn, version, &id);
    return skv_ldap_finish_change(call, error, id, response);
}
