/*
 * A batch of puts takes the steps of single puts (ldap/put.h), for many records at once. A record with SKV_PUT_ABSENT
 * is added at once, and the response to the add tells whether the key exists. A failure, and a record that has to start
 * again twice, are left to single puts.
 */
#include "ldap/put_many.h"

#include "ldap/key.h"

#include <string.h>

static skv_step step_for_absent_key(const skv_put_batch *put)
{
    return put->many.call.store->strict_paths && !put->hex ? SKV_STEP_TWIN : SKV_STEP_ADD;
}

/* Returns the state of the put of an item's record, at its step. */
static skv_put_state *state_of(skv_put_batch *put, const skv_ldap_item *item)
{
    skv_put_state *state = &put->states[item - put->many.items];

    state->step = item->step;
    return state;
}

static skv_ldap_code send_put_request(skv_ldap_many *many, skv_ldap_item *item, int *id)
{
    skv_ldap_call *call = &many->call;
    skv_ldap_code error;

    if (item->record && item->step != SKV_STEP_TWIN)
        return skv_put_send(call, state_of((skv_put_batch *)many, item), id);
    if (item->step != SKV_STEP_MAKE)
        return skv_ldap_many_read(many, item, SKV_READ_KIND, id);
    error = skv_ldap_start(call);
    return error == LDAP_SUCCESS ? skv_ldap_entry_start_add(call, item->dn, SKV_KIND_FOLDER, NULL, id) : error;
}

/* ---- Responses ---- */

static void note_missing_parent(skv_put_batch *put, const skv_ldap_item *item, const skv_ldap_response *response)
{
    skv_put_note_missing(put, item, skv_dn_above(item->dn, strlen(item->dn), 1), response);
}

/* The matched DN tells whether the folder exists. If the server does not say, the response to the add does. */
static void plan_add(skv_put_batch *put, skv_ldap_item *item, const skv_ldap_response *response)
{
    int depth = skv_ldap_matched_depth(response);

    item->step = step_for_absent_key(put);
    if (depth > 0 && depth + 1 < skv_dn_depth(item->dn, strlen(item->dn)) && !put->hex)
        note_missing_parent(put, item, response);
}

static void take_key_response(skv_put_batch *put, skv_ldap_item *item, skv_ldap_response *response)
{
    skv_ldap_call *call = skv_ldap_many_word(&put->many, item);
    skv_put_state *state = state_of(put, item);

    call->in_doubt = item->in_doubt;
    skv_put_take(call, state, response);
    item->in_doubt = call->in_doubt;
    call->in_doubt = false;
    item->step = call->reply->status == SKV_NOMEM ? SKV_STEP_SINGLE : state->step;
    if (item->step == SKV_STEP_DONE) {
        skv_ldap_many_decide(&put->many, item);
    } else if (item->step == SKV_STEP_ADD) {
        plan_add(put, item, response);
    } else if (item->step == SKV_STEP_READ) {
        item->step = item->tried ? SKV_STEP_SINGLE : SKV_STEP_READ;
        item->tried = true;
    }
}

static void take_put_response(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    skv_put_batch *put = (skv_put_batch *)many;
    bool is_missing = response->code == LDAP_NO_SUCH_OBJECT;

    if (!item->record) {
        skv_put_take_folder_response(put, item, response);
    } else if (item->step == SKV_STEP_TWIN) {
        item->step = skv_ldap_many_is_absent(many, response) ? SKV_STEP_ADD : SKV_STEP_SINGLE;
    } else if (item->step == SKV_STEP_ADD && is_missing && !item->tried) {
        item->tried = true;
        note_missing_parent(put, item, response);
    } else if (item->step != SKV_STEP_CONFIRM && is_missing && !skv_ldap_has_base(&many->call, response)) {
        item->step = SKV_STEP_SINGLE;
    } else {
        take_key_response(put, item, response);
    }
}

/* A request whose response was lost was for the version that had been read. */
static bool put_single_item(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline)
{
    skv_put_state *state = state_of((skv_put_batch *)many, item);

    state->in_doubt = item->in_doubt;
    state->versions.in_doubt = state->versions.read;
    return skv_ldap_put_one(&many->call.store->store, &item->record->key, state, deadline, many->batch->each);
}

/* ---- Calls ---- */

static bool prepare_puts(skv_ldap_many *many)
{
    skv_put_batch *put = (skv_put_batch *)many;
    bool is_ambiguous = false;

    put->hex = many->call.store->layout == SKV_LAYOUT_HEX;
    put->order = skv_alloc_zeroed(many->count, sizeof(skv_ldap_item *));
    put->folders = skv_alloc_zeroed(many->count, sizeof *put->folders);
    put->states = skv_alloc_zeroed(many->count, sizeof *put->states);
    if (!put->order || !put->folders || !put->states || !skv_put_name_items(put))
        return false;
    for (size_t i = 0; i < many->count; i++) {
        skv_ldap_item *item = &many->items[i];

        put->order[i] = item;
        skv_put_begin(&put->states[i], &item->record->put, item->dn);
        item->in_doubt = item->record->put.in_doubt;
        is_ambiguous |= skv_put_is_ambiguous_path(put, item->record->key.path);
        if (item->step == SKV_STEP_READ && item->record->put.condition == SKV_PUT_ABSENT)
            item->step = step_for_absent_key(put);
    }
    skv_put_separate_related(put);
    if (!skv_put_find_folders(put))
        return false;
    /* Two names may be one for the directory: the records are put one by one, in their order. */
    for (size_t i = 0; i < many->batch->count && is_ambiguous; i++)
        skv_put_leave_to_single(&many->items[i]);
    return true;
}

void skv_ldap_put_many(skv_store *store, skv_batch *batch)
{
    static const skv_many_ops ops = {.op = SKV_OP_PUT,
                                     .items_max = SKV_PUT_ITEMS_MAX,
                                     .prepare = prepare_puts,
                                     .waits = skv_put_must_wait,
                                     .plan = skv_put_plan_folders,
                                     .send = send_put_request,
                                     .take = take_put_response,
                                     .single = put_single_item,
                                     .settle = skv_put_settle_folders};
    skv_put_batch put = {0};

    skv_ldap_many_run(&put.many, store, batch, &ops);
    for (size_t i = 0; put.states && i < batch->count; i++)
        skv_put_end(&put.states[i]);
    skv_free(put.states);
    skv_free(put.order);
    skv_free(put.names);
    skv_free(put.folders);
}
