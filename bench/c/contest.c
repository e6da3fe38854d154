#include "contest.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 64

/* The share of one thread in a turn. */
typedef struct share {
    const contest_case *contest;
    void *own;
    long first, count;
} share;

const char *contest_setting(const char *name)
{
    const char *value = getenv(name);

    if (!value)
        contest_fail(name, "is not set");
    return value;
}

long contest_number(const char *name, long otherwise)
{
    const char *value = getenv(name);

    return value ? strtol(value, NULL, 10) : otherwise;
}

char *contest_file(const char *name, size_t *len)
{
    const char *path = contest_setting(name);
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 0;

    if (!file)
        contest_fail(path, "cannot be opened");
    for (*len = 0; !feof(file); *len += fread(bytes + *len, 1, room - *len - 1, file)) {
        room = *len + 65536;
        bytes = realloc(bytes, room);
        if (!bytes || ferror(file))
            contest_fail(path, "cannot be read");
    }
    bytes[*len] = '\0';
    fclose(file);
    return bytes;
}

void contest_fail(const char *where, const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", where, what);
    exit(1);
}

static void *work(void *argument)
{
    share *mine = argument;

    mine->contest->work(mine->own, mine->first, mine->count);
    return NULL;
}

/* Nanoseconds of time and of processor time. */
typedef struct cost {
    long long time, processor;
} cost;

static long long ns_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static cost cost_now(void)
{
    return (cost){ns_of(CLOCK_MONOTONIC), ns_of(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Measures the shares, all at the same time. */
static cost measure(share *shares, long threads)
{
    pthread_t ids[THREADS_MAX];
    cost began = cost_now(), ended;

    for (long i = 1; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, work, &shares[i]) != 0)
            contest_fail("pthread_create", "failed");
    }
    work(&shares[0]);
    for (long i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    ended = cost_now();
    return (cost){ended.time - began.time, ended.processor - began.processor};
}

/* Does `count` operations on each thread. Prints the result of the first one if `print` is set. */
static cost turn(share *shares, long threads, long count, bool print)
{
    const contest_case *contest = shares[0].contest;
    cost took;

    for (long i = 0; i < threads; i++) {
        shares[i].count = count;
        if (contest->before)
            contest->before(shares[i].own, shares[i].first, count);
    }
    took = measure(shares, threads);
    if (print)
        contest->answer(shares[0].own, shares[0].first);
    for (long i = 0; i < threads; i++) {
        if (contest->after)
            contest->after(shares[i].own, shares[i].first, count);
        shares[i].first += count;
    }
    return took;
}

static const contest_case *find(const contest_case *cases, const char *name)
{
    while (cases->name && strcmp(cases->name, name) != 0)
        cases++;
    if (!cases->name)
        contest_fail(name, "is not a case");
    return cases;
}

int contest_run(int argc, char **argv, const contest_case *cases, void *(*open)(void))
{
    const contest_case *contest = find(cases, argc > 1 ? argv[1] : "");
    long threads = contest_number("BENCH_THREADS", 1);
    share shares[THREADS_MAX];
    char line[32];

    if (threads < 1 || threads > THREADS_MAX)
        contest_fail("BENCH_THREADS", "is out of range");
    /* The numbers of the threads do not overlap. */
    for (long i = 0; i < threads; i++)
        shares[i] = (share){.contest = contest, .own = open(), .first = i * 1000000000L};
    printf("ready\n");
    turn(shares, threads, 1, true);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        cost took = turn(shares, threads, strtol(line, NULL, 10), false);
        printf("%lld %lld\n", took.time, took.processor);
        fflush(stdout);
    }
    return 0;
}
