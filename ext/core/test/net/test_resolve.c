/* Names and addresses: the time limits with a name service that hangs, and the options of a connected socket. */
#include "check.h"
#include "net/connect.h"
#include "net/resolve.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LONG_MS 60000

static skv_reply *reply;

/* ---- A name service that hangs: in this program, getaddrinfo() is this one -------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static bool hangs;
static atomic_int begun, ended;

static void set_hanging(bool on)
{
    pthread_mutex_lock(&lock);
    hangs = on;
    pthread_cond_broadcast(&released);
    pthread_mutex_unlock(&lock);
}

/* Resolves names to this machine after a delay, and addresses as usual. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **addresses)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!hints || hints->ai_flags & AI_NUMERICHOST)
        return real(host, port, hints, addresses);
    atomic_fetch_add(&begun, 1);
    pthread_mutex_lock(&lock);
    while (hangs)
        pthread_cond_wait(&released, &lock);
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&ended, 1);
    return real("127.0.0.1", port, hints, addresses);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static skv_uri uri_of(const char *text)
{
    skv_uris uris = {0};

    CHECK(skv_uris_parse(text, strlen(text), &uris, reply) == SKV_OK);
    return uris.uri[0];
}

static struct addrinfo *look_up(const char *text, int64_t timeout_ms, skv_cancel *cancel)
{
    const skv_uri uri = uri_of(text);
    skv_deadline deadline;

    skv_reply_reset(reply);
    skv_deadline_init(&deadline, timeout_ms, cancel, reply);
    return skv_resolve(&uri, &deadline, reply);
}

static bool is_found(const char *text)
{
    struct addrinfo *found = look_up(text, LONG_MS, NULL);

    if (!found)
        return false;
    freeaddrinfo(found);
    return true;
}

static void a_name_service_that_hangs_costs_no_more_than_the_deadline(void)
{
    int64_t began = skv_now_ns();

    CHECK(look_up("ldap://slow.example.com", 100, NULL) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "ldap://slow.example.com:389: timed out while looking up its name");
    CHECK(skv_now_ns() - began >= 100 * SKV_NS_PER_MS);
    CHECK(skv_now_ns() - began < 10000 * SKV_NS_PER_MS);
}

static void an_interrupt_ends_the_wait_for_a_name(void)
{
    skv_cancel *cancel = skv_cancel_new();

    skv_cancel_fire(cancel);
    CHECK(look_up("ldap://slow.example.com", LONG_MS, cancel) == NULL);
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    skv_cancel_free(cancel);
}

static void no_more_names_are_asked_for_at_once_than_there_are_places(void)
{
    for (int i = 0; i < 2 * SKV_RESOLVERS_MAX; i++)
        CHECK(look_up("ldap://slow.example.com", 10, NULL) == NULL);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "timed out while waiting to look up its name");
    CHECK(atomic_load(&begun) <= SKV_RESOLVERS_MAX);
}

static void addresses_do_not_wait_for_names(void)
{
    CHECK(is_found("ldap://127.0.0.1"));
    CHECK(is_found("ldap://[::1]"));
}

static void names_are_resolved_again_when_the_service_recovers(void)
{
    set_hanging(false);
    for (int i = 0; i < 3 * SKV_RESOLVERS_MAX; i++)
        CHECK(is_found("ldap://quick.example.com"));
    CHECK(atomic_load(&begun) >= 3 * SKV_RESOLVERS_MAX);
    for (int i = 0; i < 1000 && atomic_load(&ended) < atomic_load(&begun); i++)
        usleep(10000);
    CHECK(atomic_load(&ended) == atomic_load(&begun));
}

/* Opens a listener at a free port, and writes the port into the address. */
static int listen_at(struct sockaddr_in *address, int queue)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t len = sizeof *address;

    CHECK(bind(listener, (struct sockaddr *)address, len) == 0 && listen(listener, queue) == 0 &&
          getsockname(listener, (struct sockaddr *)address, &len) == 0);
    return listener;
}

/* The queue of the listener is full, so that the kernel drops new connections as a firewall does. */
static void a_host_that_does_not_respond_costs_no_more_than_the_deadline(void)
{
    enum { MORE = 4 };
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = listen_at(&address, 0), fds[MORE];
    char text[64];
    skv_deadline deadline;
    skv_uri uri;

    for (int i = 0; i < MORE; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fds[i], (struct sockaddr *)&address, sizeof address);
    }
    snprintf(text, sizeof text, "ldap://127.0.0.1:%d", ntohs(address.sin_port));
    uri = uri_of(text);
    skv_deadline_init(&deadline, 300, NULL, reply);
    CHECK(skv_connect(&uri, &deadline, reply) == -1);
    CHECK_STATUS(reply, SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "timed out while connecting");
    CHECK_HAS(skv_reply_message(reply), text);
    for (int i = 0; i < MORE; i++)
        close(fds[i]);
    close(listener);
}

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t len = sizeof value;

    CHECK(getsockopt(fd, level, name, &value, &len) == 0);
    return value;
}

static void a_socket_does_not_block_is_not_inherited_and_notices_a_peer_that_has_gone(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = listen_at(&address, 8), fd;
    char text[64];
    skv_deadline deadline;
    skv_uri uri;

    skv_reply_reset(reply);
    snprintf(text, sizeof text, "ldap://some.example.com:%d", ntohs(address.sin_port));
    uri = uri_of(text);
    skv_deadline_init(&deadline, LONG_MS, NULL, reply);
    fd = skv_connect(&uri, &deadline, reply);
    if (CHECK(fd >= 0)) {
        CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
        CHECK(option(fd, SOL_SOCKET, SO_KEEPALIVE) == 1);
        CHECK(option(fd, IPPROTO_TCP, TCP_KEEPIDLE) <= 60);
        CHECK(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT) == 30000);
        CHECK(option(fd, IPPROTO_TCP, TCP_NODELAY) == 1);
        close(fd);
    }
    close(listener);
}

int main(void)
{
    reply = skv_reply_new();
    set_hanging(true);
    a_name_service_that_hangs_costs_no_more_than_the_deadline();
    an_interrupt_ends_the_wait_for_a_name();
    no_more_names_are_asked_for_at_once_than_there_are_places();
    addresses_do_not_wait_for_names();
    names_are_resolved_again_when_the_service_recovers();
    a_host_that_does_not_respond_costs_no_more_than_the_deadline();
    a_socket_does_not_block_is_not_inherited_and_notices_a_peer_that_has_gone();
    skv_reply_free(reply);
    return check_summary("lookup");
}
