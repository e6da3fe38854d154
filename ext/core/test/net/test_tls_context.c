/* TLS contexts, which the connections of a pool share until one of the files changes. */
#include "check.h"
#include "net/connection.h"
#include "net/tls_context.h"
#include "slapd.h"

#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

#define ROUNDS 50
#define KB 1024

static skv_reply *reply;
static slapd server;

/* Gives the file another date. */
static void touch(const char *path, int seconds)
{
    const struct timespec times[2] = {{.tv_sec = 1000000000 + seconds}, {.tv_sec = 1000000000 + seconds}};

    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* Connects with TLS, and leaves the outcome in the reply. */
static void connect_with(const skv_identity *identity)
{
    skv_conn_failure failure;
    skv_deadline deadline;
    skv_uris uris;
    skv_conn *conn;

    skv_reply_reset(reply);
    skv_uris_parse(server.ldaps, strlen(server.ldaps), &uris, reply);
    skv_deadline_init(&deadline, 10000, NULL, reply);
    conn = skv_conn_open(&uris.uri[0], identity, &deadline, reply, &failure);
    if (conn)
        skv_conn_close(conn);
}

static size_t bytes_in_use(void)
{
    struct mallinfo2 counts = mallinfo2();

    return counts.uordblks + counts.hblkhd;
}

/* Returns the bytes that a connection leaks. With `renews`, each connection finds the CA file with another date. */
static long bytes_left(skv_identity identity, bool renews, int status)
{
    static int seconds;
    size_t before = 0;

    identity.tls = skv_tls_context_new();
    for (int i = -10; i < ROUNDS; i++) {
        if (i == 0)
            before = bytes_in_use();
        if (renews)
            touch(identity.cacert, ++seconds);
        connect_with(&identity);
        CHECK_STATUS(reply, status);
    }
    before = (bytes_in_use() - before) / ROUNDS;
    skv_tls_context_free(identity.tls);
    return (long)before;
}

static bool uses_gnutls(void)
{
    char *package = NULL;
    bool gnutls;

    ldap_get_option(NULL, LDAP_OPT_X_TLS_PACKAGE, &package);
    gnutls = package && strcmp(package, "GnuTLS") == 0;
    ldap_memfree(package);
    return gnutls;
}

/* A renewal used to leak 39 KB, and 62 KB with a client certificate. The limits here are the leaks of libldap with
 * GnuTLS: it makes the priorities twice, and does not free the certificate and the key that GnuTLS has copied. */
static void a_renewal_gives_back_the_memory_of_the_old_context(void)
{
    const long priorities = uses_gnutls() ? 9 * KB : 0, certificate = uses_gnutls() ? 18 * KB : 0;
    skv_identity identity = {SLAPD_ADMIN, server.password_file, false, server.cacert, "", "", NULL, NULL, NULL};

    CHECK(bytes_left(identity, true, SKV_OK) <= priorities + 2 * KB);
    identity.cert = server.cert;
    identity.key = server.key;
    CHECK(bytes_left(identity, true, SKV_OK) <= priorities + certificate + 2 * KB);
}

/* Each attempt used to make two more contexts to find the cause. */
static void a_refused_certificate_makes_no_contexts_once_they_are_there(void)
{
    const skv_identity identity = {SLAPD_ADMIN, server.password_file, false, server.other_cacert, "", "", NULL, NULL,
                                   NULL};

    CHECK(bytes_left(identity, false, SKV_DENIED) <= 2 * KB);
    CHECK_HAS(skv_reply_message(reply), "not signed by a CA in");
}

int main(void)
{
    reply = skv_reply_new();
    if (CHECK(slapd_begin(&server, SLAPD_TLS, ""))) {
        a_renewal_gives_back_the_memory_of_the_old_context();
        a_refused_certificate_makes_no_contexts_once_they_are_there();
    }
    slapd_end(&server);
    skv_reply_free(reply);
    return check_summary("tls_context");
}
