/*
 * A batch of puts reads the entries first, as a single put does. A record with SKV_PUT_ABSENT is added at once, and the
 * response to the add tells whether the key exists. Single puts handle all other cases.
 */
#include "ldap/put_many.h"

#include "ldap/compare_and_swap.h"
#include "ldap/confirm.h"
#include "ldap/key.h"

#include <stdio.h>
#include <string.h>

static skv_step step_for_absent_key(const skv_put_batch *put)
{
    return put->many.call.store->strict_paths && !put->hex ? SKV_STEP_TWIN : SKV_STEP_ADD;
}

/* ---- Responses ---- */

static void decide_written(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_many_word(many, item)->reply->number = 1;
    skv_ldap_many_decide(many, item);
}

/* Takes an acknowledged replacement. Until it is confirmed, the record is in doubt. */
static void take_acknowledged(skv_ldap_many *many, skv_ldap_item *item)
{
    if (!skv_ldap_needs_confirmation(&many->call)) {
        decide_written(many, item);
        return;
    }
    item->in_doubt = true;
    item->step = SKV_STEP_CONFIRM;
}

static void take_confirmation(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_response *response)
{
    item->step = SKV_STEP_SINGLE;
    if (response->code == LDAP_SUCCESS) {
        item->in_doubt = false;
        decide_written(many, item);
    } else if (response->code == LDAP_NO_SUCH_OBJECT && item->record->put.condition == SKV_PUT_ANY) {
        item->in_doubt = false;
    } else if (response->code == LDAP_NO_SUCH_OBJECT) {
        skv_ldap_refuse_vanished(skv_ldap_many_word(many, item));
        skv_ldap_many_decide(many, item);
    }
}

/* Plans to replace the document if the entry has the version that was read, as far as the server can compare it. */
static void plan_replacement(skv_ldap_item *item, const skv_ldap_entry *entry)
{
    skv_ldap_version version = skv_ldap_version_of(entry);

    skv_free(item->version);
    item->version = skv_copy_string(version.text, strlen(version.text));
    item->step = item->version ? SKV_STEP_REPLACE : SKV_STEP_SINGLE;
}

/* The key exists, and the condition of the record does not hold. A record in doubt may have written it. */
static void decide_failed_condition(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_call *call = skv_ldap_many_word(many, item);

    if (item->record->put.in_doubt)
        return;
    if (item->record->put.condition == SKV_PUT_ABSENT)
        skv_ldap_refuse_present(call);
    else
        skv_ldap_refuse_unexpected(call);
    skv_ldap_many_decide(many, item);
}

static void decide_by_stored_document(skv_ldap_many *many, skv_ldap_item *item, const skv_ldap_entry *entry)
{
    const struct berval *stored = &entry->document, new = skv_ldap_many_document(item);
    skv_reply *reply = skv_ldap_many_word(many, item)->reply;
    bool same = ber_bvcmp(stored, &new) == 0;
    bool is_known = same || skv_document_same(stored->bv_val, stored->bv_len, new.bv_val, new.bv_len, reply) == SKV_OK;

    if (is_known && (same || reply->number == 1)) {
        reply->number = item->record->put.in_doubt;
        skv_ldap_many_decide(many, item);
    } else if (!is_known || skv_is_kept_encrypted(&item->record->put, stored->bv_val, stored->bv_len)) {
        item->step = SKV_STEP_SINGLE;
    } else {
        plan_replacement(item, entry);
    }
}

static void take_key_response(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    const struct berval expected = skv_ldap_many_expected(item);
    int condition = item->record->put.condition;
    skv_ldap_entry entry = {0};

    item->step = SKV_STEP_SINGLE;
    if (skv_ldap_many_entry(many, response, &entry) && (entry.is_key || !entry.is_folder) && entry.document.bv_val) {
        if (condition == SKV_PUT_ABSENT || (condition == SKV_PUT_EXPECT && ber_bvcmp(&entry.document, &expected) != 0))
            decide_failed_condition(many, item);
        else
            decide_by_stored_document(many, item, &entry);
    }
    skv_ldap_entry_wipe(&entry);
}

static void note_missing_parent(skv_put_batch *put, const skv_ldap_item *item, const skv_ldap_response *response)
{
    skv_put_note_missing(put, item, skv_dn_above(item->dn, strlen(item->dn), 1), response);
}

/* The matched DN tells whether the folder exists. If the server does not say, the response to the add does. */
static void take_absent_response(skv_put_batch *put, skv_ldap_item *item, const skv_ldap_response *response)
{
    int depth = skv_ldap_matched_depth(response);

    if (item->record->put.condition == SKV_PUT_EXPECT) {
        item->step = SKV_STEP_SINGLE;
        return;
    }
    item->step = step_for_absent_key(put);
    if (depth > 0 && depth + 1 < skv_dn_depth(item->dn, strlen(item->dn)) && !put->hex)
        note_missing_parent(put, item, response);
}

static void take_added_response(skv_put_batch *put, skv_ldap_item *item, const skv_ldap_response *response)
{
    skv_ldap_many *many = &put->many;
    bool again = !item->tried;

    item->tried = true;
    if (response->code == LDAP_SUCCESS) {
        decide_written(many, item);
    } else if (response->code == LDAP_NO_SUCH_OBJECT && again) {
        note_missing_parent(put, item, response);
    } else if (response->code == LDAP_ALREADY_EXISTS && again && item->record->put.condition == SKV_PUT_ABSENT) {
        item->step = SKV_STEP_READ;
    } else {
        item->step = SKV_STEP_SINGLE;
    }
}

/* 389-DS may have replaced another document, which was put back: a single put reads the present one. */
static void take_replaced_response(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    struct berval new = skv_ldap_many_document(item), expected = skv_ldap_many_expected(item);

    if (skv_ldap_finish_swap(skv_ldap_many_word(many, item), item->dn, &expected, &new, response) != SKV_OK)
        skv_ldap_many_decide(many, item);
    else if (response->code == LDAP_SUCCESS)
        take_acknowledged(many, item);
    else
        item->step = SKV_STEP_SINGLE;
}

static void take_put_response(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    skv_put_batch *put = (skv_put_batch *)many;
    bool absent = skv_ldap_many_is_absent(many, response);

    if (!item->record)
        skv_put_take_folder_response(put, item, response);
    else if (item->step == SKV_STEP_ADD)
        take_added_response(put, item, response);
    else if (item->step == SKV_STEP_REPLACE)
        take_replaced_response(many, item, response);
    else if (item->step == SKV_STEP_CONFIRM)
        take_confirmation(many, item, response);
    else if (item->step == SKV_STEP_READ && absent && !item->tried)
        take_absent_response(put, item, response);
    else if (item->step == SKV_STEP_READ)
        take_key_response(many, item, response);
    else
        item->step = item->step == SKV_STEP_TWIN && absent ? SKV_STEP_ADD : SKV_STEP_SINGLE;
}

static bool put_single_item(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline)
{
    skv_put_args args = item->record->put;
    bool is_known = item->in_doubt && !args.in_doubt;
    skv_ldap_version version = {""};

    if (item->version)
        snprintf(version.text, sizeof version.text, "%s", item->version);
    args.in_doubt |= item->in_doubt;
    return skv_ldap_put_one(&many->call.store->store, &item->record->key, &args, is_known ? &version : NULL, deadline,
                            many->batch->each);
}

/* ---- Calls ---- */

static bool prepare_puts(skv_ldap_many *many)
{
    skv_put_batch *put = (skv_put_batch *)many;
    bool is_ambiguous = false;

    put->hex = many->call.store->layout == SKV_LAYOUT_HEX;
    put->order = skv_alloc_zeroed(many->count, sizeof(skv_ldap_item *));
    put->folders = skv_alloc_zeroed(many->count, sizeof *put->folders);
    if (!put->order || !put->folders || !skv_put_name_items(put))
        return false;
    for (size_t i = 0; i < many->count; i++) {
        skv_ldap_item *item = &many->items[i];

        put->order[i] = item;
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
                                     .take = take_put_response,
                                     .single = put_single_item,
                                     .settle = skv_put_settle_folders};
    skv_put_batch put = {0};

    skv_ldap_many_run(&put.many, store, batch, &ops);
    skv_free(put.order);
    skv_free(put.names);
    skv_free(put.folders);
}
