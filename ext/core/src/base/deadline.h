/* base/deadline.h - the deadline of a call, and how a cancel handle ends the call sooner. */
#ifndef SKV_BASE_DEADLINE_H
#define SKV_BASE_DEADLINE_H

#include "base/reply.h"

#include <poll.h>

#define SKV_NS_PER_MS INT64_C(1000000)

/* CLOCK_MONOTONIC. */
int64_t skv_now_ns(void);

/* Milliseconds as nanoseconds, and the time that is `ns` from now. INT64_MAX for what exceeds it: an option may be as
 * large as an integer can be. */
int64_t skv_ms_to_ns(int64_t ms);
int64_t skv_now_plus_ns(int64_t ns);

/* One call's limits. Lives on the stack of the public function. */
typedef struct skv_deadline {
    int64_t end_ns;     /* CLOCK_MONOTONIC */
    skv_cancel *cancel; /* borrowed; may be NULL */
    int64_t give_up_ns; /* since the handle fired: until when the wait goes on all the same; else 0 */
} skv_deadline;

/* Fails the reply with INVALID when timeout_ms is negative. */
skv_status skv_deadline_init(skv_deadline *deadline, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

/* Sleeps for `ns`, or until the deadline, or until the cancel handle fires.
 * SKV_OK, SKV_TIMEOUT (the deadline had passed already), SKV_INTERRUPTED; the reply is not touched. */
skv_status skv_deadline_sleep(skv_deadline *deadline, int64_t ns);

/* As many descriptors as skv_deadline_poll() takes. */
#define SKV_POLL_FDS_MAX 16

/* Waits until one of `count` descriptors is ready (revents as poll(2) sets them), or until `until_ns`, or the deadline,
 * or until the cancel handle fires. What is ready comes before all else, so that an answer which
 * is there already is not lost. SKV_OK, SKV_TIMEOUT, SKV_INTERRUPTED; the reply is not touched. */
skv_status skv_deadline_poll(skv_deadline *deadline, struct pollfd *fds, int count, int64_t until_ns);

/*
 * In a conversation with a server, a call goes on for 0.2 s after the handle has fired, and longer when it was made
 * before. Most interrupts are harmless, and most calls are over within that time: no connection is given up then, no
 * result is lost, and nothing is asked twice. skv_deadline_poll_answer() waits for a descriptor like
 * skv_deadline_poll(); skv_deadline_check_request() is asked before the next request, and answers SKV_OK or
 * SKV_INTERRUPTED.
 */
skv_status skv_deadline_poll_answer(skv_deadline *deadline, struct pollfd *fd);
skv_status skv_deadline_check_request(skv_deadline *deadline);

/* For who has many requests to send: whether the handle has fired. It is better then to send no more of them, and to
 * wait for the answers to those that are under way. */
bool skv_deadline_has_fired(skv_deadline *deadline);

/* The time until the deadline, 0 when it has passed. */
int64_t skv_deadline_left(const skv_deadline *deadline);

/* SKV_INTERRUPTED if the cancel handle fired, else SKV_OK: for loops that do not wait. */
skv_status skv_deadline_check(skv_deadline *deadline);

#endif
