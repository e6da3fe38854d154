#include "file_fixture.h"

#include "check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

char scratch[] = "/tmp/simpkv-test-file-XXXXXX";
char root[64];
bool by_walking;

skv_store *open_at(const char *path)
{
    char options[256];
    int len = snprintf(options, sizeof options, "root_path%c%s", '\0', path);

    return skv_open("file", 4, options, (size_t)len + 1, reply);
}

skv_store *open_files_with(const char *option, const char *value)
{
    char options[256];
    int len = snprintf(options, sizeof options, "root_path%c%s%c%s%c%s", '\0', root, '\0', option, '\0', value);

    return skv_open("file", 4, options, (size_t)len + 1, reply);
}

const char *path(const char *name)
{
    static char paths[4][512];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof *paths, "%s/%s", root, name);
    return paths[next];
}

struct stat stat_of(const char *name)
{
    struct stat found = {0};

    CHECK(lstat(path(name), &found) == 0);
    return found;
}

bool is_there(const char *name)
{
    struct stat found;

    return lstat(path(name), &found) == 0;
}

int names_in(const char *folder)
{
    DIR *dir = opendir(path(folder));
    int count = -2;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

void write_file(const char *name, const char *text)
{
    int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0660);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

int lock_file(const char *name)
{
    int fd = open(path(name), O_RDWR | O_CREAT, 0660);

    CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
    return fd;
}

const char *temporary_name(void)
{
    static char name[64];

    snprintf(name, sizeof name, "globals/.skv~%016llx", (14695981039346656037ULL ^ 'k') * 1099511628211ULL);
    return name;
}

void as_nobody(void (*run)(void))
{
    bool is_root = geteuid() == 0;

    if (is_root)
        CHECK(setegid(NOBODY) == 0 && seteuid(NOBODY) == 0);
    run();
    if (is_root)
        CHECK(seteuid(0) == 0 && setegid(0) == 0);
}

static void start_empty(void)
{
    CHECK(deletetree("globals") == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(deletetree("environments") == SKV_OK);
    CHECK(names_in("globals") == 0 && names_in("environments") == 0);
}

bool forbid_call(unsigned number, unsigned error_number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool in_child_without(long number, int error_number, void (*run)(void))
{
    int status = -1;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (CHECK(forbid_call((unsigned)number, (unsigned)error_number)))
            run();
        status = check_summary("in a child");
        fflush(NULL);
        _exit(status);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_each(void (*const *tests)(void), size_t count)
{
    for (size_t i = 0; i < count; i++) {
        start_empty();
        tests[i]();
    }
    start_empty();
}

int run_file_tests(const char *name, void (*const *tests)(void), size_t count)
{
    char command[128];

    if (!CHECK(mkdtemp(scratch) != NULL))
        return check_summary(name);
    snprintf(root, sizeof root, "%s/root", scratch);
    reply = skv_reply_new();
    store = open_at(root);
    CHECK_STATUS(reply, SKV_OK);
    if (store) {
        run_each(tests, count);
        by_walking = CHECK(forbid_call(SYS_openat2, ENOSYS));
        run_each(tests, count);
    }
    skv_close(store);
    skv_reply_free(reply);
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", scratch, scratch);
    CHECK(system(command) == 0);
    return check_summary(name);
}
