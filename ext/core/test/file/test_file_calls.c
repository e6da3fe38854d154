/* The system calls with which the store in files reads. */
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
    int reads, locks, beneath;
} calls;

/* The most bytes that a read returns; 0: no limit. */
static size_t part;

/* Runs before the next read, as another program might between two calls. */
static void (*meanwhile)(void);

/* ---- The calls themselves, in place of the C library's ---- */

/* Calls the C library's syscall(). */
static long call_kernel(long number, long a, long b, long c, long d)
{
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

    return real(number, a, b, c, d);
}

ssize_t read(int fd, void *out, size_t room)
{
    void (*run)(void) = meanwhile;

    calls.reads++;
    meanwhile = NULL;
    if (run)
        run();
    return call_kernel(SYS_read, fd, (long)out, (long)(part && part < room ? part : room), 0);
}

int flock(int fd, int kind)
{
    calls.locks++;
    return (int)call_kernel(SYS_flock, fd, kind, 0, 0);
}

/* The core makes one call by its number: openat2(), which has four arguments. */
long syscall(long number, ...)
{
    long argument[4];
    va_list rest;

    va_start(rest, number);
    for (size_t i = 0; i < sizeof argument / sizeof *argument; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    calls.beneath += number == SYS_openat2;
    return call_kernel(number, argument[0], argument[1], argument[2], argument[3]);
}

static void start_counting(void)
{
    memset(&calls, 0, sizeof calls);
}

/* ---- Reads ---- */

#define LARGE 100000

/* Returns a document of `len` bytes. */
static const char *document_with(size_t len)
{
    static char text[2 * LARGE + 1];

    memset(text, 'd', len);
    text[len] = '\0';
    return text;
}

/* Dates the file back. The store reads an old file without the lock, and a new one under it. */
static void make_old(const char *name)
{
    CHECK(utimensat(AT_FDCWD, path(name), (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0) == 0);
}

static void make_new(const char *name)
{
    CHECK(utimensat(AT_FDCWD, path(name), NULL, 0) == 0);
}

/* There used to be a second read, which returned nothing, and a second unlock. */
static void an_old_file_is_read_and_unlocked_once(void)
{
    static const size_t sizes[] = {0, 1, 62, 63, 64, 4095, 4096, LARGE};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_file("globals/k", document_with(sizes[i]));
        make_old("globals/k");
        start_counting();
        get_gives("globals/k", document_with(sizes[i]));
        CHECK(calls.reads == 1 && calls.locks == 2);
    }
}

static void a_new_file_is_locked_and_unlocked_once(void)
{
    write_file("globals/k", document_with(LARGE));
    make_new("globals/k");
    start_counting();
    get_gives("globals/k", document_with(LARGE));
    CHECK(calls.locks == 2);
}

static void leave_alone(void)
{
}

/* These write in place, as other programs might. */
static void write_more(void)
{
    write_file("globals/k", document_with(2 * LARGE));
}

static void write_less(void)
{
    write_file("globals/k", document_with(LARGE / 2));
}

static void write_nothing(void)
{
    write_file("globals/k", "");
}

static const struct {
    void (*write)(void);
    size_t len;
} changes[] = {{leave_alone, LARGE}, {write_more, 2 * LARGE}, {write_less, LARGE / 2}, {write_nothing, 0}};

static void get_while_it_changes(void (*age)(const char *))
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        write_file("globals/k", document_with(LARGE));
        age("globals/k");
        meanwhile = changes[i].write;
        get_gives("globals/k", document_with(changes[i].len));
        CHECK(meanwhile == NULL);
    }
}

/* A file system may return a part: also one that ends where the file ended before the change. */
static void a_file_that_changes_before_the_read_is_read_whole(void)
{
    static const size_t parts[] = {0, LARGE, LARGE / 2, LARGE / 3};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        part = parts[i];
        get_while_it_changes(make_old);
        get_while_it_changes(make_new);
    }
    part = 0;
}

/* ---- Kernels without openat2() ---- */

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
    static void (*const tests[])(void) = {
        an_old_file_is_read_and_unlocked_once,
        a_new_file_is_locked_and_unlocked_once,
        a_file_that_changes_before_the_read_is_read_whole,
        a_kernel_that_lacks_openat2_is_not_asked_again,
    };

    return run_file_tests("store_file_calls", tests, sizeof tests / sizeof *tests);
}
