#include "ldap/confirm.h"
#include "ldap/key.h"
#include "ldap/many.h"

#include <string.h>

static skv_status copy_document(skv_ldap_call *call, skv_ldap_response *response)
{
    skv_ldap_entry entry;

    if (skv_ldap_entry_of(call, response, &entry) != LDAP_SUCCESS)
        return skv_ldap_fail(call, response);
    if (entry.is_folder && !entry.is_key)
        return skv_ldap_refuse_folder(call);
    if (!entry.document.bv_val)
        return skv_ldap_refuse(call, SKV_DENIED, SKV_NO_DOCUMENT);
    skv_buf_put(&call->reply->data, entry.document.bv_val, entry.document.bv_len);
    skv_ldap_entry_wipe(&entry);
    return skv_reply_done(call->reply);
}

static skv_status fail_absent_get(skv_ldap_call *call)
{
    bool folder;

    if (skv_ldap_has_twin(call, call->dn, &folder) != SKV_OK)
        return call->reply->status;
    if (folder)
        return skv_ldap_refuse_folder(call);
    return skv_ldap_refuse_missing(call);
}

typedef struct get_call {
    skv_ldap_call call;
    bool is_indexed; /* an entry that only the server's cache shows is none: ldap/confirm.h */
} get_call;

static skv_ldap_code read_for_get(skv_ldap_call *call, skv_ldap_response *response)
{
    skv_ldap_code error;
    int id = 0;

    if (!((get_call *)call)->is_indexed)
        return skv_ldap_read(call, call->dn, skv_ldap_attributes(call, SKV_READ_DOCUMENT), response);
    error = skv_ldap_start_indexed_read(call, call->dn, SKV_READ_DOCUMENT, &id);
    return skv_ldap_finish_read(call, error, id, response);
}

/* Ends a get whose response shows no entry: the server may hide it. It shows a half-deleted entry only to a read
 * without the index. */
static skv_status fail_hidden_get(skv_ldap_call *call, const skv_ldap_response *response)
{
    int kind = SKV_KIND_NONE;

    if (!((get_call *)call)->is_indexed || !skv_ldap_needs_confirmation(call))
        return skv_ldap_fail(call, response);
    return skv_ldap_read_kind(call, call->dn, &kind) == SKV_OK ? fail_absent_get(call) : call->reply->status;
}

static skv_status attempt_get(skv_ldap_call *call)
{
    skv_ldap_response response;

    switch (read_for_get(call, &response)) {
    case LDAP_SUCCESS:
        copy_document(call, &response);
        break;
    case LDAP_NO_SUCH_OBJECT:
        if (skv_ldap_check_base(call, &response) == SKV_OK)
            fail_absent_get(call);
        break;
    case LDAP_INSUFFICIENT_ACCESS:
        fail_hidden_get(call, &response);
        break;
    default:
        skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return call->reply->status;
}

static bool get_one(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply)
{
    get_call get = {.is_indexed = flags & (SKV_GET_STORED | SKV_GET_LATEST)};
    skv_ldap_call *call = &get.call;
    skv_status status = skv_ldap_begin(call, store, SKV_OP_GET, key, SKV_KIND_KEY, deadline, reply);

    if (flags & SKV_GET_LATEST)
        call->pool = call->store->writes;
    if (status == SKV_OK)
        skv_ldap_run(call, attempt_get);
    skv_ldap_end(call);
    return reply->status == SKV_OK || !call->server_failed;
}

skv_status skv_ldap_get(skv_store *store, const skv_key *key, int flags, skv_deadline *deadline, skv_reply *reply)
{
    get_one(store, key, flags, deadline, reply);
    return reply->status;
}

typedef struct exists_call {
    skv_ldap_call call;
    bool is_folder; /* only a folder can have the name */
} exists_call;

/* Looks for a folder. Its identity may not see the key of the same name, which is in the folder above. */
static skv_status look_for_visible_folder(skv_ldap_call *call)
{
    bool twin;
    int kind = SKV_KIND_FOLDER;

    skv_reply_reset(call->reply);
    if (skv_ldap_has_twin(call, call->dn, &twin) == SKV_OK &&
        (twin || skv_ldap_read_kind(call, call->dn, &kind) == SKV_OK))
        call->reply->number = kind;
    return call->reply->status;
}

static skv_status attempt_exists(skv_ldap_call *call)
{
    const exists_call *exists = (exists_call *)call;
    bool twin = false;
    int kind;

    if (skv_ldap_read_kind(call, call->dn, &kind) != SKV_OK)
        return call->reply->status == SKV_DENIED && !exists->is_folder ? look_for_visible_folder(call)
                                                                       : call->reply->status;
    if (kind == SKV_KIND_NONE && !exists->is_folder && skv_ldap_has_twin(call, call->dn, &twin) != SKV_OK)
        return call->reply->status;
    /* The two roots exist before their entries, which the first put makes. */
    call->reply->number = twin || skv_key_is_root(call->key) ? SKV_KIND_FOLDER : kind;
    return SKV_OK;
}

skv_status skv_ldap_begin_name(skv_ldap_call *call, skv_store *store, const skv_key *key, bool *is_folder,
                               skv_deadline *deadline, skv_reply *reply)
{
    skv_status status = SKV_TOO_LARGE;

    *is_folder = skv_ldap_is_structure(key);
    if (!*is_folder)
        status = skv_ldap_begin(call, store, SKV_OP_EXISTS, key, SKV_KIND_KEY, deadline, reply);
    if (status != SKV_TOO_LARGE)
        return status;
    /* A folder's name may be some bytes longer than a key's. */
    *is_folder = true;
    skv_reply_reset(reply);
    return skv_ldap_begin(call, store, SKV_OP_EXISTS, key, SKV_KIND_FOLDER, deadline, reply);
}

skv_status skv_ldap_exists(skv_store *store, const skv_key *key, skv_deadline *deadline, skv_reply *reply)
{
    exists_call exists;

    if (skv_ldap_begin_name(&exists.call, store, key, &exists.is_folder, deadline, reply) == SKV_OK)
        skv_ldap_run(&exists.call, attempt_exists);
    skv_ldap_end(&exists.call);
    return reply->status;
}

/* ---- Batches: they read the entries, and for a missing key in the plain layout, the folder of its name ---- */

static void decide_missing_key(skv_ldap_many *many, skv_ldap_item *item)
{
    skv_ldap_refuse_missing(skv_ldap_many_word(many, item));
    skv_ldap_many_decide(many, item);
}

static void decide_found_key(skv_ldap_many *many, skv_ldap_item *item, skv_ldap_response *response)
{
    item->step = SKV_STEP_SINGLE;
    if (response->code == LDAP_SUCCESS && copy_document(skv_ldap_many_word(many, item), response) == SKV_OK)
        skv_ldap_many_decide(many, item);
}

static skv_ldap_code send_get_request(skv_ldap_many *many, skv_ldap_item *item, int *id)
{
    return skv_ldap_many_read(many, item, SKV_READ_DOCUMENT, id);
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
    return get_one(&many->call.store->store, &item->record->key, SKV_GET_ANY, deadline, many->batch->each);
}

void skv_ldap_get_many(skv_store *store, skv_batch *batch)
{
    static const skv_many_ops ops = {
        .op = SKV_OP_GET, .send = send_get_request, .take = take_get_response, .single = get_single_item};
    skv_ldap_many many = {0};

    skv_ldap_many_run(&many, store, batch, &ops);
}
