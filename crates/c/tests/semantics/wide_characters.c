#include <stddef.h>
#include <stdarg.h>
#include <uchar.h>
static const wchar_t text[] = L"h\u00e9" "llo";
static const char16_t pair[] = u"\U0001F600!";
static char32_t fixed[8] = U"ab";
struct point { int x, y; char name[5]; };
static int points(int n, ...) {
    va_list ap;
    int total = 0;
    va_start(ap, n);
    while (n--) {
        struct point p = va_arg(ap, struct point);
        total = total * 10 + p.x + p.y + (p.name[0] == 'a') + va_arg(ap, int);
    }
    va_end(ap);
    return total;
}
[[gnu::noinline]] static int attributed([[maybe_unused]] int unused) {
    switch (unused) {
    case 0:
        unused = 3;
        [[fallthrough]];
    default:
        break;
    }
    return unused;
}
void run(void) {
    const wchar_t *other = L"xyz";
    OUT(sizeof text); OUT(text[1]); OUT(text[4]); OUT(other[2]);
    OUT(sizeof pair); OUT(pair[0]); OUT(pair[2]);
    OUT(fixed[1]); OUT(fixed[2]); OUT(sizeof fixed);
    OUT('ab'); OUT('\377'); OUT('abcd'); OUT(L'\u20ac'); OUT(u'z'); OUT(sizeof(u'z'));
    struct point p = {1, 2, "abc"};
    OUT(points(2, p, 1, (struct point){2, 2, "b"}, 3));
    OUT(attributed(0));
}
