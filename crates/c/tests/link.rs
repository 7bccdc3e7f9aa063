//! Programs of several files (`check --link`): what is shared, what is not, and what does not go together.

mod support;

use fencepost_c::{Options, compile_linked};
use fencepost_diag::SourceFile;
use support::{End, Machine};

/// The end of the program, or the first error.
fn linked(files: &[&str]) -> Result<End, String> {
    let files: Vec<SourceFile> =
        files.iter().zip('a'..).map(|(text, name)| SourceFile::new(format!("{name}.c"), *text)).collect();
    match compile_linked(&files, &Options::default()) {
        Ok(compiled) => Ok(Machine::new(&compiled.program, 1).run(1_000_000)),
        Err(failure) => Err(failure.render()),
    }
}

fn result(files: &[&str]) -> i64 {
    match linked(files) {
        Ok(End::Done(result)) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn statics_are_for_their_file() {
    let a = "static int n = 1; static int f(void) { return n; } int g(void); \
             int main(void) { return f() * 10 + g(); }";
    let b = "static int n = 2; static int f(void) { static int n = 3; return n++; } \
             int g(void) { f(); return f() + n; }";
    assert_eq!(result(&[a, b]), 16);
    assert_eq!(result(&[b, a]), 16);
}

#[test]
fn a_static_function_is_not_the_one_that_another_file_declares() {
    let a = "int f(void); int main(void) { return f(); }";
    let b = "static int f(void) { return 1; } int h(void) { return f(); }";
    let error = linked(&[a, b]).expect_err("nobody defines it");
    assert!(error.contains("has no body"), "{error}");
    let c = "int f(void) { return 2; }";
    assert_eq!(result(&[a, b, c]), 2);
    assert_eq!(result(&[b, c, a]), 2);
}

#[test]
fn variables_are_one_object() {
    let a = "int tentative; extern int defined; int bump(void); extern int array[]; \
             int main(void) { tentative = 5; return bump() + defined + array[1]; }";
    let b =
        "int tentative; int defined = 30; int array[3] = {0, 100}; int bump(void) { return ++tentative; }";
    assert_eq!(result(&[a, b]), 136);
    assert_eq!(result(&[b, a]), 136);
}

#[test]
fn declarations_in_blocks_mean_what_all_files_know() {
    let a = "static int hidden = 7; static int get(void) { extern int shared; int other(void); return shared + other(); } \
             int main(void) { extern int hidden; return get() + hidden; }";
    let b = "int shared = 20; static int hidden = 1; int other(void) { return 300 + hidden; }";
    assert_eq!(result(&[a, b]), 328);
    assert_eq!(result(&[b, a]), 328);
}

#[test]
fn inline_functions_types_and_macros_are_of_each_file() {
    let header = "typedef struct pair { int a, b; } pair; enum { TWO = 2 }; \
                  inline int sum(pair p) { return p.a + p.b; } static inline int twice(int x) { return TWO * x; }\n";
    let a = format!("{header}#define N 5\npair make(int); int main(void) {{ return twice(sum(make(N))); }}");
    let b = format!(
        "{header}#ifdef N\n#error the macro of another file\n#endif\n\
                     pair make(int n) {{ return (pair){{n, twice(n)}}; }}"
    );
    assert_eq!(result(&[&a, &b]), 30);
}

#[test]
fn threads_of_several_files() {
    let a = "#include <pthread.h>\n#include <assert.h>\nextern pthread_mutex_t m; extern int n; void *work(void *); \
             int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); work(0); pthread_join(t, 0); \
             assert(n == 2); return n; }";
    let b = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n; \
             void *work(void *p) { pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m); return p; }";
    assert_eq!(result(&[a, b]), 2);
    assert_eq!(result(&[b, a]), 2);
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let main = "int main(void) { return 0; }";
    let cases = [
        (
            ["int f(void) { return 1; } int main(void) { return f(); }", "int f(void) { return 2; }"],
            "defined twice",
        ),
        (["int x = 1; int main(void) { return x; }", "int x = 2;"], "initialised twice"),
        (["extern int x; int main(void) { return x; }", "long x = 2;"], "declared with another type"),
        (
            ["int f(int); int main(void) { return f(1); }", "long f(int x) { return x; }"],
            "declared with another type",
        ),
        (["int main(void) { return 0; }", main], "defined twice"),
        (
            [
                "struct s { int a; }; extern struct s x; int main(void) { return x.a; }",
                "struct s { char b[4]; } x;",
            ],
            "declared with another type",
        ),
        (["int main(void) { extern int x; return x; }", "long x = 2;"], "declared with another type"),
        (["int x; int main(void) { return x; }", "int x(void) { return 2; }"], "something else"),
    ];
    for (files, expected) in cases {
        let error = linked(&files).expect_err(expected);
        assert!(error.contains(expected), "{files:?}: {error}");
    }
}

#[test]
fn what_is_missing_names_the_option() {
    for text in ["int f(void); int main(void) { return f(); }", "extern int x; int main(void) { return x; }"]
    {
        let error = linked(&[text]).expect_err("something is missing");
        assert!(error.contains("check --link a.c b.c"), "{error}");
    }
}
