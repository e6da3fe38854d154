#include "ldap/call.h"

#include <string.h>

#define BACKOFF_MIN_NS (50 * SKV_NS_PER_MS)
#define BACKOFF_MAX_NS (2000 * SKV_NS_PER_MS)

/* Roughly the time of a round trip. */
#define CONTENTION_NS (SKV_NS_PER_MS / 4)

/* The most connections that an operation tries without sending on any: more than a pool has stale ones. */
#define UNSENT_MAX 64

const char *const skv_ldap_no_attributes[] = {LDAP_NO_ATTRS, NULL};

/* The start and end of messages, around the key. */
static const struct {
    const char *what, *failed;
} words[SKV_OP_COUNT] = {
    [SKV_OP_GET] = {"Cannot read", ""},
    [SKV_OP_EXISTS] = {"Cannot access", ""},
    [SKV_OP_PUT] = {"Key write to", " failed"},
    [SKV_OP_DELETE] = {"Delete of", " failed"},
    [SKV_OP_DELETETREE] = {"Folder delete of", " failed"},
    [SKV_OP_CREATE_FOLDER] = {"Cannot make folder", ""},
    [SKV_OP_DELETE_FOLDER] = {"Folder delete of", " failed"},
    [SKV_OP_LIST] = {"Cannot read", ""},
    [SKV_OP_ENTRY_READ] = {"Cannot read", ""},
    [SKV_OP_ENTRY_ADD] = {"Adding", " failed"},
    [SKV_OP_ENTRY_MODIFY] = {"Changing", " failed"},
    [SKV_OP_ENTRY_DELETE] = {"Delete of", " failed"},
    [SKV_OP_ENTRY_LIST] = {"Cannot list", ""},
    [SKV_OP_ENTRY_PASSWORD] = {"Setting the password of", " failed"},
};

/* ---- Names ---- */

/* Returns the part of a path behind `prefix`; NULL if the path does not start with it. */
static const char *path_behind(const skv_key *key, const char *prefix)
{
    size_t len = strlen(prefix);

    return strncmp(key->path, prefix, len) == 0 ? key->path + len : NULL;
}

bool skv_ldap_is_structure(const skv_key *key)
{
    const char *environment = path_behind(key, "environments/");

    return key->len == 0 || skv_key_is_root(key) || (environment && !strchr(environment, '/'));
}

const char *skv_ldap_why_ambiguous(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (name[i] >= 'A' && name[i] <= 'Z')
            return "has capital letters, which do not count in a directory: set 'fold_case' if it is to share its keys "
                   "with its namesake in small letters";
        if (name[i] < ' ' || name[i] > '~' || (name[i] == ' ' && (i == 0 || i == len - 1 || name[i + 1] == ' ')))
            return "has characters that a directory ignores or takes for others (spaces at an end or in a row, or "
                   "other "
                   "than ASCII): set 'fold_case' if it is to share its keys with its namesakes";
    }
    return NULL;
}

static skv_status check_environment(const skv_ldap_call *call)
{
    const char *environment = path_behind(call->key, "environments/");
    size_t len = environment ? strcspn(environment, "/") : 0;
    const char *why = call->store->fold_case ? NULL : skv_ldap_why_ambiguous(environment, len);

    if (!why)
        return SKV_OK;
    return skv_fail(call->reply, SKV_INVALID, "environment '%.*s' %s", (int)len, environment, why);
}

/* ---- Calls ---- */

static bool is_write_op(skv_op op)
{
    return op != SKV_OP_GET && op != SKV_OP_EXISTS && op != SKV_OP_LIST && op != SKV_OP_ENTRY_READ &&
           op != SKV_OP_ENTRY_LIST;
}

/* Sets all members of a call but its key and its DN. */
static void init_call(skv_ldap_call *call, skv_ldap_store *store, skv_op op, skv_deadline *deadline, skv_reply *reply)
{
    *call = (skv_ldap_call){.store = store,
                            .what = words[op].what,
                            .failed = words[op].failed,
                            .op = op,
                            .writes = is_write_op(op),
                            .deadline = deadline,
                            .reply = reply,
                            .retries = store->retries};
    call->pool = call->writes || atomic_load(&store->wrote) ? store->writes : store->reads;
}

skv_status skv_ldap_begin(skv_ldap_call *call, skv_store *store, skv_op op, const skv_key *key, int kind,
                          skv_deadline *deadline, skv_reply *reply)
{
    skv_ldap_store *ldap = (skv_ldap_store *)store;

    init_call(call, ldap, op, deadline, reply);
    call->key = key;
    call->name = key->len ? key->path : "/";
    if (check_environment(call) != SKV_OK)
        return reply->status;
    if (kind == SKV_KIND_KEY && skv_ldap_is_structure(key))
        return skv_fail(reply, SKV_IS_FOLDER, "Key specifies a folder: '%s'", call->name);
    call->dn = skv_ldap_dn(ldap, kind, key->path, key->len, reply);
    return reply->status;
}

skv_status skv_ldap_begin_entry(skv_ldap_call *call, skv_store *store, skv_op op, const char *dn,
                                skv_deadline *deadline, skv_reply *reply)
{
    init_call(call, (skv_ldap_store *)store, op, deadline, reply);
    call->name = dn[0] ? dn : "root DSE";
    call->dn = skv_copy_string(dn, strlen(dn));
    return call->dn ? SKV_OK : skv_fail_memory(reply);
}

void skv_ldap_end(skv_ldap_call *call)
{
    skv_free(call->dn);
}

static skv_status fail_stopped_call(skv_ldap_call *call, skv_status status)
{
    skv_reply_reset(call->reply);
    return skv_fail(call->reply, status, "%s '%s'%s: %s", call->what, call->name, call->failed,
                    status == SKV_INTERRUPTED ? "interrupted" : "out of memory");
}

/* Returns a random time between half of `ns` and all of it, so that clients that failed together retry at different
 * times. */
static int64_t with_jitter(int64_t ns)
{
    uint64_t mixed = (uint64_t)skv_now_ns() * UINT64_C(6364136223846793005);

    return ns / 2 + (int64_t)((mixed >> 33) % (uint64_t)(ns / 2));
}

/* Returns true if the call may be tried again, after a pause. */
static bool prepare_retry(skv_ldap_call *call, int *unsent, int64_t *backoff_ns)
{
    skv_status status;

    if ((call->unsent || call->was_silent) && ++*unsent < UNSENT_MAX)
        return true;
    if (call->retries == 0)
        return false;
    call->retries--;
    status = skv_deadline_sleep(skv_ldap_round_trip(call), with_jitter(*backoff_ns));
    if (status == SKV_INTERRUPTED || status == SKV_NOMEM)
        fail_stopped_call(call, status);
    *backoff_ns = *backoff_ns < BACKOFF_MAX_NS / 2 ? 2 * *backoff_ns : BACKOFF_MAX_NS;
    return status == SKV_OK;
}

/* Returns true if the call has waited for a server that stayed silent as long as 'connect_timeout_seconds' says. */
static bool has_waited_for_connection(const skv_ldap_call *call, int64_t started)
{
    return skv_now_ns() - started >= skv_ms_to_ns(call->store->limits.connect_timeout_ms);
}

/* Borrows a connection for an attempt, and returns it unless the attempt keeps it. */
static void run_attempt(skv_ldap_call *call, skv_status (*attempt)(skv_ldap_call *))
{
    int64_t started;
    skv_conn *conn;

    call->again = call->unsent = call->was_silent = false;
    call->server_failed = true;
    started = skv_now_ns();
    conn = call->conn = skv_pool_borrow(call->pool, &call->store->limits, skv_ldap_round_trip(call), call->reply);
    if (!conn) {
        call->again = call->reply->status == SKV_UNAVAILABLE && !has_waited_for_connection(call, started);
        return;
    }
    if (call->writes)
        atomic_store(&call->store->wrote, true);
    started = skv_now_ns();
    attempt(call);
    call->server_failed = call->again || call->reply->status == SKV_TIMEOUT;
    if (call->conn)
        skv_pool_count(call->pool, conn, call->op, skv_now_ns() - started);
    if (call->again && !call->unsent && call->retries > 0)
        skv_pool_count_retry(call->pool, conn, call->reason);
    if (!call->conn)
        return;
    skv_pool_return(call->pool, call->conn);
    call->conn = NULL;
}

skv_status skv_ldap_run(skv_ldap_call *call, skv_status (*attempt)(skv_ldap_call *))
{
    int64_t backoff_ns = BACKOFF_MIN_NS;
    int unsent = 0;

    for (;;) {
        run_attempt(call, attempt);
        if (!call->again || !prepare_retry(call, &unsent, &backoff_ns))
            return call->reply->status;
        skv_reply_reset(call->reply);
    }
}

skv_status skv_ldap_stale(skv_ldap_call *call)
{
    call->is_stale = true;
    return SKV_CONFLICT;
}

skv_status skv_ldap_pause(skv_ldap_call *call, int round)
{
    skv_status status = skv_deadline_sleep(call->deadline, with_jitter(CONTENTION_NS << (round < 6 ? round : 6)));

    if (status == SKV_OK && skv_now_ns() < call->deadline->end_ns)
        return SKV_OK;
    if (status == SKV_INTERRUPTED)
        return skv_ldap_refuse(call, SKV_INTERRUPTED, "interrupted");
    return skv_ldap_refuse(call, SKV_TIMEOUT,
                           "other clients changed it again and again, until the deadline "
                           "('operation_timeout_seconds')");
}

skv_deadline *skv_ldap_round_trip(skv_ldap_call *call)
{
    int64_t now;

    if (!call->round_trip_ns)
        return call->deadline;
    now = skv_now_ns();
    call->round_trip.cancel = call->deadline->cancel;
    call->round_trip.end_ns = call->round_trip_ns > INT64_MAX - now ? INT64_MAX : now + call->round_trip_ns;
    return &call->round_trip;
}

/* ---- Requests ---- */

void skv_ldap_response_free(skv_ldap_response *response)
{
    ldap_msgfree(response->message);
    ldap_memfree(response->matched);
    ldap_memfree(response->text);
    ldap_memvfree((void **)response->referrals);
    ldap_controls_free(response->controls);
    *response = (skv_ldap_response){0};
}

bool skv_ldap_has_value(const LDAPControl *control)
{
    return control->ldctl_value.bv_val && control->ldctl_value.bv_len > 0;
}

skv_ldap_code skv_ldap_parse(skv_ldap_call *call, skv_ldap_response *response)
{
    skv_ldap_code error =
        ldap_parse_result(skv_conn_handle(call->conn), response->message, &response->code, &response->matched,
                          &response->text, &response->referrals, &response->controls, 0);

    if (error != LDAP_SUCCESS)
        response->code = error;
    return response->code;
}

/* Receives the response to a request, or takes the error of sending it. */
static skv_ldap_code receive_result(skv_ldap_call *call, skv_ldap_code error, int id, skv_ldap_response *response)
{
    if (error != LDAP_SUCCESS)
        return response->code = skv_conn_send_error(call->conn, error);
    error = skv_conn_result(call->conn, id, LDAP_MSG_ALL, &response->message);
    if (error == LDAP_SUCCESS)
        return skv_ldap_parse(call, response);
    skv_conn_invalidate(call->conn);
    return response->code = error;
}

skv_ldap_code skv_ldap_start(skv_ldap_call *call)
{
    skv_deadline *deadline = skv_ldap_round_trip(call);

    skv_conn_begin(call->conn, deadline);
    return skv_deadline_check_request(deadline) == SKV_OK ? LDAP_SUCCESS : LDAP_USER_CANCELLED;
}

/* Limits the wait for the response to a read to the server's share of the time. A change has all of the time, because
 * no other server may do it again. */
static void limit_silence(skv_ldap_call *call)
{
    call->silence_ns = skv_pool_share(call->pool, call->conn, skv_deadline_left(skv_ldap_current_deadline(call)));
    skv_conn_limit_silence(call->conn, call->silence_ns);
}

skv_ldap_code skv_ldap_search(skv_ldap_call *call, const char *dn, int scope, const char *filter,
                              const char *const *attributes, LDAPControl *control, int limit, int *id)
{
    LDAPControl *controls[] = {control, NULL};
    skv_ldap_code error = skv_ldap_start(call);

    if (error != LDAP_SUCCESS)
        return error;
    limit_silence(call);
    /* libldap does not change the attributes. */
    error = ldap_search_ext(skv_conn_handle(call->conn), dn, scope, filter ? filter : "(objectClass=*)",
                            (char **)(uintptr_t)attributes, 0, controls, NULL, NULL, limit, id);
    return error == LDAP_SUCCESS ? error : skv_conn_send_error(call->conn, error);
}

void skv_ldap_note_hidden(skv_ldap_call *call, skv_ldap_response *response)
{
    if (response->code == LDAP_SUCCESS && !ldap_first_entry(skv_conn_handle(call->conn), response->message))
        response->code = LDAP_INSUFFICIENT_ACCESS;
}

skv_ldap_code skv_ldap_finish_read(skv_ldap_call *call, skv_ldap_code error, int id, skv_ldap_response *response)
{
    *response = (skv_ldap_response){0};
    receive_result(call, error, id, response);
    skv_ldap_note_hidden(call, response);
    return response->code;
}

skv_ldap_code skv_ldap_read(skv_ldap_call *call, const char *dn, const char *const *attributes,
                            skv_ldap_response *response)
{
    int id = 0;
    skv_ldap_code error = skv_ldap_search(call, dn, LDAP_SCOPE_BASE, NULL, attributes, NULL, LDAP_NO_LIMIT, &id);

    return skv_ldap_finish_read(call, error, id, response);
}

LDAPMessage *skv_ldap_read_below(skv_ldap_call *call, const char *filter, const char *const *attributes,
                                 skv_ldap_response *response)
{
    int id;

    *response = (skv_ldap_response){0};
    response->code = skv_ldap_search(call, call->dn, LDAP_SCOPE_ONELEVEL, filter, attributes, NULL, 1, &id);
    if (response->code == LDAP_SUCCESS)
        receive_result(call, LDAP_SUCCESS, id, response);
    return response->message ? ldap_first_entry(skv_conn_handle(call->conn), response->message) : NULL;
}

skv_ldap_code skv_ldap_finish_change(skv_ldap_call *call, skv_ldap_code error, int id, skv_ldap_response *response)
{
    *response = (skv_ldap_response){0};
    receive_result(call, error, id, response);
    if (response->code < 0 && skv_conn_has_sent(call->conn))
        call->in_doubt = true;
    return response->code;
}

char *skv_ldap_dn(const skv_ldap_store *store, int kind, const char *path, size_t len, skv_reply *reply)
{
    char *dn = NULL;

    if (!len)
        dn = skv_copy_string(store->base_dn, strlen(store->base_dn));
    else if (skv_dn_below(store->layout, kind, store->instance_dn, store->instance_dn_len, path, len, reply) == SKV_OK)
        dn = skv_copy_string(skv_reply_data(reply), skv_reply_size(reply));
    else
        return NULL;
    skv_reply_reset(reply);
    if (!dn)
        skv_fail_memory(reply);
    return dn;
}
