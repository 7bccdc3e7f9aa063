//! The way to a NATS server, with the credentials that its users have.

use crate::streams::{self, Streams};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, jetstream};
use std::io::ErrorKind;
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
    /// Certificates of the authorities that are trusted; without them, those of the system are.
    pub authorities: Option<PathBuf>,
    /// Our own certificate and its key, for servers that ask for one.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl Login {
    /// What the environment says, and a file that the user names: `NATS_CREDS`, `NATS_USER`, `NATS_PASSWORD`, `NATS_CA`,
    /// `NATS_CERT` and
    /// `NATS_KEY`, as the tools of NATS have them.
    pub fn of(creds: Option<PathBuf>) -> Login {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        Login {
            creds: creds.or_else(|| variable("NATS_CREDS").map(PathBuf::from)),
            user: variable("NATS_USER").map(|user| (user, variable("NATS_PASSWORD").unwrap_or_default())),
            authorities: variable("NATS_CA").map(PathBuf::from),
            certificate: variable("NATS_CERT")
                .zip(variable("NATS_KEY"))
                .map(|(own, key)| (own.into(), key.into())),
        }
    }

    /// Who tried to log in, for people.
    fn show(&self) -> String {
        match (&self.creds, &self.user) {
            (Some(path), _) => format!("the credentials in {} are not known there", path.display()),
            (None, Some((user, _))) => format!("no user `{user}` with that password is known there"),
            (None, None) => "it asks for credentials, and there are none".into(),
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

/// Why there is no connection: a whole message, and whether it may help to try again.
struct Refused {
    message: String,
    passes: bool,
}

impl Refused {
    fn for_good(message: String) -> Refused {
        Refused { message, passes: false }
    }

    fn of(error: &ConnectError, server: &str, login: &Login) -> Refused {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<std::io::Error>());
        let is_foreign = cause.is_some_and(|cause| cause.kind() == ErrorKind::InvalidData);
        match error.kind() {
            ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication => {
                Refused::for_good(format!(
                    "error: {server} does not let us in: {}\n  set NATS_USER and NATS_PASSWORD, or use --creds FILE",
                    login.show()
                ))
            }
            // What rustls says about a certificate comes as data that is not valid.
            kind if kind == ConnectErrorKind::Tls || is_foreign => {
                let why = cause.map_or(error.to_string(), ToString::to_string);
                Refused::for_good(format!(
                    "error: no TLS connection to {server}: {why}\n  NATS_CA names a file with the certificates of the \
                     authorities to trust, NATS_CERT and NATS_KEY those with our own"
                ))
            }
            kind => Refused {
                message: format!("error: cannot reach {server}: {error}"),
                passes: kind != ConnectErrorKind::ServerParse,
            },
        }
    }
}

/// Connects. With `patience`, a server that is not there yet is waited for, and whoever waits is told so once. The error is a
/// whole
/// message.
pub fn connect(
    server: &str,
    login: &Login,
    patience: Option<&dyn Fn(&str)>,
    interrupt: &'static AtomicBool,
) -> Result<Cluster, String> {
    let address = address(server)?;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| format!("error: cannot start threads: {error}"))?;
    let connected = runtime.block_on(async {
        let mut told = false;
        loop {
            let refused = match try_once(server, &address, login).await {
                Ok(connected) => return Ok(connected),
                Err(refused) => refused,
            };
            let Some(tell) = patience.filter(|_| refused.passes && !interrupt.load(Ordering::Relaxed)) else {
                return Err(refused.message);
            };
            if !std::mem::replace(&mut told, true) {
                tell(&format!("{}; trying again until it answers", refused.message));
            }
            tokio::time::sleep(AGAIN).await;
        }
    });
    let (client, streams) = connected?;
    Ok(Cluster { runtime, client, streams, interrupt })
}

async fn try_once(server: &str, address: &str, login: &Login) -> Result<(Client, Streams), Refused> {
    let connecting = options(login).map_err(Refused::for_good)?.connect(address);
    let client = connecting.await.map_err(|error| Refused::of(&error, server, login))?;
    let mut context = jetstream::new(client.clone());
    context.set_timeout(REQUEST);
    if !client.server_info().jetstream {
        return Err(Refused::for_good(format!(
            "error: {server} has no JetStream\n  start it with `nats-server -js -sd FOLDER`"
        )));
    }
    let streams = streams::open(context).await.map_err(|error| Refused {
        message: format!("error: {server} is there, and its streams are not: {error}"),
        passes: true,
    })?;
    Ok((client, streams))
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
    let (own, key) = login.certificate.as_ref().map(|(own, key)| (own, key)).unzip();
    for path in [own, key, login.authorities.as_ref()].into_iter().flatten() {
        std::fs::read(path).map_err(|error| format!("error: cannot use {}: {error}", path.display()))?;
    }
    if let Some((own, key)) = &login.certificate {
        options = options.add_client_certificate(own.clone(), key.clone());
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
