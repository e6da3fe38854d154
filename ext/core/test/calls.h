/* calls.h - the store's calls in short words, for the tests of what stores keep. */
#ifndef SKV_TEST_CALLS_H
#define SKV_TEST_CALLS_H

#include "simpkv.h"

#define LONG_MS 60000

/* What the calls are made on, and what they fill. */
extern skv_store *store;
extern skv_reply *reply;

int put_if(const char *key, const char *document, int condition, const char *expect);
int put(const char *key, const char *document);
int get(const char *key);
int get_within(const char *key, int64_t timeout_ms);
int del(const char *key);
int deletetree(const char *folder);

/* -1 for a failure. */
int64_t kind(const char *key);

/* How many calls these made so far. */
long calls_made(void);

/* Checks what a call gives: the document; whether it wrote. */
void get_gives(const char *key, const char *document);
void put_gives(const char *key, const char *document, int64_t number);

/* The records of a list, as "kname=body", those of folders as "fname", in their order as text, a space behind each; or
 * the name of its failure. */
const char *listed(const char *folder);
const char *listed_within(const char *folder, int64_t timeout_ms);

/* The same of all that is below the folder; and without documents. */
const char *tree_of(const char *folder);
const char *names_below(const char *folder);

/* How many records an open list has, which is closed; for a failure, its status with a minus. */
int count_of(skv_list *list);

#endif
