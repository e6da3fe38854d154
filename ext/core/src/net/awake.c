#include "net/awake.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>

/* Time that was spent awake in vain makes that others get so many times as much: less than one part in a hundred is
 * lost, however far the server and whatever the scheduler does. */
#define REST_TIMES 128

/* Who lets others run and comes back so much later has no processor for himself. A server that shares the processor
 * takes less for an answer, and a scheduler's slice is longer. */
#define CROWDED_NS (400 * INT64_C(1000))

/* Something to read, or an end or error, which reading tells. */
static bool is_readable(int socket)
{
    char byte;

    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
           (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool skv_awake_wait(skv_awake *awake, int socket)
{
    int64_t began = skv_now_ns(), now = began;
    bool found;

    if (began < awake->rest_until_ns)
        return false;
    while (!(found = is_readable(socket)) && now - began < SKV_AWAKE_NS) {
        sched_yield();
        now = skv_now_ns();
    }
    if (!found || now - began > CROWDED_NS)
        awake->rest_until_ns = now + REST_TIMES * (now - began);
    return found;
}
