//! Numbers of executions in C, from end to end, each with where it comes from:
//!
//! * *literature*: printed in a paper about the same program;
//! * *combinatorics*: a formula that needs no tool;
//! * *another tool*: what it counted on the same program;
//! * *fitted*: a paper's number, but the paper does not print the program, and ours has its fences where the number came
//!   out: a regression value, no evidence;
//! * *our own*: a regression value.
//!
//! What takes long runs with `FENCEPOST_FULL=1` only.

use std::path::Path;
use std::process::Command;

/// The models that the explorer knows.
fn models() -> Vec<&'static str> {
    fencepost_models::registry::names(|model| model.twin.is_some())
}

fn is_full() -> bool {
    std::env::var_os("FENCEPOST_FULL").is_some_and(|value| value != "0")
}

/// The complete executions of a program of the corpus with its parameter N.
fn executions(program: &str, n: u32, model: &str) -> u64 {
    answer(program, &format!("N={n}"), model)["executions"].as_u64().expect("a number")
}

/// The answer about a safe program whose loops all end.
fn answer(program: &str, define: &str, model: &str) -> serde_json::Value {
    answer_with(program, define, model, &[])
}

/// The same with more options.
fn answer_with(program: &str, define: &str, model: &str, options: &[&str]) -> serde_json::Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../c/corpus").join(program);
    let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["check", "--json", "-j2", "--unroll", "20", "-m", model, "-D", define])
        .args(options)
        .arg(file)
        .output()
        .expect("fencepost runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let answer: serde_json::Value = serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(answer["verdict"], "safe", "{program} {define} {model}: {answer}");
    assert_eq!(answer["cut"], 0, "{program} {define} {model}");
    answer
}

/// `counts[i]` belongs to `N = first + i`; `N` beyond `quick` is for the full run.
fn holds(program: &str, models: &[&str], first: u32, counts: &[u64], quick: u32) {
    for (n, &count) in (first..).zip(counts) {
        if n > quick && !is_full() {
            break;
        }
        for model in models {
            assert_eq!(executions(program, n, model), count, "{program} N={n} {model}");
        }
    }
}

/// *Literature* ([AAJL16, Table 1]) for N = 5 under POWER; the others from *another tool* (GenMC and Nidhugg).
#[test]
fn fib_joined() {
    let weak = [20, 175, 1764, 19_404, 226_512];
    holds("count_fib_join.c", &["tso", "ra", "rc11"], 2, &weak, 5);
    holds("count_fib_join.c", &["sc"], 2, &[19, 141, 1107, 8953, 73_789], 6);
    holds("count_fib_join.c", &["power"], 5, &weak[3..4], 5);
}

/// *Combinatorics*: read-modify-writes of one cell are in a row: N!.
#[test]
fn fetch_add() {
    holds("count_fetch_add.c", &models(), 2, &[2, 6, 24, 120], 5);
    holds("count_fetch_add.c", &["rc11"], 6, &[720, 5040, 40_320, 362_880], 7);
}

/// *Combinatorics*: each reader sees the old value or the new one: 2^N.
#[test]
fn readers_and_a_writer() {
    holds("count_readers.c", &models(), 1, &[2, 4, 8, 16, 32, 64], 6);
    holds("count_readers.c", &["power", "rc11"], 13, &[8192], 12);
    holds("count_readers.c", &["rc11"], 16, &[65_536], 15);
}

/// Thread i exchanges i - 1 by i, so successes are chains. *Another tool*: GenMC.
#[test]
fn chains_of_compare_exchanges() {
    let counts = [14, 43, 144, 523, 2048, 8597, 38_486];
    holds("count_cas.c", &["rc11"], 4, &counts, 8);
    holds("count_cas.c", &["sc", "tso", "pso", "ra", "power", "armv8"], 4, &counts[..3], 5);
}

/// *Another tool*: GenMC.
#[test]
fn peterson_in_rounds() {
    holds("count_peterson_rounds.c", &["rc11"], 1, &[4, 48, 588], 3);
    holds("count_peterson_rounds.c", &["rc11"], 5, &[93_652], 4);
}

/// Work that is handed over is the same work: a graph that was given away before its first read once kept marks of a branch
/// that had been left, and a thread of it stood still.
#[test]
fn workers_do_not_change_the_answer() {
    for _ in 0..30 {
        holds("count_peterson_rounds.c", &["rc11"], 3, &[588], 3);
        holds("count_ticket_lock.c", &["rc11"], 5, &[120], 5);
    }
}

/// *Combinatorics*: tickets are a fetch_add, and they decide all the rest: N!.
#[test]
fn ticket_lock() {
    holds("count_ticket_lock.c", &models(), 2, &[2, 6, 24], 4);
    holds("count_ticket_lock.c", &["rc11"], 5, &[120, 720, 5040, 40_320], 5);
}

/// *Our own*: threads push and pop; three are few enough for every CI. Iterations with plain reads that could race are kept once.
#[test]
fn treiber_stack() {
    holds("count_treiber.c", &["rc11"], 2, &[40, 25_584], 3);
}

/// *Literature*: the hash table of the papers on partial orders, with 12 and 13 threads.
#[test]
fn indexer() {
    holds("table1_indexer.c", &["sc", "tso", "rc11"], 12, &[8, 64], 13);
}

/// *Fitted*, but for `fib_true_join` (*literature*): [AAJL16, Table 1], the fenced programs under POWER. What is counted there
/// are complete executions and those that end in
/// an assumption; a loop is unrolled as often as the paper says, and what would go on then ends in an assumption too.
#[test]
fn programs_of_table_1() {
    let programs = [
        ("dcl_singleton_y", 7),
        ("dekker_y", 246),
        ("fib_true_join", 19_404),
        ("lamport_y", 50),
        ("parker_y", 1126),
        ("peterson_y", 10),
        ("pgsql_y", 16),
        ("stack_safe", 1005),
        ("szymanski_y", 226),
    ];
    for (program, traces) in programs {
        // An execution in which a thread waits in vain is one there.
        let found = answer_with(&format!("table1_{program}.c"), "TABLE_1", "power", &["--retries", "awake"]);
        let number = |key: &str| found[key].as_u64().expect("a number");
        assert_eq!(number("executions") + number("blocked"), traces, "{program}: {found}");
    }
}

/// *Combinatorics* for what gives the critical section away in order (N!), *our own* for the others: threads that wait under
/// POWER and ARMv8 sleep,
/// and what is blocked does not multiply.
#[test]
fn locks_of_three_threads_under_hardware_models() {
    let programs = [
        ("lock_anderson_3_acq.c", 6, 0),
        ("lock_caslock_3_acq.c", 6, 0),
        ("lock_clh_3_acq.c", 6, 0),
        ("lock_mcs_3_acq.c", 66, 0),
        ("lock_qspin_3_acq.c", 444, 204),
        ("lock_tas_3_acq.c", 6, 0),
        ("lock_ticket_3_acq.c", 6, 0),
        ("lock_ttas_3_acq.c", 36, 42),
    ];
    for (program, executions, blocked) in programs {
        for model in ["power", "armv8"] {
            let found = answer(program, "THREADS=3", model);
            assert_eq!(found["executions"], executions, "{program} {model}");
            // Today's ARMv8 has dependencies through memory: this lock's compare-exchange then takes part in an early pair.
            let out_of_order = model == "armv8" && program == "lock_qspin_3_acq.c";
            let blocked = if out_of_order { 600_000 } else { blocked };
            assert!(found["blocked"].as_u64() <= Some(blocked), "{program} {model}: {found}");
        }
    }
}
