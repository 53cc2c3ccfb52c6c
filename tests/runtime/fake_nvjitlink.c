/* fake_nvjitlink.c: what tests give in the place of libnvJitLink.so: it tells the fake driver's log what it is asked,
 * and gives machine code.  Input that begins with "wrong" is refused. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note(const char *text) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void (*to)(const char *) = driver ? (void (*)(const char *))dlsym(driver, "fake_note") : NULL;
    if (to) to(text);
}

static const char image[] = "machine code of all", log_text[] = "error: wrong input";

int nvJitLinkCreate(void **handle, uint32_t count, const char **options) {
    char line[96] = "nvJitLink";
    for (uint32_t i = 0; i < count; i++) snprintf(line + strlen(line), sizeof line - strlen(line), " %s", options[i]);
    return note(line), *handle = (void *)image, 0;
}
int nvJitLinkVersion(unsigned *major, unsigned *minor) {
    const char *version = getenv("FAKE_LINKER");
    return *major = 13, *minor = version ? (unsigned)atoi(version) : 0, 0;
}
int nvJitLinkDestroy(void **handle) { return *handle = NULL, 0; }
int nvJitLinkAddData(void *handle, int type, const void *data, size_t size, const char *name) {
    char line[96];
    (void)handle, (void)name;
    snprintf(line, sizeof line, "nvJitLinkAddData %d: %.*s", type, (int)(size < 9 ? size : 9), (const char *)data);
    if (type != 2) note(line);
    return strncmp(data, "wrong", 5) == 0 ? 3 : 0;
}
int nvJitLinkComplete(void *handle) { return (void)handle, 0; }
int nvJitLinkGetLinkedCubinSize(void *handle, size_t *size) { return (void)handle, *size = sizeof image, 0; }
int nvJitLinkGetLinkedCubin(void *handle, void *to) { return (void)handle, memcpy(to, image, sizeof image), 0; }
int nvJitLinkGetErrorLogSize(void *handle, size_t *size) { return (void)handle, *size = sizeof log_text, 0; }
int nvJitLinkGetErrorLog(void *handle, char *to) { return (void)handle, memcpy(to, log_text, sizeof log_text), 0; }
