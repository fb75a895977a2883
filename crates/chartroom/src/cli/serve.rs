//! `chartroom [serve] [DIR…]`: the workbench.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use chartroom_transport::Keeper;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::{answer, block_on_threads, browser, settings, trust};
use crate::app::App;
use crate::config::{Overrides, ServerConfig};
use crate::data::ServerLock;
use crate::exit::{Failure, Outcome};
use crate::http::{MIN_TOKEN_LENGTH, limits, run as serve};
use crate::logs;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folders to add as projects
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Trust the DIRs: agents and language servers may run what is in them
    #[arg(long, requires = "folders")]
    trust: bool,
    /// The address to listen on [default: 127.0.0.1]
    #[arg(long)]
    host: Option<String>,
    /// The port to listen on; 0 takes a free one [default: 4747]
    #[arg(long)]
    port: Option<u16>,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
}

/// A first word that is no folder and looks like no path was meant as a command.
pub(super) fn refuse_unknown_command(args: &Args) -> Result<(), Failure> {
    match args.folders.first() {
        Some(word) if !word.exists() && word.components().count() == 1 && word.extension().is_none() => Err(
            Failure::Usage(format!("there is no command and no folder '{}'; try '--help'", word.display())),
        ),
        _ => Ok(()),
    }
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let overrides = Overrides { host: args.host.clone(), port: args.port, token: None };
    let config = settings::load(overrides)?.config;
    let data = settings::data()?;
    if args.trust {
        trust::refuse_agents(data.path())?;
    }
    let mut lock = data.lock_server().map_err(|error| Failure::impossible(error.to_string()))?;
    let _logs = logs::to_files(&data.logs())?;
    let roots = args.folders.iter().map(|folder| trust::open(folder)).collect::<Result<Vec<_>, _>>()?;
    let keeper = Keeper::current_exe().map_err(|error| {
        Failure::impossible(format!("this program cannot find itself ({error}); call it by its path"))
    })?;
    raise_descriptor_limit();
    block_on_threads(n_threads(), async move {
        let listener = listen(&config.server).await?;
        let address = listener.local_addr().map_err(|error| Failure::impossible(error.to_string()))?;
        let app = App::open(config, data, keeper)?;
        for root in &roots {
            app.projects().ensure(root, args.trust).await.map_err(|error| {
                Failure::impossible(format!("{root} cannot be added as a project: {error}"))
            })?;
        }
        let origin = format!("http://{}", shown_host(&app.config().server.host, address));
        announce(&app, &mut lock, &origin)?;
        let shutdown = shutdown_signal()?;
        let link = format!("{origin}/?token={}", app.access().new_launch_code()?.expose());
        answer(&format!("Chartroom is ready: {link}\n"))?;
        if args.open {
            browser::open(app.data(), &link)?;
        }
        let token_file = app.data().token_file();
        serve(listener, app, shutdown).await?;
        if let Err(error) = std::fs::remove_file(&token_file) {
            tracing::debug!("the token file was gone already: {error}");
        }
        Ok(Outcome::Done)
    })
}

/// How many threads tasks run on: half as many as the machine has cores. A second one on two cores would be woken for every
/// event or two of a session, and find what the first would have done in the meantime; what takes long is done aside.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).div_ceil(2)
}

/// Makes room for as many connections as [`limits::CONNECTIONS`] promises, each child's pipes included: the usual soft limit
/// of 1,024 descriptors would be gone before.
fn raise_descriptor_limit() {
    let wanted = 4 * limits::CONNECTIONS as u64;
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if limit.current.is_some_and(|current| current < allowed) {
        limit.current = Some(allowed);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!("fewer connections than usual are possible: {error}");
        }
    }
}

/// Leaves the token and the address where scripts and `chartroom link` find them.
fn announce(app: &App, lock: &mut ServerLock, origin: &str) -> Result<(), Failure> {
    app.data()
        .write_private("token", app.access().token().expose())
        .map_err(|error| Failure::impossible(error.to_string()))?;
    lock.announce(origin).map_err(|error| {
        Failure::impossible(format!(
            "the data folder {} cannot be written ({error})",
            app.data().path().display()
        ))
    })
}

/// Binds the address, which must be loopback unless the user gave a token.
async fn listen(server: &ServerConfig) -> Result<TcpListener, Failure> {
    let (host, port) = (server.host.as_str(), server.port);
    let unknown = |why: &str| {
        Failure::impossible(format!(
            "the host {host} is not an address of this machine ({why}); use 127.0.0.1"
        ))
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> =
        tokio::net::lookup_host((bare, port)).await.map_err(|error| unknown(&error.to_string()))?.collect();
    let address = *addresses.first().ok_or_else(|| unknown("it has none"))?;
    check_exposure(address.ip(), server)?;
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Failure::impossible(format!(
            "port {port} on {host} is in use; stop the program that has it, or choose another with --port (0 takes a free one)"
        )),
        std::io::ErrorKind::PermissionDenied => Failure::impossible(format!(
            "port {port} on {host} is not yours to open; choose one above 1023 with --port"
        )),
        _ => unknown(&error.to_string()),
    })
}

fn check_exposure(address: IpAddr, server: &ServerConfig) -> Result<(), Failure> {
    let strong =
        |token: &String| token.len() >= MIN_TOKEN_LENGTH && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !server.token.as_ref().is_none_or(strong) {
        return Err(Failure::impossible(format!(
            "the token is too weak; set CHARTROOM_TOKEN (or server.token) to at least {MIN_TOKEN_LENGTH} random letters and digits"
        )));
    }
    if address.is_loopback() {
        return Ok(());
    }
    if address.is_unspecified() {
        return Err(Failure::impossible(format!(
            "listening on {address} would answer to any name; give --host the one address that people will open"
        )));
    }
    if server.token.is_none() {
        return Err(Failure::impossible(format!(
            "listening on {address}, which others can reach, needs a token of yours; set CHARTROOM_TOKEN to at least {MIN_TOKEN_LENGTH} random letters and digits"
        )));
    }
    Ok(())
}

fn shown_host(host: &str, address: SocketAddr) -> String {
    // A name stays a name, because the browser's Origin will be that name.
    if host.parse::<IpAddr>().is_ok() || host.starts_with('[') {
        address.to_string()
    } else {
        format!("{host}:{}", address.port())
    }
}

/// Resolves at the first Ctrl-C, SIGTERM or hang-up.
fn shutdown_signal() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| Failure::impossible(format!("the system gives no signals ({error})")))
    };
    let (mut interrupt, mut terminate, mut hangup) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
