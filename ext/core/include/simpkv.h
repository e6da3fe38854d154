/*
 * simpkv.h - the native core of simpkv: a key/value store for Puppet manifests.
 *
 * With simpkv_keyring.h (encryption), simpkv_audit.h, simpkv_changes.h, simpkv_faults.h and simpkv_rules.h, the public
 * interface. A store maps keys to documents. A key is a path such as "environments/production/app1/password". A
 * document is a byte string, by convention one JSON object (see "Documents" below), but a store keeps any bytes.
 *
 * Rules that hold for every function here:
 *
 * - Strings are a pointer and a length in bytes. A string argument is borrowed for the length of the call, and
 *   need not end in NUL. Keys, options and paths may not contain NUL; documents may.
 * - Handles are opaque. The caller that creates a handle releases it, with the function that is named beside its
 *   constructor. Each releasing function accepts NULL.
 * - Calls that can fail take a `skv_reply` that the caller owns, and overwrite its status, its message and its data.
 *   They also return the status. Data and message of a reply stay valid until its next use in a call, or its release.
 * - Nothing here aborts, exits, raises a signal, or changes the working directory, the umask or the locale.
 * - Two operations run in detached threads with all signals blocked, because they have no deadline: the resolution of
 *   the name of a directory server, and the first use of libldap in the process, which resolves this machine's own
 *   name. fork() waits for the latter for at most 6 s.
 * - Running out of memory is the status SKV_NOMEM, which any call with a reply can return; so is SKV_INVALID, for a
 *   NULL or malformed argument.
 * - A thread-safe function may be called from several threads at once, on the same store. A reply, a cancel handle and
 *   a list belong to one thread at a time, except in skv_cancel_fire().
 * - No message contains document bytes.
 */
#ifndef SIMPKV_H
#define SIMPKV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The extension for MRI compiles the core into itself, with SKV_API empty: it exports nothing of it. */
#ifndef SKV_API
#define SKV_API __attribute__((visibility("default")))
#endif

/* The version of this interface. A binding compares it with skv_abi() when it loads, and refuses another version. */
#define SKV_ABI 5

/* Statuses, of the size of an int. skv_status_name() returns the text, from which a binding derives its exception. */
#define SKV_STATUS_MAP(X)                                                                                              \
    X(0, OK, "ok")                    /* done */                                                                       \
    X(1, END, "end")                  /* a list has no further page */                                                 \
    X(2, NOT_FOUND, "not_found")      /* no such key, folder or entry */                                               \
    X(3, EXISTS, "exists")            /* SKV_PUT_ABSENT: the key exists already */                                     \
    X(4, CONFLICT, "conflict")        /* another document is stored; a folder is not empty */                          \
    X(5, IS_FOLDER, "is_folder")      /* the name of a key is a folder's */                                            \
    X(6, IS_KEY, "is_key")            /* the name of a folder is a key's */                                            \
    X(7, INVALID, "invalid")          /* an argument is malformed: the message says which */                           \
    X(8, TIMEOUT, "timeout")          /* the deadline passed first */                                                  \
    X(9, INTERRUPTED, "interrupted")  /* skv_cancel_fire() */                                                          \
    X(10, DENIED, "denied")           /* no permission, or a link that leads out of the root */                        \
    X(11, UNAVAILABLE, "unavailable") /* the storage cannot be used now: an I/O error, no server, ... */               \
    X(12, TOO_LARGE, "too_large")     /* a name, document or file is above a limit; the message names it */            \
    X(13, MALFORMED, "malformed")     /* not a JSON document, or nested too deeply */                                  \
    X(14, NOMEM, "no_memory")         /* out of memory */                                                              \
    X(15, FULL, "full")               /* as UNAVAILABLE: the disk is full, or the quota used up */

typedef enum skv_status {
#define SKV_STATUS_ENUM(number, name, text) SKV_##name = number,
    SKV_STATUS_MAP(SKV_STATUS_ENUM)
#undef SKV_STATUS_ENUM
} skv_status;

/* ---- The library ------------------------------------------------------------------------------------------------ */

/* Return the SKV_ABI of the library; its version, such as "1.0.0"; the name of a status ("not_found"), or NULL for a
 * number beyond the last one. The strings are static. Thread-safe. */
SKV_API int skv_abi(void);
SKV_API const char *skv_version(void);
SKV_API const char *skv_status_name(int status);

/* ---- Replies ---------------------------------------------------------------------------------------------------- */

typedef struct skv_reply skv_reply;

/* Returns an empty reply, or NULL when out of memory. Release with skv_reply_free(), which wipes it. Thread-safe. */
SKV_API skv_reply *skv_reply_new(void);
SKV_API void skv_reply_free(skv_reply *reply);

/* Return the status of the last call that filled the reply, SKV_OK for a new one; the reason of a failure, as
 * NUL-terminated UTF-8 without control characters, "" without a failure. */
SKV_API skv_status skv_reply_status(const skv_reply *reply);
SKV_API const char *skv_reply_message(const skv_reply *reply);

/* Return the data of the call, never NULL, and their size. A NUL follows the data, which the size does not count. */
SKV_API const char *skv_reply_data(const skv_reply *reply);
SKV_API size_t skv_reply_size(const skv_reply *reply);

/* Returns the number of the call; its comment says which. */
SKV_API int64_t skv_reply_number(const skv_reply *reply);

/* ---- Waiting, and how to stop it -------------------------------------------------------------------------------- */

/*
 * Every call that can wait takes `timeout_ms` and `cancel`. `timeout_ms` is the time in milliseconds that the call may
 * wait, for a lock for instance (0: not at all; negative: SKV_INVALID). `cancel` may be NULL. Reading, writing and
 * deleting files does not count as waiting.
 *
 * A cancelled call returns SKV_INTERRUPTED, and can be repeated: a binding does that when the interrupt turns out to be
 * harmless. A list continues at the same record. In files, a cancelled call has changed nothing (skv_deletetree(): has
 * done a part). With a directory, a call continues for 0.2 s after skv_cancel_fire(), and the server may still execute
 * its request after that. A repeated skv_delete(), or skv_put() with a condition, then needs SKV_PUT_IN_DOUBT. Each
 * repetition with the same handle, without a reset, waits twice as long for that response.
 */
typedef struct skv_cancel skv_cancel;

/* Returns a handle, or NULL when out of memory. Release with skv_cancel_free(), while no call uses it. Thread-safe. */
SKV_API skv_cancel *skv_cancel_new(void);
SKV_API void skv_cancel_free(skv_cancel *cancel);

/* Undoes a skv_cancel_fire() that has not ended a call. Call it before the handle is used for another call. */
SKV_API void skv_cancel_reset(skv_cancel *cancel);

/* Ends the call that waits with this handle, or the next one that waits. Thread-safe and async-signal-safe. */
SKV_API void skv_cancel_fire(skv_cancel *cancel);

/* Sets a function for runtimes that cannot always call skv_cancel_fire(). While a call waits with this handle, its
 * thread calls `is_fired` every 0.1 s and after each signal. A result other than 0 has the effect of skv_cancel_fire().
 * The function must not block, nor call this library. NULL removes it. No call may use the handle meanwhile. */
typedef int (*skv_watch)(void *context);
SKV_API void skv_cancel_watch(skv_cancel *cancel, skv_watch is_fired, void *context);

/* ---- Keys ------------------------------------------------------------------------------------------------------- */

#define SKV_KEY_MAX 4096        /* bytes in a key, prefix included */
#define SKV_KEY_SEGMENT_MAX 255 /* bytes between two slashes */
#define SKV_KEY_UPPER 1         /* a flag of skv_key_check(): A to Z are allowed too */

/* Checks a key as manifests write it: a-z 0-9 . _ : / -, and no segment that is "." or "..".
 * Returns SKV_OK; SKV_INVALID with one of the messages "key 'K' contains disallowed whitespace", "... contains
 * unsupported characters. ...", "... contains disallowed '/./' or '/../' sequence", checked in this order;
 * SKV_TOO_LARGE for a segment above SKV_KEY_SEGMENT_MAX or a key above SKV_KEY_MAX. Thread-safe. */
SKV_API skv_status skv_key_check(const char *key, size_t key_len, int flags, skv_reply *reply);

/* Puts a key below a prefix: the data are the prefix and the key without empty segments, joined by single slashes
 * (prefix "environments/dev", key "/a//b/": "environments/dev/a/b"). Either may be empty, and have any character but
 * NUL. No segment may be "." or "..". SKV_OK, SKV_INVALID, SKV_TOO_LARGE (the result, by these limits). Thread-safe. */
SKV_API skv_status skv_key_join(const char *prefix, size_t prefix_len, const char *key, size_t key_len,
                                skv_reply *reply);

/* ---- Distinguished names ---------------------------------------------------------------------------------------- */

#define SKV_LAYOUT_PLAIN 0 /* simpkvKey=k,ou=f,...: readable, ignores case */
#define SKV_LAYOUT_HEX 1   /* simpkvHexId=6b,...: keeps case */

#define SKV_KIND_NONE 0
#define SKV_KIND_KEY 1
#define SKV_KIND_FOLDER 2

/*
 * Makes the DN, escaped by RFC 4514, of the entry that holds `path` ("environments/production/a/b", "globals/a") as a
 * `kind` in the instance `id` below `base_dn`: the data. The paths "environments", "environments/<env>" and "globals"
 * are folders. Returns SKV_OK, SKV_INVALID (unknown layout or kind; a path that is not below one of the two roots; a
 * name that is empty, "." or "..", holds NUL or is not UTF-8; a key where only a folder can be), SKV_TOO_LARGE (a name
 * or the DN is longer than slapd and 389-DS both allow; the message names the segment). Thread-safe. */
SKV_API skv_status skv_dn_from_path(int layout, int kind, const char *base_dn, size_t base_dn_len, const char *id,
                                    size_t id_len, const char *path, size_t path_len, skv_reply *reply);

/* ---- Documents -------------------------------------------------------------------------------------------------- */

#define SKV_DATA_MAX 1073741824    /* bytes in a document, and in the data of a reply */
#define SKV_DOCUMENT_DEPTH_MAX 100 /* arrays and objects inside one another, as for JSON.generate and JSON.parse */
#define SKV_DOUBLE_MAX 32          /* bytes that skv_format_double() needs at the most, with its NUL */

/* Writes a finite number as MRI's Float#to_s does, independently of the locale: the shortest digits that read back as
 * the same double ("9.898", "1.0e-05", "100000000000000.0", "1.0e+15"). `out` has room for SKV_DOUBLE_MAX bytes.
 * Returns the length without the NUL, or 0 for NaN and the infinities. Thread-safe. */
SKV_API size_t skv_format_double(double number, char *out);

/* Compares two documents: the number is 1 if they have the same value, metadata, encodings, times and history, with
 * members in the same order except in the outermost object, else 0. Spacing, spelling of numbers and strings, and
 * unknown members of that object do not count. No metadata, null and {} are the same; 1 and 1.0 differ. If jansson
 * cannot read one (duplicate members, integers beyond 64 bits), the bytes count. SKV_OK. Thread-safe. */
SKV_API skv_status skv_document_same(const char *a, size_t a_len, const char *b, size_t b_len, skv_reply *reply);

/* ---- Stores ----------------------------------------------------------------------------------------------------- */

typedef struct skv_store skv_store;

/* Opens a store. `options` is a list of names and values, each followed by a NUL: "root_path\0/srv/kv\0". Release with
 * skv_close(). Returns NULL on failure, with the reason in the reply: SKV_INVALID (an unknown type or option, a missing
 * option); SKV_DENIED, SKV_UNAVAILABLE (the storage cannot be used or made). Thread-safe. skv_options() describes the
 * options of each type. "file" needs root_path; opening makes that folder, the missing folders above it, and "globals"
 * and "environments". "ldap" needs ldap_uri and id; opening does not contact a server: skv_exists() of "" tells if
 * base_dn exists. All stores share the connections of the process. */
SKV_API skv_store *skv_open(const char *type, size_t type_len, const char *options, size_t options_len,
                            skv_reply *reply);

/* Describes the options of skv_open(): the data are JSON, {"file":[...],"ldap":[...]}, one object for each option:
 * "name"; "type", which is "text", "path", "uris", "boolean" ("true", "false"), "choice", "integer" or "milliseconds";
 * "default", a text, or null if there is none; "meaning", one line of Markdown; "min" of numbers; "max" of an integer;
 * "choices" of a choice. SKV_OK. Thread-safe. */
SKV_API skv_status skv_options(skv_reply *reply);

/* Releases the store. Does no I/O. No call may use the store any more. */
SKV_API void skv_close(skv_store *store);

/* The functions below take a key relative to the store ("environments/dev/a/b", as skv_key_join() makes it). Beside the
 * statuses in their comments, all of them can return SKV_INVALID or SKV_TOO_LARGE (the key), SKV_TIMEOUT,
 * SKV_INTERRUPTED, SKV_DENIED and SKV_UNAVAILABLE. All are thread-safe. */

/* How skv_get() reads. A store may read and write at different servers. */
#define SKV_GET_ANY 0    /* from one of ldap_uri, which may lag behind; of write_uri once the store has written */
#define SKV_GET_LATEST 1 /* from one of write_uri, as SKV_GET_STORED: for a write that depends on the document */
#define SKV_GET_STORED 2 /* not what 389-DS has half deleted (docs/adr/0054): for callers that rely on the key */

/* Reads a key: the data are its document. SKV_OK, SKV_NOT_FOUND, SKV_IS_FOLDER. */
SKV_API skv_status skv_get(skv_store *store, const char *key, size_t key_len, int flags, int64_t timeout_ms,
                           skv_cancel *cancel, skv_reply *reply);

/* Looks for a key or a folder of that name: the number is a SKV_KIND_*. SKV_OK. If the kind cannot be determined, the
 * status is an error, and not SKV_OK with SKV_KIND_NONE. */
SKV_API skv_status skv_exists(skv_store *store, const char *key, size_t key_len, int64_t timeout_ms, skv_cancel *cancel,
                              skv_reply *reply);

/*
 * Describes a key or a folder, and reads no document: the data are JSON, an object with the members that the storage
 * has and shows to this identity. Times are UTC, to the second: "2026-11-26T00:38:24Z".
 *
 * "kind" is "key" or "folder". "modified_at" is the time of a key's last write, and of a folder in files the time when
 * a name was last added or removed. "created_at" is that of a folder in files, and of anything in a directory, which
 * also has "modified_by" and "created_by", the DNs of identities. In files, "size" is the number of bytes of a
 * document, and "uid" the number of the owner. With SKV_STAT_COUNT, a folder has "keys", "folders" and "unreadable":
 * how many are directly below it, expired keys included; unreadable are entries whose kind the server does not show.
 *
 * SKV_OK, SKV_NOT_FOUND. `timeout_ms` is also for each page of what is counted, as in skv_list_next(). */
#define SKV_STAT_COUNT 1 /* a flag */
SKV_API skv_status skv_stat(skv_store *store, const char *key, size_t key_len, int flags, int64_t timeout_ms,
                            skv_cancel *cancel, skv_reply *reply);

/* The conditions of skv_put() and skv_delete(). */
#define SKV_PUT_ANY 0    /* always */
#define SKV_PUT_ABSENT 1 /* only if the key does not exist: else SKV_EXISTS */
#define SKV_PUT_EXPECT 2 /* only if the stored document has the bytes of `expect`: else SKV_CONFLICT */

/* A flag beside these: the same call was interrupted before, and may have written. It has written if this document is
 * stored. If the condition does not allow the stored document, the outcome is unknown (SKV_UNAVAILABLE). */
#define SKV_PUT_IN_DOUBT 4

/* More flags: other clients may put the same document, so that finding it after a lost response does not prove that
 * this call has written it (SKV_UNAVAILABLE); a plain document does not replace an encrypted one (SKV_DENIED). */
#define SKV_PUT_NON_UNIQUE 8
#define SKV_PUT_KEEP_ENCRYPTED 16

/* Stores a document, and makes the folders above it. The number is 1 if something was written, 0 if the stored document
 * is the same already (skv_document_same()). `expect` is NULL except with SKV_PUT_EXPECT. SKV_OK, SKV_EXISTS,
 * SKV_CONFLICT (also if the key does not exist), SKV_IS_FOLDER, SKV_IS_KEY (a folder of the path is a key). The number
 * of SKV_INTERRUPTED is 1 if the document may have been written, else 0. SKV_UNAVAILABLE also if the connection to a
 * directory was lost, and another client has changed the key since: the outcome is unknown (docs/adr/0022). */
SKV_API skv_status skv_put(skv_store *store, const char *key, size_t key_len, const char *document, size_t document_len,
                           int condition, const char *expect, size_t expect_len, int64_t timeout_ms, skv_cancel *cancel,
                           skv_reply *reply);

/*
 * Put or get many keys in one call. In a directory the requests share a connection, and do not wait for each other's
 * responses; in files they wait for the disk together. `timeout_ms` is for one round trip; in files, for one key. The
 * records are packed, with unaligned numbers in the machine's byte order. The data are the outcomes in the same order,
 * packed as well:
 *
 *     uint32_t key_len, document_len, expect_len, condition    skv_get_many(): key_len only
 *     key_len bytes, document_len bytes, expect_len bytes
 *
 *     char     number      skv_put()'s for that record: of SKV_OK and SKV_INTERRUPTED; skv_get_many(): 0
 *     int32_t  status
 *     uint32_t text_len
 *     text_len bytes       the message, "" for SKV_OK; skv_get_many(): the document, if the status is SKV_OK
 *
 * SKV_OK if each record has an outcome of its own: that of skv_put() or skv_get() after the records before it. If the
 * batch stopped, the reason (SKV_UNAVAILABLE, SKV_TIMEOUT, SKV_DENIED: of the server, not of one record;
 * SKV_INTERRUPTED, SKV_NOMEM). It is then also the status of each record that was not reached. The data exist after a
 * failure as well, unless the arguments are malformed (SKV_INVALID) or there is no memory to begin with.
 *
 * skv_put_many(): the condition of a record is that of skv_put(), with its flags, and expect_len is 0 except with
 * SKV_PUT_EXPECT. A record with another condition has the status SKV_INVALID. After SKV_INTERRUPTED, the caller repeats
 * the records of that status: those with the number 1 with SKV_PUT_IN_DOUBT, the others as they were. */
SKV_API skv_status skv_put_many(skv_store *store, const char *records, size_t records_len, int64_t timeout_ms,
                                skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_get_many(skv_store *store, const char *keys, size_t keys_len, int64_t timeout_ms,
                                skv_cancel *cancel, skv_reply *reply);

/* Deletes a key, and keeps its folder. The condition is SKV_PUT_ANY or SKV_PUT_EXPECT, with its flag SKV_PUT_IN_DOUBT.
 * The number is 1 if the key was deleted, 0 if it does not exist or has another document; after SKV_INTERRUPTED, 1 if
 * it may be deleted. SKV_OK, SKV_IS_FOLDER; SKV_UNAVAILABLE as skv_put(). A call in doubt that finds no key returns the
 * number 1; with SKV_PUT_EXPECT, SKV_UNAVAILABLE: another client may have deleted the key. */
SKV_API skv_status skv_delete(skv_store *store, const char *key, size_t key_len, int condition, const char *expect,
                              size_t expect_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

/* Make a folder and the missing folders above it; delete a folder with nothing in it. The number is 1 if the call made
 * or deleted it, or may have done so (an interrupt, a lost connection); else 0. SKV_OK, SKV_IS_KEY (the folder, or for
 * skv_create_folder() one above it, is a key), SKV_CONFLICT (the folder to delete is not empty). */
SKV_API skv_status skv_create_folder(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                                     skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_delete_folder(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                                     skv_cancel *cancel, skv_reply *reply);

/* Deletes a folder with all that is below it; in a directory, `timeout_ms` is for one round trip. The number is 1 if it
 * existed, else 0; after SKV_INTERRUPTED, a directory adds the number of entries that are deleted. SKV_OK, SKV_IS_KEY.
 * A failure's message says if a part was deleted. */
SKV_API skv_status skv_deletetree(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                                  skv_cancel *cancel, skv_reply *reply);

/* Describes the connections of the process to directories: the data are JSON, {"pools":[...]}, without passwords and
 * values. Each server has, beside its counters, "vendor" from its root DSE, and "tls" of the newest connection,
 * {"protocol":"TLS1.3","cipher":"AES-256-GCM","certificate_ends":1790000000}: protocol and cipher in the spelling of
 * the TLS library, and the end of the server's certificate in seconds since 1970. Unknown values are null, and so is
 * "tls" without TLS. SKV_OK. Thread-safe. */
SKV_API skv_status skv_stats(skv_reply *reply);

/* The data are the URIs of a list as skv_stats() spells them, each once, separated by single spaces; in the list, also
 * by commas. SKV_OK, SKV_INVALID ("Invalid 'ldap_uri' configuration: ..."). Thread-safe. */
SKV_API skv_status skv_ldap_uris(const char *uris, size_t uris_len, skv_reply *reply);

/* ---- Entries ----------------------------------------------------------------------------------------------------
 *
 * Any entries in the directory of a store of type "ldap". Reads ask the servers of ldap_uri, the others those of
 * write_uri. Lists are texts, each followed by a NUL. Beside the statuses in their comments and those of the functions
 * above, all can return SKV_NOT_FOUND (no such entry). SKV_UNAVAILABLE is also a refusal by the server. Thread-safe.
 */
#define SKV_ENTRY_DN_MAX 4096      /* bytes in a DN, and in a password */
#define SKV_ENTRY_LIST_MAX 4194304 /* bytes in a list */
#define SKV_ENTRY_TEXTS_MAX 131072 /* texts in it */

/* Read an entry (`dn` "" is the root DSE); the entries directly below it, or those at and below it that match `filter`
 * (a list of one filter of RFC 4515, escaped; or empty). The data are JSON, {"<attribute as the server spells it>":
 * ["<value>",...],...}, without values that are not UTF-8; skv_entry_list(): {"<DN>":<such an object>,...}.
 * `attributes` lists those to read ("*": user attributes, "+": operational ones; empty: "*"). SKV_OK. */
SKV_API skv_status skv_entry_read(skv_store *store, const char *dn, size_t dn_len, const char *attributes,
                                  size_t attributes_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_entry_list(skv_store *store, const char *dn, size_t dn_len, const char *attributes,
                                  size_t attributes_len, const char *filter, size_t filter_len, int64_t timeout_ms,
                                  skv_cancel *cancel, skv_reply *reply);

/* Adds an entry. `values` alternates attributes and values: "objectClass\0top\0objectClass\0organization\0o\0x\0".
 * SKV_OK, SKV_EXISTS (the entry exists; or this call added it and got no response), SKV_NOT_FOUND (none above it). */
SKV_API skv_status skv_entry_add(skv_store *store, const char *dn, size_t dn_len, const char *values, size_t values_len,
                                 int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

/* Make all changes or none; delete an entry: the number is 1 if it existed. `changes` lists triples of an operation, an
 * attribute and a value: "add", "delete", "replace" (all values by this one), and "clear", which deletes all values and
 * ignores its own. Triples of one operation and attribute in a row are one change. `version` is "" or the entryCSN as
 * read: a server that compares it (389-DS does not) changes no other version. SKV_OK; SKV_CONFLICT (another version, a
 * value to add exists, one to delete does not; or this call made the change and got no response). */
SKV_API skv_status skv_entry_modify(skv_store *store, const char *dn, size_t dn_len, const char *changes,
                                    size_t changes_len, const char *version, size_t version_len, int64_t timeout_ms,
                                    skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_entry_delete(skv_store *store, const char *dn, size_t dn_len, const char *version,
                                    size_t version_len, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);

#define SKV_PASSWORD_SET 0   /* sets the password; the server hashes it. SKV_OK */
#define SKV_PASSWORD_CHECK 1 /* binds once, on a connection of its own: the number is 1 if it is accepted. SKV_OK */
SKV_API skv_status skv_entry_password(skv_store *store, const char *dn, size_t dn_len, const char *password,
                                      size_t password_len, int operation, int64_t timeout_ms, skv_cancel *cancel,
                                      skv_reply *reply);

/* ---- Lists ------------------------------------------------------------------------------------------------------ */

/*
 * skv_list_open() returns a handle, or NULL with SKV_NOT_FOUND (no such folder, or it is a key) or one of the statuses
 * above. Release with skv_list_close(), before the store is closed.
 *
 * skv_list_next() then returns SKV_OK with a page of one or more records as the data and their count as the number;
 * SKV_END without data after the last page; or an error, which ends the list. `timeout_ms` is for one page. Each record
 * comes once, in no particular order, packed: kind, name_len, body_len (unaligned, in native byte order), name, body.
 */
typedef struct skv_page_record {
    char kind; /* 'k' a key, 'f' a folder, 'e' what could not be read, or has a name that no key can have */
    const char *name, *body; /* the base name; 'k': the document, 'f': nothing, 'e': why, a message */
    uint32_t name_len, body_len;
} skv_page_record;

/* Reads the record at the beginning of a page, or of the rest of one. Returns its size; 0 if no whole record is left.
 * The record points into the page. Thread-safe. */
SKV_API size_t skv_page_read(const char *page, size_t page_len, skv_page_record *record);

typedef struct skv_list skv_list;
SKV_API skv_list *skv_list_open(skv_store *store, const char *folder, size_t folder_len, int64_t timeout_ms,
                                skv_cancel *cancel, skv_reply *reply);

/* The same for a folder with all folders below it: names are paths relative to it ("a/b/c"). A folder may come after
 * its contents. In a directory it is one search. In files, the contents of a folder that is a symbolic link are left
 * out, and 'e' is also a folder that cannot be read. In the hex layout of a directory, 'e' is also an entry below a
 * folder that this identity does not see. */
#define SKV_TREE_NAMES 1     /* a flag: documents are neither read nor sent, and the body of 'k' is empty */
#define SKV_TREE_ONE_LEVEL 2 /* a flag: only what is directly in the folder, as skv_list_open() */
SKV_API skv_list *skv_tree_open(skv_store *store, const char *folder, size_t folder_len, int flags, int64_t timeout_ms,
                                skv_cancel *cancel, skv_reply *reply);
SKV_API skv_status skv_list_next(skv_list *list, int64_t timeout_ms, skv_cancel *cancel, skv_reply *reply);
SKV_API void skv_list_close(skv_list *list);

#ifdef __cplusplus
}
#endif

#endif
