/* wait.h - how long a call may take, and how it is stopped sooner. */
#ifndef SKV_WAIT_H
#define SKV_WAIT_H

#include "reply.h"

/* One call's limits. Lives on the stack of the public function. */
typedef struct skv_wait {
    int64_t deadline_ns; /* CLOCK_MONOTONIC */
    skv_cancel *cancel;  /* borrowed; may be NULL */
} skv_wait;

/* Fails the reply with INVALID when timeout_ms is negative. */
int skv_wait_init(skv_wait *wait, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

/* Sleeps for `ns`, or until the deadline, or until the cancel handle fires.
 * SKV_OK, SKV_TIMEOUT (the deadline had passed already), SKV_INTERRUPTED; the reply is not touched. */
int skv_wait_pause(skv_wait *wait, int64_t ns);

/* SKV_INTERRUPTED if the cancel handle fired, else SKV_OK: for loops that do not wait. */
int skv_wait_check(skv_wait *wait);

#endif
