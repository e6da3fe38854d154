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

/* Frees the slot of an answered request. Returns false if there is none. */
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

static void receive_answer(skv_ldap_pipeline *pipeline)
{
    skv_ldap_call *call = pipeline->call;
    skv_ldap_answer answer = {0};
    skv_ldap_slot slot;

    skv_ldap_round_trip(call);
    pipeline->error = skv_conn_result(call->conn, LDAP_RES_ANY, LDAP_MSG_ALL, &answer.message);
    /* A notice of disconnection answers no request. */
    if (answer.message && ldap_msgid(answer.message) == 0)
        pipeline->error = LDAP_SERVER_DOWN;
    if (pipeline->error != LDAP_SUCCESS) {
        skv_conn_invalidate(call->conn);
    } else if (take_slot(pipeline, ldap_msgid(answer.message), &slot)) {
        skv_ldap_parse(call, &answer);
        pipeline->take(pipeline, &slot, &answer);
    }
    skv_ldap_answer_free(&answer);
}

bool skv_ldap_pipeline_room(skv_ldap_pipeline *pipeline, size_t bytes)
{
    bool full = pipeline->in_flight >= pipeline->window || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX;

    while (full && !pipeline->error && pipeline->in_flight > 0 &&
           (pipeline->in_flight > pipeline->low || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX))
        receive_answer(pipeline);
    return !pipeline->error;
}

bool skv_ldap_pipeline_drain(skv_ldap_pipeline *pipeline)
{
    while (pipeline->in_flight > 0 && !pipeline->error)
        receive_answer(pipeline);
    return !pipeline->error;
}

void skv_ldap_pipeline_give_up(skv_ldap_pipeline *pipeline)
{
    if (pipeline->in_flight > 0)
        skv_conn_invalidate(pipeline->call->conn);
    pipeline->in_flight = pipeline->bytes = 0;
}
