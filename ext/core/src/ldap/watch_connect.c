/* Connecting, and connecting again. */
#include "ldap/watch.h"

#include "ldap/key.h"

#include <string.h>
#include <unistd.h>

#define RETRY_MAX_NS (30 * SKV_WATCH_SECOND_NS)

/* How long the attempts go on, and the limit of each. */
#define GIVE_UP_NS (300 * SKV_WATCH_SECOND_NS)
#define CONNECT_NS (10 * SKV_WATCH_SECOND_NS)

/* The time from a persistent search to the list. */
#define PAUSE_NS SKV_WATCH_SECOND_NS

void skv_watch_drop_connection(skv_ldap_watch *w)
{
    skv_conn *conn = w->call.conn;
    bool forked = w->pid != getpid();

    if (!conn)
        return;
    if (!forked)
        skv_ldap_search_end(&w->call, &w->list);
    w->call.conn = NULL;
    if (!forked && skv_conn_is_usable(conn))
        skv_conn_close(conn);
    else
        skv_conn_discard(conn, forked);
}

static skv_status refuse_server(skv_ldap_watch *w)
{
    if (w->is_sync || (skv_conn_features(w->call.conn)->persistent_search && !w->has_since))
        return SKV_OK;
    if (w->has_since)
        return skv_ldap_refuse(&w->call, SKV_INVALID,
                               "the server gives no cookies: that needs the overlay syncprov of OpenLDAP");
    return skv_ldap_refuse(&w->call, SKV_INVALID,
                           "the server offers neither content synchronization (OpenLDAP: the overlay syncprov, see "
                           "docs/directories.md) nor persistent search: configure it, or compare lists (simpkv watch "
                           "--poll SECONDS)");
}

/* Returns the attributes that tell one version of a key from another one. */
const char *const *skv_watch_attributes(const skv_ldap_watch *w)
{
    bool has_csn = w->is_sync && skv_ldap_asserts(&w->call);

    return skv_ldap_attributes(&w->call, has_csn ? SKV_READ_CSN : SKV_READ_DOCUMENT);
}

static skv_status send_search(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;
    LDAPControl *control;
    skv_ldap_code error = w->is_sync ? skv_sync_control(&control) : skv_persistent_search_control(&control);

    if (error == LDAP_SUCCESS)
        error = skv_ldap_search(call, w->dn, LDAP_SCOPE_SUBTREE, NULL, skv_watch_attributes(w), control, LDAP_NO_LIMIT,
                                &w->id);
    ldap_control_free(control);
    return error == LDAP_SUCCESS ? SKV_OK : skv_ldap_fail(call, &(skv_ldap_response){.code = error});
}

static skv_status attempt_watch(skv_ldap_call *call)
{
    skv_ldap_watch *w = (skv_ldap_watch *)call;
    int64_t began = skv_now_ns();
    int kind;

    w->is_sync = skv_conn_features(call->conn)->sync;
    w->is_same_server = strcmp(skv_conn_uri(call->conn)->text, w->server.text) == 0;
    if (refuse_server(w) != SKV_OK || skv_ldap_read_kind(call, w->dn, &kind) != SKV_OK)
        return call->reply->status;
    if (kind != SKV_KIND_FOLDER)
        return skv_ldap_refuse_missing_folder(call);
    if (send_search(w) != SKV_OK)
        return call->reply->status;
    skv_pool_count(call->pool, call->conn, call->op, skv_now_ns() - began);
    skv_pool_detach(call->pool, call->conn);
    w->kept = call->conn;
    call->conn = NULL;
    return SKV_OK;
}

void skv_watch_note_life(skv_ldap_watch *w)
{
    w->silent_ns = skv_now_plus_ns(w->limit_ns);
}

skv_status skv_watch_connect(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;

    w->kept = NULL;
    skv_ldap_run(call, attempt_watch);
    call->conn = w->kept;
    if (call->reply->status != SKV_OK)
        return call->reply->status;
    w->pid = getpid();
    w->phase = w->is_sync ? SKV_WATCH_REFRESHING : SKV_WATCH_PAUSING;
    w->next_ns = w->is_sync ? 0 : skv_now_plus_ns(PAUSE_NS);
    w->csns = (skv_csns){0};
    w->has_csns = w->is_sync;
    w->probe_id = 0;
    skv_watch_note_life(w);
    return skv_ldap_known_begin(&w->known, call, &w->folder, w->dn);
}

void skv_watch_add_state(skv_ldap_watch *w, char kind)
{
    skv_list_add(w->call.reply, kind, "", 0, w->cookie, strlen(w->cookie));
    skv_reply_done(w->call.reply);
}

/* Connects again after half a pause or more, so that all watches of a server do not come back at once. The pauses of a
 * watch that connects again and again grow, whatever the reason. */
void skv_watch_connect_later(skv_ldap_watch *w)
{
    int64_t now = skv_now_ns();

    skv_watch_drop_connection(w);
    if (w->phase == SKV_WATCH_FOLLOWING) {
        w->server_csns = w->has_csns && !w->is_past_csns ? w->csns : (skv_csns){0};
        if (now - w->followed_ns > RETRY_MAX_NS)
            w->retry_ns = SKV_WATCH_RETRY_NS;
    }
    w->phase = SKV_WATCH_DOWN;
    w->next_ns = skv_now_plus_ns(w->retry_ns / 2 + now % (w->retry_ns / 2));
    w->retry_ns = w->retry_ns < RETRY_MAX_NS / 2 ? 2 * w->retry_ns : RETRY_MAX_NS;
    if (!w->failed_ns)
        w->failed_ns = now;
    if (w->is_ready && !w->is_lost)
        skv_watch_add_state(w, SKV_CHANGE_LOST);
    w->is_lost = w->is_ready;
}

/* Takes the reply's failure: the watch ends, unless the server may be back soon. */
void skv_watch_take_failure(skv_ldap_watch *w)
{
    skv_reply *reply = w->call.reply;
    bool is_passing = reply->status == SKV_UNAVAILABLE || reply->status == SKV_TIMEOUT;

    if (!is_passing || (w->failed_ns && skv_now_ns() - w->failed_ns > GIVE_UP_NS))
        return;
    skv_reply_reset(reply);
    skv_watch_connect_later(w);
}

void skv_watch_append(skv_reply *page, const skv_reply *more)
{
    skv_buf_put(&page->data, more->data.bytes, more->data.len);
    page->number += more->number;
    skv_reply_done(page);
}

/* The folder is gone. Its keys are reported first; the next attempt then fails, or finds another folder. On another
 * server, it may not be there yet: that ends the watch. */
static void take_missing_folder(skv_ldap_watch *w)
{
    skv_reply *reply = w->call.reply;
    skv_reply *deletions;

    if (!w->is_same_server)
        return;
    deletions = skv_reply_new();
    if (!deletions) {
        skv_reply_reset(reply);
        skv_fail_memory(reply);
        return;
    }
    skv_ldap_known_forget(&w->known, w->cookie, deletions);
    if (deletions->number > 0 && skv_reply_done(deletions) == SKV_OK) {
        skv_reply_reset(reply);
        skv_watch_append(reply, deletions);
        w->next_ns = skv_now_ns();
    }
    skv_reply_free(deletions);
}

void skv_watch_connect_again(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;
    skv_deadline *deadline = call->deadline;
    skv_deadline attempt = {.end_ns = skv_now_plus_ns(CONNECT_NS), .cancel = deadline->cancel};

    call->deadline = &attempt;
    call->retries = 0;
    skv_watch_connect(w);
    call->deadline = deadline;
    if (call->reply->status == SKV_NOT_FOUND)
        take_missing_folder(w);
    else if (call->reply->status != SKV_OK)
        skv_watch_take_failure(w);
}
