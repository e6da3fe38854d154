#include "audit_fixture.h"

#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

skv_reply *result;
char log_folder[32];
char log_file[64];

static void empty_log_folder(void)
{
    DIR *folder = opendir(log_folder);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

int run_audit_tests(const char *name, void (*const *tests)(void), size_t count)
{
    result = skv_reply_new();
    strcpy(log_folder, "/tmp/audit-XXXXXX");
    CHECK(mkdtemp(log_folder));
    snprintf(log_file, sizeof log_file, "%s/audit.log", log_folder);
    for (size_t i = 0; i < count; i++) {
        tests[i]();
        empty_log_folder();
    }
    CHECK(rmdir(log_folder) == 0);
    skv_reply_free(result);
    return check_summary(name);
}

skv_audit *open_target(const char *target)
{
    skv_audit *audit = skv_audit_open(target, strlen(target), result);

    CHECK_STATUS(result, audit ? SKV_OK : SKV_INVALID);
    return audit;
}

skv_audit *open_log_file(void)
{
    return open_target(log_file);
}

skv_status write_within(skv_audit *audit, const char *lines, int64_t timeout_ms)
{
    return skv_audit_write(audit, lines, strlen(lines), timeout_ms, result);
}

skv_status write_text(skv_audit *audit, const char *lines)
{
    return write_within(audit, lines, WAIT_MS);
}

const char *content_of(const char *file)
{
    static char content[65536];
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? 0 : read(fd, content, sizeof content - 1);

    if (fd >= 0)
        close(fd);
    content[len < 0 ? 0 : len] = '\0';
    return content;
}

void set_content(const char *file, const char *text)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
    close(fd);
}

int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool child_returns(bool (*run)(void))
{
    int status = -1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0)
        _exit(run() ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0;
}
