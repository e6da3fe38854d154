/*
 * net/code.h - the result codes of LDAP and libldap, as a type of their own. libldap declares them as macros of plain
 * numbers, which the compiler cannot tell from statuses. This header replaces each macro by an enumerator of the same
 * name and value. docs/adr/0026 has the reasons. A code that is used in the core must be in the list.
 */
#ifndef SKV_NET_CODE_H
#define SKV_NET_CODE_H

#include <ldap.h>

/* clang-format off */
#define SKV_LDAP_CODES(X)                                                                                              \
    X(ADMINLIMIT_EXCEEDED) X(ALREADY_EXISTS) X(ASSERTION_FAILED) X(AUTH_METHOD_NOT_SUPPORTED) X(BUSY)                  \
    X(CONFIDENTIALITY_REQUIRED) X(CONNECT_ERROR) X(CONSTRAINT_VIOLATION) X(DECODING_ERROR) X(INAPPROPRIATE_AUTH)       \
    X(INSUFFICIENT_ACCESS) X(INVALID_CREDENTIALS) X(INVALID_DN_SYNTAX) X(INVALID_SYNTAX) X(LOCAL_ERROR)                \
    X(NAMING_VIOLATION) X(NOT_ALLOWED_ON_NONLEAF) X(NO_MEMORY) X(NO_SUCH_ATTRIBUTE) X(NO_SUCH_OBJECT)                  \
    X(OBJECT_CLASS_VIOLATION) X(OPERATIONS_ERROR) X(OTHER) X(REFERRAL) X(SERVER_DOWN) X(SIZELIMIT_EXCEEDED) X(STRONG_AUTH_REQUIRED)        \
    X(SUCCESS) X(TIMELIMIT_EXCEEDED) X(TIMEOUT) X(TYPE_OR_VALUE_EXISTS) X(UNAVAILABLE)                                 \
    X(UNAVAILABLE_CRITICAL_EXTENSION) X(UNDEFINED_TYPE) X(UNWILLING_TO_PERFORM) X(USER_CANCELLED)
/* clang-format on */

enum {
#define SKV_CODE_NUMBER(name) SKV_CODE_##name = LDAP_##name,
    SKV_LDAP_CODES(SKV_CODE_NUMBER)
#undef SKV_CODE_NUMBER
};

#undef LDAP_ADMINLIMIT_EXCEEDED
#undef LDAP_ALREADY_EXISTS
#undef LDAP_ASSERTION_FAILED
#undef LDAP_AUTH_METHOD_NOT_SUPPORTED
#undef LDAP_BUSY
#undef LDAP_CONFIDENTIALITY_REQUIRED
#undef LDAP_CONNECT_ERROR
#undef LDAP_CONSTRAINT_VIOLATION
#undef LDAP_DECODING_ERROR
#undef LDAP_INAPPROPRIATE_AUTH
#undef LDAP_INSUFFICIENT_ACCESS
#undef LDAP_INVALID_CREDENTIALS
#undef LDAP_INVALID_DN_SYNTAX
#undef LDAP_INVALID_SYNTAX
#undef LDAP_LOCAL_ERROR
#undef LDAP_NAMING_VIOLATION
#undef LDAP_NOT_ALLOWED_ON_NONLEAF
#undef LDAP_NO_MEMORY
#undef LDAP_NO_SUCH_ATTRIBUTE
#undef LDAP_NO_SUCH_OBJECT
#undef LDAP_OBJECT_CLASS_VIOLATION
#undef LDAP_OPERATIONS_ERROR
#undef LDAP_OTHER
#undef LDAP_REFERRAL
#undef LDAP_SERVER_DOWN
#undef LDAP_SIZELIMIT_EXCEEDED
#undef LDAP_STRONG_AUTH_REQUIRED
#undef LDAP_SUCCESS
#undef LDAP_TIMELIMIT_EXCEEDED
#undef LDAP_TIMEOUT
#undef LDAP_TYPE_OR_VALUE_EXISTS
#undef LDAP_UNAVAILABLE
#undef LDAP_UNAVAILABLE_CRITICAL_EXTENSION
#undef LDAP_UNDEFINED_TYPE
#undef LDAP_UNWILLING_TO_PERFORM
#undef LDAP_USER_CANCELLED

/* A server may also send a code that is not in the list. */
typedef enum skv_ldap_code {
#define SKV_CODE_NAME(name) LDAP_##name = SKV_CODE_##name,
    SKV_LDAP_CODES(SKV_CODE_NAME)
#undef SKV_CODE_NAME
} skv_ldap_code;

#endif
