/* Waiting awake: never for long, and hardly ever in vain. */
#include "check.h"
#include "net/awake.h"

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

static int64_t time_of_wait(skv_awake *awake, bool *found)
{
    int64_t began = skv_now_ns();

    *found = skv_awake_wait(awake, ends[0]);
    return skv_now_ns() - began;
}

static void an_answer_that_is_there(void)
{
    skv_awake awake = {0};

    begin();
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(skv_awake_wait(&awake, ends[0]));
    end();
}

static void an_end_is_something_to_read(void)
{
    skv_awake awake = {0};

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
    skv_awake awake = {0};
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
    skv_awake awake = {0};
    bool found;

    begin();
    CHECK(time_of_wait(&awake, &found) >= SKV_AWAKE_NS);
    CHECK(!found);
    end();
}

/* Whatever it was that kept it from an answer in time: distance, a busy server, others on the processor. */
static void it_rests_long_after_it_was_in_vain(void)
{
    skv_awake awake = {0};
    int64_t began = skv_now_ns(), took;
    bool found;

    begin();
    took = time_of_wait(&awake, &found);
    CHECK(awake.rest_until_ns - began > 100 * SKV_AWAKE_NS);
    CHECK(awake.rest_until_ns - skv_now_ns() < 200 * took);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(!skv_awake_wait(&awake, ends[0]));
    awake.rest_until_ns = skv_now_ns();
    CHECK(skv_awake_wait(&awake, ends[0]));
    end();
}

/* Who has reached its limits does not wait awake either: transport.c asks for it. */
static void a_wait_is_over_at_its_deadline_and_when_its_handle_has_fired(void)
{
    skv_cancel *cancel = skv_cancel_new();
    skv_reply *reply = skv_reply_new();
    skv_wait wait;

    CHECK(skv_wait_init(&wait, 3600000, cancel, reply) == SKV_OK);
    CHECK(!skv_wait_is_over(&wait));
    skv_cancel_fire(cancel);
    CHECK(skv_wait_is_over(&wait));
    skv_cancel_reset(cancel);
    CHECK(!skv_wait_is_over(&wait));
    CHECK(skv_wait_init(&wait, 0, NULL, reply) == SKV_OK);
    CHECK(skv_wait_is_over(&wait));
    skv_cancel_free(cancel);
    skv_reply_free(reply);
}

int main(void)
{
    a_wait_is_over_at_its_deadline_and_when_its_handle_has_fired();
    an_answer_that_is_there();
    an_end_is_something_to_read();
    an_answer_that_comes();
    silence_is_left_to_others();
    it_rests_long_after_it_was_in_vain();
    return check_summary("awake");
}
