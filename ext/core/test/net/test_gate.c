/* Messages before the gate: each is passed on whole, or ends the connection. */
#include "check.h"
#include "net/gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NOTICE "1.3.6.1.4.1.1466.20036"
#define DONE "\x0a\x01\x00\x04\x00\x04\x00" /* the result of an operation: success */

typedef struct bytes {
    const char *text;
    size_t len;
} bytes;

#define BYTES(text) ((bytes){(text), sizeof(text) - 1})

static skv_transport *transport;
static Sockbuf *sockbuf;
static skv_deadline deadline;
static skv_reply *reply;
static int peer;

static void begin(void)
{
    int fds[2];

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
    peer = fds[1];
    transport = skv_transport_new(fds[0]);
    sockbuf = ber_sockbuf_alloc();
    CHECK(skv_transport_attach(transport, sockbuf) == 0 && skv_gate_attach(transport, sockbuf) == 0);
    skv_deadline_init(&deadline, 30000, NULL, reply);
    skv_transport_limit(transport, &deadline);
    skv_transport_lift_budget(transport);
}

static void end(void)
{
    ber_sockbuf_free(sockbuf);
    skv_transport_free(transport);
    close(peer);
}

/* Receives a message as libldap does. Returns the length of its content, or -1. */
static long receive(void)
{
    BerElement *ber = ber_alloc_t(LBER_USE_DER);
    ber_len_t len = 0;
    ber_tag_t tag;

    do {
        errno = 0;
        tag = ber_get_next(sockbuf, &len, ber);
    } while (tag == LBER_DEFAULT && errno == EWOULDBLOCK);
    ber_free(ber, 1);
    return tag == LBER_DEFAULT ? -1 : (long)len;
}

static void put_in(bytes b)
{
    CHECK(write(peer, b.text, b.len) == (ssize_t)b.len);
}

static void passes(bytes message)
{
    begin();
    put_in(message);
    put_in(message);
    CHECK(receive() == (long)message.len - 2);
    CHECK(receive() == (long)message.len - 2);
    CHECK(skv_transport_failure(transport) == SKV_OK);
    end();
}

static void ends_with(bytes message, skv_status status)
{
    begin();
    put_in(message);
    put_in(BYTES("\x30\x0c\x02\x01\x01\x61\x07" DONE));
    CHECK(receive() == -1);
    CHECK(skv_transport_failure(transport) == status);
    CHECK(errno == ECONNRESET);
    CHECK(receive() == -1);
    end();
}

static void is_refused(bytes message)
{
    ends_with(message, SKV_MALFORMED);
}

static void responses_pass(void)
{
    static const char results[] = "\x61\x65\x67\x69\x6b\x6d\x6f";

    for (size_t i = 0; i < strlen(results); i++) {
        char message[] = "\x30\x0c\x02\x01\x01?\x07" DONE;

        message[5] = results[i];
        passes(BYTES(message));
    }
    passes(BYTES("\x30\x09\x02\x01\x03\x64\x04\x04\x00\x30\x00"));
    passes(BYTES("\x30\x0c\x02\x01\x03\x73\x07\x04\x05ldap:"));
    passes(BYTES("\x30\x0c\x02\x04\x7f\xff\xff\xff\x64\x04\x04\x00\x30\x00"));
    /* With controls, and a result beyond a byte. */
    passes(BYTES("\x30\x0f\x02\x01\x01\x65\x08\x0a\x02\x10\x00\x04\x00\x04\x00\xa0\x00"));
}

static void intermediate_responses_pass_unless_their_name_is_empty(void)
{
    passes(BYTES("\x30\x05\x02\x01\x01\x79\x00"));
    passes(BYTES("\x30\x07\x02\x01\x01\x79\x00\xa0\x00"));
    passes(BYTES("\x30\x08\x02\x01\x01\x79\x03\x80\x01"
                 "1"));
    passes(BYTES("\x30\x07\x02\x01\x01\x79\x02\x81\x00"));
    passes(BYTES("\x30\x0b\x02\x01\x01\x79\x06\x80\x01"
                 "1\x81\x01\x80"));
    is_refused(BYTES("\x30\x07\x02\x01\x01\x79\x02\x80\x00"));
    is_refused(BYTES("\x30\x08\x02\x01\x01\x79\x03\x80\x01\x00"));
    is_refused(BYTES("\x30\x08\x02\x01\x01\x79\x03\x80\x81\x00"));
    /* libldap takes the name of an extended response as well. */
    is_refused(BYTES("\x30\x07\x02\x01\x01\x79\x02\x8a\x00"));
    /* It does not look where the response ends. */
    is_refused(BYTES("\x30\x07\x02\x01\x01\x79\x00\x80\x00"));
    is_refused(BYTES("\x30\x08\x02\x01\x01\x79\x02\x80\x01"
                     "1"));
}

static void extended_responses_pass_if_they_are_whole(void)
{
    passes(BYTES("\x30\x0c\x02\x01\x01\x78\x07" DONE));
    passes(BYTES("\x30\x0e\x02\x01\x01\x78\x07" DONE "\xa0\x00"));
    passes(BYTES("\x30\x11\x02\x01\x01\x78\x0c" DONE "\x8a\x03"
                 "1.2"));
    passes(BYTES("\x30\x13\x02\x01\x01\x78\x0e" DONE "\xa3\x00\x8a\x01"
                 "1\x8b\x00"));
    is_refused(BYTES("\x30\x0e\x02\x01\x01\x78\x09" DONE "\x8a\x00"));
    is_refused(BYTES("\x30\x0f\x02\x01\x01\x78\x0a" DONE "\x8a\x01\x00"));
    is_refused(BYTES("\x30\x0e\x02\x01\x01\x78\x07" DONE "\x8a\x00"));
    is_refused(BYTES("\x30\x0e\x02\x01\x01\x78\x09" DONE "\x04\x00"));
    is_refused(BYTES("\x30\x0a\x02\x01\x01\x78\x05\x0a\x01\x00\x04\x00"));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x78\x07\x0a\x01\xff\x04\x00\x04\x00"));
    is_refused(BYTES("\x30\x84\x00\x01\x00\x01\x02\x01\x01\x78\x84\x00\x00\xff\xf8" DONE));
}

/* The first of these sixteen bytes used to abort the process. */
static void an_unsolicited_response_says_that_the_server_goes(void)
{
    is_refused(BYTES("\x30\x0e\x02\x01\x00\x78\x09\x0a\x01\x34\x04\x00\x04\x00\x8a\x00"));
    is_refused(BYTES("\x30\x0c\x02\x01\x00\x78\x07" DONE));
    is_refused(BYTES("\x30\x11\x02\x01\x00\x78\x0c" DONE "\x8a\x03"
                     "1.2"));
    is_refused(BYTES("\x30\x26\x02\x01\x00\x78\x21" DONE "\x8a\x16" NOTICE "\x8b\x00"));
    is_refused(BYTES("\x30\x0c\x02\x01\x00\x61\x07" DONE));
    is_refused(BYTES("\x30\x0d\x02\x02\x00\x00\x65\x07" DONE));
    is_refused(BYTES("\x30\x09\x02\x01\x00\x64\x04\x04\x00\x30\x00"));
    is_refused(BYTES("\x30\x05\x02\x01\x00\x79\x00"));
    ends_with(BYTES("\x30\x24\x02\x01\x00\x78\x1f" DONE "\x8a\x16" NOTICE), SKV_UNAVAILABLE);
}

static void what_is_no_message_is_refused(void)
{
    is_refused(BYTES("HTTP/1.1 400 Bad Request\r\n\r\n"));
    is_refused(BYTES("\x30\x80\x02\x01\x01\x65\x07" DONE "\x00\x00"));
    is_refused(BYTES("\x30\x85\x00\x00\x00\x00\x0c\x02\x01\x01\x65\x07" DONE));
    is_refused(BYTES("\x30\x84\x7f\xff\xff\xff\x02\x01\x01\x65\x07" DONE));
    is_refused(BYTES("\x30\x03\x02\x01\x01"));
    is_refused(BYTES("\x30\x0c\x04\x01\x01\x65\x07" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\xff\x65\x07" DONE));
    is_refused(BYTES("\x30\x0b\x02\x00\x65\x07" DONE));
    is_refused(BYTES("\x30\x10\x02\x05\x00\x00\x00\x00\x01\x65\x07" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x60\x07" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x42\x07" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x7f\x07" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x65\x08" DONE));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x65\x07\x04\x01\x00\x04\x00\x04\x00"));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x65\x07\x0a\x01\x80\x04\x00\x04\x00"));
    is_refused(BYTES("\x30\x0c\x02\x01\x01\x65\x80" DONE));
}

/* A peer that sends byte by byte, while the reader does not wait: it continues where it stopped. */
static void a_message_may_come_in_pieces(void)
{
    static const char extended[] = "\x30\x13\x02\x01\x01\x78\x0e" DONE "\xa3\x00\x8a\x01"
                                   "1\x8b\x00",
                      entry[] = "\x30\x2f\x02\x01\x03\x64\x2a\x04\x26simpkvKey=key,ou=globals,ou=simpkv,o=x\x30\x00";
    const bytes messages[] = {BYTES(extended), BYTES(entry)};

    begin();
    skv_deadline_init(&deadline, 0, NULL, reply);
    skv_transport_set_resumable(transport, true, true);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        BerElement *ber = ber_alloc_t(LBER_USE_DER);
        ber_tag_t tag = LBER_DEFAULT;
        ber_len_t len = 0;

        for (size_t j = 0; j < messages[i].len; j++) {
            CHECK(tag == LBER_DEFAULT);
            put_in((bytes){messages[i].text + j, 1});
            skv_transport_limit(transport, &deadline); /* each call reads once, at least */
            for (int reads = 0; reads < 3 && tag == LBER_DEFAULT; reads++)
                tag = ber_get_next(sockbuf, &len, ber);
        }
        CHECK(tag == 0x30 && len == messages[i].len - 2);
        ber_free(ber, 1);
    }
    end();
}

/* Reads what the layers above the gate would get. */
static Sockbuf_IO_Desc *gate_of_sockbuf;

static int note_gate(Sockbuf_IO_Desc *desc, void *unused)
{
    (void)unused;
    gate_of_sockbuf = desc->sbiod_next;
    return 0;
}

/* Bytes after the response to StartTLS are not taken for LDAP: they stay below the gate, where TLS reads them. */
static void nothing_beyond_a_message_leaves_the_transport(void)
{
    static Sockbuf_IO above = {.sbi_setup = note_gate};
    const bytes messages[] = {BYTES("\x30\x05\x02\x01\x01\x79\x00"), BYTES("\x30\x0c\x02\x01\x01\x78\x07" DONE),
                              BYTES("\x30\x09\x02\x01\x03\x64\x04\x04\x00\x30\x00")};
    char got[64];

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        Sockbuf_IO_Desc *gate, *below;

        begin();
        CHECK(ber_sockbuf_add_io(sockbuf, &above, LBER_SBIOD_LEVEL_APPLICATION + 1, NULL) == 0);
        gate = gate_of_sockbuf;
        below = gate->sbiod_next;
        put_in(messages[i]);
        put_in(BYTES("\x16\x03\x03"));
        CHECK(gate->sbiod_io->sbi_read(gate, got, sizeof got) == (ber_slen_t)messages[i].len);
        CHECK(below->sbiod_io->sbi_read(below, got, sizeof got) == 3);
        end();
    }
}

/* The bytes of an entry that is larger than what the gate reads at once. */
static void a_large_entry_passes(void)
{
    const size_t value = 200000, size = value + 30;
    unsigned char *message = calloc(1, size);
    const unsigned char head[] = {0x30,
                                  0x83,
                                  (unsigned char)((size - 5) >> 16),
                                  (unsigned char)((size - 5) >> 8),
                                  (unsigned char)(size - 5),
                                  0x02,
                                  0x01,
                                  0x01,
                                  0x64,
                                  0x83,
                                  (unsigned char)((size - 13) >> 16),
                                  (unsigned char)((size - 13) >> 8),
                                  (unsigned char)(size - 13)};
    int room = (int)(2 * size);

    begin();
    memcpy(message, head, sizeof head);
    CHECK(setsockopt(peer, SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
    put_in((bytes){(const char *)message, size});
    CHECK(receive() == (long)size - 5);
    end();
    free(message);
}

int main(void)
{
    reply = skv_reply_new();
    responses_pass();
    intermediate_responses_pass_unless_their_name_is_empty();
    extended_responses_pass_if_they_are_whole();
    an_unsolicited_response_says_that_the_server_goes();
    what_is_no_message_is_refused();
    a_message_may_come_in_pieces();
    nothing_beyond_a_message_leaves_the_transport();
    a_large_entry_passes();
    skv_reply_free(reply);
    return check_summary("gate");
}
