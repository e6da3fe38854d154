/*
 * simpkv_keyring.h - encrypted documents of simpkv.
 *
 * An encrypted document is {"value":"<JWE>","encoding":"jwe"}, with a compact JWE (RFC 7516) of a plain document: "dir"
 * with "A256GCM". The protected header has the kid of the key, and the place of the document: "backend" and "path".
 * Stores keep encrypted documents as any others.
 *
 * The rules of simpkv.h hold here as well. No message contains bytes of a key.
 */
#ifndef SIMPKV_KEYRING_H
#define SIMPKV_KEYRING_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct skv_keyring skv_keyring;

/*
 * Opens a file of keys by its absolute path: a JWK Set (RFC 7517) whose keys have kty "oct", a k of 32 bytes, and a kid
 * of at most 64 printable characters; other members are ignored, except an alg or use that do not fit. The first key
 * encrypts, all decrypt. Release with skv_keyring_close(), while no call uses it, which wipes the keys. Returns NULL on
 * failure:
 *   SKV_INVALID      no such file, or its content is wrong
 *   SKV_DENIED       the file cannot be read, belongs to another user than root and that of the process, its group may
 *                    write it, or others may read or write it
 * Thread-safe.
 */
SKV_API skv_keyring *skv_keyring_open(const char *file, size_t file_len, skv_reply *reply);
SKV_API void skv_keyring_close(skv_keyring *keyring);

/* The functions below look at the file, and read it again if it has changed. As long as that is not possible they fail
 * as skv_keyring_open() does. Calls under way finish with the keys that they began with. Thread-safe. */

/* Returns the kids of the keys: the data are a list of texts, each followed by a NUL. SKV_OK. */
SKV_API skv_status skv_keyring_kids(skv_keyring *keyring, skv_reply *reply);

/* Encrypts a document for a place: the data are the encrypted document. Backend ("<type>/<id>") and path are UTF-8.
 * SKV_OK, SKV_TOO_LARGE, SKV_UNAVAILABLE. */
SKV_API skv_status skv_keyring_encrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                                       size_t path_len, const char *document, size_t document_len, skv_reply *reply);

/* Decrypts a document that was found at a place: the number is 1, and the data are the plain document. For a plain
 * document the number is 0 without data. SKV_OK; SKV_MALFORMED (the document was changed, encrypted for another place,
 * with another algorithm, or with another key of the same kid), SKV_DENIED (no key has its kid), SKV_TOO_LARGE,
 * SKV_UNAVAILABLE (libcrypto refuses). */
SKV_API skv_status skv_keyring_decrypt(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                                       size_t path_len, const char *document, size_t document_len, skv_reply *reply);

#define SKV_PAGE_ENCRYPTED_ONLY 1 /* a plain document is an error of its key */
#define SKV_PAGE_PLAIN_NAMES 2    /* a document stays encrypted if its name has other characters than a-z0-9._:/- */

/* Decrypts the documents of a page, as skv_list_next() returns it for a list or tree of a folder: the data are the same
 * page with plain documents, and the number is that of the reply of the page. The record of a document that cannot be
 * decrypted becomes an 'e', with the reason; that of one that stays encrypted an 'x', with the encrypted document.
 * `flags` is a sum of the numbers above, or 0. SKV_OK, SKV_TOO_LARGE. */
SKV_API skv_status skv_keyring_decrypt_page(skv_keyring *keyring, const char *backend, size_t backend_len,
                                            const char *folder, size_t folder_len, int flags, const char *page,
                                            size_t page_len, skv_reply *reply);

/* Returns the kid in the header of an encrypted document, which nothing proves: the data, with the number 1. For a
 * plain document the number is 0. SKV_OK, SKV_MALFORMED. Thread-safe. */
SKV_API skv_status skv_document_kid(const char *document, size_t document_len, skv_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
