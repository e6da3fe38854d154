/* ldap/store.h - the store in a directory. */
#ifndef SKV_LDAP_STORE_H
#define SKV_LDAP_STORE_H

#include "ldap/settings.h"
#include "store/store.h"

/* Opens a store, for skv_open(). Returns NULL on failure, with the reply filled. */
skv_store *skv_ldap_open(const char *options, size_t options_len, skv_reply *reply);

#endif
