#include <string.h>
void run(void) {
    const char *s = "hello" " " "world"; OUT(strlen(s)); OUT(s[6]); char b[20]; strcpy(b, s); b[0] = 'j'; OUT(b[0]); OUT(strcmp(b, s) > 0); OUT(strcmp("a", "a"));
    OUT(strncmp("abcd", "abxx", 2)); strcat(b, "!"); OUT(strlen(b)); OUT(*strchr(s, 'w')); OUT(strchr(s, 'z') == 0); OUT("abc"[1]); OUT(sizeof("abc")); OUT(*"q"); char *p = b; while (*p) p++; OUT(p - b);
    OUT("\t\101\0x"[1]); OUT(sizeof("a\0b")); strncpy(b, "xy", 5); OUT(b[4]); OUT(b[5]);
}
