/* store/batch.h - many records in one call: taken apart, and what came of each of them put together again. */
#ifndef SKV_STORE_BATCH_H
#define SKV_STORE_BATCH_H

#include "store/store.h"

typedef struct skv_record {
    skv_key key;
    const char *document; /* borrowed; of skv_put_many() only */
    size_t document_len;
    bool is_decided; /* the status is the record's outcome */
    skv_status status;
    bool number;           /* as the reply's */
    size_t text, text_len; /* in the batch's texts */
} skv_record;

struct skv_batch {
    skv_record *records;
    size_t count;
    int condition;
    bool in_doubt;
    int64_t timeout_ms;
    skv_cancel *cancel;
    skv_status status; /* SKV_OK, or why the batch was stopped */
    skv_buf why;       /* the message to that */
    skv_reply *each;   /* for a call on a single record */
    char *paths;       /* of the records' keys */
    skv_buf texts;     /* messages, documents */
    skv_buf packed;    /* has room for all that is not text from the first on */
};

/* Takes what came of a record over from `each`. */
void skv_batch_decide(skv_batch *batch, skv_record *record);

/* There is no use in going on, for the reason in `each`, which is then also that of all records that are open. The
 * first one wins. */
void skv_batch_stop(skv_batch *batch);

/* What skv_put() would be given for the record. */
skv_put_args skv_batch_put_args(const skv_batch *batch, const skv_record *record);

/* Starts a call on one record, with an empty `each` and a deadline of its own. */
skv_deadline skv_batch_deadline(skv_batch *batch);

/* skv_store_ops' functions, for a store that has nothing better: one after the other. */
void skv_batch_put_each(skv_store *store, skv_batch *batch);
void skv_batch_get_each(skv_store *store, skv_batch *batch);

#endif
