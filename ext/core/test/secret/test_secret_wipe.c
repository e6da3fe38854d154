/* Secrets that are made, and those of which forms are made, stay neither in freed memory nor on the stack. */
#include "check.h"
#include "freed.h"
#include "simpkv_secret.h"

#include <string.h>
#include <sys/random.h>

/* The password, the words and the bytes that are made of bytes which are all 1. */
#define PASSWORD "RRRRRRRRRRRRRRRRRRRRRRRR"
#define WORDS "cage-cage-cage-cage-cage-cage-cage-cage"
#define CODED "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
#define BYTES "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1"
#define SECRET "pl4nted-in-memory"

const char *const secrets[] = {SECRET, PASSWORD, WORDS, CODED, BYTES, NULL};

static skv_reply *reply;

/* What all random bytes are: 1 in secrets. Salts stay in memory. */
static int number;

/* Replaces the kernel's random numbers: see core.mk. */
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags);

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    (void)flags;
    memset(bytes, number, size);
    return (ssize_t)size;
}

static const struct {
    const char *request, *value;
} made[] = {{"{}", PASSWORD}, {"{\"words\":8}", WORDS}, {"{\"kind\":\"bytes\"}", CODED}};

static const char *const forms[] = {
    "{\"format\":\"plain\"}",
    "{\"format\":\"base64\"}",
    "{\"format\":\"hex\"}",
    "{\"format\":\"yescrypt\",\"cost\":1}",
    "{\"format\":\"bcrypt\",\"cost\":4}",
    "{\"format\":\"htpasswd-bcrypt\",\"cost\":4}",
    "{\"format\":\"sha256-crypt\",\"cost\":1000}",
    "{\"format\":\"sha512-crypt\",\"cost\":1000}",
    "{\"format\":\"scram-sha-256\"}",
    "{\"format\":\"mysql_native_password\"}",
    "{\"format\":\"caching_sha2_password\"}",
    "{\"format\":\"ssha\"}",
    "{\"format\":\"apr1\"}",
};

#define MADE (sizeof made / sizeof *made)
#define CALLS (MADE + sizeof forms / sizeof *forms)

static const char *request_of(size_t call)
{
    return call < MADE ? made[call].request : forms[call - MADE];
}

/* Makes a secret or a form. */
static void run_call(size_t call)
{
    const char *request = request_of(call);

    reply = skv_reply_new();
    number = call < MADE ? 1 : 2;
    if (call < MADE) {
        CHECK(skv_secret_make(request, strlen(request), reply) == SKV_OK);
        CHECK_HAS(skv_reply_data(reply), made[call].value);
    } else {
        CHECK(skv_secret_form(SECRET, strlen(SECRET), request, strlen(request), reply) == SKV_OK);
    }
    skv_reply_free(reply);
}

static void freed_memory_has_no_secret(void)
{
    looked = 0;
    watching = true;
    for (size_t i = 0; i < CALLS; i++)
        run_call(i);
    watching = false;
    CHECK(looked > 50);
    CHECK(spilled == 0);
}

static void *run_in_thread(void *call)
{
    run_call(*(size_t *)call);
    return NULL;
}

static void the_stack_has_no_secret(void)
{
    for (size_t i = 0; i < CALLS; i++) {
        const char *spilled_text = spilled_on_stack(run_in_thread, &i, secrets);

        if (!CHECK(spilled_text == NULL))
            fprintf(stderr, "the stack has '%s' after %s\n", spilled_text, request_of(i));
    }
}

int main(void)
{
    a_block_with_a_secret_is_seen();
    freed_memory_has_no_secret();
    the_stack_has_no_secret();
    return check_summary("secret_wipe");
}
