#include "ldap/pipeline.h"

void skv_ldap_pipeline_begin(skv_ldap_pipeline *pipeline, skv_ldap_call *call, size_t window, size_t low,
                             skv_ldap_take take)
{
    pipeline->call = call;
    pipeline->window = window;
    pipeline->low = low;
    pipeline->take = take;
    pipeline->error = LDAP_SUCCESS;
    pipeline->in_flight = pipeline->bytes = 0;
}

void skv_ldap_pipeline_sent(skv_ldap_pipeline *pipeline, int id, size_t tag, size_t bytes)
{
    pipeline->slots[pipeline->in_flight++] = (skv_ldap_slot){id, tag, bytes, skv_now_ns()};
    pipeline->bytes += bytes;
}

/* Frees the slot of a request whose response has come. Returns false if there is none. */
static bool take_slot(skv_ldap_pipeline *pipeline, int id, skv_ldap_slot *slot)
{
    for (size_t i = 0; i < pipeline->in_flight; i++) {
        if (pipeline->slots[i].id != id)
            continue;
        *slot = pipeline->slots[i];
        pipeline->slots[i] = pipeline->slots[--pipeline->in_flight];
        pipeline->bytes -= slot->bytes;
        return true;
    }
    return false;
}

static void receive_response(skv_ldap_pipeline *pipeline)
{
    skv_ldap_call *call = pipeline->call;
    skv_ldap_response response = {0};
    skv_ldap_slot slot;

    skv_ldap_round_trip(call);
    pipeline->error = skv_conn_result(call->conn, LDAP_RES_ANY, LDAP_MSG_ALL, &response.message);
    /* A notice of disconnection is no response to a request. */
    if (response.message && ldap_msgid(response.message) == 0)
        pipeline->error = LDAP_SERVER_DOWN;
    if (pipeline->error != LDAP_SUCCESS) {
        skv_conn_invalidate(call->conn);
    } else if (take_slot(pipeline, ldap_msgid(response.message), &slot)) {
        skv_ldap_parse(call, &response);
        pipeline->take(pipeline, &slot, &response);
    }
    skv_ldap_response_free(&response);
}

bool skv_ldap_pipeline_room(skv_ldap_pipeline *pipeline, size_t bytes)
{
    bool full = pipeline->in_flight >= pipeline->window || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX;

    while (full && !pipeline->error && pipeline->in_flight > 0 &&
           (pipeline->in_flight > pipeline->low || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX))
        receive_response(pipeline);
    return !pipeline->error;
}

bool skv_ldap_pipeline_drain(skv_ldap_pipeline *pipeline)
{
    while (pipeline->in_flight > 0 && !pipeline->error)
        receive_response(pipeline);
    return !pipeline->error;
}

void skv_ldap_pipeline_give_up(skv_ldap_pipeline *pipeline)
{
    if (pipeline->in_flight > 0)
        skv_conn_invalidate(pipeline->call->conn);
    pipeline->in_flight = pipeline->bytes = 0;
}
