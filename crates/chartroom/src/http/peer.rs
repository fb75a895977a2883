//! Whose request it is, on this machine: the token file can be read by whatever runs as the user, agents too, and what
//! an agent says with it is not said by its user.
//!
//! The kernel knows which process holds the other end of a connection from here. One below a child of ours is refused,
//! and so is one that is gone before it can be looked at. That keeps an agent from acting as its user in passing; one
//! that means to can write our files: docs/security.md says what this is worth.

#[cfg(target_os = "linux")]
mod sockets;

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use chartroom_transport::process;
use chartroom_workspace::SpawnGate;
use tokio::sync::OnceCell;

use crate::app::agent_tools::AGENT_MARK;

/// The two ends of one connection, and what was found out about the other.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    peer: SocketAddr,
    local: SocketAddr,
    /// A connection is made by one process: what it is does not change.
    is_childs: Arc<OnceCell<bool>>,
}

impl Connection {
    pub(super) fn new(peer: SocketAddr, local: SocketAddr) -> Self {
        Self { peer, local, is_childs: Arc::default() }
    }

    /// Whether it comes from below a child of ours, or cannot be shown not to.
    pub(super) async fn is_a_childs(&self, gate: &SpawnGate) -> bool {
        let look = || async {
            let (gate, peer, local) = (gate.clone(), self.peer, self.local);
            let looked = tokio::task::spawn_blocking(move || comes_from_a_child(&gate, peer, local));
            looked.await.unwrap_or(true)
        };
        *self.is_childs.get_or_init(look).await
    }
}

fn comes_from_a_child(gate: &SpawnGate, peer: SocketAddr, local: SocketAddr) -> bool {
    if !gate.has_children() || !is_here(peer) {
        return false;
    }
    match holder(peer, local) {
        Holder::Process(pid) => is_or_may_have_been(pid, || gate.child_above(pid).is_some() || has_mark(pid)),
        Holder::Gone => true,
        // A process that hides itself, as a daemon of the system's does: it is not a child's if all of those can be seen.
        Holder::Unseen => gate.below_children().into_iter().any(hides_itself),
        Holder::Unknown => false,
    }
}

/// Whether a process is what `look` looks for, or ended while it was looked at: then it may have been anybody's, and its
/// number another's.
fn is_or_may_have_been(pid: u32, look: impl FnOnce() -> bool) -> bool {
    let started = process::start_time(pid);
    look() || started.is_none() || process::start_time(pid) != started
}

/// Whether an address is this machine's: nobody can listen on another's.
fn is_here(peer: SocketAddr) -> bool {
    UdpSocket::bind((peer.ip(), 0)).is_ok()
}

/// Who holds one end of a connection.
#[derive(Debug, PartialEq, Eq)]
enum Holder {
    Process(u32),
    /// It has closed it already, or ended.
    Gone,
    /// Somebody whose descriptors we may not see.
    Unseen,
    /// This system does not tell.
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "Linux tells"))]
    Unknown,
}

#[cfg(not(target_os = "linux"))]
fn holder(_peer: SocketAddr, _local: SocketAddr) -> Holder {
    Holder::Unknown
}

#[cfg(target_os = "linux")]
fn holder(peer: SocketAddr, local: SocketAddr) -> Holder {
    let Some(inode) = ["/proc/net/tcp", "/proc/net/tcp6"].iter().find_map(|table| {
        let table = std::fs::read_to_string(table).ok()?;
        table.lines().find_map(|line| row(line).filter(|row| (row.from, row.to) == (ends(peer), ends(local))))
    }) else {
        return Holder::Gone;
    };
    if inode.inode == 0 {
        return Holder::Gone;
    }
    sockets::holder(inode.inode).map_or(Holder::Unseen, Holder::Process)
}

/// Whether a process that lives does not let us see its descriptors.
fn hides_itself(pid: u32) -> bool {
    matches!(std::fs::read_dir(format!("/proc/{pid}/fd")), Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Whether a process has the mark that agents of ours have in their environment.
fn has_mark(pid: u32) -> bool {
    let mark = format!("{AGENT_MARK}=");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
}

/// An end of a connection, as both tables of the kernel can be compared.
type End = (std::net::IpAddr, u16);

fn ends(address: SocketAddr) -> End {
    (address.ip().to_canonical(), address.port())
}

/// One line of the kernel's tables.
#[cfg(target_os = "linux")]
#[derive(Debug, PartialEq, Eq)]
struct Row {
    from: End,
    to: End,
    inode: u64,
}

#[cfg(target_os = "linux")]
fn row(line: &str) -> Option<Row> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    Some(Row { from: end(fields.get(1)?)?, to: end(fields.get(2)?)?, inode: fields.get(9)?.parse().ok()? })
}

/// `0100007F:1F90`: each four bytes of the address as one number of this machine, in hexadecimal.
#[cfg(target_os = "linux")]
fn end(text: &str) -> Option<End> {
    let (address, port) = text.split_once(':')?;
    let part = |at: usize| u32::from_str_radix(address.get(at..at + 8)?, 16).ok().map(u32::to_ne_bytes);
    let address = match address.len() {
        8 => std::net::IpAddr::from(part(0)?),
        32 => {
            let mut bytes = [0; 16];
            for (nth, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&part(nth * 8)?);
            }
            std::net::IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some((address.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_process_at_the_other_end_is_found_and_one_that_hung_up_is_gone() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let local = server.local_addr().unwrap();
            assert_eq!(holder(peer, local), Holder::Process(std::process::id()), "{address}");
            assert!(is_here(peer));
            drop(client);
            assert_eq!(holder(peer, local), Holder::Gone, "{address}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any process will do, and no gate is asked for it")]
    fn a_socket_that_we_hold_is_ours_though_a_child_that_is_being_started_holds_it_too() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, peer) = listener.accept().unwrap();
        let local = server.local_addr().unwrap();
        let copy = std::os::fd::OwnedFd::from(client.try_clone().unwrap());
        let mut child = std::process::Command::new("cat").stdin(copy).spawn().unwrap();
        assert_eq!(holder(peer, local), Holder::Process(std::process::id()));
        // What it holds alone is its own.
        drop(client);
        assert_eq!(holder(peer, local), Holder::Process(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any process will do, and no gate is asked for it")]
    fn a_process_that_ends_while_it_is_looked_at_is_refused() {
        let mut process =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = process.id();
        // It lives through the look, which says what it is.
        assert!(!is_or_may_have_been(pid, || false));
        assert!(is_or_may_have_been(pid, || true));
        let ends = || {
            process.kill().unwrap();
            process.wait().unwrap();
            // What is gone has no child of ours above it and no mark.
            assert!(!has_mark(pid));
            false
        };
        assert!(is_or_may_have_been(pid, ends));
        // And one that was gone before the look: no process has this number.
        assert!(is_or_may_have_been(u32::MAX, || false));
    }

    #[test]
    fn an_address_of_another_machine_is_not_here() {
        // Addresses that are reserved for examples: nobody has them.
        assert!(!is_here("192.0.2.1:80".parse().unwrap()));
        assert!(!is_here("[2001:db8::1]:80".parse().unwrap()));
    }

    #[test]
    fn a_line_of_the_kernel_is_read_with_addresses_in_both_shapes() {
        let line = "   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000";
        let ends =
            |from: &str, to: &str| (super::ends(from.parse().unwrap()), super::ends(to.parse().unwrap()));
        if cfg!(target_endian = "little") {
            let (from, to) = ends("127.0.0.1:8080", "127.0.0.1:54321");
            assert_eq!(row(line), Some(Row { from, to, inode: 4711 }));
            // A socket that speaks both: the address of version 4 is written as one of version 6.
            let mapped = line.replace("0100007F", "0000000000000000FFFF00000100007F");
            assert_eq!(row(&mapped), row(line));
        }
        for nonsense in ["", "  sl  local_address rem_address   st", "1: 0100:1 0100:1 0 0 0 0 0 0 0"] {
            assert_eq!(row(nonsense), None, "{nonsense}");
        }
    }
}
