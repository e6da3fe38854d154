/* A key's file with any name and content is read as it is, listed, compared and replaced. The first byte is the length
 * of the name; the name and the content follow. */
#include "simpkv.h"

#include <assert.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS 5000
#define NEW "{\"value\":2}", 11

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char root[] = "/dev/shm/simpkv-fuzz-XXXXXX";
static skv_store *store;
static skv_reply *reply;

static void remove_root(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0)
        perror(command);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char options[64];
    int len;

    (void)argc, (void)argv;
    reply = skv_reply_new();
    if (!mkdtemp(root))
        abort();
    atexit(remove_root);
    len = snprintf(options, sizeof options, "root_path%c%s", '\0', root);
    store = skv_open("file", 4, options, (size_t)len + 1, reply);
    if (!store)
        abort();
    return 0;
}

/* Writes the file like another program. Returns false for a name that the system, or the store, refuses. */
static bool write_file(const char *name, const uint8_t *bytes, size_t size)
{
    char path[320];
    int fd;

    if (!*name || strchr(name, '/') || strncmp(name, ".", 1) == 0)
        return false;
    snprintf(path, sizeof path, "%s/globals/%s", root, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0660);
    if (fd < 0)
        return false;
    if (write(fd, bytes, size) != (ssize_t)size)
        abort();
    close(fd);
    return true;
}

static void list(void)
{
    skv_list *open = skv_list_open(store, "globals", 7, CALL_MS, NULL, reply);

    assert(open);
    while (skv_list_next(open, CALL_MS, NULL, reply) == SKV_OK)
        assert(skv_reply_number(reply) >= 1);
    assert(skv_reply_status(reply) == SKV_END);
    skv_list_close(open);
}

static void use(const char *key, size_t key_len, const char *contents, size_t size)
{
    list();
    if (skv_get(store, key, key_len, SKV_GET_ANY, CALL_MS, NULL, reply) != SKV_OK)
        return;
    assert(skv_reply_size(reply) == size && memcmp(skv_reply_data(reply), contents, size) == 0);
    assert(skv_put(store, key, key_len, NEW, SKV_PUT_EXPECT, contents, size, CALL_MS, NULL, reply) == SKV_OK);
    assert(skv_get(store, key, key_len, SKV_GET_ANY, CALL_MS, NULL, reply) == SKV_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char key[280] = "globals/";
    size_t name_len = size ? data[0] : 0;

    if (size < 1 + name_len)
        return -1;
    memcpy(key + 8, data + 1, name_len);
    if (write_file(key + 8, data + 1 + name_len, size - 1 - name_len))
        use(key, strlen(key), (const char *)data + 1 + name_len, size - 1 - name_len);
    skv_deletetree(store, "globals", 7, CALL_MS, NULL, reply);
    return 0;
}
