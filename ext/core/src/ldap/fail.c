#include "ldap/entry.h"

#include <stdio.h>
#include <string.h>

/* Advice for an operator. */
#define ADVICE_RIGHTS ": bind as another identity ('admin_dn'), or give that one the right"
#define ADVICE_TLS ": use ldaps:// or 'enable_tls'"
#define ADVICE_SCHEMA ": if its schema is not loaded, load simpkv's: "
#define ADVICE_HALF_DELETED                                                                                            \
    ": for a half-deleted entry, which reads show and lists do not, restart the server (docs/adr/0054)"
#define ADVICE_BUSY ": try again later, or raise 'retries'"

static const struct {
    skv_ldap_code code;
    skv_status status;
    const char *advice;
    skv_fault fault;
} kinds[] = {
    {LDAP_INSUFFICIENT_ACCESS, SKV_DENIED, ADVICE_RIGHTS, SKV_FAULT_NONE},
    {LDAP_INVALID_CREDENTIALS, SKV_DENIED, ": check 'admin_dn' and 'admin_pw_file'", SKV_FAULT_CREDENTIALS},
    {LDAP_INAPPROPRIATE_AUTH, SKV_DENIED, ": check 'admin_dn' and 'admin_pw_file'", SKV_FAULT_CREDENTIALS},
    {LDAP_UNWILLING_TO_PERFORM, SKV_DENIED, ": is the server, or its database, read-only?", SKV_FAULT_READ_ONLY},
    {LDAP_STRONG_AUTH_REQUIRED, SKV_DENIED, ADVICE_TLS, SKV_FAULT_TLS},
    {LDAP_CONFIDENTIALITY_REQUIRED, SKV_DENIED, ADVICE_TLS, SKV_FAULT_TLS},
    {LDAP_OPERATIONS_ERROR, SKV_UNAVAILABLE, ADVICE_HALF_DELETED, SKV_FAULT_NONE},
    {LDAP_BUSY, SKV_UNAVAILABLE, ADVICE_BUSY, SKV_FAULT_NONE},
    {LDAP_UNAVAILABLE, SKV_UNAVAILABLE, ADVICE_BUSY, SKV_FAULT_NONE},
    {LDAP_UNDEFINED_TYPE, SKV_UNAVAILABLE, ADVICE_SCHEMA, SKV_FAULT_NONE},
    {LDAP_INVALID_SYNTAX, SKV_UNAVAILABLE, ADVICE_SCHEMA, SKV_FAULT_NONE},
    {LDAP_INVALID_DN_SYNTAX, SKV_UNAVAILABLE, ADVICE_SCHEMA, SKV_FAULT_NONE},
    {LDAP_NAMING_VIOLATION, SKV_UNAVAILABLE, ADVICE_SCHEMA, SKV_FAULT_NONE},
    {LDAP_OBJECT_CLASS_VIOLATION, SKV_UNAVAILABLE, ADVICE_SCHEMA, SKV_FAULT_NONE},
};

const char *skv_ldap_server(const skv_ldap_call *call)
{
    return skv_conn_uri(call->conn)->text;
}

skv_status skv_ldap_refuse(skv_ldap_call *call, skv_status status, const char *why)
{
    if (!call->conn)
        return skv_fail(call->reply, status, "%s '%s'%s: %s", call->what, call->name, call->failed, why);
    return skv_fail(call->reply, status, "%s '%s'%s: %s (%s)", call->what, call->name, call->failed, why,
                    skv_ldap_server(call));
}

int skv_ldap_matched_depth(const skv_ldap_response *response)
{
    return response->matched ? skv_dn_depth(response->matched, strlen(response->matched)) : 0;
}

/* Returns why a call whose connection is lost has no answer. */
static const char *why_lost(const skv_ldap_call *call)
{
    if (skv_conn_got_malformed(call->conn))
        return call->in_doubt ? "the server sent malformed LDAP: the outcome is unknown, the change may have been made"
                              : "the server sent malformed LDAP";
    return call->in_doubt ? "the connection was lost before the answer came: the outcome is unknown, the change may "
                            "have been made"
                          : "the connection was lost";
}

/* The connection is lost, or was lost before the request was sent. */
static skv_status fail_lost_connection(skv_ldap_call *call)
{
    call->again = true;
    call->reason = SKV_RETRY_LOST;
    call->unsent = !skv_conn_has_sent(call->conn);
    if (!call->unsent)
        skv_pool_mark_down(call->pool, call->conn);
    return skv_ldap_refuse(call, SKV_UNAVAILABLE, why_lost(call));
}

/* The response did not come: to a read in the server's share of the time, so that the call goes on to another server;
 * or before the deadline. */
static skv_status fail_silent_server(skv_ldap_call *call)
{
    call->was_silent = call->again = skv_deadline_left(skv_ldap_current_deadline(call)) > 0;
    call->reason = SKV_RETRY_LOST;
    skv_pool_mark_timed_out(call->pool, call->conn, call->was_silent ? call->silence_ns : 0);
    if (call->was_silent)
        return skv_ldap_refuse(call, SKV_UNAVAILABLE, "no answer in this server's share of the time");
    return skv_ldap_refuse(call, SKV_TIMEOUT,
                           call->in_doubt ? "no answer in time ('operation_timeout_seconds'): the outcome is unknown, "
                                            "the change may have been made"
                                          : "no answer in time ('operation_timeout_seconds')");
}

/* Errors of libldap and the transport. */
static skv_status fail_libldap_error(skv_ldap_call *call, skv_ldap_code code)
{
    switch (code) {
    case LDAP_TIMEOUT:
        return fail_silent_server(call);
    case LDAP_USER_CANCELLED:
        return skv_ldap_refuse(call, SKV_INTERRUPTED, "interrupted");
    case LDAP_NO_MEMORY:
        return skv_fail_memory(call->reply);
    case LDAP_SERVER_DOWN:
    case LDAP_CONNECT_ERROR:
        return fail_lost_connection(call);
    default:
        skv_conn_invalidate(call->conn);
        return skv_ldap_refuse(call, SKV_UNAVAILABLE, ldap_err2string(code));
    }
}

/* 389-DS appends a newline. */
skv_quote skv_ldap_text_of(const skv_ldap_response *response)
{
    size_t len = response->text ? strlen(response->text) : 0;
    skv_quote text = {""};

    while (len > 0 && response->text[len - 1] == '\n')
        len--;
    if (len > 0)
        snprintf(text.text, sizeof text.text, ": %.500s", skv_quoted(response->text, len).text);
    return text;
}

/* A replica refers writes to its supplier. A referral may as well be an entry that somebody else has put into the tree,
 * to have simpkv bind to a server of theirs. */
static skv_status fail_with_referral(skv_ldap_call *call, const skv_ldap_response *response)
{
    const char *to = response->referrals && response->referrals[0] ? response->referrals[0] : "another server";

    skv_fail(call->reply, SKV_UNAVAILABLE,
             "%s '%s'%s: %s refers to '%s'. Do not follow that unseen: if you know that this one is a replica of that "
             "server, name that server in 'write_uri'; otherwise somebody has put a referral among the "
             "keys, which 'simpkv doctor' names",
             call->what, call->name, call->failed, skv_ldap_server(call), skv_quoted(to, strlen(to)).text);
    return skv_reply_set_fault(call->reply, SKV_FAULT_REFERRAL);
}

/* The role that would permit the call, for messages; "" for an entry that is not a key's. */
typedef struct role_text {
    char text[SKV_QUOTE_MAX + 160];
} role_text;

static const char *right_of(const skv_ldap_call *call)
{
    switch (call->op) {
    case SKV_OP_LIST:
        return "'list'";
    case SKV_OP_DELETETREE:
    case SKV_OP_DELETE_FOLDER:
        return "'list' and 'write'";
    default:
        return call->writes ? "'write'" : "'read'";
    }
}

/* Returns the length of the part of the key that a role may have as its prefix: the folder that the key is in, or the
 * whole name if it may be a folder's; at least the environment, or `globals`. */
static size_t length_of_folder(const skv_ldap_call *call)
{
    static const char environments[] = "environments/";
    const char *path = call->key->path, *slash = strrchr(path, '/');
    size_t start = strncmp(path, environments, strlen(environments)) == 0 ? strlen(environments) : 0;
    size_t shortest = start + strcspn(path + start, "/");

    if (call->op == SKV_OP_LIST || call->op == SKV_OP_EXISTS)
        return call->key->len;
    return slash && (size_t)(slash - path) > shortest ? (size_t)(slash - path) : shortest;
}

static role_text role_advice(const skv_ldap_call *call)
{
    role_text role = {""};

    if (call->key && call->key->len)
        snprintf(role.text, sizeof role.text,
                 " (a role with %s on '%s', or on a folder above it; 'simpkv access explain' shows an administrator "
                 "which)",
                 right_of(call), skv_quoted(call->key->path, length_of_folder(call)).text);
    return role;
}

/* Returns true if the server reported success without an entry: skv_ldap_read() makes LDAP_INSUFFICIENT_ACCESS of that.
 */
static bool is_hidden_entry(const skv_ldap_call *call, const skv_ldap_response *response)
{
    skv_ldap_code code = LDAP_OTHER;

    if (response->code == LDAP_INSUFFICIENT_ACCESS && response->message)
        ldap_parse_result(skv_conn_handle(call->conn), response->message, &code, NULL, NULL, NULL, NULL, 0);
    return code == LDAP_SUCCESS;
}

skv_status skv_ldap_fail_hidden(skv_ldap_call *call)
{
    skv_fail(call->reply, SKV_DENIED,
             "%s '%s'%s: %s shows no such entry to '%s': it is not there, or no access to it: give that identity "
             "rights%s",
             call->what, call->name, call->failed, skv_ldap_server(call), call->store->identity,
             role_advice(call).text);
    skv_reply_set_fault(call->reply, SKV_FAULT_HIDDEN);
    return call->key ? skv_reply_append(call->reply, ", or correct 'base_dn' (%s)", call->store->base_dn)
                     : call->reply->status;
}

static const char *schema_file_for(const skv_ldap_call *call)
{
    bool hex = call->store->layout == SKV_LAYOUT_HEX;

    if (skv_conn_features(call->conn)->is_389ds)
        return hex ? "schema/389ds/hex.ldif" : "schema/389ds/plain.ldif";
    return hex ? "schema/openldap/simpkv-hex.schema (.ldif with cn=config)"
               : "schema/openldap/simpkv.schema (.ldif with cn=config)";
}

static void note_retry(skv_ldap_call *call, skv_ldap_code code)
{
    if (code != LDAP_BUSY && code != LDAP_UNAVAILABLE)
        return;
    call->again = true;
    call->reason = code == LDAP_BUSY ? SKV_RETRY_BUSY : SKV_RETRY_UNAVAILABLE;
    if (code == LDAP_UNAVAILABLE) {
        skv_pool_mark_down(call->pool, call->conn);
        skv_conn_invalidate(call->conn);
    }
}

skv_status skv_ldap_fail(skv_ldap_call *call, const skv_ldap_response *response)
{
    const char *advice = "";
    skv_status status = SKV_UNAVAILABLE;
    skv_fault fault = SKV_FAULT_NONE;

    if (response->code < 0)
        return fail_libldap_error(call, response->code);
    if (response->code == LDAP_REFERRAL)
        return fail_with_referral(call, response);
    if (is_hidden_entry(call, response))
        return skv_ldap_fail_hidden(call);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].code == response->code) {
            status = kinds[i].status;
            advice = kinds[i].advice;
            fault = kinds[i].fault;
        }
    }
    /* The schema of an entry that is not a key's is not one of simpkv's. */
    if (!call->key && strcmp(advice, ADVICE_SCHEMA) == 0)
        advice = "";
    if (!skv_conn_features(call->conn)->is_389ds && strcmp(advice, ADVICE_HALF_DELETED) == 0)
        advice = "";
    note_retry(call, response->code);
    skv_fail(call->reply, status, "%s '%s'%s: %s answered %d to '%s', %s%s%s%s%s", call->what, call->name, call->failed,
             skv_ldap_server(call), response->code, call->store->identity, ldap_err2string(response->code),
             skv_ldap_text_of(response).text, advice, strcmp(advice, ADVICE_SCHEMA) == 0 ? schema_file_for(call) : "",
             strcmp(advice, ADVICE_RIGHTS) == 0 ? role_advice(call).text : "");
    return skv_reply_set_fault(call->reply, fault);
}
