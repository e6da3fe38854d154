/* contest.h - what the contestants in C have in common: settings, and turns that are measured. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include <stddef.h>

/* One case: an operation that is done many times. `own` is what open() made, one for each thread; operations are
 * numbered from 0 on, and each number comes once. */
typedef struct contest_case {
    const char *name;
    void (*before)(void *own, long first, long count); /* not measured; NULL for nothing */
    void (*work)(void *own, long first, long count);   /* does that many operations */
    void (*after)(void *own, long first, long count);  /* not measured; NULL for nothing */
    void (*answer)(void *own, long first);             /* prints on one line what operation `first` came to */
} contest_case;

/*
 * Takes turns: prints "ready", does one operation on each thread, and prints the answer of the first. Then reads lines
 * with a number N, does N operations on each thread (BENCH_THREADS) and prints how many nanoseconds that took, and how
 * many of processors. Ends with its input. Answers the exit status of the program, whose argument is the case.
 */
int contest_run(int argc, char **argv, const contest_case *cases, void *(*open)(void));

/* The environment variable of that name, which must be there. */
const char *contest_setting(const char *name);

/* The environment variable of that name as a number. */
long contest_number(const char *name, long otherwise);

/* What is in the file that the environment variable names, ended by a NUL. The caller frees it. */
char *contest_file(const char *name, size_t *len);

/* Ends the program: says where, and what was wrong. */
_Noreturn void contest_fail(const char *where, const char *what);

#endif
