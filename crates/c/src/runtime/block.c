/* Block operations with a check, or with another result. */
#include <stddef.h>
void *memset(void *, int, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *mempcpy(void *to, const void *from, size_t n) {
    memcpy(to, from, n);
    return (char *)to + n;
}
int memcpy_s(void *to, size_t max, const void *from, size_t n) {
    if (!to || !from || n > max)
        return 22;
    memcpy(to, from, n);
    return 0;
}
int memmove_s(void *to, size_t max, const void *from, size_t n) {
    if (!to || !from || n > max)
        return 22;
    memmove(to, from, n);
    return 0;
}
int memset_s(void *to, size_t max, int byte, size_t n) {
    if (!to || n > max)
        return 22;
    memset(to, byte, n);
    return 0;
}
void explicit_bzero(void *to, size_t n) { memset(to, 0, n); }
