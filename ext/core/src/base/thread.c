#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

/* The C library keeps stacks for the next threads, up to 40 MiB of them; its usual 8 MiB are much more than a thread of
 * skv_thread_each() needs. */
#define STACK_SIZE ((size_t)256 << 10)

int skv_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t detached;
    int error_number;

    if (pthread_attr_init(&attributes) != 0)
        return ENOMEM;
    if (thread)
        pthread_attr_setstacksize(&attributes, STACK_SIZE);
    else
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error_number = pthread_create(thread ? thread : &detached, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error_number;
}

#define EACH_MAX 8

typedef struct each_work {
    size_t count;
    atomic_size_t next;
    void (*run)(void *argument, size_t index);
    void *argument;
} each_work;

static void *run_each_index(void *argument)
{
    each_work *work = argument;
    size_t i;

    while ((i = atomic_fetch_add(&work->next, 1)) < work->count)
        work->run(work->argument, i);
    return NULL;
}

void skv_thread_each(size_t count, void (*run)(void *argument, size_t index), void *argument)
{
    each_work work = {.count = count, .run = run, .argument = argument};
    pthread_t threads[EACH_MAX - 1];
    size_t started = 0;

    /* Without further threads, those that run do all the work. */
    while (started + 1 < count && started < EACH_MAX - 1 &&
           skv_thread_start(&threads[started], run_each_index, &work) == 0)
        started++;
    run_each_index(&work);
    while (started > 0)
        pthread_join(threads[--started], NULL);
}
