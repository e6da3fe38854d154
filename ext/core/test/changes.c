#include "changes.h"

#include "check.h"

#include <stdio.h>
#include <string.h>

#define RECORD_HEADER (1 + 2 * sizeof(uint32_t))

skv_changes *changes;
char seen[CHANGES_SEEN_MAX], cookie[SKV_COOKIE_MAX + 1];

void note_records(void)
{
    const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);

    while (p < end) {
        uint32_t lengths[2];
        size_t used = strlen(seen);

        memcpy(lengths, p + 1, sizeof lengths);
        if (used + lengths[0] + 3 < sizeof seen)
            snprintf(seen + used, sizeof seen - used, "%c%.*s ", *p, (int)lengths[0], p + RECORD_HEADER);
        snprintf(cookie, sizeof cookie, "%.*s", (int)lengths[1], p + RECORD_HEADER + lengths[0]);
        p += RECORD_HEADER + lengths[0] + lengths[1];
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
