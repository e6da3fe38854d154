/* What a directory knows of the entry of a key or a folder: its operational attributes. A server shows them only to
 * those who ask for them by name, and may read them. */
#include "ldap/entry.h"
#include "ldap/key.h"

#include <string.h>

/* The members of the facts by attribute. */
static const struct {
    const char *attribute, *name;
    bool is_time;
} members[] = {
    {"createTimestamp", "created_at", true},
    {"creatorsName", "created_by", false},
    {"modifyTimestamp", "modified_at", true},
    {"modifiersName", "modified_by", false},
};

#define TIME_DIGITS 14

typedef struct stat_call {
    skv_ldap_call call;
    json_t **facts;
    bool is_folder; /* only a folder can have the name */
} stat_call;

static size_t skip_digits(const struct berval *value, size_t at)
{
    while (at < value->bv_len && value->bv_val[at] >= '0' && value->bv_val[at] <= '9')
        at++;
    return at;
}

/* Returns true for a GeneralizedTime in UTC: "20261126003824Z", "20261126003824.123456Z". */
static bool is_utc_time(const struct berval *value)
{
    size_t at = skip_digits(value, 0);

    if (at != TIME_DIGITS)
        return false;
    if (at < value->bv_len && (value->bv_val[at] == '.' || value->bv_val[at] == ','))
        at = skip_digits(value, at + 1);
    return at + 1 == value->bv_len && value->bv_val[at] == 'Z';
}

static json_t *time_value(const struct berval *value)
{
    const char *v = value->bv_val;

    return json_sprintf("%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", v, v + 4, v + 6, v + 8, v + 10, v + 12);
}

/* Leaves out a value that is no time, or not UTF-8: a client cannot write one. */
static void take_member(void *context, const struct berval *type, const struct berval *values)
{
    json_t **facts = context;

    for (size_t i = 0; values && values->bv_val && i < sizeof members / sizeof *members; i++) {
        if (!skv_ldap_is_text(type, members[i].attribute))
            continue;
        if (!members[i].is_time && skv_is_utf8(values->bv_val, values->bv_len))
            skv_json_put(facts, members[i].name, json_stringn(values->bv_val, values->bv_len));
        else if (members[i].is_time && is_utc_time(values))
            skv_json_put(facts, members[i].name, time_value(values));
    }
}

static void set_kind(stat_call *stat, int kind)
{
    json_decref(*stat->facts);
    *stat->facts = json_object();
    if (kind != SKV_KIND_NONE)
        skv_json_put(stat->facts, "kind", json_string(kind == SKV_KIND_KEY ? "key" : "folder"));
    stat->call.reply->number = kind;
}

/* Reads an entry. Sets the reply's number to its kind, SKV_KIND_NONE if it does not exist. */
static skv_status describe_entry(stat_call *stat, const char *dn)
{
    static const char *const attributes[] = {"objectClass",     "createTimestamp", "creatorsName",
                                             "modifyTimestamp", "modifiersName",   NULL};
    skv_ldap_call *call = &stat->call;
    LDAP *handle = skv_conn_handle(call->conn);
    skv_ldap_response response;
    struct berval name;
    int kind;

    if (skv_ldap_read_with_kind(call, dn, attributes, &kind, &response) == SKV_OK) {
        set_kind(stat, kind);
        if (kind != SKV_KIND_NONE) {
            response.code = skv_ldap_each_attribute(handle, ldap_first_entry(handle, response.message), &name,
                                                    take_member, stat->facts);
            if (response.code != LDAP_SUCCESS)
                skv_ldap_fail(call, &response);
        }
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

/* In the plain layout, reads the folder that has the name of the call's key. */
static skv_status describe_twin(stat_call *stat)
{
    char *twin;

    if (stat->is_folder || stat->call.store->layout == SKV_LAYOUT_HEX)
        return SKV_OK;
    twin = skv_ldap_twin(stat->call.dn);
    if (!twin)
        return skv_fail_memory(stat->call.reply);
    describe_entry(stat, twin);
    skv_free(twin);
    return stat->call.reply->status;
}

/* Reads the folder of a key that is hidden. If there is none, fails as the key does. */
static skv_status describe_visible_folder(stat_call *stat)
{
    skv_reply *reply = stat->call.reply;

    skv_reply_reset(reply);
    if (describe_twin(stat) != SKV_OK || reply->number != SKV_KIND_NONE)
        return reply->status;
    return describe_entry(stat, stat->call.dn);
}

static skv_status attempt_stat(skv_ldap_call *call)
{
    stat_call *stat = (stat_call *)call;
    skv_reply *reply = call->reply;

    if (describe_entry(stat, call->dn) == SKV_DENIED && !stat->is_folder)
        describe_visible_folder(stat);
    else if (reply->status == SKV_OK && reply->number == SKV_KIND_NONE)
        describe_twin(stat);
    if (reply->status != SKV_OK || reply->number != SKV_KIND_NONE)
        return reply->status;
    /* The two roots exist before their entries, which the first put makes. */
    if (!skv_key_is_root(call->key))
        return skv_fail(reply, SKV_NOT_FOUND, "there is no key or folder '%s' (%s)", call->name, skv_ldap_server(call));
    set_kind(stat, SKV_KIND_FOLDER);
    return SKV_OK;
}

skv_status skv_ldap_stat(skv_store *store, const skv_key *key, json_t **facts, skv_deadline *deadline, skv_reply *reply)
{
    stat_call stat = {.facts = facts};

    if (skv_ldap_begin_name(&stat.call, store, key, &stat.is_folder, deadline, reply) == SKV_OK)
        skv_ldap_run(&stat.call, attempt_stat);
    skv_ldap_end(&stat.call);
    return reply->status;
}
