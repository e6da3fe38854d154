/* base/deadline.h - the deadline of a call, and how a cancel handle ends the call sooner. */
#ifndef SKV_BASE_DEADLINE_H
#define SKV_BASE_DEADLINE_H

#include "base/reply.h"

#include <poll.h>

#define SKV_NS_PER_MS INT64_C(1000000)

/* CLOCK_MONOTONIC. */
int64_t skv_now_ns(void);

/* Converts milliseconds to nanoseconds, and returns the time that is `ns` from now. Both return INT64_MAX instead of an
 * overflow: an option may have any size. */
int64_t skv_ms_to_ns(int64_t ms);
int64_t skv_now_plus_ns(int64_t ns);

/* One call's limits. Lives on the stack of the public function. */
typedef struct skv_deadline {
    int64_t end_ns;     /* CLOCK_MONOTONIC */
    skv_cancel *cancel; /* borrowed; may be NULL */
    int64_t give_up_ns; /* the end of the grace period after the handle fired; else 0 */
} skv_deadline;

/* Fails the reply with INVALID when timeout_ms is negative. */
skv_status skv_deadline_init(skv_deadline *deadline, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

/* Sleeps for `ns`, or until the deadline, or until the cancel handle fires. Returns SKV_OK, SKV_TIMEOUT (the deadline
 * had passed already) or SKV_INTERRUPTED. */
skv_status skv_deadline_sleep(skv_deadline *deadline, int64_t ns);

/* The most descriptors of a skv_deadline_poll(). */
#define SKV_POLL_FDS_MAX 16

/* Waits until one of `count` descriptors is ready (revents as poll(2) sets them), or until `until_ns`, or the deadline,
 * or until the cancel handle fires. A ready descriptor wins over all others, so that no response is lost that has
 * arrived. Returns SKV_OK, SKV_TIMEOUT or SKV_INTERRUPTED. */
skv_status skv_deadline_poll(skv_deadline *deadline, struct pollfd *fds, int count, int64_t until_ns);

/*
 * In a conversation with a server, a call continues for 0.2 s after the handle has fired, and longer if the call was
 * made before. Most interrupts are harmless, and most calls end within that time: no connection is given up then, no
 * result is lost, and no request is repeated. skv_deadline_poll_response() waits for a descriptor as
 * skv_deadline_poll() does, and returns SKV_TIMEOUT at `until_ns` as well. skv_deadline_check_request() comes before
 * the next request, and returns SKV_OK or SKV_INTERRUPTED.
 */
skv_status skv_deadline_poll_response(skv_deadline *deadline, struct pollfd *fd, int64_t until_ns);
skv_status skv_deadline_check_request(skv_deadline *deadline);

/* Returns true if the handle has fired. A caller that sends many requests then sends no more of them, and waits for the
 * responses to those in flight. */
bool skv_deadline_has_fired(skv_deadline *deadline);

/* Returns the time until the deadline in nanoseconds, 0 if it has passed. */
int64_t skv_deadline_left(const skv_deadline *deadline);

/* Returns SKV_INTERRUPTED if the cancel handle has fired, else SKV_OK: for loops that do not wait. */
skv_status skv_deadline_check(skv_deadline *deadline);

/* The same for loops that work for long: asks the function of skv_cancel_watch(), too. */
skv_status skv_deadline_check_work(skv_deadline *deadline);

#endif
