/* batches.h - batches for tests: packs the records, and unpacks the outcomes. */
#ifndef SKV_TEST_BATCHES_H
#define SKV_TEST_BATCHES_H

#include "calls.h"

#define BATCH_MAX 1500

typedef struct test_record {
    char key[512];
    const char *document;
    size_t document_len;
    const char *expect; /* NULL: the batch's condition holds */
} test_record;

/* The outcome of a record. The text is NUL-terminated. */
typedef struct test_outcome {
    int status, number;
    size_t len;
    char *text;
} test_outcome;

extern test_record batch[BATCH_MAX];
extern test_outcome outcomes[BATCH_MAX];
extern size_t batch_count;

/* Empty the batch, and add to it. */
void batch_clear(void);
void batch_add(const char *key, const char *document);
void batch_add_bytes(const char *key, const char *document, size_t len);
void batch_add_expecting(const char *key, const char *document, const char *expect);

/* Put the batch into a store, and get its keys. The condition is that of all records without an expected document, and
 * its flags those of all. Check that there is one outcome a record. Return the status. */
int batch_put(skv_store *to, int condition, int64_t timeout_ms, skv_cancel *cancel);
int batch_get(skv_store *from, int64_t timeout_ms, skv_cancel *cancel);

/* Returns the number of records with that outcome. */
size_t batch_tally(int status, int number);

/* Puts the batch into one store one by one, and into another at once. Checks that the outcomes and the stored documents
 * are the same. */
void batch_compare(skv_store *one, skv_store *many, int condition);

#endif
