/* Waiting awake: only where answers come soon, never for long, and not where others need the processor. */
#include "awake.h"
#include "check.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void begin(void)
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
}

static void end(void)
{
    close(ends[0]);
    close(ends[1]);
}

static skv_awake used_to(int64_t ns)
{
    skv_awake awake;

    skv_awake_init(&awake);
    for (int i = 0; i < 100; i++)
        skv_awake_learn(&awake, ns);
    return awake;
}

static int64_t time_of_wait(skv_awake *awake, bool *found)
{
    int64_t began = skv_now_ns();

    *found = skv_awake_wait(awake, ends[0]);
    return skv_now_ns() - began;
}

static void an_answer_that_is_there(void)
{
    skv_awake awake = used_to(1000);

    begin();
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(skv_awake_wait(&awake, ends[0]));
    end();
}

static void an_end_is_something_to_read(void)
{
    skv_awake awake = used_to(1000);

    begin();
    shutdown(ends[1], SHUT_WR);
    CHECK(skv_awake_wait(&awake, ends[0]));
    end();
}

static void *answer_soon(void *unused)
{
    (void)unused;
    CHECK(write(ends[1], "x", 1) == 1);
    return NULL;
}

/* Whether it comes in time is the scheduler's business: a wait that gave up finds it by the next. */
static void an_answer_that_comes(void)
{
    skv_awake awake = used_to(1000);
    pthread_t thread;
    bool found = false;

    begin();
    CHECK(pthread_create(&thread, NULL, answer_soon, NULL) == 0);
    for (int i = 0; i < 10000 && !found; i++) {
        awake.rest_until_ns = 0;
        found = skv_awake_wait(&awake, ends[0]);
    }
    CHECK(found);
    pthread_join(thread, NULL);
    end();
}

static void silence_is_left_to_others(void)
{
    skv_awake awake = used_to(1000);
    bool found;

    begin();
    CHECK(time_of_wait(&awake, &found) >= SKV_AWAKE_NS);
    CHECK(!found);
    end();
}

static void nothing_is_known_of_a_new_connection(void)
{
    skv_awake awake;

    begin();
    skv_awake_init(&awake);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(!skv_awake_wait(&awake, ends[0]));
    skv_awake_learn(&awake, 1000);
    CHECK(skv_awake_wait(&awake, ends[0]));
    end();
}

static void answers_that_take_long(void)
{
    skv_awake awake = used_to(2 * SKV_AWAKE_NS);

    begin();
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(!skv_awake_wait(&awake, ends[0]));
    end();
}

static void what_is_usual_changes(void)
{
    skv_awake awake = used_to(1000);

    begin();
    skv_awake_learn(&awake, 100 * SKV_AWAKE_NS);
    CHECK(awake.usual_ns >= SKV_AWAKE_NS);
    for (int i = 0; i < 30; i++)
        skv_awake_learn(&awake, 1000);
    CHECK(awake.usual_ns < SKV_AWAKE_NS / 10);
    end();
}

static void others_need_the_processor(void)
{
    skv_awake awake = used_to(1000);

    begin();
    awake.rest_until_ns = skv_now_ns() + 3600 * 1000 * SKV_NS_PER_MS;
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(!skv_awake_wait(&awake, ends[0]));
    end();
}

int main(void)
{
    an_answer_that_is_there();
    an_end_is_something_to_read();
    an_answer_that_comes();
    silence_is_left_to_others();
    nothing_is_known_of_a_new_connection();
    answers_that_take_long();
    what_is_usual_changes();
    others_need_the_processor();
    return check_summary("awake");
}
