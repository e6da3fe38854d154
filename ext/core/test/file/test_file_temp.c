/* The store in files: temporary files and folders, and those that a dead writer left. */
#include "file/temp.h"

#include "check.h"
#include "file_fixture.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static void the_temporary_file_of_a_dead_writer_is_removed(void)
{
    put("globals/k", "old");
    write_file(temporary_name(), "half a docu");
    put_gives("globals/k", "new", 1);
    CHECK(!is_there(temporary_name()));
    deletetree("globals");
    write_file(temporary_name(), "half a docu");
    put_gives("globals/k", "newer", 1);
    CHECK(!is_there(temporary_name()) && names_in("globals") == 1);
    get_gives("globals/k", "newer");
}

static void the_second_name_left_by_a_dead_writer_is_removed(void)
{
    put("globals/k", "old");
    CHECK(link(path("globals/k"), path(temporary_name())) == 0);
    CHECK_STR(listed("globals"), "kk=old ");
    put_gives("globals/k", "new", 1);
    CHECK(!is_there(temporary_name()) && names_in("globals") == 1);
    CHECK(link(path("globals/k"), path(temporary_name())) == 0);
    put_gives("globals/k", "new", 0);
    CHECK(!is_there(temporary_name()) && names_in("globals") == 1);
    CHECK(link(path("globals/k"), path(temporary_name())) == 0);
    CHECK(del("globals/k") == SKV_OK);
    CHECK(names_in("globals") == 0);
    CHECK(put("globals/k", "old") == SKV_OK && link(path("globals/k"), path(temporary_name())) == 0);
    CHECK(deletetree("globals") == SKV_OK);
    CHECK(names_in("globals") == 0);
}

static void open_globals_to_all(void)
{
    CHECK(chmod(scratch, 0755) == 0 && chmod(root, 0755) == 0 && chmod(path("globals"), 0777) == 0);
}

static void put_and_put_again(void)
{
    put_gives("globals/k", "one", 1);
    put_gives("globals/k", "two", 1);
}

static void the_temporary_file_of_another_user_is_removed(void)
{
    open_globals_to_all();
    write_file(temporary_name(), "half");
    CHECK(chmod(path(temporary_name()), 0444) == 0);
    as_nobody(put_and_put_again);
    CHECK(names_in("globals") == 1);
    CHECK(chmod(path("globals"), 0770) == 0);
}

static void use_a_closed_temporary_file(void)
{
    CHECK(skv_put(store, "globals/k", 9, "d", 1, SKV_PUT_ANY, NULL, 0, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), "globals/k': timed out waiting for temporary file '");
    CHECK_HAS(skv_reply_message(reply), path(temporary_name()));
    CHECK_HAS(skv_reply_message(reply), "': it cannot be opened (permission denied)");
    CHECK(skv_deletetree(store, "globals", 7, 30, NULL, reply) == SKV_TIMEOUT);
    CHECK_HAS(skv_reply_message(reply), path(temporary_name()));
}

static void a_temporary_file_that_cannot_be_opened_is_named_and_left_alone(void)
{
    open_globals_to_all();
    write_file(temporary_name(), "half");
    CHECK(chmod(path(temporary_name()), 0) == 0);
    as_nobody(use_a_closed_temporary_file);
    CHECK(is_there(temporary_name()));
    CHECK(chmod(path("globals"), 0770) == 0);
}

static void a_temporary_file_can_be_opened_by_the_group_whatever_the_umask(void)
{
    int folder = open(path("globals"), O_RDONLY | O_DIRECTORY);
    mode_t before = umask(0777);
    skv_temp temp;

    skv_temp_init(&temp, folder, "k");
    CHECK(skv_temp_make(&temp, -1, 0660) == 0);
    umask(before);
    CHECK((stat_of(temporary_name()).st_mode & 07777) == 0660);
    skv_temp_discard(&temp);
    close(folder);
}

/* ---- Folders ---------------------------------------------------------------------------------------------------- */

/* Returns what happened to the name, as a mask of inotify's events. */
static uint32_t events_of(int watch, const char *name)
{
    char buffer[4096] __attribute__((aligned(8)));
    ssize_t len = read(watch, buffer, sizeof buffer);
    uint32_t mask = 0;

    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const struct inotify_event *)(buffer + at);

        if (event->len && strcmp(event->name, name) == 0)
            mask |= event->mask & ~(uint32_t)IN_ISDIR;
        at += (ssize_t)(sizeof *event + event->len);
    }
    return mask;
}

static void a_folder_gets_its_name_when_it_has_its_mode(void)
{
    int watch = inotify_init1(IN_NONBLOCK);
    mode_t before = umask(077);

    CHECK(chmod(path("globals"), 02770) == 0);
    CHECK(inotify_add_watch(watch, path("globals"), IN_CREATE | IN_ATTRIB | IN_MOVED_TO) >= 0);
    put("globals/f/k", "d");
    umask(before);
    CHECK(events_of(watch, "f") == IN_MOVED_TO);
    CHECK((stat_of("globals/f").st_mode & 07777) == 02770);
    CHECK(names_in("globals") == 1);
    close(watch);
    CHECK(chmod(path("globals"), 0770) == 0);
}

/* Returns the temporary name of the folder "f". */
static const char *unfinished_folder(void)
{
    static char name[64] = "globals/";

    skv_temp_name_folder(name + 8, "f");
    return name;
}

static void put_into_folder(void)
{
    put_gives("globals/f/k", "d", 1);
}

static void an_unfinished_folder_is_finished_or_removed(void)
{
    CHECK(mkdir(path(unfinished_folder()), 0700) == 0);
    CHECK_STR(listed("globals"), "");
    put_into_folder();
    CHECK((stat_of("globals/f").st_mode & 07777) == 0770);
    CHECK(names_in("globals") == 1);
    deletetree("globals");
    open_globals_to_all();
    CHECK(mkdir(path(unfinished_folder()), 0700) == 0);
    as_nobody(put_into_folder);
    CHECK((stat_of("globals/f").st_mode & 07777) == 0770);
    CHECK(names_in("globals") == 1);
    CHECK(chmod(path("globals"), 0770) == 0);
}

int main(void)
{
    static void (*const tests[])(void) = {
        the_temporary_file_of_a_dead_writer_is_removed,
        the_second_name_left_by_a_dead_writer_is_removed,
        the_temporary_file_of_another_user_is_removed,
        a_temporary_file_that_cannot_be_opened_is_named_and_left_alone,
        a_temporary_file_can_be_opened_by_the_group_whatever_the_umask,
        a_folder_gets_its_name_when_it_has_its_mode,
        an_unfinished_folder_is_finished_or_removed,
    };

    return run_file_tests("store_file_temp", tests, sizeof tests / sizeof *tests);
}
