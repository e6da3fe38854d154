#include "secret/random.h"

#include <errno.h>
#include <sys/random.h>

/* The kernel interrupts requests of more than 256 bytes for signals. Before it has gathered enough entropy, at the
 * start of the machine, it waits. */
skv_status skv_random_bytes(void *bytes, size_t size, skv_reply *reply)
{
    char *at = bytes;

    while (size) {
        ssize_t got = getrandom(at, size, 0);

        if (got < 0 && errno != EINTR)
            return skv_fail(reply, SKV_UNAVAILABLE, "the kernel gives no random numbers: %m");
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
    return SKV_OK;
}

skv_status skv_random_numbers(uint32_t *numbers, size_t count, uint32_t limit, skv_reply *reply)
{
    /* The remainders of numbers from `end` on are the first ones of the range only, which would make these more likely:
     * such numbers are drawn again. */
    const uint64_t all = (uint64_t)UINT32_MAX + 1, end = all - all % limit;
    size_t made = 0;

    while (made < count) {
        size_t drawn = made;

        if (skv_random_bytes(numbers + made, (count - made) * sizeof *numbers, reply) != SKV_OK)
            return reply->status;
        for (; drawn < count; drawn++)
            if (numbers[drawn] < end)
                numbers[made++] = numbers[drawn] % limit;
    }
    return SKV_OK;
}
