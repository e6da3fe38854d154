/* calls.h - the calls of a store under short names. */
#ifndef SKV_TEST_CALLS_H
#define SKV_TEST_CALLS_H

#include "simpkv.h"

#define LONG_MS 60000

/* The store and the reply of the calls. */
extern skv_store *store;
extern skv_reply *reply;

int put_if(const char *key, const char *document, int condition, const char *expect);
int put(const char *key, const char *document);
int get(const char *key);
int get_within(const char *key, int64_t timeout_ms);
int del(const char *key);
int del_if(const char *key, const char *expect);
int create_folder(const char *folder);
int delete_folder(const char *folder);
int deletetree(const char *folder);

/* Returns the SKV_KIND_*, or -1 after a failure. */
int64_t kind(const char *key);

/* Returns the status of a skv_stat() with a flag. */
int describe(const char *key, int flags);

/* Returns the number of calls so far. */
long calls_made(void);

/* Check the document of a get, and the number of a put, of a delete with an expected document, and of a new or a
 * deleted folder. */
void get_gives(const char *key, const char *document);
void put_gives(const char *key, const char *document, int64_t number);
void del_if_gives(const char *key, const char *expect, int64_t number);
void create_folder_gives(const char *folder, int64_t number);
void delete_folder_gives(const char *folder, int64_t number);

/* Return the sorted records of a list as text: "kname=body" and "fname", each followed by a space; or the name of the
 * status of a failure. */
const char *listed(const char *folder);
const char *listed_within(const char *folder, int64_t timeout_ms);

/* Return the same for a tree, with and without documents. */
const char *tree_of(const char *folder);
const char *names_below(const char *folder);
const char *names_of_one_level(const char *folder);

/* Reads the record at a place of the reply's data. Returns its size; 0 at their end. */
size_t next_record(size_t at, skv_page_record *each);

/* Closes a list. Returns the number of its records, or the negative status of a failure. */
int count_of(skv_list *list);

#endif
