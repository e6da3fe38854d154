/*
 * ldap/pipeline.h - many requests in flight on one connection. The responses may come in any order.
 *
 * A pipeline to 389-DS without TLS is narrow: it sends one request at a time, because this server may withhold the
 * responses to several, and also those to later requests on the connection (docs/adr/0034). The pipeline widens if one
 * request at a time would take longer, and its connection is then closed.
 */
#ifndef SKV_LDAP_PIPELINE_H
#define SKV_LDAP_PIPELINE_H

#include "ldap/call.h"

#define SKV_PIPELINE_MAX 128

/* The most bytes of requests in flight, which libldap keeps until the server responds. One larger request may be in
 * flight alone. */
#define SKV_PIPELINE_BYTES_MAX ((size_t)1 << 20)

/* A request in flight. */
typedef struct skv_ldap_slot {
    int id;
    size_t tag; /* the sender's own */
    size_t bytes;
    int64_t sent_ns;
} skv_ldap_slot;

typedef struct skv_ldap_pipeline skv_ldap_pipeline;

/* Takes a response of the server. It is not called for errors of libldap, after which no response comes. */
typedef void (*skv_ldap_take)(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot, skv_ldap_response *response);

struct skv_ldap_pipeline {
    skv_ldap_call *call;
    size_t expected, window, low;
    bool is_narrow, was_widened;
    size_t timed;       /* the number of responses so far, while it is narrow */
    int64_t fastest_ns; /* the shortest time of these */
    skv_ldap_take take;
    skv_ldap_code error; /* libldap's: the connection is lost, and the slots are the requests that were in flight */
    size_t in_flight, bytes;
    skv_ldap_slot slots[SKV_PIPELINE_MAX];
};

/* Starts on the call's connection. At `window` requests in flight, waits until `low` are left before it sends more.
 * `expected`: the number of entries, at least 1. */
void skv_ldap_pipeline_begin(skv_ldap_pipeline *pipeline, skv_ldap_call *call, size_t expected, size_t window,
                             size_t low, skv_ldap_take take);

/* Takes responses until there is room for another request of that size. Returns false after an error. */
bool skv_ldap_pipeline_room(skv_ldap_pipeline *pipeline, size_t bytes);

/* Adds a request that was sent. */
void skv_ldap_pipeline_sent(skv_ldap_pipeline *pipeline, int id, size_t tag, size_t bytes);

/* Takes all responses. Returns false after an error. */
bool skv_ldap_pipeline_drain(skv_ldap_pipeline *pipeline);

/* Gives up all requests in flight, and invalidates the connection if there are any. */
void skv_ldap_pipeline_give_up(skv_ldap_pipeline *pipeline);

/* Called before the connection goes back to the pool: invalidates it if responses on it may be late. Does nothing for a
 * pipeline that is all zeros. */
void skv_ldap_pipeline_end(skv_ldap_pipeline *pipeline);

#endif
