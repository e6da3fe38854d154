/* The system calls of the store in files. */
#include "check.h"
#include "file_fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of calls since start_counting(). */
static struct {
    int beneath;
} calls;

/* ---- The calls themselves, in place of the C library's ---- */

/* The core makes one call by its number: openat2(). */
long syscall(long number, ...)
{
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    long argument[6];
    va_list rest;

    va_start(rest, number);
    for (size_t i = 0; i < sizeof argument / sizeof *argument; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    calls.beneath += number == SYS_openat2;
    return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

static void start_counting(void)
{
    memset(&calls, 0, sizeof calls);
}

/* valgrind, too, may lack the call. */
static bool has_openat2(void)
{
    return syscall(SYS_openat2, AT_FDCWD, NULL, NULL, 0) < 0 && errno != ENOSYS;
}

/* Each operation asked the kernel again. valgrind 3.19, which lacks the call, printed five lines each time, until its
 * output exceeded the limit of another test on the size of files. */
static void a_kernel_that_lacks_openat2_is_not_asked_again(void)
{
    bool has = has_openat2();

    put("globals/f/k", "d");
    start_counting();
    for (int i = 0; i < 5; i++)
        get_gives("globals/f/k", "d");
    CHECK(kind("globals/f/k") == SKV_KIND_KEY);
    CHECK_STR(listed("globals/f"), "kk=d ");
    put_gives("globals/f/k", "e", 1);
    CHECK(has ? calls.beneath >= 7 : calls.beneath == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {a_kernel_that_lacks_openat2_is_not_asked_again};

    return run_file_tests("store_file_calls", tests, sizeof tests / sizeof *tests);
}
