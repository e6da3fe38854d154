/* secret/request.h - the members of a request, each of which is read once. */
#ifndef SKV_SECRET_REQUEST_H
#define SKV_SECRET_REQUEST_H

#include "base/reply.h"

#include <jansson.h>

/* A request that is being read. The readers below take a member out of the tree. The first failure is in the reply;
 * after one, they return the default. Texts are those of the tree of `taken`, and live as long as the request. */
typedef struct skv_request {
    json_t *members;  /* those that nobody has read */
    json_t *taken;    /* those that were read, by name */
    const char *what; /* for messages: "kind 'password'" */
    const char *path; /* before the names of members in messages: "issuer." */
    skv_reply *reply;
} skv_request;

/* Reads the JSON object. Returns false on failure. Release with skv_request_close() in any case. */
bool skv_request_open(skv_request *request, const char *json, size_t json_len, skv_reply *reply);
void skv_request_close(skv_request *request);

/* Return the member, or `otherwise` if the request lacks it. */
int64_t skv_request_integer(skv_request *request, const char *name, int64_t otherwise, int64_t min, int64_t max);
const char *skv_request_text(skv_request *request, const char *name, const char *otherwise);

/* The same for one line of text without control characters, of `max` bytes at most. */
const char *skv_request_line(skv_request *request, const char *name, const char *otherwise, size_t max);

bool skv_request_flag(skv_request *request, const char *name);

/* Returns an object or an array, which the request owns; NULL if it lacks the member. */
json_t *skv_request_object(skv_request *request, const char *name);
json_t *skv_request_array(skv_request *request, const char *name);

/* Opens an object in the request as a request of its own, which lives no longer: `path` is "issuer.", and `what` is
 * "option 'issuer'". Release as skv_request_open() says. */
bool skv_request_open_member(skv_request *request, json_t *object, const char *path, const char *what,
                             skv_reply *reply);

/* Fails with SKV_INVALID: "option 'NAME': expected ..." */
skv_status skv_request_refuse(skv_request *request, const char *name, const char *expected);

/* Returns true if all was read without a failure, and nothing is left. Fails with SKV_INVALID for a member that nobody
 * has read. */
bool skv_request_done(skv_request *request);

#endif
