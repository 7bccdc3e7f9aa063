//! Explorations on a cluster, with a real `nats-server` on the loopback interface: workers, the server and the coordinator are
//! killed, and the answer is that of one process. Without the server the tests say so and are absent.
#![cfg(unix)]

#[path = "support/nats.rs"]
mod nats;
mod support;

use nats::{Guest, Server, Workers, answer, said, until};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use support::{fencepost, run};

/// Explores with four workers, and kills one of them, the server, the coordinator, and more workers, one after the other; how
/// many were
/// killed before it ended.
fn killed(server: &mut Server, threads: &str) -> u32 {
    let program = "crates/c/corpus/count_fetch_add.c";
    let plain = ["check", program, "--engine", "explore", "-m", "rc11", threads, "--json"];
    let expected = run(&[&plain[..], &["-j", "2"]].concat());
    let mut workers = Workers::start(server, 4);
    let address = server.address();
    let asked = [&plain[..], &["--cluster", &address, "--run", "killed"]].concat();
    let ask = || fencepost(&asked).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let (mut coordinator, start) = (ask(), Instant::now());
    let mut kills = 0;
    while coordinator.try_wait().expect("a state").is_none() {
        assert!(start.elapsed() < Duration::from_secs(150), "it does not end");
        std::thread::sleep(Duration::from_millis(250));
        match kills {
            1 => server.restart(),
            2 => {
                let _ = coordinator.kill();
                let _ = coordinator.wait();
                coordinator = ask();
            }
            n if n < 6 => workers.replace(n as usize % 4, server),
            _ => {}
        }
        kills += 1;
    }
    let output = coordinator.wait_with_output().expect("it ends");
    assert_eq!(answer(&output), expected, "after {kills} kills");
    assert_eq!(run(&["runs", &address]), "exit code 0\n--- output ---\nthere are no runs\n");
    kills
}

#[test]
fn workers_the_server_and_the_coordinator_may_be_killed() {
    let Some(mut server) = Server::start("killed") else { return };
    // A fast machine ends before everybody was killed, and gets more to do.
    let enough = ["-DN=8", "-DN=9", "-DN=10"].iter().any(|threads| killed(&mut server, threads) >= 3);
    assert!(enough, "it always ended before the coordinator was killed");
}

#[test]
fn findings_and_litmus_tests_come_back_from_the_cluster() {
    let Some(server) = Server::start("findings") else { return };
    let address = server.address();
    let _workers = Workers::start(&server, 2);
    let cluster = ["--cluster", &address];
    for plain in [
        &["check", "examples/message.c", "--engine", "explore", "-m", "rc11"][..],
        &["litmus", "examples/SB+10W.litmus", "--states"],
        &["litmus", "examples", "-m", "power"],
    ] {
        let output = fencepost(&[plain, &cluster].concat()).output().expect("it runs");
        let shown = fencepost(plain).output().expect("it runs");
        assert_eq!(answer(&output), answer(&shown), "{plain:?}");
    }
}

#[test]
fn runs_are_listed_and_cancelled_and_mistakes_are_told() {
    let Some(server) = Server::start("runs") else { return };
    let address = server.address();
    let asked = ["check", "crates/c/corpus/count_fetch_add.c", "--engine", "explore", "-m", "rc11", "-DN=10"];
    // Nobody works, so that it waits.
    let arguments = [&asked[..], &["--cluster", &address, "--run", "waits"]].concat();
    let mut child =
        fencepost(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while !run(&["runs", &address]).contains("waits: 1 items done") {
        if child.try_wait().expect("it can be asked").is_some() {
            panic!("it ended: {:?}", child.wait_with_output());
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{}", run(&["runs", &address]));
        std::thread::sleep(Duration::from_millis(50));
    }
    let other = [&asked[..4], &["-m", "sc", "-DN=10", "--cluster", &address, "--run", "waits"]].concat();
    let other = run(&other);
    assert!(other.contains("is about another program, model or options"), "{other}");
    assert!(run(&["runs", &address, "--cancel", "waits"]).contains("waits is cancelled"));
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("the run waits was cancelled"), "{text}");
    assert!(run(&["runs", &address, "--cancel", "waits"]).contains("there is no run `waits`"));
    let secret = run(&["runs", "nats://me:secret@127.0.0.1"]);
    assert!(secret.contains("do not belong on the command line"), "{secret}");
    let nobody = run(&["runs", "nats://127.0.0.1:1"]);
    assert!(nobody.contains("cannot reach nats://127.0.0.1:1"), "{nobody}");
}

const COUNT: [&str; 6] = ["check", "crates/c/corpus/count_fetch_add.c", "--engine", "explore", "-m", "rc11"];

/// Asks, and does not wait.
fn ask(plain: &[&str], server: &Server, name: &str) -> Child {
    let address = server.address();
    let asked = [plain, &["--cluster", &address, "--run", name, "--explore-first", "0.0005"]].concat();
    fencepost(&asked).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

#[test]
fn a_worker_of_another_build_says_so_and_whoever_asked_is_told() {
    let Some(server) = Server::start("builds") else { return };
    let guest = Guest::at(&server);
    let plain = [&COUNT[..], &["-DN=9"]].concat();
    let mut asked = ask(&plain, &server, "ours");
    let (_, spec) = until("the run", || guest.last("FENCEPOST_RUNS", "fencepost.run.ours"));
    let _ = asked.kill();
    let _ = asked.wait();
    let address = server.address();
    run(&["runs", &address, "--cancel", "ours"]);
    // The same run as if another build had begun it.
    let other = String::from_utf8_lossy(&spec).replace(fencepost_explore::BUILD, "0.0.1+another");
    guest.put("fencepost.run.theirs", other.as_bytes());
    let workers = Workers(vec![Workers::with(&server, &[])]);
    let refusal = guest.hear("fencepost.status.theirs");
    let refused = until("a word", || Some(said(&server)).filter(|said| said.contains("refused")));
    insta::assert_snapshot!("refused_by_the_worker", refused);
    drop(workers);
    let listed = run(&["runs", &address]);
    assert!(listed.contains("ago, for the build 0.0.1+another\n"), "{listed}");
    // Those who asked hear the same from such a worker.
    let asked = ask(&plain, &server, "ours");
    until("the run", || guest.last("FENCEPOST_RUNS", "fencepost.run.ours"));
    let other = String::from_utf8_lossy(&refusal).replace(fencepost_explore::BUILD, "0.0.1+another");
    guest.say("fencepost.status.ours", other.as_bytes());
    std::thread::sleep(Duration::from_millis(500));
    run(&["runs", &address, "--cancel", "ours"]);
    insta::assert_snapshot!("refused_run", server.told(&asked.wait_with_output().expect("it ends")));
    let back = ask(&plain, &server, "theirs");
    insta::assert_snapshot!("run_of_another_build", server.told(&back.wait_with_output().expect("it ends")));
}

#[test]
fn a_worker_without_memory_leaves_its_items_to_others() {
    let Some(server) = Server::start("memory") else { return };
    // Items that are large enough for a look at the memory.
    let plain = [&COUNT[..], &["-DN=9", "--json"]].concat();
    let mut workers = Workers(vec![Workers::with(&server, &["--max-memory", "1"])]);
    let asked = ask(&plain, &server, "large");
    let word = until("a word", || Some(said(&server)).filter(|said| said.contains("left to others")));
    insta::assert_snapshot!("without_memory", word.lines().take(2).collect::<Vec<_>>().join("\n"));
    workers.0.push(Workers::one(&server));
    let output = asked.wait_with_output().expect("it ends");
    assert_eq!(answer(&output), run(&[&plain[..], &["-j", "2"]].concat()));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let note = "note: a worker leaves an item to others: it does not fit into --max-memory 1\n";
    assert!(errors.contains(note), "{errors}");
}

/// Threads that count, and what main does where they came in an order that the search comes to late.
const LATE: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, many[40];
int order[N];
union { unsigned long long whole; unsigned half[2]; } u;
void *extra(void *a) { atomic_fetch_add(&many[0], 1); return 0; }
void *waits(void *a) { while (!atomic_load(&many[1])) ; return 0; }
void *count(void *a) { order[(long)a] = atomic_fetch_add_explicit(&x, 1, memory_order_relaxed); return 0; }
int deep(int n) { int a = n, b = n + 1, c = n + 2; return n ? deep(n - 1) + a * b + c : 0; }
int main(void) {
  pthread_t t[N], other;
  for (long i = 0; i < N; i++) pthread_create(&t[i], 0, count, (void *)i);
  for (int i = 0; i < N; i++) pthread_join(t[i], 0);
  u.whole = 1;
  if (order[0] == N - 1) {
    if (NEED & 1) for (int i = 0; i < 40; i++) atomic_store(&many[i], i);
    if (NEED & 2) { pthread_create(&other, 0, extra, 0); pthread_join(other, 0); }
    if (NEED & 4) assert(u.half[0] == 1);
    if (NEED & 8) assert(deep(30) > 0);
    if (NEED & 16) { pthread_create(&other, 0, waits, 0); *(int *)&many[1] = 1; pthread_join(other, 0); }
  }
  return 0;
}
";

#[test]
fn a_run_that_needs_more_starts_over_with_several_workers() {
    let Some(server) = Server::start("over") else { return };
    let file = server.folder.join("late.c");
    std::fs::write(&file, LATE).expect("written");
    let file = file.display().to_string();
    let _workers = Workers::start(&server, 2);
    let mut over = 0;
    for need in ["-DNEED=11", "-DNEED=4", "-DNEED=16"] {
        let plain = ["check", &file, "--engine", "explore", "-m", "rc11", "--all", "--json", "-DN=7", need];
        let alone = run(&[&plain[..], &["-j", "1"]].concat());
        let output = ask(&plain, &server, "late").wait_with_output().expect("it ends");
        assert_eq!(answer(&output), alone, "{need}");
        over += usize::from(String::from_utf8_lossy(&output.stderr).contains("started over"));
    }
    assert!(over > 0, "no run started over");
}
