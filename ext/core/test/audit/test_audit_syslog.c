/* An audit log that goes to a datagram socket, as to syslog. */
#include "audit_fixture.h"
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char socket_path[80];

/* Opens a log that goes to a socket, which is not there yet. */
static skv_audit *open_socket(void)
{
    char target[96];

    snprintf(socket_path, sizeof socket_path, "%s/log", log_folder);
    snprintf(target, sizeof target, "syslog:%s", socket_path);
    return open_target(target);
}

static int listen_at_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, socket_path);
    unlink(socket_path);
    CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static const char *received(int fd)
{
    static char message[1024];
    ssize_t len = recv(fd, message, sizeof message - 1, MSG_DONTWAIT);

    message[len < 0 ? 0 : len] = '\0';
    return message;
}

static const char *expected(const char *line)
{
    static char message[1024];

    snprintf(message, sizeof message, "<86>simpkv[%d]: %s", (int)getpid(), line);
    return message;
}

static void each_line_is_a_message(void)
{
    skv_audit *audit = open_socket();
    int fd = listen_at_socket();

    CHECK(write_text(audit, "one\ntwo\n") == SKV_OK);
    CHECK_STR(received(fd), expected("one"));
    CHECK_STR(received(fd), expected("two"));
    CHECK_STR(received(fd), "");
    CHECK(skv_audit_reserve(audit, 10, WAIT_MS, result) == SKV_INVALID);
    CHECK_STR(skv_reply_message(result), "syslog cannot reserve disk space");
    skv_audit_close(audit);
    close(fd);
}

static void a_daemon_may_stop_and_start_again(void)
{
    skv_audit *audit = open_socket();
    int fd;

    unlink(socket_path);
    CHECK(write_text(audit, "lost\n") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(result), "cannot write the audit log to syslog at '/tmp/audit-");
    fd = listen_at_socket();
    CHECK(write_text(audit, "one\n") == SKV_OK);
    CHECK_STR(received(fd), expected("one"));
    close(fd);
    CHECK(write_text(audit, "lost\n") == SKV_UNAVAILABLE);
    fd = listen_at_socket();
    CHECK(write_text(audit, "two\n") == SKV_OK);
    close(fd);
    fd = listen_at_socket();
    CHECK(write_text(audit, "three\n") == SKV_OK);
    CHECK_STR(received(fd), expected("three"));
    skv_audit_close(audit);
    close(fd);
}

static void a_daemon_that_reads_nothing_does_not_block(void)
{
    skv_audit *audit = open_socket();
    int fd = listen_at_socket(), sent = 0;
    int64_t began = now_ms();

    while (sent < 100000 && write_within(audit, "line\n", 300) == SKV_OK)
        sent++;
    CHECK(skv_reply_status(result) == SKV_TIMEOUT && sent > 0);
    CHECK_HAS(skv_reply_message(result), "takes no more messages of the audit log");
    CHECK(now_ms() - began < 20000);
    began = now_ms();
    for (int i = 0; i < 5; i++)
        CHECK(write_within(audit, "line\n", 60000) == SKV_TIMEOUT);
    CHECK(now_ms() - began >= 45 && now_ms() - began < 20000);
    CHECK_STR(received(fd), expected("line"));
    CHECK(write_text(audit, "line\n") == SKV_OK);
    skv_audit_close(audit);
    close(fd);
}

static void *read_later(void *fd)
{
    usleep(100000);
    received((int)(intptr_t)fd);
    return NULL;
}

static void a_writer_waits_for_the_daemon(void)
{
    skv_audit *audit = open_socket();
    int fd = listen_at_socket();
    pthread_t thread;

    while (write_within(audit, "line\n", 0) == SKV_OK)
        ;
    CHECK(skv_reply_status(result) == SKV_TIMEOUT);
    received(fd);
    CHECK(write_within(audit, "line\n", 0) == SKV_OK);
    CHECK(pthread_create(&thread, NULL, read_later, (void *)(intptr_t)fd) == 0);
    CHECK(write_text(audit, "line\n") == SKV_OK);
    pthread_join(thread, NULL);
    skv_audit_close(audit);
    close(fd);
}

static void a_line_that_is_too_long_is_an_error(void)
{
    static char line[1024 * 1024];
    skv_audit *audit = open_socket();
    int fd = listen_at_socket();

    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 2] = '\n';
    CHECK(write_text(audit, line) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(result), "Message too long");
    CHECK(write_text(audit, "one\n") == SKV_OK);
    skv_audit_close(audit);
    close(fd);
}

int main(void)
{
    static void (*const tests[])(void) = {each_line_is_a_message, a_daemon_may_stop_and_start_again,
                                          a_daemon_that_reads_nothing_does_not_block, a_writer_waits_for_the_daemon,
                                          a_line_that_is_too_long_is_an_error};

    return run_audit_tests("audit_syslog", tests, sizeof tests / sizeof *tests);
}
