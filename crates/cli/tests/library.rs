//! The library: what the commands do, for programs that are at hand.

use fencepost::{Check, Litmus, Prove, Verdict};
use std::time::Duration;

const BUFFERS: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    #ifndef ORDER\n#define ORDER memory_order_relaxed\n#endif\n\
    atomic_int x, y; int a, b;\n\
    void *left(void *u) { atomic_store_explicit(&x, 1, ORDER); a = atomic_load_explicit(&y, ORDER); return 0; }\n\
    void *right(void *u) { atomic_store_explicit(&y, 1, ORDER); b = atomic_load_explicit(&x, ORDER); return 0; }\n\
    int main(void) { pthread_t t, u; pthread_create(&t, 0, left, 0); pthread_create(&u, 0, right, 0);\n\
    pthread_join(t, 0); pthread_join(u, 0); assert(a || b); }\n";

#[test]
fn a_program_is_checked_with_options() {
    let check = || Check::new("buffers.c", BUFFERS).jobs(1);
    let verdict = |check: Check| check.run().expect("an answer").verdict;
    assert_eq!(verdict(check().model("tso")), Verdict::Unsafe);
    assert_eq!(verdict(check().model("sc")), Verdict::Safe);
    assert_eq!(verdict(check().model("tso").define("ORDER=memory_order_seq_cst")), Verdict::Safe);
    assert_eq!(verdict(check().model("tso").engine("states")), Verdict::Unsafe);
    assert_eq!(verdict(check().model("tso").options(["--engine", "reduce", "--age", "2"])), Verdict::Unsafe);
    assert_eq!(
        verdict(check().model("sc").max_executions(1_000_000).all().timeout(Duration::from_secs(9))),
        Verdict::Safe
    );
    let mended = check().model("tso").suggest().run().expect("an answer");
    assert!(mended.suggestion.is_some_and(|suggestion| !suggestion.changes.is_empty()));
}

#[test]
fn an_answer_has_its_text() {
    let answer = Check::new("buffers.c", BUFFERS).model("tso").answer().expect("an answer");
    assert!(answer.text.contains("error[FP0101]: assertion `a || b` fails"), "{}", answer.text);
    assert!(answer.text.contains("buffers.c: unsafe under tso"), "{}", answer.text);
    assert_eq!(answer.engine, "explore");
}

#[test]
fn mistakes_are_data() {
    let error = Check::new("wrong.c", "int main(void) { retrun 0; }\nint f(void) { return y; }\n")
        .run()
        .expect_err("mistakes");
    let places: Vec<_> = error.mistakes.iter().map(|mistake| (mistake.line, mistake.column)).collect();
    assert_eq!(places, [(1, 18), (2, 22)], "{error:?}");
    assert!(error.to_string().contains("wrong.c:1:18"), "{error}");
    let model = Check::new("a.c", "int main(void) {}").model("armv9").run().expect_err("no such model");
    assert!(model.message.contains("there is no model `armv9`") && model.mistakes.is_empty(), "{model:?}");
    let option =
        Check::new("a.c", "int main(void) {}").options(["--agee", "2"]).run().expect_err("no such option");
    assert!(option.message.contains("--agee"), "{option:?}");
    let none = Check::of_file("no/such/file.c").expect_err("no such file");
    assert!(none.message.contains("cannot read no/such/file.c"), "{none:?}");
}

#[test]
fn litmus_tests_and_systems_have_outcomes() {
    let text = std::fs::read_to_string("../../examples/SB+10W.litmus").expect("an example");
    let outcome = Litmus::new("SB+10W.litmus", &text).model("power").run().expect("an answer");
    assert_eq!(outcome.statistics.executions, Some(184_759));
    let limited = Litmus::new("SB+10W.litmus", &text).model("power").timeout(Duration::from_millis(1)).run();
    assert_eq!(limited.expect("an answer").verdict, Verdict::Unknown);
    assert!(Litmus::new("empty.litmus", "").run().is_err());
    let system = "type t = Idle | Crit\narray S[proc] : t\nvar Turn : proc\ninit (z) { S[z] = Idle }\n\
        unsafe (x y) { S[x] = Crit && S[y] = Crit }\n\
        transition enter (x)\nrequires { S[x] = Idle && Turn = x }\n{ S[x] := Crit; }\n\
        transition leave (x)\nrequires { S[x] = Crit }\n{ S[x] := Idle; Turn := ?; }\n";
    let proof = Prove::new("turn.cub", system).model("sc").run();
    let outcome = proof.expect("an answer");
    assert_eq!(outcome.verdict, Verdict::Safe, "{outcome:?}");
}

fencepost::test!(the_corpus_is_safe_under_sc: "../c/corpus/dekker_2_rlx.c", sc, safe);

#[test]
fn a_file_is_checked_in_a_test() {
    fencepost::test!("../c/corpus/dekker_2_rlx.c", tso, unsafe);
    fencepost::test!("../c/corpus/dekker_2_rlx.c", tso, FP0101, "--unroll=2");
    let wrong = std::panic::catch_unwind(|| fencepost::test!("../c/corpus/dekker_2_rlx.c", tso, safe));
    let message = *wrong.expect_err("it is unsafe").downcast::<String>().expect("a message");
    assert!(message.starts_with("expected safe under tso") && message.contains("error[FP0101]"), "{message}");
}
