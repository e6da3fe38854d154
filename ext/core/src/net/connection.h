/*
 * net/connection.h - one connection to one directory server: connected, with TLS, bound, and its root DSE read. It
 * belongs to one thread at a time.
 */
#ifndef SKV_NET_CONNECTION_H
#define SKV_NET_CONNECTION_H

#include "base/deadline.h"
#include "net/code.h"
#include "net/password.h"
#include "net/transport.h"

typedef struct skv_tls_context skv_tls_context;

/* The bind_dn of a client that does not bind. It is not a DN, so that it differs from every identity. */
#define SKV_ANONYMOUS "anonymous"

/* The identity and the protection of connections. Two connections to a server with the same identity are
 * interchangeable. Strings are owned, "" for none. */
typedef struct skv_identity {
    char *bind_dn;       /* without a password_file: "" for SASL EXTERNAL, SKV_ANONYMOUS for no bind at all */
    char *password_file; /* read anew for each bind */
    bool starttls;       /* with ldap:// */
    char *cacert, *cert, *key;
    skv_tls_context *tls;   /* shared by the connections of a pool; NULL outside a pool */
    const char *password;   /* borrowed: in place of the file's; NULL in a pool */
    skv_rotation *rotation; /* borrowed, for one attempt; NULL: no other password than the file's */
} skv_identity;

#define SKV_VENDOR_MAX 128

/* The features of a server, from its root DSE, which a connection reads once. */
typedef struct skv_features {
    bool assertion;         /* control 1.3.6.1.1.12 */
    bool pre_read;          /* control 1.3.6.1.1.13.1 */
    bool paging;            /* control 1.2.840.113556.1.4.319 */
    bool sync;              /* content synchronization, control 1.3.6.1.4.1.4203.1.9.1.1 */
    bool persistent_search; /* control 2.16.840.1.113730.3.4.3 */
    bool is_389ds;          /* by vendorName/vendorVersion or its own attributes */
    /* vendorVersion, else vendorName, else the vendor by the object class: in ASCII, cut; "" for none of these. The
     * rank says which of the three. */
    int vendor_rank;
    char vendor[SKV_VENDOR_MAX];
} skv_features;

/* The TLS of a connection, for statistics. */
typedef struct skv_tls_facts {
    bool is_on, is_dated;
    char protocol[32], cipher[64]; /* as the TLS library spells them; "" for unknown */
    int64_t certificate_ends;      /* the server's, in seconds since 1970; if is_dated */
} skv_tls_facts;

/* The most bytes that the server takes in one message. It is read when a call needs it. */
typedef struct skv_message_limit {
    size_t bytes;      /* 0: not known yet */
    bool is_announced; /* by the server; else it is the usual limit */
} skv_message_limit;

typedef struct skv_conn skv_conn;

/*
 * Connects (non-blocking, CLOEXEC, keepalive, TCP_USER_TIMEOUT), starts TLS, binds, and reads the root DSE, before the
 * deadline. Returns NULL on failure, with the reply filled (it names the server, the cause and the remedy) and *failure
 * set. Sends nothing on a handle whose TLS handshake failed. TLS is 1.2 or newer, and always verifies certificate and
 * host name against identity->cacert. ldap.conf, ldaprc and the environment have no effect.
 */
skv_conn *skv_conn_open(const skv_uri *uri, const skv_identity *identity, skv_deadline *deadline, skv_reply *reply,
                        skv_conn_failure *failure);

/* Unbinds and frees. Never blocks. */
void skv_conn_close(skv_conn *conn);

/* Frees without sending anything: for a dead or half-used connection. In a forked child, where the session is the
 * parent's, closes the descriptor and leaks the handle on purpose. */
void skv_conn_discard(skv_conn *conn, bool forked);

/* Returns true if the server has not closed the connection, as far as the socket tells without a round trip. */
bool skv_conn_is_alive(const skv_conn *conn);

/* Returns false after a failed, timed-out or interrupted operation. The connection can only be discarded then. */
bool skv_conn_is_usable(const skv_conn *conn);

const skv_uri *skv_conn_uri(const skv_conn *conn);
const skv_features *skv_conn_features(const skv_conn *conn);
const skv_tls_facts *skv_conn_tls(const skv_conn *conn);
skv_message_limit *skv_conn_message_limit(skv_conn *conn);

/* A pointer that the pool keeps with a connection. */
void skv_conn_set_owner(skv_conn *conn, void *owner);
void *skv_conn_owner(const skv_conn *conn);

/* Returns the libldap handle, for asynchronous operations (ldap_search_ext, ldap_add_ext, ...) between skv_conn_begin()
 * and skv_conn_result(). */
LDAP *skv_conn_handle(skv_conn *conn);

/* Sets the limits under which the next operation sends and waits. */
void skv_conn_begin(skv_conn *conn, skv_deadline *deadline);

/* Sets the longest time, until the next skv_conn_begin(), for which the server may send nothing. */
void skv_conn_limit_silence(skv_conn *conn, int64_t ns);

/* Explains the code of a failed ldap_*_ext(): LDAP_TIMEOUT, LDAP_USER_CANCELLED, LDAP_NO_MEMORY or LDAP_SERVER_DOWN if
 * the connection failed, which is not usable then; else the code as it is. */
skv_ldap_code skv_conn_send_error(skv_conn *conn, skv_ldap_code code);

/* Makes the connection unusable: after an unfinished search, or result 52. */
void skv_conn_invalidate(skv_conn *conn);

/*
 * Waits for the next message of an operation; for all of its messages if `all` is LDAP_MSG_ALL, for one with
 * LDAP_MSG_ONE. Returns LDAP_SUCCESS with *message set, which the caller frees with ldap_msgfree(); or an error of
 * libldap such as LDAP_TIMEOUT (deadline) or LDAP_SERVER_DOWN (the connection is lost), after which the connection is
 * not usable; or LDAP_USER_CANCELLED (interrupt). After an interrupt the message is still to come: the caller waits for
 * it again, after another skv_conn_begin(), or invalidates the connection.
 */
skv_ldap_code skv_conn_result(skv_conn *conn, int message_id, int all, LDAPMessage **message);

/* Waits for one more message of an operation that never ends. As skv_conn_result(), but returns LDAP_TIMEOUT at the
 * deadline with the connection usable: the message is still to come. */
skv_ldap_code skv_conn_await(skv_conn *conn, int message_id, skv_deadline *deadline, LDAPMessage **message);

/* Returns true if the connection has ended because the server sent malformed LDAP. */
bool skv_conn_got_malformed(const skv_conn *conn);

/* Returns true if a byte was handed to the socket since skv_conn_begin(). If not, another connection can safely try the
 * operation. */
bool skv_conn_has_sent(const skv_conn *conn);

#endif
