/* store/batch.h - many records in one call: the parsed records, and the outcome of each. */
#ifndef SKV_STORE_BATCH_H
#define SKV_STORE_BATCH_H

#include "store/store.h"

typedef struct skv_record {
    skv_key key;
    skv_put_args put; /* of skv_put_many() only: else the document is NULL */
    bool is_decided;  /* the status is the record's outcome */
    skv_status status;
    bool number;           /* as the reply's */
    size_t text, text_len; /* in the batch's texts */
} skv_record;

struct skv_batch {
    skv_record *records;
    size_t count;
    int64_t timeout_ms;
    skv_cancel *cancel;
    skv_status status; /* SKV_OK, or why the batch was stopped */
    skv_buf why;       /* the message of that status */
    skv_reply *each;   /* for a call on a single record */
    char *paths;       /* of the records' keys */
    skv_buf texts;     /* messages, documents */
    skv_buf packed;    /* has room for all records without their texts from the start */
};

/* Takes the outcome of a record from `each`. */
void skv_batch_decide(skv_batch *batch, skv_record *record);

/* Stops the batch with the failure in `each`, which becomes the outcome of every undecided record. The first failure
 * wins. */
void skv_batch_stop(skv_batch *batch);

/* Takes the outcome of a record from `each`. Stops the batch if it was interrupted, or is out of memory. */
void skv_batch_settle(skv_batch *batch, skv_record *record);

/* Puts or gets one record by the operation on one key, and settles it. */
void skv_batch_run_one(skv_batch *batch, skv_store *store, skv_record *record);

/* Empties `each` and returns a new deadline, for a call on one record. */
skv_deadline skv_batch_deadline(skv_batch *batch);

#endif
