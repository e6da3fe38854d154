/* Reading and writing over socket pairs whose other end is slow, silent or closed. */
#include "check.h"
#include "net/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A transport under a Sockbuf, and its peer. */
static skv_transport *transport;
static Sockbuf *sockbuf;
static int peer;
static skv_reply *reply;

static void begin(void)
{
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    fcntl(fds[1], F_SETFL, 0);
    peer = fds[1];
    transport = skv_transport_new(fds[0]);
    sockbuf = ber_sockbuf_alloc();
    CHECK(skv_transport_attach(transport, sockbuf) == 0);
}

static void end(void)
{
    ber_sockbuf_free(sockbuf);
    skv_transport_free(transport);
    if (peer >= 0)
        close(peer);
}

static skv_deadline within(int64_t timeout_ms, skv_cancel *cancel)
{
    skv_deadline deadline = {0};

    skv_deadline_init(&deadline, timeout_ms, cancel, reply);
    return deadline;
}

/* Sends one LDAP message, a string of `len` bytes, as libldap does. */
static int send_string(size_t len)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    char *bytes = malloc(len + 1);
    struct berval value = {.bv_len = len, .bv_val = bytes};
    int rc;

    memset(bytes, 'x', len);
    ber_printf(ber, "O", &value);
    rc = ber_flush2(sockbuf, ber, LBER_FLUSH_FREE_ALWAYS);
    free(bytes);
    return rc;
}

/* Receives a message. Returns its length, or -1 with errno set. */
static long receive_string(void)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_len_t len = 0;
    ber_tag_t tag;
    int error_number;

    /* Continues after a part of a message, as libldap does. */
    do {
        errno = 0;
        tag = ber_get_next(sockbuf, &len, ber);
        error_number = errno;
    } while (tag == LBER_DEFAULT && error_number == EWOULDBLOCK);
    ber_free(ber, 1);
    errno = error_number;
    return tag == LBER_DEFAULT ? -1 : (long)len;
}

/* The actions of the peer, which runs in a thread. */
typedef struct script {
    size_t read, write; /* bytes */
    size_t piece;       /* at once */
    int pause_us;       /* between pieces */
    size_t got;
    const char *bytes;
} script;

static void *play(void *argument)
{
    script *s = argument;
    char *piece = malloc(s->piece);

    while (s->got < s->read) {
        ssize_t got = read(peer, piece, s->piece);
        if (got <= 0)
            break;
        s->got += (size_t)got;
        usleep((unsigned)s->pause_us);
    }
    for (size_t i = 0; i < s->write; i += s->piece) {
        size_t len = s->write - i < s->piece ? s->write - i : s->piece;
        if (write(peer, s->bytes + i, len) < 0)
            break;
        usleep((unsigned)s->pause_us);
    }
    free(piece);
    return NULL;
}

static void a_slow_peer_gets_and_gives_all(void)
{
    static const unsigned char small[] = {0x04, 0x05, 'h', 'e', 'l', 'l', 'o'};
    script s = {.read = 1000005, .write = sizeof small, .piece = 30000, .pause_us = 500, .bytes = (const char *)small};
    skv_deadline deadline = within(30000, NULL);
    pthread_t thread;

    begin();
    skv_transport_limit(transport, &deadline);
    pthread_create(&thread, NULL, play, &s);
    CHECK(send_string(1000000) == 0);
    CHECK(skv_transport_has_sent(transport));
    CHECK(receive_string() == 5);
    pthread_join(thread, NULL);
    CHECK(s.got == 1000005);
    CHECK(skv_transport_failure(transport) == SKV_OK);
    s.read = 0;
    s.piece = 1;
    pthread_create(&thread, NULL, play, &s);
    CHECK(receive_string() == 5);
    pthread_join(thread, NULL);
    end();
}

static void large_responses_come_whole(void)
{
    size_t len = 3000000, size = len + 5;
    char *bytes = malloc(size);
    script s = {.write = size, .piece = 70000, .bytes = bytes};
    skv_deadline deadline = within(30000, NULL);
    pthread_t thread;

    bytes[0] = 0x04;
    bytes[1] = (char)0x83;
    bytes[2] = (char)(len >> 16);
    bytes[3] = (char)(len >> 8 & 255);
    bytes[4] = (char)(len & 255);
    memset(bytes + 5, 'y', len);
    begin();
    skv_transport_limit(transport, &deadline);
    pthread_create(&thread, NULL, play, &s);
    CHECK(receive_string() == (long)len);
    pthread_join(thread, NULL);
    end();
    free(bytes);
}

/* EAGAIN and EINTR would make libldap loop forever. */
static void check_failed(skv_status status, int error_number)
{
    CHECK(skv_transport_failure(transport) == status);
    CHECK(errno == error_number);
    CHECK(receive_string() == -1);
    CHECK(errno == error_number);
    CHECK(send_string(1) == -1);
    CHECK(skv_transport_failure(transport) == status);
    CHECK(!skv_transport_is_alive(transport, true));
}

static void a_silent_peer_ends_a_read_at_the_deadline(void)
{
    int64_t began = skv_now_ns();
    skv_deadline deadline = within(100, NULL);

    begin();
    skv_transport_limit(transport, &deadline);
    CHECK(send_string(10) == 0);
    CHECK(receive_string() == -1);
    check_failed(SKV_TIMEOUT, ETIMEDOUT);
    CHECK(skv_now_ns() - began >= 100 * SKV_NS_PER_MS);
    CHECK(skv_now_ns() - began < 10000 * SKV_NS_PER_MS);
    end();
}

static void a_peer_that_reads_nothing_ends_a_write_at_the_deadline(void)
{
    skv_deadline deadline = within(100, NULL);

    begin();
    skv_transport_limit(transport, &deadline);
    CHECK(send_string(10000000) == -1);
    check_failed(SKV_TIMEOUT, ETIMEDOUT);
    end();
}

/* Sends strings until nobody reads them. */
static void *send_without_a_pause(void *unused)
{
    char strings[14000];

    for (size_t i = 0; i < sizeof strings; i += 14)
        memcpy(strings + i, "\x04\x0chello, hello", 14);
    while (send(peer, strings, sizeof strings, MSG_NOSIGNAL) > 0)
        ;
    return unused;
}

/* The deadline and the interrupt used to end waits only, and there is none. */
static void a_peer_that_sends_without_a_pause_ends_no_call_late(void)
{
    skv_cancel *cancel = skv_cancel_new();

    for (int interrupted = 0; interrupted < 2; interrupted++) {
        skv_deadline deadline = within(interrupted ? 600000 : 100, interrupted ? cancel : NULL);
        pthread_t thread;

        begin();
        skv_transport_limit(transport, &deadline);
        CHECK(send_string(10) == 0);
        CHECK(pthread_create(&thread, NULL, send_without_a_pause, NULL) == 0);
        CHECK(receive_string() == 12);
        if (interrupted)
            skv_cancel_fire(cancel);
        while (receive_string() == 12)
            ;
        check_failed(interrupted ? SKV_INTERRUPTED : SKV_TIMEOUT, interrupted ? ECANCELED : ETIMEDOUT);
        skv_transport_shut(transport);
        pthread_join(thread, NULL);
        end();
    }
    skv_cancel_free(cancel);
}

static void a_peer_that_is_gone_is_found_out(void)
{
    skv_deadline deadline = within(10000, NULL);

    begin();
    CHECK(skv_transport_is_alive(transport, false));
    CHECK(skv_transport_is_alive(transport, true));
    close(peer);
    peer = -1;
    CHECK(!skv_transport_is_alive(transport, false));
    CHECK(!skv_transport_is_alive(transport, true));
    skv_transport_limit(transport, &deadline);
    CHECK(receive_string() == -1);
    check_failed(SKV_UNAVAILABLE, ECONNRESET);
    CHECK(!skv_transport_has_sent(transport));
    end();
    begin();
    skv_transport_limit(transport, &deadline);
    close(peer);
    peer = -1;
    /* The write must not raise SIGPIPE. */
    CHECK(send_string(10) == -1);
    check_failed(SKV_UNAVAILABLE, ECONNRESET);
    CHECK(!skv_transport_has_sent(transport));
    end();
}

static void bytes_on_an_idle_connection_end_it_unless_tls_is_on(void)
{
    begin();
    CHECK(write(peer, "x", 1) == 1);
    CHECK(!skv_transport_is_alive(transport, false));
    CHECK(skv_transport_is_alive(transport, true));
    shutdown(peer, SHUT_WR);
    CHECK(!skv_transport_is_alive(transport, true));
    end();
}

static void a_response_that_is_there_is_not_lost_to_an_interrupt(void)
{
    static const unsigned char small[] = {0x04, 0x01, 'x'};
    skv_cancel *cancel = skv_cancel_new();
    skv_deadline deadline = within(0, cancel);

    begin();
    skv_transport_limit(transport, &deadline);
    CHECK(send_string(1) == 0);
    CHECK(write(peer, small, sizeof small) == sizeof small);
    skv_cancel_fire(cancel);
    CHECK(receive_string() == 1);
    end();
    skv_cancel_free(cancel);
}

static void without_limits_nothing_waits(void)
{
    begin();
    CHECK(send_string(10000000) == -1);
    CHECK(skv_transport_failure(transport) == SKV_TIMEOUT);
    end();
    begin();
    CHECK(receive_string() == -1);
    CHECK(skv_transport_failure(transport) == SKV_TIMEOUT);
    end();
}

static void a_muted_or_closed_transport_sends_nothing(void)
{
    char c;

    begin();
    skv_transport_mute(transport);
    CHECK(send_string(1) == -1);
    skv_transport_shut(transport);
    CHECK(send_string(1) == -1);
    CHECK(read(peer, &c, 1) == 0);
    end();
}

int main(void)
{
    reply = skv_reply_new();
    a_slow_peer_gets_and_gives_all();
    large_responses_come_whole();
    a_silent_peer_ends_a_read_at_the_deadline();
    a_peer_that_reads_nothing_ends_a_write_at_the_deadline();
    a_peer_that_is_gone_is_found_out();
    bytes_on_an_idle_connection_end_it_unless_tls_is_on();
    a_response_that_is_there_is_not_lost_to_an_interrupt();
    without_limits_nothing_waits();
    a_peer_that_sends_without_a_pause_ends_no_call_late();
    a_muted_or_closed_transport_sends_nothing();
    skv_reply_free(reply);
    return check_summary("transport");
}
