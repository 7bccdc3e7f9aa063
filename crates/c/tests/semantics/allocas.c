#include <alloca.h>
#include <string.h>
static long sum(int n) {
    int *a = alloca(n * sizeof *a);
    long total = 0;
    for (int i = 0; i < n; i++)
        a[i] = i * i;
    for (int i = 0; i < n; i++)
        total += a[i];
    if (n > 3)
        return total + 1000;
    return total;
}
struct node { struct node *next; int value; };
static int list(int n) {
    struct node *first = 0;
    int total = 0;
    for (int i = 0; i < n; i++) {
        struct node *new = __builtin_alloca(sizeof *new);
        new->next = first;
        new->value = i;
        first = new;
    }
    for (; first; first = first->next)
        total = total * 10 + first->value;
    return total;
}
static int recursive(int n) {
    char *text = alloca(8);
    strcpy(text, "abcdefg");
    return n == 0 ? text[0] : recursive(n - 1) + text[n];
}
void run(void) {
    OUT(sum(3));
    OUT(sum(6));
    OUT(list(4));
    OUT(recursive(3));
}
