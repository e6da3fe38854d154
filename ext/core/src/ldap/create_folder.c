#include "ldap/entry.h"
#include "ldap/key.h"
#include "ldap/new_folders.h"

#include <string.h>

typedef struct folder_call {
    skv_ldap_call call;
    bool make_all_folders; /* the server does not say which folders exist */
    int rounds;
} folder_call;

/* Ends the call if the entry exists. After a lost response, this call may have added it. */
static skv_status finish_present_folder(skv_ldap_call *call, const skv_ldap_entry *entry)
{
    int kind;

    if (skv_ldap_kind_of(call, call->dn, entry, &kind) != SKV_OK)
        return call->reply->status;
    if (kind == SKV_KIND_KEY)
        return skv_ldap_refuse(call, SKV_IS_KEY, "it is a key, not a folder");
    call->reply->number = call->in_doubt;
    return SKV_OK;
}

static skv_status add_folder(folder_call *folder)
{
    skv_ldap_call *call = &folder->call;
    skv_ldap_response response;
    skv_status status = SKV_OK;

    switch (skv_ldap_entry_add(call, call->dn, SKV_KIND_FOLDER, NULL, &response)) {
    case LDAP_SUCCESS:
        call->reply->number = 1;
        break;
    case LDAP_ALREADY_EXISTS:
        status = skv_ldap_stale(call);
        break;
    case LDAP_NO_SUCH_OBJECT:
        folder->make_all_folders |= skv_ldap_matched_depth(&response) == 0;
        status = skv_ldap_check_base(call, &response) == SKV_OK ? skv_ldap_stale(call) : call->reply->status;
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status create_absent_folder(folder_call *folder, const skv_ldap_response *response)
{
    skv_ldap_call *call = &folder->call;
    int depth = skv_ldap_matched_depth(response), base = call->store->base_depth;
    bool folders_are_missing = depth && depth < skv_dn_depth(call->dn, strlen(call->dn)) - 1;
    skv_status status;

    if (skv_ldap_check_base(call, response) != SKV_OK)
        return call->reply->status;
    if (folders_are_missing || folder->make_all_folders)
        status = skv_ldap_make_folders(call, depth ? depth - base : 0);
    else
        status = skv_ldap_check_new_name(call, call->dn);
    return status == SKV_OK ? add_folder(folder) : status;
}

static skv_status run_folder_round(folder_call *folder)
{
    skv_ldap_call *call = &folder->call;
    skv_ldap_entry entry = {0};
    skv_ldap_response response;
    skv_status status;

    switch (skv_ldap_read(call, call->dn, skv_ldap_attributes(call, SKV_READ_KIND), &response)) {
    case LDAP_SUCCESS:
        status = skv_ldap_entry_of(call, &response, &entry) == LDAP_SUCCESS ? finish_present_folder(call, &entry)
                                                                            : skv_ldap_fail(call, &response);
        break;
    case LDAP_NO_SUCH_OBJECT:
        status = create_absent_folder(folder, &response);
        break;
    default:
        status = skv_ldap_fail(call, &response);
    }
    skv_ldap_response_free(&response);
    return status;
}

static skv_status attempt_create_folder(skv_ldap_call *call)
{
    folder_call *folder = (folder_call *)call;

    do {
        call->is_stale = false;
        run_folder_round(folder);
    } while (call->is_stale && skv_ldap_pause(call, ++folder->rounds) == SKV_OK);
    return call->reply->status;
}

skv_status skv_ldap_create_folder(skv_store *store, const skv_key *folder, skv_deadline *deadline, skv_reply *reply)
{
    folder_call create = {.rounds = 0};

    if (skv_ldap_begin(&create.call, store, SKV_OP_CREATE_FOLDER, folder, SKV_KIND_FOLDER, deadline, reply) == SKV_OK)
        skv_ldap_run(&create.call, attempt_create_folder);
    if (reply->status == SKV_INTERRUPTED)
        reply->number = create.call.in_doubt;
    skv_ldap_end(&create.call);
    return reply->status;
}
