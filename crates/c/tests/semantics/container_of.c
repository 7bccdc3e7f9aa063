#include <stddef.h>
struct list { struct list *next; }; struct item { int v; struct list link; int w; };
#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))
void run(void) { struct item a = {1, {0}, 2}, b = {3, {&a.link}, 4}; struct list *l = &b.link; OUT(container_of(l, struct item, link)->v); OUT(container_of(l->next, struct item, link)->w); OUT(offsetof(struct item, w)); struct item *i = container_of(&a.link, struct item, link); OUT(i == &a); OUT((char *)&a.w - (char *)&a); }
