//! Explorations on a cluster, with a real `nats-server` on the loopback interface: workers, the server and the coordinator are
//! killed, and the answer is that of one process. Without the server the tests say so and are absent.
#![cfg(unix)]

mod support;

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{fencepost, run};

/// A server with a folder of its own.
struct Server {
    port: u16,
    folder: PathBuf,
    child: Child,
}

impl Server {
    fn start(name: &str) -> Option<Server> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            eprintln!("there is no nats-server here: this test is absent");
            return None;
        }
        // A port that is free now is free in a moment, too.
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr()).expect("a port").port();
        let folder = std::env::temp_dir().join(format!("fencepost-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        let child = Server::run(port, &folder);
        Some(Server { port, folder, child })
    }

    fn run(port: u16, folder: &std::path::Path) -> Child {
        let child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the server does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        child
    }

    fn restart(&mut self) {
        self.child.kill().expect("it is killed");
        let _ = self.child.wait();
        self.child = Server::run(self.port, &self.folder);
    }

    fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Workers, which end with the test.
struct Workers(Vec<Child>);

impl Workers {
    fn start(server: &Server, count: usize) -> Workers {
        Workers((0..count).map(|_| Workers::one(server)).collect())
    }

    fn one(server: &Server) -> Child {
        let arguments = ["worker", &server.address(), "--jobs", "1", "--quiet"];
        fencepost(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    fn replace(&mut self, which: usize, server: &Server) {
        let _ = self.0[which].kill();
        let _ = self.0[which].wait();
        self.0[which] = Workers::one(server);
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for worker in &mut self.0 {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

/// An answer without the notes about the cluster, and how many visits there were.
fn answer(output: &std::process::Output) -> String {
    let text = support::show(output);
    let lines = text.lines().filter(|line| !line.starts_with("note: ") && *line != "--- errors ---");
    lines.map(|line| format!("{line}\n")).collect()
}

/// Explores with four workers, and kills one of them, the server, the coordinator, and more workers, one after the other; how many were
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
    let child =
        fencepost(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while !run(&["runs", &address]).contains("waits: 1 items done") {
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
