/*
 * simpkv_answer.h - reads a key in one call, for bindings in which each call is expensive.
 *
 * The rules of simpkv.h hold here as well.
 */
#ifndef SKV_ANSWER_H
#define SKV_ANSWER_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SKV_ANSWER_MAX 4096 /* bytes that a caller may read at the address of an answer */

/* A place for answers, which a thread keeps. It belongs to one call at a time. */
typedef struct skv_answer skv_answer;

/* Returns a place, or NULL when out of memory. Release with skv_answer_free(), which wipes it. Thread-safe. */
SKV_API skv_answer *skv_answer_new(void);
SKV_API void skv_answer_free(skv_answer *answer);

/* Returns the reply of the last call. It belongs to the answer. */
SKV_API skv_reply *skv_answer_reply(skv_answer *answer);

/*
 * Reads a key as a manifest writes it: skv_key_check(), skv_key_join() and skv_get() with SKV_GET_ANY. The request is
 * packed, with unaligned numbers in the machine's byte order; `flags` are those of skv_key_check():
 *
 *     int64_t timeout_ms    uint32_t flags, folder_len    folder_len bytes, and the key up to the end
 *
 * The result says what is at the address of the answer, until the next call:
 *
 *     n > 0   n bytes: the value and the metadata, as skv_answer_document()
 *     n < 0   -n bytes: the document, which has something else in it as well
 *     0       nothing. The reply has the data of skv_get(), if they do not fit; or the failure of one of the three.
 *             With SKV_END, the key stands for the folder itself
 */
SKV_API int64_t skv_answer_get(skv_store *store, const char *request, size_t request_len, skv_answer *answer);

/*
 * Reads a document that has a value, perhaps metadata after it, and nothing else. Returns the number of bytes at the
 * address of the answer; 0 for another document, for bytes that are no document, and if they do not fit.
 *
 * The bytes are the Hash {value: ..., metadata: ...} in the format 4.8 of Ruby's Marshal, with the objects that
 * JSON.parse makes: nil, true, false, Integer, Float, String (UTF-8), Array and Hash with Strings as keys. Other types
 * do not occur, whatever the document holds. Metadata are {} unless the document has some. */
SKV_API int64_t skv_answer_document(const char *document, size_t document_len, skv_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
