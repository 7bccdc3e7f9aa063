#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
constexpr int N = 2;
atomic_int x;
bool done = false;
int *p = nullptr;
void *w(void *) { atomic_fetch_add(&x, N); return nullptr; }
int main() { pthread_t t; pthread_create(&t, nullptr, w, nullptr); pthread_join(t, nullptr); assert(x == N && !done && p == nullptr); static_assert(N == 2); }
