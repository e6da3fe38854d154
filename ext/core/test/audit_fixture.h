/* audit_fixture.h - an audit log in a folder of its own. */
#ifndef SKV_TEST_AUDIT_FIXTURE_H
#define SKV_TEST_AUDIT_FIXTURE_H

#include "simpkv_audit.h"

#include <stdbool.h>

#define WAIT_MS 30000

extern skv_reply *result;
extern char log_folder[32];
extern char log_file[64]; /* in that folder */

/* Runs each test with an empty folder. Returns the exit status of main(). */
int run_audit_tests(const char *name, void (*const *tests)(void), size_t count);

/* Opens the log; the caller closes it. */
skv_audit *open_target(const char *target);
skv_audit *open_log_file(void);

skv_status write_text(skv_audit *audit, const char *lines);
skv_status write_within(skv_audit *audit, const char *lines, int64_t timeout_ms);

/* Returns the content of a file, which stays valid until the next call; "" for a missing one. */
const char *content_of(const char *file);
void set_content(const char *file, const char *text);

/* Milliseconds since an arbitrary moment. */
int64_t now_ms(void);

/* Runs the function in a child process. Returns true if the function did. */
bool child_returns(bool (*run)(void));

#endif
