/* contest.h - the common code of the contestants in C: settings, and turns that are measured. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include <stddef.h>

/* One case: an operation that is repeated. `own` is the result of open(), one for each thread. Operations have numbers
 * from 0 on, each used once. */
typedef struct contest_case {
    const char *name;
    void (*before)(void *own, long first, long count); /* not measured; NULL for nothing */
    void (*work)(void *own, long first, long count);   /* does that many operations */
    void (*after)(void *own, long first, long count);  /* not measured; NULL for nothing */
    void (*answer)(void *own, long first);             /* prints the result of operation `first` on one line */
} contest_case;

/*
 * Takes turns: prints "ready", does one operation on each thread (BENCH_THREADS), and prints the result of the first.
 * Then, for each line with a number N, does N operations on each thread and prints the nanoseconds of time and of
 * processor time that they took. Ends with its input. Returns the exit status of the program, whose argument is the
 * case.
 */
int contest_run(int argc, char **argv, const contest_case *cases, void *(*open)(void));

/* Returns the environment variable of that name, which must be set. */
const char *contest_setting(const char *name);

/* Returns the environment variable of that name as a number, or `otherwise` if it is not set. */
long contest_number(const char *name, long otherwise);

/* Returns the content of the file that the environment variable names, with a NUL at its end. The caller frees it. */
char *contest_file(const char *name, size_t *len);

/* Ends the program with a message. */
_Noreturn void contest_fail(const char *where, const char *what);

#endif
