/* base/thread.h - threads of the core. */
#ifndef SKV_BASE_THREAD_H
#define SKV_BASE_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Runs a function in a thread with all signals blocked: signals are for threads of the program. Sets *thread, which the
 * caller joins, and which has a small stack; with NULL the thread is detached. Returns 0 or an errno. */
int skv_thread_start(pthread_t *thread, void *(*run)(void *), void *argument);

/* Calls the function for each index below `count`, in up to 8 threads at once, this one among them: for calls that
 * wait for a disk. It returns after the last call. */
void skv_thread_each(size_t count, void (*run)(void *argument, size_t index), void *argument);

#endif
