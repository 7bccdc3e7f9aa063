//! Who may come to a cluster, and what those may put there who should not: TLS, users, credentials, and runs that are bad input.
//! Without a `nats-server` the tests say so and are absent.
#![cfg(unix)]

#[path = "support/nats.rs"]
mod nats;
mod support;

use nats::{Guest, Server, Workers, answer, said, until};
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::{fencepost, run};

const COUNT: [&str; 8] =
    ["check", "crates/c/corpus/count_fetch_add.c", "--engine", "explore", "-m", "rc11", "-DN=6", "--json"];

/// Runs with some variables of the environment.
fn with(variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    fencepost(arguments).envs(variables.iter().copied()).output().expect("it runs")
}

/// Explores with one worker, and both log in like that: the answer is that of one process.
fn explores(server: &Server, address: &str, variables: &[(&str, &str)], more: &[&str]) {
    let worker = [&["worker", address, "--jobs", "1"], more].concat();
    let mut worker = fencepost(&worker);
    let worker = worker.envs(variables.iter().copied()).stdout(Stdio::null()).stderr(Stdio::null());
    let _workers = Workers(vec![worker.spawn().expect("it starts")]);
    let cluster = ["--cluster", address, "--explore-first", "0.001"];
    let output = with(variables, &[&COUNT[..], &cluster, more].concat());
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("items on the cluster"), "{}", server.told(&output));
    assert_eq!(answer(&output), run(&COUNT));
}

/// An authority, and what it has signed for `localhost`, in a folder; nothing if there is no `openssl`.
fn certificates(folder: &Path) -> Option<()> {
    let files = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    let alone = ["req", "-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem"];
    let asks = ["req", "-subj", "/CN=localhost", "-keyout", "own.key", "-out", "own.csr"];
    let signs = ["x509", "-req", "-in", "own.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"];
    let names = ["-days", "2", "-extfile", "names", "-out", "own.pem"];
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n").ok()?;
    let files_of_a_request = &files[..files.len() - 2];
    for arguments in [
        [&alone[..], &files].concat(),
        [&asks[..], files_of_a_request].concat(),
        [&signs[..], &names].concat(),
    ] {
        let ran = Command::new("openssl").args(arguments).current_dir(folder).output().ok()?;
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    Some(())
}

#[test]
fn tls_and_passwords() {
    let mut made = None;
    let server = Server::configured("tls", |folder| {
        made = certificates(folder);
        let path = |name: &str| folder.join(name).display().to_string();
        Some(format!(
            "tls {{ cert_file: {:?}, key_file: {:?} }}\nauthorization {{ user: me, password: secret }}\n",
            path("own.pem"),
            path("own.key")
        ))
    });
    let Some(server) = server else { return };
    made.expect("openssl is there wherever nats-server is");
    let address = server.address().replace("nats://", "tls://");
    let authority = server.folder.join("ca.pem").display().to_string();
    let (trusted, me) = (("NATS_CA", authority.as_str()), ("NATS_USER", "me"));
    let (right, wrong) = (("NATS_PASSWORD", "secret"), ("NATS_PASSWORD", "guess"));
    let no_file = server.folder.join("none.pem").display().to_string();
    let mut told = String::new();
    for (who, variables) in [
        ("an authority that nobody knows", &[me, right][..]),
        ("a file that is not there", &[("NATS_CA", &no_file), me, right]),
        ("nobody", &[trusted]),
        ("a wrong password", &[trusted, me, wrong]),
        ("the right one", &[trusted, me, right]),
    ] {
        told += &format!("== {who}\n{}", server.told(&with(variables, &["runs", &address])));
    }
    // A worker waits for a server that is not there, but not for a password to become right.
    told += &format!("== a worker\n{}", server.told(&with(&[trusted, me, wrong], &["worker", &address])));
    insta::assert_snapshot!("logins", told);
    explores(&server, &address, &[trusted, me, right], &[]);
}

/// A token of NATS: claims, signed by a key.
fn token(kind: &str, subject: &KeyPair, signer: &KeyPair, mut nats: Value) -> String {
    nats["type"] = json!(kind);
    nats["version"] = json!(2);
    let claims = json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "iss": signer.public_key(), "name": kind,
        "sub": subject.public_key(), "nats": nats,
    });
    let encode = |bytes: &[u8]| data_encoding::BASE64URL_NOPAD.encode(bytes);
    let head = encode(br#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let signed = format!("{head}.{}", encode(claims.to_string().as_bytes()));
    let signature = signer.sign(signed.as_bytes()).expect("it has a seed");
    format!("{signed}.{}", encode(&signature))
}

/// A file as `nsc` writes it.
fn credentials(token: &str, key: &KeyPair) -> String {
    format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        key.seed().expect("it has one")
    )
}

#[test]
fn credentials_of_users() {
    let (operator, account, system) =
        (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_account());
    let (user, stranger) = (KeyPair::new_user(), KeyPair::new_user());
    let all = json!({
        "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
        "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
    });
    let free = json!({ "subs": -1, "data": -1, "payload": -1 });
    let server = Server::configured("creds", |folder| {
        let good = token("user", &user, &account, free.clone());
        // Signed by somebody who is no account of the server.
        let bad = token("user", &stranger, &KeyPair::new_account(), free.clone());
        for (name, text) in
            [("good", credentials(&good, &user)), ("bad", credentials(&bad, &stranger)), ("none", "?".into())]
        {
            std::fs::write(folder.join(name), text).expect("written");
        }
        let silent = json!({ "subs": -1, "data": -1, "payload": -1, "conn": -1, "wildcards": true });
        Some(format!(
            "operator: {}\nresolver: MEMORY\nsystem_account: {}\nresolver_preload: {{\n  {}: {}\n  {}: {}\n}}\n",
            token("operator", &operator, &operator, json!({})),
            system.public_key(),
            account.public_key(),
            token("account", &account, &operator, json!({ "limits": all })),
            system.public_key(),
            token("account", &system, &operator, json!({ "limits": silent })),
        ))
    });
    let Some(server) = server else { return };
    let address = server.address();
    let path = |name: &str| server.folder.join(name).display().to_string();
    let mut told = String::new();
    for name in ["good", "bad", "none", "not there"] {
        let output = with(&[], &["runs", &address, "--creds", &path(name)]);
        told += &format!("== {name}\n{}", server.told(&output));
    }
    told += &format!("== without\n{}", server.told(&with(&[], &["runs", &address])));
    insta::assert_snapshot!("credentials", told);
    let good = path("good");
    explores(&server, &address, &[], &["--creds", &good]);
    explores(&server, &address, &[("NATS_CREDS", &good)], &[]);
}

/// A run that waits, with an item in the queue, to be made something else.
fn waiting(server: &Server, guest: &Guest) -> (Value, (String, Vec<u8>)) {
    let address = server.address();
    let cluster = ["--cluster", &address, "--explore-first", "0.001", "--run", "seen"];
    let mut asked = fencepost(&[&COUNT[..], &cluster].concat());
    let mut child = asked.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let item = until("an item", || guest.last("FENCEPOST_WORK", "fencepost.work.*.seen.*"));
    let (_, spec) = guest.last("FENCEPOST_RUNS", "fencepost.run.seen").expect("a run");
    let _ = child.kill();
    let _ = child.wait();
    run(&["runs", &address, "--cancel", "seen"]);
    (serde_json::from_slice(&spec).expect("JSON"), item)
}

#[test]
fn what_others_put_there_is_bad_input() {
    let Some(server) = Server::start("guests") else { return };
    let (guest, address) = (Guest::at(&server), server.address());
    let (spec, (subject, item)) = waiting(&server, &guest);
    let changed = |change: &dyn Fn(&mut Value, &mut Value)| {
        let mut spec = spec.clone();
        let mut description: Value =
            serde_json::from_str(spec["description"].as_str().expect("text")).expect("JSON");
        change(&mut spec, &mut description);
        if spec["description"].as_str().is_some_and(|text| text.starts_with('{')) {
            spec["description"] = json!(description.to_string());
        }
        spec.to_string().into_bytes()
    };
    let program = "crates/c/corpus/count_fetch_add.c";
    let secret = server.folder.join("secret.h");
    std::fs::write(&secret, "#error this file was opened\n").expect("written");
    let text = |text: &'static str| move |_: &mut Value, d: &mut Value| d["files"][program] = json!(text);
    let opened = format!("#include \"{}\"\nint main(void) {{ return 0; }}\n", secret.display());
    let deep = format!("int main(void) {{ return {}0{}; }}\n", "(".repeat(200_000), ")".repeat(200_000));
    let bombs: Vec<String> = (0..40).map(|n| format!("#define A{} A{n} A{n}\n", n + 1)).collect();
    let bomb = format!("#define A0 1 +\n{}int x = A40 0;\n", bombs.concat());
    let runs: Vec<(&str, Vec<u8>)> = vec![
        ("no_json", b"\xff\xfe{".to_vec()),
        ("truncated", spec.to_string().into_bytes()[..200].to_vec()),
        ("other_text", changed(&text("int main(void) { return 0; }\n"))),
        ("no_c", changed(&text("what is this\n"))),
        ("opens", changed(&|_, d| d["files"][program] = json!(opened))),
        (
            "flags",
            changed(&|_, d| {
                d["options"]["flags"] = json!(["-include", secret.display().to_string(), "@/etc/passwd"])
            }),
        ),
        ("deep", changed(&|_, d| d["files"][program] = json!(deep))),
        ("bomb", changed(&|_, d| d["files"][program] = json!(bomb))),
        ("no_program", changed(&|_, d| d["programs"] = json!([]))),
        ("model", changed(&|_, d| d["options"]["model"] = json!("/etc/passwd"))),
        ("mapping", changed(&|_, d| d["options"]["mapping"] = json!("x".repeat(50)))),
        ("target", changed(&|_, d| d["options"]["target"] = json!("none"))),
        ("unknown", changed(&|_, d| d["options"]["more"] = json!(1))),
        ("litmus", changed(&|_, d| d["litmus"] = json!(true))),
        ("needs", changed(&|s, _| s["needs"] = json!("46504e31"))),
        ("odd", changed(&|s, _| s["needs"] = json!("é"))),
        ("description", changed(&|s, _| s["description"] = json!("no"))),
    ];
    let _workers = Workers(vec![Workers::with(&server, &[])]);
    let put = |name: &str, bytes: &[u8]| guest.put(&subject.replace(".seen.", &format!(".{name}.")), bytes);
    let mut told = String::new();
    for (name, bytes) in &runs {
        guest.put(&format!("fencepost.run.{name}"), bytes);
        put(name, &item);
        let begins = format!("{name}: ");
        let all =
            until(name, || Some(said(&server)).filter(|said| said.lines().any(|l| l.starts_with(&begins))));
        let own = all.lines().skip_while(|line| !line.starts_with(&begins)).take(4);
        told +=
            &own.map(|line| format!("{}\n", line.chars().take(200).collect::<String>())).collect::<String>();
        run(&["runs", &address, "--cancel", name]);
    }
    insta::assert_snapshot!("bad_runs", told);
    // Items that are none, of a run that is one.
    guest.put("fencepost.run.items", &changed(&|_, _| {}));
    for bytes in [&b""[..], b"short", &item[..item.len() - 1], &[&item[..], b"more"].concat(), &[7; 100]] {
        put("items", bytes);
    }
    until("items", || Some(said(&server)).filter(|said| said.contains("items: an item cannot be read")));
    run(&["runs", &address, "--cancel", "items"]);
    // The worker is still there, and does what it is asked.
    explores(&server, &address, &[], &[]);
    assert!(!said(&server).contains("internal error"), "{}", said(&server));
}

#[test]
fn a_program_that_is_too_large_for_a_message_says_so() {
    let Some(server) = Server::configured("large", |_| Some("max_payload: 1500\n".into())) else { return };
    let address = server.address();
    let output = with(&[], &[&COUNT[..], &["--cluster", &address, "--explore-first", "0.001"]].concat());
    insta::assert_snapshot!("too_large", server.told(&output));
}
