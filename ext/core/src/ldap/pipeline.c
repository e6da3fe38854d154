#include "ldap/pipeline.h"

/* The time for which 389-DS may withhold responses on a connection without TLS after it has read several requests at
 * once: docs/adr/0034. */
#define STALL_NS (100 * SKV_NS_PER_MS)

/* The number of responses that are timed before several requests may be in flight on such a connection: the first ones
 * may be late by chance. */
#define TIMED_MIN 4

/* Returns true if the server may withhold responses when several requests are in flight. Over TLS, each request is a
 * record of its own, and the server reads one at a time. */
static bool may_stall(skv_ldap_call *call)
{
    return skv_conn_features(call->conn)->is_389ds && !skv_conn_tls(call->conn)->is_on;
}

void skv_ldap_pipeline_begin(skv_ldap_pipeline *pipeline, skv_ldap_call *call, size_t expected, size_t window,
                             size_t low, skv_ldap_take take)
{
    pipeline->call = call;
    pipeline->expected = expected;
    pipeline->window = window;
    pipeline->low = low;
    pipeline->is_narrow = may_stall(call);
    pipeline->timed = 0;
    pipeline->fastest_ns = INT64_MAX;
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

/* Widens a narrow pipeline if its requests would take longer one by one than a stall. */
static void time_response(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot)
{
    int64_t took_ns = skv_now_ns() - slot->sent_ns;

    if (took_ns < pipeline->fastest_ns)
        pipeline->fastest_ns = took_ns;
    pipeline->timed++;
    if (pipeline->timed < TIMED_MIN || pipeline->fastest_ns < STALL_NS / (int64_t)pipeline->expected)
        return;
    pipeline->is_narrow = false;
    pipeline->was_widened = true;
}

static void receive_response(skv_ldap_pipeline *pipeline)
{
    skv_ldap_call *call = pipeline->call;
    skv_ldap_response response = {0};
    skv_ldap_slot slot;

    skv_ldap_round_trip(call);
    pipeline->error = skv_conn_result(call->conn, LDAP_RES_ANY, LDAP_MSG_ALL, &response.message);
    if (pipeline->error != LDAP_SUCCESS) {
        skv_conn_invalidate(call->conn);
    } else if (take_slot(pipeline, ldap_msgid(response.message), &slot)) {
        if (pipeline->is_narrow)
            time_response(pipeline, &slot);
        skv_ldap_parse(call, &response);
        pipeline->take(pipeline, &slot, &response);
    }
    skv_ldap_response_free(&response);
}

bool skv_ldap_pipeline_room(skv_ldap_pipeline *pipeline, size_t bytes)
{
    size_t window = pipeline->is_narrow ? 1 : pipeline->window;
    size_t low = pipeline->is_narrow ? 0 : pipeline->low;
    bool full = pipeline->in_flight >= window || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX;

    while (full && !pipeline->error && pipeline->in_flight > 0 &&
           (pipeline->in_flight > low || pipeline->bytes + bytes > SKV_PIPELINE_BYTES_MAX))
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

void skv_ldap_pipeline_end(skv_ldap_pipeline *pipeline)
{
    if (pipeline->was_widened)
        skv_conn_invalidate(pipeline->call->conn);
    pipeline->was_widened = false;
}
