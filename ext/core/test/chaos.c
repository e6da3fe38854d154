#include "chaos.h"

#include "check.h"

#ifdef SKV_CHAOS

/* The number of allocations until the one that fails; 0 for none. */
static long countdown;
static bool failed;

bool skv_chaos_fails(void);

bool skv_chaos_fails(void)
{
    if (countdown == 0 || --countdown > 0)
        return false;
    failed = true;
    return true;
}

void chaos(void (*scenario)(void))
{
    for (long n = 1;; n++) {
        countdown = n;
        failed = false;
        scenario();
        if (!failed)
            break;
        CHECK(n < 100000);
    }
    countdown = 0;
}

#else

void chaos(void (*scenario)(void))
{
    scenario();
}

#endif
