/* base/reply.h - the result of a call: a status, the message of a failure, and data. */
#ifndef SKV_BASE_REPLY_H
#define SKV_BASE_REPLY_H

#include "base/buf.h"
#include "simpkv.h"
#include "simpkv_faults.h"

/* Has room for a root path, a key of SKV_KEY_MAX and a sentence about them. */
#define SKV_MESSAGE_MAX 9216

/* What a failure is about, and the text of skv_reply_fault() for it: simpkv_faults.h describes them. */
#define SKV_FAULT_MAP(X)                                                                                               \
    X(NONE, "")                                                                                                        \
    X(BASE_MISSING, "base_missing")                                                                                    \
    X(HIDDEN, "hidden")                                                                                                \
    X(REFERRAL, "referral")                                                                                            \
    X(READ_ONLY, "read_only")                                                                                          \
    X(TLS, "tls")                                                                                                      \
    X(CERTIFICATE, "certificate")                                                                                      \
    X(CERTIFICATE_NAME, "certificate_name")                                                                            \
    X(CERTIFICATE_EXPIRED, "certificate_expired")                                                                      \
    X(CERTIFICATE_EARLY, "certificate_early")                                                                          \
    X(PASSWORD_FILE, "password_file")                                                                                  \
    X(CREDENTIALS, "credentials")                                                                                      \
    X(BIND_REFUSED, "bind_refused")                                                                                    \
    X(ENCRYPTION_KEYS, "encryption_keys")

typedef enum skv_fault {
#define SKV_FAULT_ENUM(name, text) SKV_FAULT_##name,
    SKV_FAULT_MAP(SKV_FAULT_ENUM)
#undef SKV_FAULT_ENUM
} skv_fault;

struct skv_reply {
    skv_status status;
    skv_fault fault;
    int64_t number;
    skv_buf data;
    char message[SKV_MESSAGE_MAX];
};

/* Begins a call: each public function that takes a reply starts with this. Empties the reply, and returns SKV_OK; for
 * NULL, SKV_INVALID. */
skv_status skv_reply_begin(skv_reply *reply) __attribute__((warn_unused_result));

/* Empties the reply. */
void skv_reply_reset(skv_reply *reply);

/* Sets status and message, unless the reply holds a failure already: the first one wins. Control characters and bytes
 * that are not UTF-8 become '?'. Drops the data. Returns the reply's status. */
skv_status skv_fail(skv_reply *reply, skv_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of `error_number`, and picks the status by it (DENIED,
 * TOO_LARGE, NOMEM, FULL, else UNAVAILABLE). Notes the fault READ_ONLY for EROFS. */
skv_status skv_fail_errno(skv_reply *reply, int error_number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes what the failure in the reply is about, unless that is known. Returns the reply's status. */
skv_status skv_reply_set_fault(skv_reply *reply, skv_fault fault);

/* Appends to the message of a failure, as far as it has room. Returns the reply's status. */
skv_status skv_reply_append(skv_reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fails with NOMEM. */
skv_status skv_fail_memory(skv_reply *reply);

/* Fails the reply if its data buffer has failed. Returns the status. */
skv_status skv_reply_done(skv_reply *reply);

/* Returns true if the bytes are UTF-8 (RFC 3629: no surrogates, nothing overlong). */
bool skv_is_utf8(const char *bytes, size_t len);

#endif
