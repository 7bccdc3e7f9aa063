//! Limits hold everywhere: inside a computation that touches nothing shared, in a replay, with any number of workers and at
//! any depth. Each test has a deadline of its own: a second late at most, on a machine that has nothing else to do. On one that
//! is busy
//! the processor time is what counts.
#![cfg(unix)]

mod support;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use support::fencepost;

/// What a run may take on a machine that does other things as well.
const SLACK: Duration = Duration::from_secs(15);

/// How late a limit may be.
const LATE: Duration = Duration::from_secs(1);

/// How late a run may be by the clock: a machine with more to do than it has processors says nothing about us.
fn late() -> Duration {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(99.0);
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
    if load < processors { LATE } else { SLACK }
}

/// What looks at the clock runs by itself: tests beside it would take its processors.
fn by_itself() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs until a limit of so many seconds, and looks at clock and processor time. Debug builds take a while to begin with.
fn within(path: &std::path::Path, jobs: u32, seconds: f64, arguments: &[&str]) -> Output {
    let (jobs_text, seconds_text) = (jobs.to_string(), seconds.to_string());
    let mut all = vec!["check", path.to_str().expect("a path"), "-j", &jobs_text, "--timeout", &seconds_text];
    all.extend(arguments);
    let command = fencepost(&all);
    let mut timed = Command::new("bash");
    timed.args(["-c", "TIMEFORMAT='cpu %U %S'; time \"$@\"", "bash"]);
    timed.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        timed.current_dir(folder);
    }
    let _by_itself = by_itself();
    let start = Instant::now();
    let output = timed.output().expect("it runs");
    let time = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let line = said.lines().rev().find_map(|line| line.strip_prefix("cpu ")).expect("a time");
    let cpu: f64 = line.split_whitespace().map(|number| number.parse::<f64>().expect("a number")).sum();
    let limit = Duration::from_secs_f64(seconds);
    assert!(cpu <= f64::from(jobs) * (limit + LATE).as_secs_f64(), "-j {jobs} {arguments:?}: {cpu} s");
    assert!(time <= limit + late(), "-j {jobs} {arguments:?}: {time:?}");
    output
}

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdlib.h>\nstatic int x;\n";

/// A program of two threads; `body` is what the second one does.
fn two_threads(name: &str, body: &str, check: &str) -> PathBuf {
    let main = "pthread_t t; pthread_create(&t, 0, worker, 0); pthread_join(t, 0);";
    let worker = format!("static void *worker(void *arg) {{ (void)arg; {body} return 0; }}");
    file(name, &format!("{HEAD}{worker}\nint main(void) {{ {main} {check} return 0; }}\n"))
}

fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fencepost-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

/// A loop of `count` iterations that only computes.
fn computation(count: &str) -> String {
    format!("unsigned long s = 0; for (unsigned long i = 0; i < {count}; i++) s += i ^ 3; x = s != 7;")
}

fn run(path: &std::path::Path, arguments: &[&str]) -> (Output, Duration) {
    let _by_itself = by_itself();
    let start = Instant::now();
    let mut all = vec!["check", path.to_str().expect("a path")];
    all.extend(arguments);
    let output = fencepost(&all).output().expect("it runs");
    (output, start.elapsed())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_computation_ends_with_the_time() {
    let threads = two_threads("long.c", &computation("2000000000000ul"), "");
    let alone = file(
        "alone.c",
        &format!("{HEAD}int main(void) {{ {} return 0; }}\n", computation("2000000000000ul")),
    );
    let cases: [(&PathBuf, &[&str]); 7] = [
        (&threads, &["-m", "sc"]),
        (&threads, &["-m", "power"]),
        (&threads, &["-m", "tso", "--engine", "states"]),
        (&threads, &["-m", "tso", "--engine", "reduce"]),
        (&alone, &["-m", "sc"]),
        (&alone, &["-m", "rc11", "--engine", "explore"]),
        (&alone, &["-m", "sc", "--engine", "states"]),
    ];
    for (path, arguments) in cases {
        for jobs in [1, 4] {
            let output = within(path, jobs, 0.15, arguments);
            let said = text(&output);
            assert!(matches!(output.status.code(), Some(2 | 3)), "{arguments:?}: {said}");
            assert!(!said.contains(": safe") && !said.contains(": unsafe"), "{arguments:?}: {said}");
        }
    }
}

/// A hundred thousand initialisers and a string of 100 kB are read within a second.
#[test]
fn the_front_end_is_within_the_time() {
    let numbers: Vec<String> = (0..100_000).map(|n| (n % 97).to_string()).collect();
    let string = "x".repeat(100_000);
    let main = "int main(void) { return a[97] + (s[99999] != 'x'); }";
    let path =
        file("large.c", &format!("int a[] = {{{}}};\nchar s[] = \"{string}\";\n{main}\n", numbers.join(",")));
    for jobs in [1, 4] {
        let said = text(&within(&path, jobs, 2.0, &["-m", "sc"]));
        assert!(said.contains(": safe"), "{said}");
    }
}

/// Time and Ctrl-C end the front end, too: a file that takes it many seconds.
#[test]
fn the_front_end_can_be_stopped() {
    let functions: String = (0..400_000)
        .map(|n| format!("int f{n}(int a) {{ if (a > {n}) return a - {n}; return a; }}\n"))
        .collect();
    let path = file("endless.c", &format!("{functions}int main(void) {{ return 0; }}\n"));
    let output = within(&path, 1, 1.0, &["-m", "sc"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("the time limit of 1 s was reached"), "{}", text(&output));
    let path = path.to_str().expect("a path");
    let _by_itself = by_itself();
    let mut child =
        fencepost(&["check", path, "-m", "sc"]).stdout(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(kill.success());
    assert!(matches!(child.wait().expect("it ends").code(), Some(2 | 3)));
    assert!(start.elapsed() < late(), "{:?}", start.elapsed());
}

/// Insertions into a red-black tree under one lock: visits as deep as the executions are long, and no stack that overflows.
#[test]
fn a_tree_under_a_lock_ends_with_the_time() {
    let path = PathBuf::from("crates/cli/tests/data/red_black_tree.c");
    for jobs in [1, 2] {
        let output = within(&path, jobs, 1.5, &["-m", "rc20", "--unroll", "12"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("the time limit of 1.5 s was reached"), "{}", text(&output));
    }
}

/// A read of many writes under a model that looks at all of them: a visit takes long, and so would the way back.
#[test]
fn large_executions_end_with_the_time() {
    let text_of = "#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
        static void *writer(void *arg) { for (int i = 1; i <= 900; i++) atomic_store_explicit(&x, i, 0); return arg; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, writer, 0);\n\
        return atomic_load_explicit(&x, 0) < atomic_load_explicit(&x, 0) - 900; }\n";
    let path = file("many_writes.c", text_of);
    for jobs in [1, 2] {
        let output = within(&path, jobs, 1.0, &["-m", "armv8", "--engine", "explore"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains("the time limit of 1 s was reached"), "{}", text(&output));
    }
}

#[test]
fn a_long_computation_is_no_endless_loop() {
    // More steps than the explorer once allowed.
    let path = two_threads("mid.c", &computation("3000000ul"), "assert(x == 1);");
    let (output, _) = run(&path, &["-m", "sc", "--timeout", "120"]);
    assert!(text(&output).contains(": safe"), "{}", text(&output));
}

#[test]
fn a_loop_that_comes_back_to_where_it_was_is_endless() {
    let path = two_threads("endless.c", "for (unsigned i = 1; i != 0; i ^= 6) ;", "");
    for model in ["sc", "rc11", "armv8"] {
        let (output, time) = run(&path, &["-m", model]);
        let said = text(&output);
        assert!(said.contains("FP0503") && output.status.code() == Some(1), "{model}: {said}");
        assert!(time < SLACK, "{time:?}");
    }
}

#[test]
fn a_computation_ends_with_ctrl_c() {
    let threads = two_threads("interrupted.c", &computation("2000000000000ul"), "");
    let alone = file(
        "interrupted_alone.c",
        &format!("{HEAD}int main(void) {{ {} return 0; }}\n", computation("2000000000000ul")),
    );
    let _by_itself = by_itself();
    for (path, jobs) in [(&threads, "1"), (&threads, "4"), (&alone, "1")] {
        let path = path.to_str().expect("a path");
        let mut command = fencepost(&["check", path, "-m", "sc", "-j", jobs]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(700));
        let start = Instant::now();
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
        assert!(kill.success());
        let code = child.wait().expect("it ends").code();
        assert!(start.elapsed() < late(), "{:?}", start.elapsed());
        assert!(matches!(code, Some(2 | 3)), "{code:?}");
    }
}

#[test]
fn a_computation_ends_with_the_memory() {
    // What a program of one thread allocates, and the path of one of several.
    let grows = "for (long i = 0; i < 4000000; i++) { char *p = malloc(4096); p[i & 7] = 1; }";
    let alone = file("grows.c", &format!("{HEAD}int main(void) {{ {grows} return 0; }}\n"));
    let many = "for (long i = 0; i < 4000000; i++) { x = i & 7; }";
    let threads = two_threads("grows_too.c", many, "");
    for jobs in [1, 4] {
        for path in [&alone, &threads] {
            let said = text(&within(path, jobs, 60.0, &["-m", "sc", "--max-memory", "100"]));
            assert!(said.contains("memory limit"), "-j {jobs}: {said}");
        }
    }
}

#[test]
fn a_counterexample_that_is_too_large_is_no_bug_of_ours() {
    let path = two_threads("late.c", &computation("400000000ul"), "assert(x == 0);");
    let (output, time) = run(&path, &["-m", "sc", "--timeout", "1"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(time < Duration::from_secs(2) + SLACK, "{time:?}");
}

#[test]
fn any_number_of_workers_will_do() {
    let path = two_threads("small.c", "x = 1;", "assert(x == 1);");
    for jobs in ["1", "2", "100000", "18446744073709551615"] {
        let (output, time) = run(&path, &["-m", "sc", "-j", jobs]);
        assert!(text(&output).contains(": safe"), "-j {jobs}: {}", text(&output));
        assert!(time < SLACK, "{time:?}");
    }
}

#[test]
fn deep_recursion_has_room() {
    // Hundreds of exchanges of one cell by two threads: as many visits within each other, and revisits within these.
    let body = "for (int i = 0; i < 200; i++) __atomic_fetch_add(&x, 1, __ATOMIC_SEQ_CST);";
    let worker = format!("static void *worker(void *arg) {{ (void)arg; {body} return 0; }}");
    let main = format!("pthread_t t; pthread_create(&t, 0, worker, 0); {body} pthread_join(t, 0);");
    let path = file("deep.c", &format!("{HEAD}{worker}\nint main(void) {{ {main} return 0; }}\n"));
    for (model, jobs) in [("sc", "1"), ("rc11", "2"), ("power", "2")] {
        let (output, time) =
            run(&path, &["-m", model, "-j", jobs, "--timeout", "0.4", "--engine", "explore"]);
        assert_eq!(output.status.code(), Some(2), "{model} -j {jobs}: {}", text(&output));
        assert!(time < Duration::from_secs(2) + SLACK, "{model}: {time:?}");
    }
}

/// The run of a program without threads finds its mistake at once; showing the way there may take a moment, not what is left
/// of the time, and not longer on the way back.
#[test]
fn a_known_mistake_is_shown_within_a_moment() {
    let body = "for (int i = 0; i < 40000; i++) { a[i % 64] += i; b = a[(i * 7) % 64] + b; } assert(b == 1);";
    let path =
        file("known.c", &format!("{HEAD}static int a[64], b;\nint main(void) {{ {body} return 0; }}\n"));
    for arguments in [&["-m", "sc"][..], &["-m", "sc", "--engine", "explore", "--timeout", "1"]] {
        let (output, time) = run(&path, arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        let expected = if arguments.len() == 2 { "unsafe" } else { "unknown" };
        assert!(text.contains(expected), "{arguments:?}: {text}");
        assert!(time < SLACK, "{arguments:?}: {time:?}");
    }
}

/// The most memory that a run has taken, in megabytes, and what it said.
#[cfg(target_os = "linux")]
fn most_memory(arguments: &[&str]) -> (u64, String) {
    let _by_itself = by_itself();
    let mut child = fencepost(arguments).stdout(Stdio::piped()).spawn().expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or_default() * 1024 / 1_000_000);
        std::thread::sleep(Duration::from_millis(5));
    }
    (most, text(&child.wait_with_output().expect("it has ended")))
}

/// The hardest of the POWER programs that are safe: a second, and 200 MB; what was completed is told.
#[test]
#[cfg(target_os = "linux")]
fn contexts_end_with_the_time_and_the_memory() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus");
    let path = corpus.join("dijkstra_2_fenced.c");
    let bounds = ["-m", "power", "--engine", "reduce", "--contexts", "1..10", "--unroll", "12"];
    let said = text(&within(&path, 1, 1.0, &bounds));
    assert!(said.contains("unknown: the time limit of 1 s was reached"), "{said}");
    let mut all = vec!["check", path.to_str().expect("a path"), "--max-memory", "200"];
    all.extend(bounds);
    let (most, said) = most_memory(&all);
    let completed = "unknown: the memory limit of 200 MB was reached; nothing is wrong with at most 10 contexts and \
        an unroll bound of 2";
    assert!(said.contains(completed), "{said}");
    assert!((100..=200).contains(&most), "{most} MB");
}

/// Loops that only constants decide are followed to their end, a delay that nobody can notice is left out, and a bound that cuts
/// everything is raised.
#[test]
fn bounds_think_for_themselves() {
    let data = |name: &str| format!("crates/cli/tests/data/{name}.c");
    for (file, said) in [
        ("copies_a_literal", "safe under rc20 (2 executions"),
        ("walks_a_table", "safe under rc20 (6 executions)"),
        ("backs_off", "safe under rc20 (90 executions"),
        ("counts_far", "safe up to unroll 16 under rc20"),
    ] {
        let output = fencepost(&["check", "--timeout", "20", &data(file)]).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout).replace(", 0 us", "");
        let line = text.lines().find(|line| line.contains(" under rc20")).unwrap_or(&text).to_string();
        assert!(line.contains(said) || line.contains(&said.replace(')', ",")), "{file}: {text}");
    }
}
