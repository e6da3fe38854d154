/* changes.h - a watch of the store of the tests, and the records that it tells. */
#ifndef SKV_TEST_CHANGES_H
#define SKV_TEST_CHANGES_H

#include "calls.h"
#include "simpkv_changes.h"

#include <stddef.h>

#define CHANGES_SEEN_MAX ((size_t)1 << 20)

/* The watch; the records that have come, as "pkey "; and the cookie of the last one. */
extern skv_changes *changes;
extern char seen[CHANGES_SEEN_MAX], cookie[SKV_COOKIE_MAX + 1];

/* Appends the records of the reply to `seen`. */
void note_records(void);

/* Returns the records that have come already; or the name of the status of a failure. */
const char *changed(void);

/* Waits until all these records have come, and returns them; or the name of the status of a failure. */
const char *changed_until(const char *records);

/* Opens the watch. watch() checks that it is ready. */
void watch_since(const char *folder, const char *since);
void watch(const char *folder);
void stop(void);

#endif
