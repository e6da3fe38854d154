#include "ldap/watch.h"

#include "ldap/key.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define PAGE_RECORDS 500

static skv_ldap_watch *watch_of(skv_changes *changes)
{
    return (skv_ldap_watch *)((char *)changes - offsetof(skv_ldap_watch, changes));
}

/* ---- Waiting ---- */

/* Waits until it is time for the next attempt or list. Returns false if it is not in time. */
static bool await_time(skv_ldap_watch *w)
{
    skv_ldap_call *call = &w->call;

    if (skv_deadline_sleep(call->deadline, w->next_ns - skv_now_ns()) == SKV_INTERRUPTED) {
        skv_ldap_refuse(call, SKV_INTERRUPTED, "interrupted");
        return false;
    }
    return skv_now_ns() >= w->next_ns;
}

/* Does the next step. Returns false if the time has passed. */
static bool do_step(skv_ldap_watch *w)
{
    switch (w->phase) {
    case SKV_WATCH_DOWN:
        if (skv_now_ns() < w->next_ns && !await_time(w))
            return false;
        skv_watch_connect_again(w);
        return true;
    case SKV_WATCH_PAUSING:
        if (skv_now_ns() < w->next_ns && !await_time(w))
            return false;
        skv_watch_start_list(w);
        return true;
    case SKV_WATCH_LISTING:
        return skv_watch_list_entry(w);
    case SKV_WATCH_FOLLOWING:
        if (w->next_ns && skv_now_ns() >= w->next_ns) {
            skv_watch_start_list(w);
            return true;
        }
        return skv_watch_await_message(w);
    default:
        return skv_watch_await_message(w);
    }
}

/* Takes what else has come already. A failure waits for the next call: it would drop the records of the page. */
static void take_rest_of_page(skv_ldap_watch *w)
{
    skv_reply *page = w->call.reply;
    skv_deadline *deadline = w->call.deadline;
    skv_deadline now = {.end_ns = skv_now_ns(), .cancel = NULL};

    w->call.deadline = &now;
    w->call.reply = w->rest;
    while (page->status == SKV_OK && page->number < PAGE_RECORDS && w->phase == SKV_WATCH_FOLLOWING && !w->next_ns) {
        skv_reply_reset(w->rest);
        if (!skv_watch_await_message(w) || w->rest->status != SKV_OK)
            break;
        skv_watch_append(page, w->rest);
    }
    w->call.deadline = deadline;
    w->call.reply = page;
}

skv_status skv_ldap_changes_next(skv_changes *changes, skv_deadline *deadline, skv_reply *reply)
{
    skv_ldap_watch *w = watch_of(changes);

    w->call.deadline = deadline;
    w->call.reply = reply;
    if (w->rest->status != SKV_OK)
        return skv_fail(reply, w->rest->status, "%s", w->rest->message);
    if (w->call.conn && w->pid != getpid())
        skv_watch_connect_later(w);
    while (reply->status == SKV_OK && reply->number == 0 && do_step(w))
        ;
    if (reply->number > 0)
        take_rest_of_page(w);
    return reply->status;
}

/* ---- Opening ---- */

static bool read_since(skv_ldap_watch *w, const char *since)
{
    w->has_since = true;
    return strncmp(since, SKV_WATCH_COOKIE, strlen(SKV_WATCH_COOKIE)) == 0 &&
           skv_csns_parse(since + strlen(SKV_WATCH_COOKIE), strlen(since) - strlen(SKV_WATCH_COOKIE), &w->since);
}

static void start_watch(skv_ldap_watch *w, const skv_changes_args *args, skv_deadline *deadline, skv_reply *reply)
{
    skv_ldap_call *call = &w->call;

    if (skv_ldap_begin(call, w->changes.store, SKV_OP_LIST, &w->folder, SKV_KIND_FOLDER, deadline, reply) != SKV_OK)
        return;
    call->what = "Cannot watch";
    w->limit_ns = deadline->end_ns == INT64_MAX ? INT64_MAX : skv_deadline_left(deadline);
    w->dn = w->folder.len ? call->dn : call->store->instance_dn;
    if (args->since && !read_since(w, args->since))
        skv_ldap_refuse(call, SKV_INVALID, "this is not a cookie of a store in a directory");
    else
        skv_watch_connect(w);
}

skv_changes *skv_ldap_changes_open(skv_store *store, const skv_changes_args *args, skv_deadline *deadline,
                                   skv_reply *reply)
{
    skv_ldap_watch *w = skv_alloc_zeroed(1, sizeof *w);

    if (!w) {
        skv_fail_memory(reply);
        return NULL;
    }
    w->rest = skv_reply_new();
    if (!w->rest) {
        skv_free(w);
        skv_fail_memory(reply);
        return NULL;
    }
    w->changes.store = store;
    w->retry_ns = SKV_WATCH_RETRY_NS;
    memcpy(w->path, args->folder.path, args->folder.len + 1);
    w->folder = (skv_key){w->path, args->folder.len};
    start_watch(w, args, deadline, reply);
    if (reply->status == SKV_OK)
        return &w->changes;
    skv_ldap_changes_close(&w->changes);
    return NULL;
}

void skv_ldap_changes_close(skv_changes *changes)
{
    skv_ldap_watch *w = watch_of(changes);

    skv_watch_drop_connection(w);
    skv_ldap_known_free(&w->known);
    skv_reply_free(w->rest);
    skv_ldap_end(&w->call);
    skv_free(w);
}
