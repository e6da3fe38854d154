/* check.h - checks, and tables of cases that the Ruby specs read as well. */
#ifndef SKV_TEST_CHECK_H
#define SKV_TEST_CHECK_H

#include "simpkv.h"

#include <stdbool.h>
#include <stdio.h>

/* Counts a check, and reports a failure with its place. Returns true if it held. */
#define CHECK(condition) check_(!!(condition), __FILE__, __LINE__, #condition)
#define CHECK_STR(actual, expected) check_string_((actual), (expected), __FILE__, __LINE__)
/* Checks that `actual` contains `part`. */
#define CHECK_HAS(actual, part) check_has_((actual), (part), __FILE__, __LINE__)
/* Checks the reply's status, and prints its message after a failure. */
#define CHECK_STATUS(reply, expected) check_status_((reply), (expected), __FILE__, __LINE__)

bool check_(bool held, const char *file, int line, const char *what);
bool check_string_(const char *actual, const char *expected, const char *file, int line);
bool check_has_(const char *actual, const char *part, const char *file, int line);
bool check_status_(const skv_reply *reply, skv_status expected, const char *file, int line);

/* Prints "<what>: N faults, N operations, N anomalies" for the table of bin/test. The anomalies are the failed checks.
 */
void check_tally(const char *what, long faults, long operations);

/* Prints "<name>: N passed, N failed". Returns the exit status of main(). */
int check_summary(const char *name);

/* Returns whether valgrind runs the test, some thirty times slower than the processor: see core.mk. */
bool check_with_valgrind(void);

/* Returns how often to repeat what threads or processes contend for, or what is measured: with valgrind, which finds
 * uninitialised and lost memory in the first rounds, a tenth. */
int check_rounds(int times);

/* Returns the status of that skv_status_name(), or -1. */
int status_named(const char *name);

/* Opens the table test/cases/<name>, which the caller closes. Returns NULL and counts a failure if it is missing. */
FILE *case_file(const char *name);

#define CASE_FIELDS 8

/* One line of a table: fields between tabs, with the escapes \t \n \r \\ \0 and \xHH undone. */
typedef struct test_case {
    int line;
    size_t fields;
    char *field[CASE_FIELDS];
    size_t len[CASE_FIELDS];
} test_case;

/* Runs `run` for each line of test/cases/<name>; blank lines and lines that start with '#' do not count. A table that
 * is missing or empty is a failure. */
void each_case(const char *name, void (*run)(const test_case *));

#endif
