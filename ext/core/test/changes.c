#include "changes.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

skv_changes *changes;
char seen[CHANGES_SEEN_MAX], cookie[SKV_COOKIE_MAX + 1];

void note_records(void)
{
    skv_page_record each;

    for (size_t at = 0, size; (size = next_record(at, &each)) > 0; at += size) {
        size_t used = strlen(seen);

        if (used + each.name_len + 3 < sizeof seen)
            snprintf(seen + used, sizeof seen - used, "%c%.*s ", each.kind, (int)each.name_len, each.name);
        snprintf(cookie, sizeof cookie, "%.*s", (int)each.body_len, each.body);
    }
}

const char *changed(void)
{
    seen[0] = '\0';
    while (skv_changes_next(changes, 0, NULL, reply) == SKV_OK && skv_reply_number(reply) > 0)
        note_records();
    return skv_reply_status(reply) == SKV_OK ? seen : skv_status_name(skv_reply_status(reply));
}

const char *changed_until(const char *records)
{
    seen[0] = '\0';
    for (int i = 0; i < LONG_MS / 100 && strlen(seen) < strlen(records); i++) {
        if (skv_changes_next(changes, 100, NULL, reply) != SKV_OK)
            return skv_status_name(skv_reply_status(reply));
        note_records();
    }
    return seen;
}

void watch_since(const char *folder, const char *since)
{
    changes = skv_changes_open(store, folder, strlen(folder), since, since ? strlen(since) : 0, LONG_MS, NULL, reply);
}

void watch(const char *folder)
{
    watch_since(folder, NULL);
    if (CHECK(changes != NULL))
        CHECK_STR(changed_until("c "), "c ");
}

void stop(void)
{
    skv_changes_close(changes);
    changes = NULL;
}
