#include "awake.h"

#include <errno.h>
#include <sched.h>
#include <sys/socket.h>

/* One answer counts for so much in what is usual: the fourth part. */
#define PART 4

/* Who lets others run and comes back so much later has no processor for himself: then it is left to them for so many
 * times as long. A server that shares the processor takes less for an answer, and a scheduler's slice is longer. */
#define CROWDED_NS (400 * INT64_C(1000))
#define REST_TIMES 128

void skv_awake_init(skv_awake *awake)
{
    *awake = (skv_awake){.usual_ns = SKV_AWAKE_NS};
}

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

    if (awake->usual_ns >= SKV_AWAKE_NS || began < awake->rest_until_ns)
        return false;
    while (now - began < SKV_AWAKE_NS) {
        int64_t before = now;

        if (is_readable(socket))
            return true;
        sched_yield();
        now = skv_now_ns();
        if (now - before > CROWDED_NS)
            awake->rest_until_ns = now + REST_TIMES * (now - before);
    }
    return false;
}

void skv_awake_learn(skv_awake *awake, int64_t ns)
{
    awake->usual_ns += (ns - awake->usual_ns) / PART;
}
