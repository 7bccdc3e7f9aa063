//! Small concurrent programs, run under random schedules.

mod support;

use support::{End, run};

#[test]
fn peterson_counts() {
    let text = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <assert.h>
atomic_int flag[2], turn;
int shared;
static void *worker(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < 2; i++) {
        atomic_store(&flag[me], 1);
        atomic_store(&turn, 1 - me);
        while (atomic_load(&flag[1 - me]) && atomic_load(&turn) == 1 - me) ;
        int seen = shared;
        shared = seen + 1;
        assert(shared == seen + 1);
        atomic_store(&flag[me], 0);
    }
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return shared;
}"#;
    for seed in 1..40 {
        assert_eq!(run(text, seed * 7919), End::Done(4));
    }
}
