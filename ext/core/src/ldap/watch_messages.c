/* What the server tells: the entries of a refresh, and changes. */
#include "ldap/watch.h"

#include <string.h>

/* ---- Cookies ---- */

static bool has_numbers(const skv_ldap_watch *w)
{
    return w->has_csns && w->csns.count > 0;
}

/* Sets the cookie to the numbers of all servers. Without numbers there is none. */
static void set_cookie(skv_ldap_watch *w)
{
    skv_buf text;

    skv_buf_init(&text, SKV_COOKIE_MAX);
    skv_buf_put_string(&text, SKV_WATCH_COOKIE);
    skv_csns_put(&text, &w->csns);
    if (!has_numbers(w) || skv_buf_failed(&text))
        w->cookie[0] = '\0';
    else
        memcpy(w->cookie, text.bytes, text.len + 1);
    skv_buf_free(&text);
}

/* Takes the cookie of a message. That of a change has the number of one server only. A change that came from another
 * server can have none: the watch then keeps its earlier cookie, from which changes come again. */
static void take_cookie(skv_ldap_watch *w, const skv_sync_cookie *cookie)
{
    const char *text;
    skv_csns csns;
    size_t len;

    if (!cookie->is_given)
        return;
    if (!skv_sync_find_csns(cookie, &text, &len))
        w->is_past_csns = true;
    else if (!skv_csns_parse(text, len, &csns) || !skv_csns_merge(&w->csns, &csns))
        w->has_csns = false;
    set_cookie(w);
}

/* ---- A refresh ---- */

/* Returns true if the server has all that is known. Without numbers, it has what it has told itself. */
static bool has_all_known(const skv_ldap_watch *w)
{
    if (w->server_csns.count)
        return has_numbers(w) && skv_csns_are_later(&w->csns, &w->server_csns);
    return w->is_same_server;
}

/* Returns the kind of the record at the end of a refresh; '\0' for none. */
static char end_kind(const skv_ldap_watch *w)
{
    if (w->is_ready && !has_all_known(w))
        return SKV_CHANGE_RESYNC;
    if (w->is_ready)
        return w->is_lost ? SKV_CHANGE_BACK : '\0';
    if (!w->has_since)
        return SKV_CHANGE_READY;
    if (!skv_csns_are_later(&w->csns, &w->since))
        return SKV_CHANGE_RESYNC;
    return skv_csns_are_equal(&w->csns, &w->since) ? SKV_CHANGE_READY : SKV_CHANGE_PART;
}

/* Returns what to report before a record of that kind. */
static skv_known_report report_before(const skv_ldap_watch *w, char kind)
{
    if (kind == SKV_CHANGE_RESYNC)
        return SKV_KNOWN_NOTHING;
    if (w->is_ready)
        return SKV_KNOWN_DIFFERENCES;
    return w->has_since ? SKV_KNOWN_SINCE : SKV_KNOWN_NOTHING;
}

/* All entries have come. */
static void finish_refresh(skv_ldap_watch *w)
{
    skv_reply *page = w->call.reply;
    char kind = end_kind(w);

    if (!w->is_ready && w->has_since && !has_numbers(w)) {
        skv_ldap_refuse(&w->call, SKV_INVALID, "the server gives no cookies");
        return;
    }
    skv_ldap_known_settle(&w->known, report_before(w, kind), &w->since, w->cookie, page);
    if (kind)
        skv_watch_add_state(w, kind);
    w->is_ready = w->is_same_server = true;
    w->is_past_csns = w->is_lost = false;
    w->server = *skv_conn_uri(w->call.conn);
    w->phase = SKV_WATCH_FOLLOWING;
    w->followed_ns = skv_now_ns();
    w->failed_ns = 0;
    skv_watch_note_life(w);
    skv_reply_done(page);
}

void skv_watch_start_list(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;

    if (!w->known.fresh && skv_ldap_known_begin(&w->known, call, &w->folder, w->dn) != SKV_OK)
        return;
    w->next_ns = w->phase == SKV_WATCH_PAUSING ? skv_now_plus_ns(SKV_WATCH_SECOND_LIST_NS) : 0;
    w->phase = SKV_WATCH_LISTING;
    w->list = (skv_ldap_search_state){.dn = w->dn, .scope = LDAP_SCOPE_SUBTREE, .attributes = skv_watch_attributes(w)};
}

/* Frees the cookie of the last page, an empty one, which the next list would leak. */
static void finish_list(skv_ldap_watch *w)
{
    skv_ldap_search_end(&w->call, &w->list);
    finish_refresh(w);
}

/* Takes the next entry of a list. Returns false if it did not come in time. */
bool skv_watch_list_entry(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;
    skv_deadline *deadline = call->deadline;
    skv_deadline page = {.end_ns = skv_now_plus_ns(w->limit_ns), .cancel = deadline->cancel};
    skv_ldap_response response;
    skv_ldap_entry entry;
    LDAPMessage *message;

    call->deadline = &page;
    skv_conn_begin(call->conn, &page);
    response.code = skv_ldap_search_next(call, &w->list, &response, &message);
    if (response.code == LDAP_SUCCESS && message)
        response.code = skv_ldap_entry_read(call, message, &entry);
    if (response.code != LDAP_SUCCESS) {
        skv_ldap_search_failed(call, &response);
    } else if (message) {
        skv_ldap_known_note(&w->known, call, &entry);
        skv_ldap_entry_wipe(&entry);
    }
    skv_ldap_response_free(&response);
    skv_conn_begin(call->conn, NULL);
    call->deadline = deadline;
    if (call->reply->status != SKV_OK && call->reply->status != SKV_INTERRUPTED)
        skv_watch_take_failure(w);
    else if (w->list.over)
        finish_list(w);
    return skv_now_ns() < deadline->end_ns;
}

/* ---- Messages ---- */

/* A message cannot be read: for want of memory, or because it is malformed. */
static void fail_unread(skv_ldap_watch *w, skv_ldap_code code)
{
    if (code == LDAP_NO_MEMORY)
        skv_fail_memory(w->call.reply);
    else
        skv_ldap_refuse(&w->call, SKV_UNAVAILABLE, "the server sent a malformed message");
}

/* Reads what the control of an entry tells. */
static skv_ldap_code read_change(skv_ldap_watch *w, LDAPMessage *message, skv_sync_change *change)
{
    LDAPControl **controls = NULL;
    skv_sync_cookie cookie = {.is_given = false};
    skv_ldap_code code = ldap_get_entry_controls(skv_conn_handle(w->call.conn), message, &controls);

    if (code == LDAP_SUCCESS && !(w->is_sync ? skv_sync_read_state(controls, change, &cookie)
                                             : skv_persistent_search_read_change(controls, change)))
        code = LDAP_DECODING_ERROR;
    if (code == LDAP_SUCCESS)
        take_cookie(w, &cookie);
    ldap_controls_free(controls);
    return code;
}

static void take_entry(skv_ldap_watch *w, LDAPMessage *message)
{
    skv_ldap_call *call = &w->call;
    skv_ldap_entry entry;
    skv_sync_change change;
    skv_ldap_code code = read_change(w, message, &change);

    if (code == LDAP_SUCCESS)
        code = skv_ldap_entry_read(call, message, &entry);
    if (code != LDAP_SUCCESS) {
        fail_unread(w, code);
        return;
    }
    if (w->phase == SKV_WATCH_FOLLOWING)
        skv_ldap_known_change(&w->known, call, &entry, change, w->cookie);
    else if (change != SKV_SYNC_DELETED)
        skv_ldap_known_note(&w->known, call, &entry);
    else
        w->known.is_behind = true;
    skv_ldap_entry_wipe(&entry);
}

/* Takes the message at the end of a refresh. UUIDs of entries tell nothing, as this watch has sent no cookie; later on
 * they are of deletions. */
static void take_info(skv_ldap_watch *w, LDAPMessage *message)
{
    char *oid = NULL;
    struct berval *value = NULL;
    skv_sync_info info = {.is_refreshed = false};
    skv_ldap_code code = ldap_parse_intermediate(skv_conn_handle(w->call.conn), message, &oid, &value, NULL, 0);

    if (code == LDAP_SUCCESS && oid && strcmp(oid, LDAP_SYNC_INFO) == 0 &&
        (!value || !skv_sync_read_info(value, &info)))
        code = LDAP_DECODING_ERROR;
    if (code != LDAP_SUCCESS) {
        fail_unread(w, code);
    } else {
        take_cookie(w, &info.cookie);
        w->known.is_behind |= info.has_ids && w->phase == SKV_WATCH_FOLLOWING;
        if (info.is_refreshed && w->phase == SKV_WATCH_REFRESHING)
            finish_refresh(w);
    }
    ldap_memfree(oid);
    ber_bvfree(value);
}

/* The search has ended, which it does not do by itself. */
static void take_end(skv_ldap_watch *w, LDAPMessage *message)
{
    skv_ldap_call *call = &w->call;
    skv_ldap_response response = {.message = message};

    switch (skv_ldap_parse(call, &response)) {
    case LDAP_SUCCESS:
    case LDAP_NO_SUCH_OBJECT:
    case LDAP_SYNC_REFRESH_REQUIRED:
        skv_ldap_refuse(call, SKV_UNAVAILABLE, "the server has ended the search");
        break;
    case LDAP_UNAVAILABLE_CRITICAL_EXTENSION:
    case LDAP_UNWILLING_TO_PERFORM:
    case LDAP_PROTOCOL_ERROR:
        skv_ldap_fail(call, &response);
        call->reply->status = SKV_INVALID;
        skv_reply_append(call->reply, "; content synchronization has to be configured for this database (OpenLDAP: the "
                                      "overlay syncprov), or compare lists (simpkv watch --poll SECONDS)");
        break;
    default:
        skv_ldap_search_failed(call, &response);
    }
    response.message = NULL;
    skv_ldap_response_free(&response);
    skv_watch_take_failure(w);
}

/* Takes a message: of the search, or the response to the question whether the server is there, which tells no more. */
static void take_message(skv_ldap_watch *w, LDAPMessage *message)
{
    w->probe_id = 0;
    skv_watch_note_life(w);
    if (ldap_msgid(message) != w->id)
        return;
    switch (ldap_msgtype(message)) {
    case LDAP_RES_SEARCH_ENTRY:
        take_entry(w, message);
        break;
    case LDAP_RES_INTERMEDIATE:
        take_info(w, message);
        break;
    case LDAP_RES_SEARCH_RESULT:
        take_end(w, message);
        break;
    case LDAP_RES_SEARCH_REFERENCE:
        skv_ldap_fail(&w->call, &(skv_ldap_response){.code = LDAP_REFERRAL});
        break;
    default:
        fail_unread(w, LDAP_DECODING_ERROR);
    }
    if (w->known.is_behind && w->phase == SKV_WATCH_FOLLOWING && w->call.reply->status == SKV_OK)
        skv_watch_connect_later(w);
}

/* Asks the server whether it is there. */
static skv_ldap_code send_probe(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;
    skv_deadline *deadline = call->deadline;
    skv_deadline sending = {.end_ns = skv_now_plus_ns(w->limit_ns), .cancel = NULL};
    skv_ldap_code error;

    call->deadline = &sending;
    error = skv_ldap_search(call, "", LDAP_SCOPE_BASE, NULL, skv_ldap_no_attributes, NULL, LDAP_NO_LIMIT, &w->probe_id);
    call->deadline = deadline;
    skv_conn_begin(call->conn, NULL);
    skv_watch_note_life(w);
    return error;
}

/* The server has sent nothing for as long as it may. A server that the watch follows is asked first. */
static void take_silence(skv_ldap_watch *w)
{
    skv_ldap_code error = LDAP_SUCCESS;

    if (w->phase == SKV_WATCH_FOLLOWING && !w->probe_id)
        error = send_probe(w);
    else
        skv_ldap_refuse(&w->call, SKV_TIMEOUT, "no answer in time ('operation_timeout_seconds')");
    if (error != LDAP_SUCCESS)
        skv_ldap_fail(&w->call, &(skv_ldap_response){.code = error});
    if (w->call.reply->status != SKV_OK)
        skv_watch_take_failure(w);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Waits for a message, and takes it. Returns false if none came in time. */
bool skv_watch_await_message(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;
    skv_deadline deadline = *call->deadline;
    LDAPMessage *message;
    skv_ldap_code code;

    deadline.end_ns = earlier(deadline.end_ns, w->silent_ns);
    if (w->next_ns)
        deadline.end_ns = earlier(deadline.end_ns, w->next_ns);
    code = skv_conn_await(call->conn, LDAP_RES_ANY, &deadline, &message);
    if (code == LDAP_TIMEOUT && skv_now_ns() >= w->silent_ns) {
        take_silence(w);
        return true;
    }
    if (code == LDAP_TIMEOUT)
        return w->next_ns && skv_now_ns() >= w->next_ns;
    if (code == LDAP_SUCCESS) {
        take_message(w, message);
        ldap_msgfree(message);
        return true;
    }
    skv_ldap_fail(call, &(skv_ldap_response){.code = code});
    if (!skv_conn_got_malformed(call->conn))
        skv_watch_take_failure(w);
    return true;
}
