/* store/count.h - counts what is directly below a folder, in any store. */
#ifndef SKV_STORE_COUNT_H
#define SKV_STORE_COUNT_H

#include "store/store.h"

/* Puts the numbers of the keys and folders directly below a folder into its facts: "keys", "folders", and "unreadable"
 * if there are such entries. Reads no document. Each page has `timeout_ms`, with the handle of the deadline. Returns
 * SKV_OK with the reply empty, or the reply's failure. */
skv_status skv_count_below(skv_store *store, const skv_key *folder, int64_t timeout_ms, json_t **facts,
                           skv_deadline *deadline, skv_reply *reply);

#endif
