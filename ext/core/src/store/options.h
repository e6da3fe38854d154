/* store/options.h - the options of stores: a table for each type, which skv_open() and skv_options() read. */
#ifndef SKV_OPTIONS_H
#define SKV_OPTIONS_H

#include "base/reply.h"

#include <jansson.h>

/* The types of options, with the type of the member of the settings that gets the value. */
typedef enum skv_option_type {
    SKV_OPTION_TEXT,         /* const char *, as the next two; borrowed from the list */
    SKV_OPTION_PATH,         /* absolute */
    SKV_OPTION_URIS,         /* separated by spaces or commas */
    SKV_OPTION_BOOLEAN,      /* bool */
    SKV_OPTION_CHOICE,       /* int: the index of the choice */
    SKV_OPTION_INTEGER,      /* int64_t, as the next */
    SKV_OPTION_MILLISECONDS, /* of any length: max is INT64_MAX */
} skv_option_type;

typedef struct skv_option_row {
    const char *name;
    skv_option_type type;
    size_t offset;              /* of the member in the settings */
    const char *usual;          /* the default; "" if there is none */
    int64_t min, max;           /* of a number */
    const char *const *choices; /* NULL follows the last one */
    const char *meaning;        /* one line of Markdown */
} skv_option_row;

typedef struct skv_option_table {
    const char *store_type;
    size_t count;
    const skv_option_row *rows;
} skv_option_table;

/* Returns the value of an option in the packed and checked list of skv_open(), or NULL. */
const char *skv_option(const char *options, size_t options_len, const char *name);

/* Sets all members of the settings, from that list or the defaults. Returns SKV_OK; SKV_INVALID for an unknown option
 * or a wrong value. */
skv_status skv_read_options(const skv_option_table *table, const char *options, size_t options_len, void *settings,
                            skv_reply *reply);

/* Returns the table as skv_options() describes it, as trees are: NULL when out of memory. */
json_t *skv_describe_options(const skv_option_table *table);

#endif
