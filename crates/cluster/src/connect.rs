//! The way to a NATS server, with the credentials that its users have.

use crate::streams::{self, Streams};
use async_nats::{Client, ConnectOptions, jetstream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long one request may take; a server that restarts is asked again.
const REQUEST: Duration = Duration::from_secs(4);

/// Between two tries.
pub(crate) const AGAIN: Duration = Duration::from_millis(200);

/// Who we are.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// A file with a token and a key, as `nsc` writes it.
    pub creds: Option<PathBuf>,
    /// User and password.
    pub user: Option<(String, String)>,
    /// Certificates of authorities beyond those of the system.
    pub authorities: Option<PathBuf>,
}

impl Login {
    /// What the environment says, and a file that the user names: `NATS_CREDS`, `NATS_USER`, `NATS_PASSWORD` and `NATS_CA`, as the
    /// tools of NATS have them.
    pub fn of(creds: Option<PathBuf>) -> Login {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Login {
            creds: creds.or_else(|| variable("NATS_CREDS").map(PathBuf::from)),
            user: variable("NATS_USER").map(|user| (user, variable("NATS_PASSWORD").unwrap_or_default())),
            authorities: variable("NATS_CA").map(PathBuf::from),
        }
    }
}

/// A connection.
pub struct Cluster {
    pub(crate) runtime: Runtime,
    pub(crate) client: Client,
    pub(crate) streams: Streams,
    pub(crate) interrupt: &'static AtomicBool,
}

/// Connects. With `patient`, a server that is not there yet is waited for. The error is a whole message.
pub fn connect(
    server: &str,
    login: &Login,
    patient: bool,
    interrupt: &'static AtomicBool,
) -> Result<Cluster, String> {
    let address = address(server)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("error: cannot start threads: {error}"))?;
    let failed = |error: &dyn std::fmt::Display| format!("error: cannot reach {server}: {error}");
    let connected = runtime.block_on(async {
        loop {
            let tried = async {
                let client = options(login)?.connect(&address).await.map_err(|error| failed(&error))?;
                let mut context = jetstream::new(client.clone());
                context.set_timeout(REQUEST);
                let streams = streams::open(context).await.map_err(|error| failed(&error))?;
                Ok::<_, String>((client, streams))
            };
            match tried.await {
                Ok(connected) => return Ok(connected),
                Err(error) if !patient || interrupt.load(Ordering::Relaxed) => return Err(error),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        }
    });
    let (client, streams) = connected?;
    Ok(Cluster { runtime, client, streams, interrupt })
}

/// The address as the client takes it.
fn address(server: &str) -> Result<String, String> {
    let known = ["nats://", "tls://"];
    let rest = known.iter().find_map(|scheme| server.strip_prefix(scheme));
    if server.contains("://") && rest.is_none() {
        return Err(format!(
            "error: {server} is no NATS server\n  such as nats://localhost or tls://host:4222"
        ));
    }
    let host = rest.unwrap_or(server);
    if host.contains('@') {
        return Err(String::from(
            "error: a user and a password do not belong on the command line, where everybody sees them\n  \
             set NATS_USER and NATS_PASSWORD, or use --creds FILE",
        ));
    }
    if host.is_empty() || host.chars().any(char::is_whitespace) {
        return Err(format!(
            "error: `{server}` names no host\n  such as nats://localhost or tls://host:4222"
        ));
    }
    Ok(if rest.is_some() { server.into() } else { format!("nats://{server}") })
}

fn options(login: &Login) -> Result<ConnectOptions, String> {
    let mut options = ConnectOptions::new()
        .name("fencepost")
        .connection_timeout(REQUEST)
        .request_timeout(Some(REQUEST))
        .max_reconnects(None)
        .reconnect_delay_callback(|tries| AGAIN * (tries.min(10) as u32));
    if let Some(path) = &login.creds {
        let wrong = |error: std::io::Error| format!("error: cannot use {}: {error}", path.display());
        options = options.credentials(&std::fs::read_to_string(path).map_err(wrong)?).map_err(wrong)?;
    }
    if let Some((user, password)) = &login.user {
        options = options.user_and_password(user.clone(), password.clone());
    }
    if let Some(path) = &login.authorities {
        options = options.add_root_certificates(path.clone());
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_passwords() {
        assert_eq!(address("localhost").as_deref(), Ok("nats://localhost"));
        assert_eq!(address("tls://example:4222").as_deref(), Ok("tls://example:4222"));
        for wrong in ["nats://me:secret@host", "http://host", "", "nats://"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
