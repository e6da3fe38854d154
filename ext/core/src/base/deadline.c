#include "base/deadline.h"

#include "base/io.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)

/* The time for which a call still waits for the server after its handle has fired. It doubles with each repetition of
 * the call: otherwise a steady series of interrupts would end every call to a slow server. */
#define GRACE_NS (200 * SKV_NS_PER_MS)
#define GRACE_MAX_NS (800 * SKV_NS_PER_MS)

/* The intervals at which a wait checks a handle without a descriptor, and one that is watched. */
#define BLIND_NS (10 * SKV_NS_PER_MS)
#define WATCH_NS (100 * SKV_NS_PER_MS)

/*
 * Most calls never wait, so that the first call that waits makes the descriptor. skv_cancel_fire() sets `fired` first
 * and then writes to the descriptor, if there is one. A waiting call publishes the descriptor first and then reads
 * `fired`. One of them therefore sees the other.
 */
struct skv_cancel {
    atomic_bool fired;
    atomic_int event; /* an eventfd, or -1 */
    /* For the waiting call. */
    int64_t grace_ns;
    skv_watch watch;
    void *context;
};

skv_cancel *skv_cancel_new(void)
{
    skv_cancel *cancel = skv_alloc(sizeof *cancel);

    if (!cancel)
        return NULL;
    atomic_init(&cancel->fired, false);
    atomic_init(&cancel->event, -1);
    cancel->grace_ns = GRACE_NS;
    cancel->watch = NULL;
    return cancel;
}

void skv_cancel_free(skv_cancel *cancel)
{
    if (!cancel)
        return;
    if (atomic_load(&cancel->event) >= 0)
        close(atomic_load(&cancel->event));
    skv_free(cancel);
}

static void drain_event(int event)
{
    uint64_t count;

    while (event >= 0 && read(event, &count, sizeof count) < 0 && errno == EINTR)
        ;
}

/* Undoes a skv_cancel_fire(). Returns true if there was one. */
static bool consume_fired(skv_cancel *cancel)
{
    bool fired = atomic_exchange(&cancel->fired, false);

    if (fired)
        drain_event(atomic_load(&cancel->event));
    return fired;
}

void skv_cancel_reset(skv_cancel *cancel)
{
    consume_fired(cancel);
    cancel->grace_ns = GRACE_NS;
}

void skv_cancel_fire(skv_cancel *cancel)
{
    int saved = errno, event;

    atomic_store(&cancel->fired, true);
    event = atomic_load(&cancel->event);
    if (event >= 0)
        skv_event_signal(event);
    errno = saved;
}

void skv_cancel_watch(skv_cancel *cancel, skv_watch is_fired, void *context)
{
    cancel->watch = is_fired;
    cancel->context = context;
}

int64_t skv_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t skv_ms_to_ns(int64_t ms)
{
    return ms > INT64_MAX / SKV_NS_PER_MS ? INT64_MAX : ms * SKV_NS_PER_MS;
}

int64_t skv_now_plus_ns(int64_t ns)
{
    int64_t now = skv_now_ns();

    return ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

skv_status skv_deadline_init(skv_deadline *deadline, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    if (timeout_ms < 0)
        return skv_fail(reply, SKV_INVALID, "a timeout of %lld ms is negative: give 0 or more", (long long)timeout_ms);
    deadline->cancel = cancel;
    deadline->give_up_ns = 0;
    deadline->end_ns = skv_now_plus_ns(skv_ms_to_ns(timeout_ms));
    return SKV_OK;
}

skv_status skv_deadline_check(skv_deadline *deadline)
{
    if (!deadline->cancel || !atomic_load(&deadline->cancel->fired) || !consume_fired(deadline->cancel))
        return SKV_OK;
    deadline->give_up_ns = 0;
    return SKV_INTERRUPTED;
}

/* Returns the handle's descriptor, or -1 if there is none: the wait then checks `fired` at intervals. */
static int event_of_handle(skv_cancel *cancel)
{
    int event = atomic_load(&cancel->event);

    if (event < 0) {
        event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        atomic_store(&cancel->event, event);
    }
    return event;
}

/* Returns true if the handle has fired, and starts the grace period. */
static bool check_fired(skv_deadline *deadline, int64_t grace_ns)
{
    skv_cancel *cancel = deadline->cancel;
    bool fired = cancel && atomic_load(&cancel->fired);

    if (cancel && !fired && cancel->watch && cancel->watch(cancel->context)) {
        atomic_store(&cancel->fired, true);
        fired = true;
    }
    if (fired && !deadline->give_up_ns)
        deadline->give_up_ns = skv_now_ns() + grace_ns;
    return fired;
}

/* Polls the descriptors once, for at most `ns`. The last of `all` is the handle's. */
static bool poll_once(struct pollfd *all, struct pollfd *fds, int count, int64_t ns)
{
    struct timespec time = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    bool ready = false;

    if (ppoll(all, (nfds_t)count + 1, &time, NULL) > 0)
        for (int i = 0; i < count; i++) {
            fds[i].revents = all[i].revents;
            ready = ready || all[i].revents;
        }
    return ready;
}

/* Waits until `end`, or for `grace_ns` after the handle has fired. */
static skv_status poll_until(skv_deadline *deadline, struct pollfd *fds, int count, int64_t end, int64_t grace_ns)
{
    struct pollfd all[SKV_POLL_FDS_MAX + 1];
    const int event = deadline->cancel ? event_of_handle(deadline->cancel) : -1;
    const int64_t step = !deadline->cancel         ? INT64_MAX
                         : event < 0               ? BLIND_NS
                         : deadline->cancel->watch ? WATCH_NS
                                                   : INT64_MAX;

    for (int i = 0; i < count; i++)
        all[i] = fds[i];
    for (;;) {
        bool fired = check_fired(deadline, grace_ns);
        int64_t now = skv_now_ns(), stop = end, left;

        if (fired && deadline->give_up_ns < end)
            stop = deadline->give_up_ns;
        left = now < stop ? stop - now : 0;
        all[count] = (struct pollfd){.fd = fired ? -1 : event, .events = POLLIN};
        if (poll_once(all, fds, count, left < step ? left : step))
            return SKV_OK;
        /* A late write of a skv_cancel_fire() that was reset already. */
        if (event >= 0 && all[count].revents && !atomic_load(&deadline->cancel->fired))
            drain_event(event);
        if (!left)
            return skv_deadline_check(deadline) == SKV_OK ? SKV_TIMEOUT : SKV_INTERRUPTED;
    }
}

int64_t skv_deadline_left(const skv_deadline *deadline)
{
    int64_t now = skv_now_ns();

    return now < deadline->end_ns ? deadline->end_ns - now : 0;
}

skv_status skv_deadline_poll(skv_deadline *deadline, struct pollfd *fds, int count, int64_t until_ns)
{
    return poll_until(deadline, fds, count, until_ns < deadline->end_ns ? until_ns : deadline->end_ns, 0);
}

static int64_t current_grace(const skv_deadline *deadline)
{
    return deadline->cancel ? deadline->cancel->grace_ns : 0;
}

static skv_status lengthen_grace(skv_deadline *deadline, skv_status status)
{
    if (status == SKV_INTERRUPTED && deadline->cancel && deadline->cancel->grace_ns < GRACE_MAX_NS)
        deadline->cancel->grace_ns *= 2;
    return status;
}

skv_status skv_deadline_poll_response(skv_deadline *deadline, struct pollfd *fd, int64_t until_ns)
{
    int64_t end = until_ns < deadline->end_ns ? until_ns : deadline->end_ns;

    return lengthen_grace(deadline, poll_until(deadline, fd, 1, end, current_grace(deadline)));
}

skv_status skv_deadline_check_request(skv_deadline *deadline)
{
    if (!check_fired(deadline, current_grace(deadline)) || skv_now_ns() < deadline->give_up_ns)
        return SKV_OK;
    return lengthen_grace(deadline, skv_deadline_check(deadline));
}

skv_status skv_deadline_check_work(skv_deadline *deadline)
{
    return check_fired(deadline, 0) ? skv_deadline_check(deadline) : SKV_OK;
}

bool skv_deadline_has_fired(skv_deadline *deadline)
{
    return check_fired(deadline, current_grace(deadline));
}

skv_status skv_deadline_sleep(skv_deadline *deadline, int64_t ns)
{
    int64_t now = skv_now_ns();
    skv_status status;

    if (now >= deadline->end_ns)
        return SKV_TIMEOUT;
    status = skv_deadline_poll(deadline, NULL, 0, ns < deadline->end_ns - now ? now + ns : deadline->end_ns);
    return status == SKV_TIMEOUT ? SKV_OK : status;
}
