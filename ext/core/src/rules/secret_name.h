/*
 * rules/secret_name.h - tells members that hold secrets by their names.
 */
#ifndef SKV_RULES_SECRET_NAME_H
#define SKV_RULES_SECRET_NAME_H

#include "simpkv_rules.h"

#include <stdbool.h>

/* The names of secrets: those of skv_is_secret_name(), and those that a site adds, one a line. {0} adds none. */
typedef struct skv_secret_names {
    const char *more; /* borrowed */
    size_t more_len;
} skv_secret_names;

bool skv_secret_names_have(const skv_secret_names *names, const char *name);

#endif
