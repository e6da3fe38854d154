/* ldap/pipeline.h - many requests under way on one connection, whose answers are taken in the order in which they come.
 */
#ifndef SKV_LDAP_PIPELINE_H
#define SKV_LDAP_PIPELINE_H

#include "ldap/call.h"

#define SKV_PIPELINE_MAX 128

/* Bytes of requests that are under way, but for a larger one by itself: libldap keeps each until it is answered. */
#define SKV_PIPELINE_BYTES_MAX ((size_t)1 << 20)

/* A request that is under way. */
typedef struct skv_ldap_slot {
    int id;
    size_t tag; /* whatever its sender knows it by */
    size_t bytes;
    int64_t sent_ns;
} skv_ldap_slot;

typedef struct skv_ldap_pipeline skv_ldap_pipeline;

/* What is done with an answer; not with libldap's own codes, after which there is none. */
typedef void (*skv_ldap_take)(skv_ldap_pipeline *pipeline, const skv_ldap_slot *slot, skv_ldap_answer *answer);

struct skv_ldap_pipeline {
    skv_ldap_call *call;
    size_t window, low;
    skv_ldap_take take;
    int error; /* libldap's: the connection is lost or given up, and the slots are what was under way */
    size_t in_flight, bytes;
    skv_ldap_slot slots[SKV_PIPELINE_MAX];
};

/* On the call's connection: up to `window` requests, and when that many are under way, none until only `low` are. */
void skv_ldap_pipeline_begin(skv_ldap_pipeline *pipeline, skv_ldap_call *call, size_t window, size_t low,
                             skv_ldap_take take);

/* Takes answers until there is room for another request of so many bytes. False if there was an error. */
bool skv_ldap_pipeline_room(skv_ldap_pipeline *pipeline, size_t bytes);

/* Notes a request that was sent. */
void skv_ldap_pipeline_sent(skv_ldap_pipeline *pipeline, int id, size_t tag, size_t bytes);

/* Takes all answers. False if there was an error. */
bool skv_ldap_pipeline_drain(skv_ldap_pipeline *pipeline);

/* Waits for no more of them: the connection is not usable then, if any are to come. */
void skv_ldap_pipeline_give_up(skv_ldap_pipeline *pipeline);

#endif
