#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/*
 * Most calls never wait, so the descriptor is made by the first that does. Whoever fires sets `fired` first and then
 * writes to the descriptor, if it is there; whoever waits publishes the descriptor first and then looks at `fired`: one
 * of them sees the other.
 */
struct skv_cancel {
    atomic_bool fired;
    atomic_int event; /* an eventfd, or -1 */
};

skv_cancel *skv_cancel_new(void)
{
    skv_cancel *cancel = skv_alloc(sizeof *cancel);

    if (!cancel)
        return NULL;
    atomic_init(&cancel->fired, false);
    atomic_init(&cancel->event, -1);
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

void skv_cancel_reset(skv_cancel *cancel)
{
    int event = atomic_load(&cancel->event);
    uint64_t count;

    atomic_store(&cancel->fired, false);
    if (event >= 0)
        while (read(event, &count, sizeof count) < 0 && errno == EINTR)
            ;
}

void skv_cancel_fire(skv_cancel *cancel)
{
    int saved = errno, event;
    uint64_t one = 1;

    atomic_store(&cancel->fired, true);
    event = atomic_load(&cancel->event);
    if (event >= 0)
        while (write(event, &one, sizeof one) < 0 && errno == EINTR)
            ;
    errno = saved;
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int skv_wait_init(skv_wait *wait, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply)
{
    int64_t now = now_ns();

    if (timeout_ms < 0)
        return skv_fail(reply, SKV_INVALID, "a timeout of %lld ms is negative: give 0 or more", (long long)timeout_ms);
    wait->cancel = cancel;
    wait->deadline_ns = timeout_ms > (INT64_MAX - now) / NS_PER_MS ? INT64_MAX : now + timeout_ms * NS_PER_MS;
    return SKV_OK;
}

int skv_wait_check(skv_wait *wait)
{
    skv_cancel *cancel = wait->cancel;

    if (!cancel || !atomic_load(&cancel->fired))
        return SKV_OK;
    skv_cancel_reset(cancel);
    return SKV_INTERRUPTED;
}

/* The handle's descriptor, or -1 when there is none to be had: who waits then looks at `fired` every now and then. */
static int event_of(skv_cancel *cancel)
{
    int event = atomic_load(&cancel->event);

    if (event < 0) {
        event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        atomic_store(&cancel->event, event);
    }
    return event;
}

int skv_wait_pause(skv_wait *wait, int64_t ns)
{
    int64_t now = now_ns(), end;

    if (now >= wait->deadline_ns)
        return SKV_TIMEOUT;
    end = ns < wait->deadline_ns - now ? now + ns : wait->deadline_ns;
    for (; now < end; now = now_ns()) {
        struct pollfd event = {.fd = wait->cancel ? event_of(wait->cancel) : -1, .events = POLLIN};
        int64_t most = wait->cancel && event.fd < 0 ? 10 * NS_PER_MS : end - now;
        int64_t step = end - now < most ? end - now : most;
        struct timespec left = {.tv_sec = step / NS_PER_S, .tv_nsec = step % NS_PER_S};

        if (skv_wait_check(wait) != SKV_OK)
            return SKV_INTERRUPTED;
        ppoll(&event, 1, &left, NULL);
    }
    return skv_wait_check(wait);
}
