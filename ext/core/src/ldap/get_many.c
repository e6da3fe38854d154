/* A batch of gets reads the entries, and for a missing key in the plain layout, the folder of its name. */
#include "ldap/key.h"
#include "ldap/many.h"

static void decide_missing_key(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_refuse_missing(skv_ldap_many_word(many, item));
    skv_ldap_many_decide(many, item);
}

static void decide_found_key(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    skv_ldap_entry entry = {0};

    item->step = SKV_STEP_SINGLE;
    if (skv_ldap_many_entry(many, response, &entry) && (entry.is_key || !entry.is_folder) && entry.document.bv_val) {
        skv_ldap_call *call = skv_ldap_many_word(many, item);

        skv_buf_put(&call->reply->data, entry.document.bv_val, entry.document.bv_len);
        skv_reply_done(call->reply);
        skv_ldap_many_decide(many, item);
    }
    skv_ldap_entry_wipe(&entry);
}

static void take_get_response(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    if (!skv_ldap_many_is_absent(many, response))
        decide_found_key(many, item, response);
    else if (item->step == SKV_STEP_READ && many->call.store->layout == SKV_LAYOUT_PLAIN)
        item->step = SKV_STEP_TWIN;
    else
        decide_missing_key(many, item);
}

static bool get_single_item(skv_ldap_many *many, skv_ldap_item *item, skv_deadline *deadline)
{
    return skv_ldap_get_one(&many->call.store->store, &item->record->key, SKV_GET_ANY, deadline, many->batch->each);
}

void skv_ldap_get_many(skv_store *store, skv_batch *batch)
{
    static const skv_many_ops ops = {.op = SKV_OP_GET, .take = take_get_response, .single = get_single_item};
    skv_ldap_many many = {0};

    skv_ldap_many_run(&many, store, batch, &ops);
}
