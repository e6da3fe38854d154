/* secret/salt.h - the salts of forms. */
#ifndef SKV_SECRET_SALT_H
#define SKV_SECRET_SALT_H

#include "secret/form.h"

#define SKV_SALT_MAX 32 /* bytes */

/* Fills at most SKV_SALT_MAX bytes: the same ones for the same seed, format and cost, and random ones without a seed.
 */
skv_status skv_salt_bytes(const skv_making *making, void *salt, size_t size, skv_reply *reply);

/* Fills an array with digits of crypt(3). */
skv_status skv_salt_digits(const skv_making *making, char *salt, size_t len, skv_reply *reply);

#endif
