/*
 * delay.c - a slower network than loopback: a proxy that forwards the bytes of clients and a server on loopback, each
 * with the same delay in each direction.
 *
 *   delay SERVER_PORT MICROSECONDS     prints the port on which it listens; ends with its input
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 64
#define CHUNK 16384
#define QUEUE_MAX 256

/* The bytes of one read, and the time at which to write them. */
typedef struct chunk {
    long long due_ns;
    size_t len, written;
    char bytes[CHUNK];
} chunk;

/* One direction: a ring of chunks. */
typedef struct pipe_state {
    int from, to;
    chunk *chunks[QUEUE_MAX];
    unsigned first, count;
    bool full; /* the receiver accepts nothing now */
} pipe_state;

static pipe_state pipes[2 * PAIRS_MAX]; /* two neighbours are one connection; from < 0: free */
static long long delay_ns;

static long long now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void must(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static struct sockaddr_in loopback(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = loopback(0);
    socklen_t len = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    must(listen(listener, PAIRS_MAX) == 0, "listen");
    must(getsockname(listener, (struct sockaddr *)&address, &len) == 0, "getsockname");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static int prepared(int fd)
{
    int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void accept_one(int listener, int server_port)
{
    struct sockaddr_in address = loopback(server_port);
    int client = accept(listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i = 0;

    while (i < 2 * PAIRS_MAX && pipes[i].from >= 0)
        i += 2;
    must(client >= 0 && i < 2 * PAIRS_MAX, "accept");
    must(connect(server, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    pipes[i].from = pipes[i + 1].to = prepared(client);
    pipes[i].to = pipes[i + 1].from = prepared(server);
}

static void drop_pair(pipe_state *one)
{
    pipe_state *pair = pipes + ((one - pipes) & ~1L);

    close(pair->from);
    close(pair->to);
    for (pipe_state *p = pair; p < pair + 2; p++) {
        for (; p->count > 0; p->count--, p->first = (p->first + 1) % QUEUE_MAX)
            free(p->chunks[p->first]);
        *p = (pipe_state){.from = -1, .to = -1};
    }
}

/* Reads available bytes. Returns false at the end of the connection. */
static bool take(pipe_state *p)
{
    chunk *next = malloc(sizeof *next);
    ssize_t got;

    must(next != NULL, "malloc");
    got = read(p->from, next->bytes, CHUNK);
    if (got <= 0) {
        free(next);
        return false;
    }
    next->due_ns = now_ns() + delay_ns;
    next->len = (size_t)got;
    next->written = 0;
    p->chunks[(p->first + p->count++) % QUEUE_MAX] = next;
    return true;
}

/* Writes the chunks that are due, as far as the receiver accepts them. Returns true if the connection is open. */
static bool give(pipe_state *p)
{
    p->full = false;
    while (p->count > 0 && p->chunks[p->first]->due_ns <= now_ns()) {
        chunk *next = p->chunks[p->first];
        ssize_t put = send(p->to, next->bytes + next->written, next->len - next->written, MSG_NOSIGNAL);

        if (put < 0)
            return p->full = true;
        next->written += (size_t)put;
        if (next->written < next->len)
            continue;
        free(next);
        p->first = (p->first + 1) % QUEUE_MAX;
        p->count--;
    }
    return true;
}

/* Waits until a descriptor is ready or a chunk is due. */
static void await(struct pollfd *polls, nfds_t count, long long due_ns)
{
    long long left = due_ns - now_ns();
    struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};

    if (due_ns && left <= 0)
        timeout = (struct timespec){0};
    ppoll(polls, count, due_ns ? &timeout : NULL, NULL);
}

static void pass_on(int listener, int server_port)
{
    struct pollfd polls[2 + 2 * PAIRS_MAX] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                              {.fd = listener, .events = POLLIN}};
    long long due_ns = 0;

    for (int i = 0; i < 2 * PAIRS_MAX; i++) {
        pipe_state *p = &pipes[i];

        polls[2 + i] = (struct pollfd){.fd = p->full ? p->to : p->from,
                                       .events = p->full                ? POLLOUT
                                                 : p->count < QUEUE_MAX ? POLLIN
                                                                        : 0};
        if (p->count > 0 && !p->full && (!due_ns || p->chunks[p->first]->due_ns < due_ns))
            due_ns = p->chunks[p->first]->due_ns;
    }
    await(polls, 2 + 2 * PAIRS_MAX, due_ns);
    if (polls[0].revents)
        exit(0);
    if (polls[1].revents)
        accept_one(listener, server_port);
    for (int i = 0; i < 2 * PAIRS_MAX; i++) {
        pipe_state *p = &pipes[i];
        bool came = polls[2 + i].fd == p->from && polls[2 + i].revents != 0;

        if (p->from >= 0 && ((came && !take(p)) || !give(p)))
            drop_pair(p);
    }
}

int main(int argc, char **argv)
{
    int listener;

    must(argc == 3, "delay SERVER_PORT MICROSECONDS");
    delay_ns = atoll(argv[2]) * 1000;
    prctl(PR_SET_TIMERSLACK, 1);
    for (int i = 0; i < 2 * PAIRS_MAX; i++)
        pipes[i] = (pipe_state){.from = -1, .to = -1};
    listener = listen_anywhere();
    for (;;)
        pass_on(listener, atoi(argv[1]));
}
