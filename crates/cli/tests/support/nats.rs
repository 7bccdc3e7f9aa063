//! A `nats-server` on the loopback interface, workers, and what is in its streams.
#![allow(dead_code)]

use super::support::{fencepost, show};
use async_nats::{Client, ConnectOptions, jetstream};
use futures_util::StreamExt;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// A server with a folder of its own.
pub struct Server {
    pub port: u16,
    pub folder: PathBuf,
    configured: bool,
    child: Child,
}

impl Server {
    pub fn start(name: &str) -> Option<Server> {
        Server::configured(name, |_| None)
    }

    /// With a configuration, which may speak of files in a folder.
    pub fn configured(name: &str, configure: impl FnOnce(&Path) -> Option<String>) -> Option<Server> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            eprintln!("there is no nats-server here: this test is absent");
            return None;
        }
        let folder = std::env::temp_dir().join(format!("fencepost-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let configured =
            configure(&folder).map(|text| std::fs::write(folder.join("server.conf"), text)).is_some();
        let (port, child) = Server::run(None, &folder, configured);
        Some(Server { port, folder, configured, child })
    }

    /// On this port, or on one that the server finds: one that was free a moment ago may be somebody's by now.
    fn run(port: Option<u16>, folder: &Path, configured: bool) -> (u16, Child) {
        let mut command = Command::new("nats-server");
        let asked = port.map_or("-1".into(), |port| port.to_string());
        command.args(["-a", "127.0.0.1", "-p", &asked, "-js", "-sd"]).arg(folder.join("streams"));
        command.arg("--ports_file_dir").arg(folder);
        if configured {
            command.arg("-c").arg(folder.join("server.conf"));
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let ports = folder.join(format!("nats-server_{}.ports", child.id()));
        let found = || {
            let text = std::fs::read_to_string(&ports).ok()?;
            let after = text.split("127.0.0.1:").nth(1)?;
            after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let port = port.unwrap_or_else(|| until("the port of the server", found));
        until("the server answers", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
        (port, child)
    }

    pub fn restart(&mut self) {
        self.child.kill().expect("it is killed");
        let _ = self.child.wait();
        (_, self.child) = Server::run(Some(self.port), &self.folder, self.configured);
    }

    pub fn address(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Exit code, output and errors, with what is another each time left out.
    pub fn told(&self, output: &Output) -> String {
        let text = show(output).replace(&self.folder.display().to_string(), "FOLDER");
        text.replace(&self.port.to_string(), "PORT").replace(fencepost_explore::BUILD, "BUILD")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Waits until there is something.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_secs(100), "{what}: never");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Workers, which end with the test.
pub struct Workers(pub Vec<Child>);

impl Workers {
    pub fn start(server: &Server, count: usize) -> Workers {
        Workers((0..count).map(|_| Workers::one(server)).collect())
    }

    pub fn one(server: &Server) -> Child {
        Workers::with(server, &["--quiet"])
    }

    /// One whose words go into the file `worker` of the server's folder.
    pub fn with(server: &Server, more: &[&str]) -> Child {
        let address = server.address();
        let arguments = [&["worker", &address, "--jobs", "1"], more].concat();
        let errors = std::fs::File::create(server.folder.join("worker")).expect("a file");
        fencepost(&arguments).stdout(Stdio::null()).stderr(errors).spawn().expect("it starts")
    }

    pub fn replace(&mut self, which: usize, server: &Server) {
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

/// What workers have said so far.
pub fn said(server: &Server) -> String {
    let text = std::fs::read_to_string(server.folder.join("worker")).unwrap_or_default();
    let text = text.replace(&server.folder.display().to_string(), "FOLDER");
    text.replace(&server.port.to_string(), "PORT").replace(fencepost_explore::BUILD, "BUILD")
}

/// An answer without the notes about the cluster.
pub fn answer(output: &Output) -> String {
    let text = show(output);
    let lines = text.lines().filter(|line| !line.starts_with("note: ") && *line != "--- errors ---");
    lines.map(|line| format!("{line}\n")).collect()
}

/// Somebody who knows the server and means no good.
pub struct Guest {
    runtime: Runtime,
    client: Client,
    context: jetstream::Context,
}

impl Guest {
    pub fn at(server: &Server) -> Guest {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let client = runtime.block_on(ConnectOptions::new().connect(server.address())).expect("a connection");
        let context = {
            let _inside = runtime.enter();
            jetstream::new(client.clone())
        };
        Guest { runtime, client, context }
    }

    /// Puts a message into a stream.
    pub fn put(&self, subject: &str, payload: &[u8]) {
        let (subject, payload) = (subject.to_string(), payload.to_vec());
        let put = async { self.context.publish(subject, payload.into()).await?.await };
        self.runtime.block_on(put).expect("it is kept");
    }

    /// The last message of a stream on a subject, which may have `*` in it; and the subject.
    pub fn last(&self, stream: &str, subject: &str) -> Option<(String, Vec<u8>)> {
        self.runtime.block_on(async {
            let stream = self.context.get_stream(stream).await.ok()?;
            let message = stream.get_last_raw_message_by_subject(subject).await.ok()?;
            Some((message.subject.to_string(), message.payload.to_vec()))
        })
    }

    /// The next message that nobody keeps.
    pub fn hear(&self, subject: &str) -> Vec<u8> {
        self.runtime.block_on(async {
            let mut heard = self.client.subscribe(subject.to_string()).await.expect("it listens");
            let next = tokio::time::timeout(Duration::from_secs(60), heard.next()).await;
            next.expect("in time").expect("a message").payload.to_vec()
        })
    }

    /// Says something that nobody keeps.
    pub fn say(&self, subject: &str, payload: &[u8]) {
        let (subject, payload) = (subject.to_string(), payload.to_vec());
        let said = async {
            self.client.publish(subject, payload.into()).await.expect("said");
            self.client.flush().await.expect("said");
        };
        self.runtime.block_on(said);
    }
}
