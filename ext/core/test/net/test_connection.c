/* One connection to a real slapd: all transports and identities, and the message of each failure. */
#include "check.h"
#include "net/certificate.h"
#include "net/connection.h"
#include "proxy.h"
#include "simpkv_faults.h"
#include "slapd.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static skv_reply *reply;
static slapd server, expired, early, other_host;

/* Opens a connection. Returns NULL with the reply filled on failure. */
static skv_conn *open_conn(const char *uri, const skv_identity *identity, skv_conn_failure *failure)
{
    skv_deadline deadline;
    skv_uris uris;
    skv_conn *conn;

    skv_reply_reset(reply);
    if (!CHECK(skv_uris_parse(uri, strlen(uri), &uris, reply) == SKV_OK))
        return NULL;
    skv_deadline_init(&deadline, 10000, NULL, reply);
    conn = skv_conn_open(&uris.uri[0], identity, &deadline, reply, failure);
    CHECK((conn != NULL) == (reply->status == SKV_OK));
    CHECK((conn != NULL) == (*failure == SKV_CONN_OK));
    return conn;
}

/* Asks the server for the identity of the connection. */
static void check_identity(skv_conn *conn, const char *expected)
{
    struct berval *who = NULL;
    skv_deadline deadline;

    skv_deadline_init(&deadline, 10000, NULL, reply);
    skv_conn_begin(conn, &deadline);
    if (CHECK(ldap_whoami_s(skv_conn_handle(conn), &who, NULL, NULL) == LDAP_SUCCESS))
        CHECK_STR(who->bv_val ? who->bv_val : "", expected);
    ber_bvfree(who);
}

static skv_identity admin(void)
{
    return (skv_identity){SLAPD_ADMIN, server.password_file, false, "", "", "", NULL, NULL, NULL};
}

/* Each handle inherits these options from ldaprc and LDAPTLS_*. */
static void check_tls_options(LDAP *ld)
{
    char *folder = NULL;
    int minimum = 0;

    CHECK(ldap_get_option(ld, LDAP_OPT_X_TLS_PROTOCOL_MIN, &minimum) == 0);
    CHECK(minimum == LDAP_OPT_X_TLS_PROTOCOL_TLS1_2);
    CHECK(ldap_get_option(ld, LDAP_OPT_X_TLS_CACERTDIR, &folder) == 0);
    CHECK(folder == NULL);
    ldap_memfree(folder);
}

static void check_open(const char *uri, const skv_identity *identity)
{
    skv_conn_failure failure;
    skv_conn *conn = open_conn(uri, identity, &failure);

    if (!CHECK_STATUS(reply, SKV_OK))
        return;
    check_identity(conn, "dn:" SLAPD_ADMIN);
    CHECK(skv_conn_is_alive(conn));
    CHECK(skv_conn_is_usable(conn));
    CHECK(skv_conn_has_sent(conn));
    CHECK(skv_conn_features(conn)->assertion);
    CHECK(skv_conn_features(conn)->pre_read);
    CHECK(skv_conn_features(conn)->paging);
    CHECK(!skv_conn_features(conn)->is_389ds);
    if (skv_conn_tls(conn)->is_on)
        check_tls_options(skv_conn_handle(conn));
    skv_conn_close(conn);
}

static void check_refused(const char *uri, const skv_identity *identity, int status, skv_conn_failure expected,
                          const char *fault, const char *part, const char *another)
{
    skv_conn_failure failure;

    CHECK(open_conn(uri, identity, &failure) == NULL);
    CHECK_STATUS(reply, status);
    CHECK(failure == expected);
    CHECK_STR(skv_reply_fault(reply), fault);
    CHECK_HAS(skv_reply_message(reply), part);
    CHECK_HAS(skv_reply_message(reply), another);
    CHECK(strstr(skv_reply_message(reply), SLAPD_PASSWORD) == NULL);
}

static void every_way_leads_to_a_bound_connection(void)
{
    skv_identity simple = admin(), external = admin(), starttls = admin();

    check_open(server.ldapi, &simple);
    check_open(server.ldap, &simple);
    external.bind_dn = external.password_file = "";
    check_open(server.ldapi, &external);
    starttls.cacert = server.cacert;
    check_open(server.ldaps, &starttls);
    starttls.starttls = true;
    check_open(server.ldap, &starttls);
    check_open(server.ldaps, &starttls);
    check_open(server.ldapi, &starttls);
    starttls.cert = server.cert;
    starttls.key = server.key;
    check_open(server.ldaps, &starttls);
}

static void an_anonymous_connection_does_not_bind(void)
{
    skv_identity anonymous = admin();
    skv_conn_failure failure;
    skv_conn *conn;

    anonymous.bind_dn = SKV_ANONYMOUS;
    anonymous.password_file = "";
    conn = open_conn(server.ldapi, &anonymous, &failure);
    if (CHECK_STATUS(reply, SKV_OK))
        check_identity(conn, "");
    skv_conn_close(conn);
}

static void a_password_ends_at_its_last_newline(void)
{
    static const char *const good[] = {SLAPD_PASSWORD, SLAPD_PASSWORD "\n", SLAPD_PASSWORD "\r\n"};
    static const char *const bad[] = {SLAPD_PASSWORD "\n\n", SLAPD_PASSWORD "\r", SLAPD_PASSWORD " "};
    skv_identity identity = admin();
    char path[128];

    snprintf(path, sizeof path, "%s/tried", server.folder);
    identity.password_file = path;
    for (size_t i = 0; i < 3; i++) {
        slapd_write(path, good[i]);
        check_open(server.ldapi, &identity);
        slapd_write(path, bad[i]);
        check_refused(server.ldapi, &identity, SKV_DENIED, SKV_CONN_REFUSED, "credentials", "wrong password or bind DN",
                      "49");
    }
    for (size_t i = 0; i < 2; i++) {
        slapd_write(path, i ? "\n" : "");
        check_refused(server.ldapi, &identity, SKV_INVALID, SKV_CONN_REJECTED, "credentials", path,
                      "holds no password");
    }
}

static void a_refused_bind_says_why(void)
{
    skv_identity identity = admin();

    identity.bind_dn = "cn=nobody,dc=simp";
    check_refused(server.ldap, &identity, SKV_DENIED, SKV_CONN_REFUSED, "credentials", server.ldap,
                  "'cn=nobody,dc=simp'");
    identity.bind_dn = "nonsense";
    check_refused(server.ldap, &identity, SKV_DENIED, SKV_CONN_REFUSED, "credentials", "malformed", "'admin_dn'");
    identity = admin();
    identity.password_file = "/nonexistent/pw";
    check_refused(server.ldap, &identity, SKV_INVALID, SKV_CONN_REJECTED, "password_file",
                  "'admin_pw_file' /nonexistent/pw", "not exist");
    identity.password_file = server.folder;
    check_refused(server.ldap, &identity, SKV_UNAVAILABLE, SKV_CONN_REJECTED, "password_file", server.folder,
                  "Is a directory");
    identity.password_file = "";
    check_refused(server.ldap, &identity, SKV_DENIED, SKV_CONN_REFUSED, "credentials", "SASL EXTERNAL",
                  "'admin_pw_file'");
    /* slapd gives the code of a locked account to a bind with an empty password. */
    identity = admin();
    identity.password = "";
    check_refused(server.ldap, &identity, SKV_DENIED, SKV_CONN_REFUSED, "bind_refused", "(53, ",
                  "is the account locked, or is TLS required?");
}

static void a_server_that_is_not_there_is_named(void)
{
    skv_identity identity = admin();

    check_refused("ldap://127.0.0.1:1", &identity, SKV_UNAVAILABLE, SKV_CONN_UNREACHABLE, "",
                  "ldap://127.0.0.1:1:", "connection refused");
    check_refused("ldap://no-such-host.invalid", &identity, SKV_UNAVAILABLE, SKV_CONN_UNREACHABLE, "",
                  "'no-such-host.invalid' is unknown", "'ldap_uri'");
    check_refused("ldapi://%2Ftmp%2Fno%20such%20socket", &identity, SKV_UNAVAILABLE, SKV_CONN_UNREACHABLE, "",
                  "'/tmp/no such socket'", "check that the server runs");
}

static void a_certificate_is_always_verified(void)
{
    skv_identity identity = admin();

    identity.cacert = server.other_cacert;
    check_refused(server.ldaps, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate", server.ldaps,
                  "not signed by a CA in");
    CHECK_HAS(skv_reply_message(reply), server.other_cacert);
    identity.starttls = true;
    check_refused(server.ldap, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate", server.ldap,
                  "not signed by a CA in");
    identity.cacert = expired.cacert;
    check_refused(expired.ldaps, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate_expired", expired.ldaps,
                  "certificate expired on 20");
    check_refused(expired.ldap, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate_expired", expired.ldap,
                  "certificate expired on 20");
    identity.cacert = early.cacert;
    check_refused(early.ldaps, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate_early", early.ldaps,
                  "certificate is not valid before 2098-01-01: check the clocks");
    identity.cacert = other_host.cacert;
    check_refused(other_host.ldaps, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate_name", other_host.ldaps,
                  "another host name than '127.0.0.1'");
    check_refused(other_host.ldap, &identity, SKV_DENIED, SKV_CONN_UNREACHABLE, "certificate_name", other_host.ldap,
                  "another host name than '127.0.0.1'");
}

static void tls_files_are_checked(void)
{
    skv_identity identity = admin();

    check_refused(server.ldaps, &identity, SKV_INVALID, SKV_CONN_REJECTED, "tls", "TLS configuration incomplete",
                  "tls_cacert");
    identity.cacert = "/nonexistent/ca.pem";
    check_refused(server.ldaps, &identity, SKV_UNAVAILABLE, SKV_CONN_REJECTED, "tls", "'/nonexistent/ca.pem'",
                  "tls_cacert");
    identity.cacert = server.key;
    check_refused(server.ldaps, &identity, SKV_INVALID, SKV_CONN_REJECTED, "tls", server.key, "CERTIFICATE in PEM");
    identity.cacert = server.cacert;
    identity.cert = server.cert;
    check_refused(server.ldaps, &identity, SKV_INVALID, SKV_CONN_REJECTED, "tls", "incomplete", "come as a pair");
    identity.key = "/nonexistent/key.pem";
    check_refused(server.ldaps, &identity, SKV_UNAVAILABLE, SKV_CONN_REJECTED, "tls", "'/nonexistent/key.pem'",
                  "tls_key");
    identity.key = server.other_key;
    check_refused(server.ldaps, &identity, SKV_INVALID, SKV_CONN_REJECTED, "tls", server.other_key, "does not belong");
}

static void tls_that_the_server_does_not_do_is_refused(void)
{
    skv_identity identity = admin();
    skv_conn_failure failure;
    char uri[64];

    identity.cacert = server.cacert;
    snprintf(uri, sizeof uri, "ldaps://127.0.0.1:%d", server.port);
    CHECK(open_conn(uri, &identity, &failure) == NULL);
    CHECK(failure == SKV_CONN_UNREACHABLE);
    CHECK_STR(skv_reply_fault(reply), "tls");
    CHECK_HAS(skv_reply_message(reply), "TLS handshake");
}

/* A server that accepts connections and never responds. */
static int silent_listener(char *port, size_t size)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 8) == 0 &&
          getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    snprintf(port, size, "%d", ntohs(address.sin_port));
    return fd;
}

/* A server that responds to the first message of each connection with some bytes, and keeps the connection open. */
typedef struct responder {
    const char *bytes;
    size_t len;
    int listener;
} responder;

static void *respond_to_first(void *argument)
{
    const responder *r = argument;

    for (int client; (client = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(client)) {
        if (read(client, (char[512]){0}, 512) > 0)
            CHECK(send(client, r->bytes, r->len, MSG_NOSIGNAL) == (ssize_t)r->len);
        while (read(client, (char[512]){0}, 512) > 0)
            ;
    }
    return NULL;
}

#define DONE "\x0a\x01\x00\x04\x00\x04\x00"

/* The first bytes used to abort the process, before it had looked at a certificate. The bytes of a bind that follow the
 * response to StartTLS are not taken for LDAP. */
static void what_a_server_sends_before_tls_cannot_abort_the_process(void)
{
    static const struct {
        bool starttls;
        const char *bytes;
        size_t len;
        const char *message;
    } cases[] = {
#define CASE(starttls, bytes, message) {starttls, bytes, sizeof(bytes) - 1, message}
        CASE(false, "\x30\x0e\x02\x01\x00\x78\x09\x0a\x01\x34\x04\x00\x04\x00\x8a\x00",
             "the server sent malformed LDAP while binding: check that"),
        CASE(true, "\x30\x0e\x02\x01\x00\x78\x09\x0a\x01\x34\x04\x00\x04\x00\x8a\x00",
             "the server sent malformed LDAP while asking for StartTLS: check that"),
        CASE(false, "HTTP/1.1 400 Bad Request\r\n\r\n", "the server sent malformed LDAP while binding: check that"),
        CASE(false, "\x30\x84\x7f\xff\xff\xff\x02", "the server sent malformed LDAP while binding: check that"),
        CASE(false,
             "\x30\x24\x02\x01\x00\x78\x1f\x0a\x01\x34\x04\x00\x04\x00\x8a\x16"
             "1.3.6.1.4.1.1466.20036",
             "the server closed the connection while binding"),
        CASE(true, "\x30\x0c\x02\x01\x01\x78\x07" DONE "\x30\x0c\x02\x01\x02\x61\x07" DONE, "the TLS handshake"),
#undef CASE
    };
    skv_identity identity = admin();
    char port[8], uri[64];

    identity.cacert = server.cacert;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        responder r = {cases[i].bytes, cases[i].len, silent_listener(port, sizeof port)};
        skv_conn_failure failure;
        pthread_t thread;

        snprintf(uri, sizeof uri, "ldap://127.0.0.1:%s", port);
        identity.starttls = cases[i].starttls;
        CHECK(pthread_create(&thread, NULL, respond_to_first, &r) == 0);
        CHECK(open_conn(uri, &identity, &failure) == NULL);
        CHECK(failure == SKV_CONN_UNREACHABLE);
        CHECK_HAS(skv_reply_message(reply), uri);
        CHECK_HAS(skv_reply_message(reply), cases[i].message);
        shutdown(r.listener, SHUT_RDWR);
        pthread_join(thread, NULL);
        close(r.listener);
    }
}

/* Returns the duration of an attempt in milliseconds. */
static int64_t time_attempt(const char *uri, const skv_identity *identity, int64_t timeout_ms, skv_cancel *cancel)
{
    int64_t began = skv_now_ns();
    skv_conn_failure failure;
    skv_deadline deadline;
    skv_uris uris;

    skv_reply_reset(reply);
    skv_uris_parse(uri, strlen(uri), &uris, reply);
    skv_deadline_init(&deadline, timeout_ms, cancel, reply);
    CHECK(skv_conn_open(&uris.uri[0], identity, &deadline, reply, &failure) == NULL);
    CHECK(failure == (cancel ? SKV_CONN_STOPPED : SKV_CONN_UNREACHABLE));
    return (skv_now_ns() - began) / SKV_NS_PER_MS;
}

static void a_silent_server_costs_no_more_than_the_deadline(void)
{
    static const struct {
        const char *scheme;
        bool starttls;
        const char *doing;
    } ways[] = {{"ldap", false, "timed out while binding"},
                {"ldap", true, "timed out while asking for StartTLS"},
                {"ldaps", false,
                 "timed out while doing the TLS handshake: it accepts connections, and does not answer: check that it "
                 "does not hang, or check that it speaks TLS on that port"}};
    struct rusage before, after;
    skv_identity identity = admin();
    char port[8], uri[64];
    int fd = silent_listener(port, sizeof port);

    identity.cacert = server.cacert;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < 3; i++) {
        skv_cancel *cancel = skv_cancel_new();
        int64_t took;

        identity.starttls = ways[i].starttls;
        snprintf(uri, sizeof uri, "%s://127.0.0.1:%s", ways[i].scheme, port);
        took = time_attempt(uri, &identity, 300, NULL);
        CHECK(took >= 290 && took < 10000);
        CHECK_STATUS(reply, SKV_TIMEOUT);
        CHECK_STR(skv_reply_fault(reply), "");
        CHECK_HAS(skv_reply_message(reply), uri);
        CHECK_HAS(skv_reply_message(reply), ways[i].doing);
        skv_cancel_fire(cancel);
        CHECK(time_attempt(uri, &identity, 60000, cancel) < 10000);
        CHECK_STATUS(reply, SKV_INTERRUPTED);
        CHECK_STR(skv_reply_fault(reply), "");
        skv_cancel_free(cancel);
    }
    getrusage(RUSAGE_SELF, &after);
    /* libldap spun for the whole time, before it got this transport. */
    CHECK(after.ru_utime.tv_sec * 1000000 + after.ru_utime.tv_usec - before.ru_utime.tv_sec * 1000000 -
              before.ru_utime.tv_usec <
          400000);
    close(fd);
}

/* ldaprc in the working directory, ~/.ldaprc and LDAP*: they were set before libldap was first used. */
static void be_hostile(void)
{
    char path[128], text[512];

    snprintf(path, sizeof path, "%s/ldaprc", server.folder);
    snprintf(text, sizeof text,
             "TLS_REQCERT never\nTLS_CACERT %s\nURI ldap://127.0.0.1:1\nTIMEOUT 1\nNETWORK_TIMEOUT 1\nSIZELIMIT 1\n"
             "TLS_CACERTDIR /etc/ssl/certs\nREFERRALS on\nDEREF always\nTLS_PROTOCOL_MIN 3.0\nTLS_CIPHER_SUITE NONE\n",
             server.other_cacert);
    slapd_write(path, text);
    if (chdir(server.folder) < 0)
        abort();
    setenv("LDAPTLS_REQCERT", "never", 1);
    setenv("LDAPTLS_REQSAN", "never", 1);
    setenv("LDAPTLS_CACERT", server.cacert, 1);
    setenv("LDAPURI", "ldap://127.0.0.1:1", 1);
    setenv("LDAPBINDDN", "cn=somebody", 1);
}

/* A busy server used to count as one without features for as long as the connection lived: conditional writes then had
 * no conditions. */
static void a_root_dse_that_is_refused_is_no_connection(void)
{
    static const int failures[] = {51, 52, 53, 1}, hidden[] = {0, 32, 50, 48, 8, 13};
    skv_identity simple = admin();
    skv_conn_failure failure;
    proxy between;
    char code[64];

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, failures[i], 0, 1);
        snprintf(code, sizeof code, "it answered %d to the read of its root DSE", failures[i]);
        check_refused(between.uri, &simple, SKV_UNAVAILABLE, SKV_CONN_UNREACHABLE, "", between.uri, code);
    }
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        skv_conn *conn;

        proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, hidden[i], 0, 1);
        conn = open_conn(between.uri, &simple, &failure);
        if (CHECK_STATUS(reply, SKV_OK)) {
            CHECK(!skv_conn_features(conn)->assertion && !skv_conn_features(conn)->paging);
            skv_conn_close(conn);
        }
    }
    check_open(between.uri, &simple);
    proxy_end(&between);
}

static void the_validity_of_a_certificate_is_read(void)
{
    static unsigned char minimal[] = {0x30, 0x27, 0x30, 0x25, 0xa0, 0x03, 0x02, 0x01, 0x02, 0x02, 0x01, 0x07, 0x30,
                                      0x00, 0x30, 0x00, 0x30, 0x20, 0x17, 0x0d, '4',  '9',  '1',  '2',  '3',  '1',
                                      '2',  '3',  '5',  '9',  '5',  '9',  'Z',  0x18, 0x0f, '2',  '0',  '5',  '0',
                                      '0',  '1',  '0',  '1',  '0',  '0',  '0',  '0',  '0',  '0',  'Z'};
    struct berval certificate;
    skv_validity validity;

    minimal[1] = sizeof minimal - 2;
    minimal[3] = sizeof minimal - 4;
    certificate = (struct berval){sizeof minimal, (char *)minimal};
    if (CHECK(skv_validity_read(&certificate, &validity))) {
        CHECK_STR(validity.from, "20491231235959");
        CHECK_STR(validity.to, "20500101000000");
        CHECK(skv_validity_seconds(validity.from) == 2524607999);
        CHECK(skv_validity_seconds("19691231235959") == -1);
    }
    for (size_t len = 0; len < sizeof minimal; len++) {
        certificate = (struct berval){len, (char *)minimal};
        CHECK(!skv_validity_read(&certificate, &validity));
    }
}

int main(void)
{
    reply = skv_reply_new();
    the_validity_of_a_certificate_is_read();
    if (slapd_is_installed() && CHECK(slapd_begin(&server, SLAPD_TLS, "")) &&
        CHECK(slapd_begin(&expired, SLAPD_TLS_EXPIRED, "")) && CHECK(slapd_begin(&early, SLAPD_TLS_EARLY, "")) &&
        CHECK(slapd_begin(&other_host, SLAPD_TLS_OTHER_HOST, ""))) {
        be_hostile();
        every_way_leads_to_a_bound_connection();
        an_anonymous_connection_does_not_bind();
        a_password_ends_at_its_last_newline();
        a_refused_bind_says_why();
        a_root_dse_that_is_refused_is_no_connection();
        a_server_that_is_not_there_is_named();
        a_certificate_is_always_verified();
        tls_files_are_checked();
        tls_that_the_server_does_not_do_is_refused();
        what_a_server_sends_before_tls_cannot_abort_the_process();
        a_silent_server_costs_no_more_than_the_deadline();
    }
    CHECK(chdir("/") == 0);
    slapd_end(&server);
    slapd_end(&expired);
    slapd_end(&early);
    slapd_end(&other_host);
    skv_reply_free(reply);
    return check_summary("conn");
}
