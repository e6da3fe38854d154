/* file/store.h - the store in files. */
#ifndef SKV_FILE_STORE_H
#define SKV_FILE_STORE_H

#include "store/options.h"
#include "store/store.h"

extern const skv_option_table skv_file_options;

/* Opens a store, for skv_open(). Returns NULL on failure, with the reply filled. */
skv_store *skv_file_open(const char *options, size_t options_len, skv_reply *reply);

#endif
