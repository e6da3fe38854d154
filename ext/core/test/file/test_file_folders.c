/* The store in files: the deletion of empty folders. */
#include "chaos.h"
#include "check.h"
#include "file_fixture.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The temporary file of the key "k" in "globals/f". */
static const char *temporary_file(void)
{
    static char name[64];

    snprintf(name, sizeof name, "globals/f%s", strchr(temporary_name(), '/'));
    return name;
}

/* ---- Folders and their contents --------------------------------------------------------------------------------- */

static void an_empty_folder_is_deleted(void)
{
    create_folder_gives("globals/f/g", 1);
    delete_folder_gives("globals/f/g", 1);
    delete_folder_gives("globals/f/g", 0);
    delete_folder_gives("globals/no/such/folder", 0);
    put("globals/f/k", "d");
    del("globals/f/k");
    delete_folder_gives("/globals//f/", 1);
    CHECK(names_in("globals") == 0);
    create_folder_gives("environments/e", 1);
    delete_folder_gives("environments/e", 1);
}

/* Returns the part of the message behind the folder. */
static const char *reason(void)
{
    const char *found = strstr(skv_reply_message(reply), "' failed: ");

    return found ? found + strlen("' failed: ") : skv_reply_message(reply);
}

static void a_folder_with_contents_stays_and_one_of_them_is_named(void)
{
    put("globals/f/k", "d");
    CHECK(delete_folder("globals/f") == SKV_CONFLICT && skv_reply_number(reply) == 0);
    CHECK_HAS(skv_reply_message(reply), "Folder delete of '");
    CHECK_HAS(skv_reply_message(reply), "/globals/f' failed: ");
    CHECK_STR(reason(), "it is not empty, the key 'k' is in it: delete its contents first");
    write_file(temporary_file(), "half");
    CHECK(delete_folder("globals/f") == SKV_CONFLICT && is_there(temporary_file()));
    CHECK(del("globals/f/k") == SKV_OK);
    put("globals/f/g/k", "d");
    CHECK(delete_folder("globals/f") == SKV_CONFLICT);
    CHECK_STR(reason(), "it is not empty, the folder 'g' is in it: delete its contents first");
    CHECK(deletetree("globals/f/g") == SKV_OK);
    CHECK(mkfifo(path("globals/f/fifo"), 0660) == 0);
    CHECK(delete_folder("globals/f") == SKV_CONFLICT);
    CHECK_STR(reason(), "it is not empty, the file 'fifo' is in it: delete its contents first");
    CHECK(deletetree("globals/f") == SKV_OK);
}

static void a_name_that_is_not_text_is_quoted(void)
{
    create_folder_gives("globals/f", 1);
    write_file("globals/f/b\n\xff", "d");
    CHECK(delete_folder("globals/f") == SKV_CONFLICT);
    CHECK_HAS(reason(), "it is not empty, the key 'b");
    CHECK(!strchr(reason(), '\n') && !strchr(reason(), '\xff'));
}

static void a_key_and_the_folders_of_every_store_are_refused(void)
{
    static const char *const folders[] = {"", "/", "globals", "environments", "//globals/"};

    put("globals/k", "d");
    CHECK(delete_folder("globals/k") == SKV_IS_KEY);
    CHECK_STR(reason(), "it is a key, not a folder");
    delete_folder_gives("globals/k/f", 0);
    get_gives("globals/k", "d");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        CHECK(delete_folder(folders[i]) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "'globals' cannot be deleted: every store has it");
    CHECK(delete_folder("globals/.skv~0123456789abcdef") != SKV_OK);
}

static void a_link_is_deleted_if_its_target_is_empty(void)
{
    put("globals/real/k", "d");
    CHECK(symlink("real", path("globals/link")) == 0);
    CHECK(delete_folder("globals/link") == SKV_CONFLICT && is_there("globals/link"));
    CHECK(del("globals/real/k") == SKV_OK);
    delete_folder_gives("globals/link", 1);
    CHECK(is_there("globals/real") && !is_there("globals/link"));
    put("globals/real/k", "d");
    CHECK(symlink("real/k", path("globals/key")) == 0 && symlink("/tmp", path("globals/out")) == 0);
    CHECK(delete_folder("globals/key") == SKV_IS_KEY);
    CHECK(delete_folder("globals/out") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "leads out of the root");
    CHECK(is_there("globals/key") && unlink(path("globals/out")) == 0);
}

/* ---- Permissions ------------------------------------------------------------------------------------------------ */

static void delete_without_permission(void)
{
    CHECK(delete_folder("globals/f") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), " needs write permission on the folder above");
    CHECK(delete_folder("globals/open/closed") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), " needs read permission on the folder");
}

static void missing_permission_is_named(void)
{
    if (geteuid() != 0)
        return;
    create_folder_gives("globals/f", 1);
    put("globals/open/closed/k", "d");
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0755) == 0);
    CHECK(chmod(path("globals/open"), 0777) == 0 && chmod(path("globals/open/closed"), 0) == 0);
    as_nobody(delete_without_permission);
    CHECK(is_there("globals/f") && chmod(path("globals"), 0770) == 0);
}

/* ---- Temporary names -------------------------------------------------------------------------------------------- */

static void what_dead_writers_left_does_not_keep_the_folder(void)
{
    put("globals/f/k", "d");
    CHECK(link(path("globals/f/k"), path(temporary_file())) == 0 && unlink(path("globals/f/k")) == 0);
    CHECK(mkdir(path("globals/f/.skv~d0123456789abcdef"), 0700) == 0);
    delete_folder_gives("globals/f", 1);
    CHECK(names_in("globals") == 0);
}

/* simpkv makes no file in a temporary folder. */
static void a_temporary_folder_with_contents_is_left_alone(void)
{
    create_folder_gives("globals/f", 1);
    CHECK(mkdir(path("globals/f/.skv~d0123456789abcdef"), 0700) == 0);
    write_file("globals/f/.skv~d0123456789abcdef/x", "d");
    CHECK(delete_folder("globals/f") == SKV_CONFLICT);
    CHECK_STR(reason(), "it is not empty, the folder '.skv~d0123456789abcdef' is in it: delete its contents first");
    CHECK(is_there("globals/f/.skv~d0123456789abcdef/x"));
}

static void *release_after_a_try(void *lock)
{
    usleep(30000);
    close((int)(intptr_t)lock);
    return NULL;
}

static void a_living_writer_is_waited_for(void)
{
    pthread_t thread;
    int lock;

    create_folder_gives("globals/f", 1);
    write_file(temporary_file(), "half");
    lock = lock_file(temporary_file());
    CHECK(skv_delete_folder(store, "globals/f", 9, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "globals/f' failed: timed out waiting for temporary file '");
    CHECK_HAS(skv_reply_message(reply), path(temporary_file()));
    CHECK_HAS(skv_reply_message(reply), "': another process has locked it");
    CHECK(is_there(temporary_file()));
    CHECK(pthread_create(&thread, NULL, release_after_a_try, (void *)(intptr_t)lock) == 0);
    delete_folder_gives("globals/f", 1);
    pthread_join(thread, NULL);
}

static void a_cancelled_call_changes_nothing(void)
{
    skv_cancel *cancel = skv_cancel_new();
    int lock;

    create_folder_gives("globals/f", 1);
    write_file(temporary_file(), "half");
    lock = lock_file(temporary_file());
    skv_cancel_fire(cancel);
    CHECK(skv_delete_folder(store, "globals/f", 9, LONG_MS, cancel, reply) == SKV_INTERRUPTED);
    CHECK(skv_reply_number(reply) == 0 && is_there(temporary_file()));
    close(lock);
    CHECK(skv_delete_folder(store, "globals/f", 9, LONG_MS, cancel, reply) == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    skv_cancel_free(cancel);
}

/* ---- Beside other writers --------------------------------------------------------------------------------------- */

#define ROUNDS 200

/* Puts keys, and checks that each is there after the put. */
static void *put_keys(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t failures = 0;
    char key[32];

    for (int i = 0; i < ROUNDS; i++) {
        size_t len = (size_t)snprintf(key, sizeof key, "globals/c/d/k%d", (int)(intptr_t)data);

        failures += skv_put(store, key, len, "d", 1, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != SKV_OK;
        failures += skv_get(store, key, len, SKV_GET_ANY, LONG_MS, NULL, mine) != SKV_OK;
        failures += skv_delete(store, key, len, SKV_PUT_ANY, NULL, 0, LONG_MS, NULL, mine) != SKV_OK ||
                    skv_reply_number(mine) != 1;
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void *delete_folders(void *data)
{
    skv_reply *mine = skv_reply_new();
    size_t failures = 0;

    (void)data;
    for (int i = 0; i < ROUNDS; i++) {
        skv_status status =
            skv_delete_folder(store, i % 2 ? "globals/c" : "globals/c/d", i % 2 ? 9 : 11, LONG_MS, NULL, mine);

        failures += status != SKV_OK && status != SKV_CONFLICT;
    }
    skv_reply_free(mine);
    return (void *)failures;
}

static void no_key_is_lost_beside_writers(void)
{
    pthread_t threads[4];
    void *failures;

    for (intptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, i % 2 ? delete_folders : put_keys, (void *)i) == 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &failures);
        CHECK(failures == NULL);
    }
    delete_folder("globals/c/d");
    delete_folder("globals/c");
    CHECK(names_in("globals") == 0);
}

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

static void no_memory_loses_nothing(void)
{
    int status = put("globals/f/k", "d");

    CHECK(status == SKV_OK || status == SKV_NOMEM);
    if (status != SKV_OK)
        return;
    status = delete_folder("globals/f");
    CHECK(status == SKV_CONFLICT || status == SKV_NOMEM);
    CHECK(is_there("globals/f/k"));
    CHECK(unlink(path("globals/f/k")) == 0);
    write_file(temporary_file(), "half");
    status = delete_folder("globals/f");
    CHECK(status == SKV_OK ? !is_there("globals/f") : status == SKV_NOMEM);
    deletetree("globals/f");
}

static void calls_survive_running_out_of_memory(void)
{
    chaos(no_memory_loses_nothing);
}

int main(void)
{
    static void (*const tests[])(void) = {
        an_empty_folder_is_deleted,
        a_folder_with_contents_stays_and_one_of_them_is_named,
        a_name_that_is_not_text_is_quoted,
        a_key_and_the_folders_of_every_store_are_refused,
        a_link_is_deleted_if_its_target_is_empty,
        missing_permission_is_named,
        what_dead_writers_left_does_not_keep_the_folder,
        a_temporary_folder_with_contents_is_left_alone,
        a_living_writer_is_waited_for,
        a_cancelled_call_changes_nothing,
        no_key_is_lost_beside_writers,
        calls_survive_running_out_of_memory,
    };

    return run_file_tests("store_file_folders", tests, sizeof tests / sizeof *tests);
}
