#include "proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The parts of a request's start: 0x30, length, 0x02, length of the id, id, tag. */
typedef struct request {
    size_t len;
    unsigned char tag, id_len;
    const unsigned char *id;
} request;

static size_t head_length(const unsigned char *bytes)
{
    return 2 + (bytes[1] & 0x80 ? bytes[1] & 0x7f : 0);
}

static size_t message_length(const unsigned char *bytes)
{
    size_t head = head_length(bytes), len = head == 2 ? bytes[1] : 0;

    for (size_t i = 2; i < head; i++)
        len = len << 8 | bytes[i];
    return head + len;
}

static request parse(const unsigned char *bytes)
{
    size_t head = head_length(bytes);
    request r = {.len = message_length(bytes)};

    r.id_len = bytes[head + 1];
    r.id = bytes + head + 2;
    r.tag = r.id[r.id_len];
    return r;
}

static bool send_all(int fd, const void *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static atomic_long faults;

long proxy_faults(void)
{
    return faults;
}

/* Returns true if the fault applies to this request. */
static bool is_armed(proxy *p, unsigned char tag, proxy_fault *fault, int *code)
{
    bool armed = false;

    pthread_mutex_lock(&p->lock);
    if (tag == p->tag && p->times > 0 && p->skip-- <= 0) {
        p->times--;
        faults++;
        *fault = p->fault;
        *code = p->code;
        armed = true;
    }
    pthread_mutex_unlock(&p->lock);
    return armed;
}

static unsigned char response_tag(unsigned char tag)
{
    return tag == PROXY_SEARCH ? 0x65 : tag == PROXY_DELETE ? 0x6b : (unsigned char)(tag + 1);
}

/* Sends a message with that content, of less than 100 bytes. */
static bool say(const proxy_link *l, const request *r, const void *content, size_t len)
{
    unsigned char bytes[128] = {0x30, (unsigned char)(2 + r->id_len + len), 0x02, r->id_len};

    memcpy(bytes + 4, r->id, r->id_len);
    memcpy(bytes + 4 + r->id_len, content, len);
    return send_all(l->client, bytes, 4u + r->id_len + len);
}

static bool respond(const proxy_link *l, const request *r, int code)
{
    const unsigned char result[] = {response_tag(r->tag), 7, 0x0a, 1, (unsigned char)code, 4, 0, 4, 0};

    return say(l, r, result, sizeof result);
}

static bool say_something(const proxy_link *l, const request *r)
{
    return say(l, r, "\x79", 2);
}

static bool say_entry(const proxy_link *l, const request *r)
{
    static const char entry[] = "\x64\x10\x04\x0csimpkvKey=ab\x30";

    return say(l, r, entry, sizeof entry);
}

static bool notify(const proxy_link *l, int code)
{
    static const unsigned char unnamed[] = {0x30, 0x0e, 0x02, 1, 0, 0x78, 9, 0x0a, 1, 0x34, 4, 0, 4, 0, 0x8a, 0};
    unsigned char notice[] = "\x30\x24\x02\x01\x00\x78\x1f\x0a\x01?\x04\x00\x04\x00\x8a\x16"
                             "1.3.6.1.4.1.1466.20036";

    notice[9] = (unsigned char)code;
    return code ? send_all(l->client, notice, sizeof notice - 1) : send_all(l->client, unnamed, sizeof unnamed);
}

/* The request outlives its connection. The server sees the end of the connection after it has responded. */
static void deliver_late(proxy_link *l, const unsigned char *bytes, size_t len, int ms)
{
    unsigned char unheard[4096];

    shutdown(l->client, SHUT_RDWR);
    poll(NULL, 0, ms);
    if (send_all(l->server, bytes, len))
        recv(l->server, unheard, sizeof unheard, 0);
    pthread_mutex_lock(&l->proxy->lock);
    l->proxy->delivered++;
    pthread_mutex_unlock(&l->proxy->lock);
}

void proxy_meanwhile(proxy *p, void (*call)(void))
{
    pthread_mutex_lock(&p->lock);
    p->meanwhile = call;
    pthread_mutex_unlock(&p->lock);
}

static void call_meanwhile(proxy *p)
{
    void (*call)(void);

    pthread_mutex_lock(&p->lock);
    call = p->meanwhile;
    pthread_mutex_unlock(&p->lock);
    if (call)
        call();
}

/* Applies the fault. Returns false to break the connection. */
static bool spoil(proxy_link *l, const request *r, const unsigned char *bytes, size_t len, proxy_fault fault, int code)
{
    unsigned char unheard[4096];
    struct pollfd gone = {.fd = l->client, .events = POLLRDHUP};

    switch (fault) {
    case PROXY_RESPOND:
        return respond(l, r, code);
    case PROXY_ENTRY:
        return say_entry(l, r) && respond(l, r, code);
    case PROXY_INTERMEDIATE:
        return say_something(l, r) && send_all(l->server, bytes, len);
    case PROXY_UNSOLICITED:
        return send_all(l->server, bytes, len) && recv(l->server, unheard, sizeof unheard, 0) > 0 && notify(l, code);
    case PROXY_HOLD_REQUEST:
        call_meanwhile(l->proxy);
        return poll(NULL, 0, code) == 0 && send_all(l->server, bytes, len);
    case PROXY_HOLD_RESPONSE:
        return send_all(l->server, bytes, len) && poll(&gone, 1, code) == 0;
    case PROXY_LOSE_RESPONSE:
        if (send_all(l->server, bytes, len))
            recv(l->server, unheard, sizeof unheard, 0);
        call_meanwhile(l->proxy);
        return false;
    case PROXY_LATE_REQUEST:
        deliver_late(l, bytes, len, code);
        return false;
    default:
        return false;
    }
}

/* Counts a request, unless it has no response: an unbind or an abandon. */
static void count_request(proxy *p, unsigned char tag)
{
    pthread_mutex_lock(&p->lock);
    p->requests += tag != 0x42 && tag != 0x50;
    pthread_mutex_unlock(&p->lock);
}

/* Passes on the bytes of one request. Returns their number; 0 to break the connection. */
static size_t pass_request(proxy_link *l, const unsigned char *bytes, size_t len)
{
    bool starts = l->left == 0;
    proxy_fault fault;
    request r;
    int code;

    if (starts) {
        r = parse(bytes);
        l->left = r.len;
        count_request(l->proxy, r.tag);
    }
    if (len > l->left)
        len = l->left;
    l->left -= len;
    if (starts && is_armed(l->proxy, r.tag, &fault, &code))
        return spoil(l, &r, bytes, len, fault, code) ? len : 0;
    return send_all(l->server, bytes, len) ? len : 0;
}

static bool pass_requests(proxy_link *l, const unsigned char *bytes, size_t len)
{
    for (size_t passed; len > 0; bytes += passed, len -= passed) {
        passed = pass_request(l, bytes, len);
        if (passed == 0)
            return false;
    }
    return true;
}

/* Changes the OID of a control in the root DSE. */
static void hide(unsigned char *bytes, size_t len, const char *oid)
{
    unsigned char *found = memmem(bytes, len, oid, strlen(oid));

    if (found)
        found[strlen(oid) - 1] = '9';
}

void proxy_expect(proxy *p, const int *round_trips)
{
    pthread_mutex_lock(&p->lock);
    p->round_trips = round_trips;
    p->requests = p->responses = 0;
    pthread_mutex_unlock(&p->lock);
}

/* Returns the number of requests of the complete round trips. The caller holds the lock. */
static long responses_due(const proxy *p)
{
    long sum = 0;

    for (const int *count = p->round_trips; *count > 0 && sum + *count <= p->requests; count++)
        sum += *count;
    return sum;
}

static bool expects(proxy *p)
{
    bool expects;

    pthread_mutex_lock(&p->lock);
    expects = p->round_trips != NULL;
    pthread_mutex_unlock(&p->lock);
    return expects;
}

static bool may_respond(proxy *p)
{
    bool may;

    pthread_mutex_lock(&p->lock);
    may = !p->round_trips || p->responses < responses_due(p);
    pthread_mutex_unlock(&p->lock);
    return may;
}

bool proxy_was_met(proxy *p)
{
    long sum = 0;
    bool met;

    pthread_mutex_lock(&p->lock);
    for (const int *count = p->round_trips; *count > 0; count++)
        sum += *count;
    met = p->requests == sum && p->responses == sum;
    pthread_mutex_unlock(&p->lock);
    return met;
}

/* Counts a response that is the last one of its request: no entry, reference, or intermediate response. */
static void count_response(proxy *p, unsigned char tag)
{
    pthread_mutex_lock(&p->lock);
    p->responses += tag != 0x64 && tag != 0x73 && tag != 0x79;
    pthread_mutex_unlock(&p->lock);
}

/* Receives one whole message. Returns its length; 0 if the connection broke or the message is too large. */
static size_t receive_message(int fd, unsigned char *bytes, size_t size)
{
    size_t head, len;

    if (recv(fd, bytes, 2, MSG_WAITALL) != 2)
        return 0;
    head = head_length(bytes);
    if (head > 2 && recv(fd, bytes + 2, head - 2, MSG_WAITALL) != (ssize_t)head - 2)
        return 0;
    len = message_length(bytes);
    return len <= size && recv(fd, bytes + head, len - head, MSG_WAITALL) == (ssize_t)(len - head) ? len : 0;
}

static bool pass_one_response(proxy_link *l, unsigned char *bytes, size_t size)
{
    size_t len = receive_message(l->server, bytes, size);

    if (len == 0)
        return false;
    count_response(l->proxy, parse(bytes).tag);
    return send_all(l->client, bytes, len);
}

static bool pass_responses(proxy_link *l, unsigned char *bytes, size_t size)
{
    ssize_t len = recv(l->server, bytes, size, 0);

    if (len > 0 && l->proxy->hide_assertion)
        hide(bytes, (size_t)len, "1.3.6.1.1.12");
    return len > 0 && send_all(l->client, bytes, (size_t)len);
}

static bool pump(proxy_link *l)
{
    static _Thread_local unsigned char bytes[65536];
    struct pollfd fds[] = {{.fd = l->client, .events = POLLIN},
                           {.fd = may_respond(l->proxy) ? l->server : -1, .events = POLLIN}};
    ssize_t len;

    if (poll(fds, 2, -1) < 0)
        return false;
    if (fds[1].revents)
        return expects(l->proxy) ? pass_one_response(l, bytes, sizeof bytes) : pass_responses(l, bytes, sizeof bytes);
    len = recv(l->client, bytes, sizeof bytes, 0);
    return len > 0 && pass_requests(l, bytes, (size_t)len);
}

static void *serve(void *argument)
{
    proxy_link *l = argument;

    while (pump(l))
        ;
    shutdown(l->client, SHUT_RDWR);
    shutdown(l->server, SHUT_RDWR);
    return NULL;
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

static void *accept_all(void *argument)
{
    proxy *p = argument;
    struct sockaddr_in address = loopback(p->server_port);
    int client;

    while (p->count < PROXY_CONNECTIONS && (client = accept(p->listener, NULL, NULL)) >= 0) {
        proxy_link *l = &p->links[p->count++];

        *l = (proxy_link){.proxy = p, .client = client, .server = socket(AF_INET, SOCK_STREAM, 0)};
        /* If this fails, passing on the first request fails as well. */
        if (connect(l->server, (struct sockaddr *)&address, sizeof address) < 0)
            shutdown(l->server, SHUT_RDWR);
        pthread_create(&l->thread, NULL, serve, l);
    }
    return NULL;
}

void proxy_end(proxy *p)
{
    shutdown(p->listener, SHUT_RDWR);
    pthread_join(p->acceptor, NULL);
    close(p->listener);
    for (int i = 0; i < p->count; i++) {
        shutdown(p->links[i].client, SHUT_RDWR);
        pthread_join(p->links[i].thread, NULL);
        close(p->links[i].client);
        close(p->links[i].server);
    }
}

bool proxy_begin(proxy *p, int server_port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof address;

    *p = (proxy){.server_port = server_port, .listener = socket(AF_INET, SOCK_STREAM, 0)};
    pthread_mutex_init(&p->lock, NULL);
    if (bind(p->listener, (struct sockaddr *)&address, len) < 0 || listen(p->listener, 16) < 0 ||
        getsockname(p->listener, (struct sockaddr *)&address, &len) < 0)
        return false;
    snprintf(p->uri, sizeof p->uri, "ldap://127.0.0.1:%d", ntohs(address.sin_port));
    return pthread_create(&p->acceptor, NULL, accept_all, p) == 0;
}

void proxy_arm(proxy *p, unsigned char tag, proxy_fault fault, int code, int skip, int times)
{
    pthread_mutex_lock(&p->lock);
    p->tag = tag;
    p->fault = fault;
    p->code = code;
    p->skip = skip;
    p->times = times;
    pthread_mutex_unlock(&p->lock);
}

int proxy_left(proxy *p)
{
    int left;

    pthread_mutex_lock(&p->lock);
    left = p->times;
    pthread_mutex_unlock(&p->lock);
    return left;
}

void proxy_await_faults(proxy *p)
{
    while (proxy_left(p) > 0)
        poll(NULL, 0, 1);
}

void proxy_await_late(proxy *p, int count)
{
    int delivered = 0;

    while (delivered < count) {
        poll(NULL, 0, 1);
        pthread_mutex_lock(&p->lock);
        delivered = p->delivered;
        pthread_mutex_unlock(&p->lock);
    }
}
