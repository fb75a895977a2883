//! A proxy between a client and a real gRPC server that does what networks and broken servers do: it holds answers back,
//! makes garbage of them, cuts connections. It counts the bytes of both directions.
//!
//! It reads the frames of HTTP/2 that come from the server, so that it can spoil a message and leave the rest whole.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What the proxy does to what the server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing.
    Fair,
    /// Each message is held back for so long, or until the weather changes.
    Late(Duration),
    /// Bytes that are no HTTP/2.
    GarbageBytes,
    /// HTTP/2 and gRPC as they should be, around messages that cannot be decoded.
    GarbageMessages,
    /// The same around messages of no bytes at all, which say nothing, not even that all is well.
    EmptyMessages,
    /// The connection ends in the middle of the first message.
    Cut,
    /// Connections are taken and ended at once; those that were there end too.
    HangUp,
}

/// A proxy on loopback. Ends with this handle.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    weather: Mutex<Weather>,
    changed: Condvar,
    ended: AtomicBool,
    /// Both ends of each connection, to be ended from here.
    links: Mutex<Vec<TcpStream>>,
    sent: AtomicU64,
    received: AtomicU64,
}

const FRAME_HEADER: usize = 9;
const DATA: u8 = 0;
/// A message's compression and length, before its bytes.
const MESSAGE_HEADER: usize = 5;

impl Proxy {
    /// A proxy in front of a port of loopback.
    pub fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared {
            weather: Mutex::new(Weather::Fair),
            changed: Condvar::new(),
            ended: AtomicBool::new(false),
            links: Mutex::default(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if accepting.ended.load(Ordering::SeqCst) {
                    return;
                }
                accepting.connect(client, server);
            }
        });
        Self { port, shared }
    }

    /// Where clients find it.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Changes the weather, for connections that are there as well.
    pub fn weather(&self, weather: Weather) {
        *lock(&self.shared.weather) = weather;
        self.shared.changed.notify_all();
        if weather == Weather::HangUp {
            self.shared.end_links();
        }
    }

    /// Bytes to the server and from it so far.
    pub fn bytes(&self) -> (u64, u64) {
        (self.shared.sent.load(Ordering::SeqCst), self.shared.received.load(Ordering::SeqCst))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.weather(Weather::HangUp);
        // Wakes who waits for the next connection.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn connect(self: &Arc<Self>, client: TcpStream, port: u16) {
        if *lock(&self.weather) == Weather::HangUp {
            return;
        }
        // A server that is not there: the client is hung up on.
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { return };
        let copies = || Ok::<_, std::io::Error>((client.try_clone()?, server.try_clone()?));
        let (Ok((to_client, to_server)), Ok((one, other))) = (copies(), copies()) else { return };
        lock(&self.links).extend([one, other]);
        // A small answer must not wait for the next one.
        drop((client.set_nodelay(true), server.set_nodelay(true)));
        let (up, down) = (Arc::clone(self), Arc::clone(self));
        thread::spawn(move || drop(up.forward(client, to_server)));
        thread::spawn(move || drop(down.answer(server, to_client)));
    }

    fn end_links(&self) {
        for link in lock(&self.links).drain(..) {
            // One that has ended already is fine.
            drop(link.shutdown(Shutdown::Both));
        }
    }

    fn forward(&self, mut client: TcpStream, mut server: TcpStream) -> std::io::Result<()> {
        let mut buffer = [0; 64 << 10];
        loop {
            let n_read = client.read(&mut buffer)?;
            if n_read == 0 {
                return server.shutdown(Shutdown::Both);
            }
            self.sent.fetch_add(n_read as u64, Ordering::SeqCst);
            server.write_all(&buffer[..n_read])?;
        }
    }

    fn answer(&self, mut server: TcpStream, mut client: TcpStream) -> std::io::Result<()> {
        let mut begun = HashSet::new();
        loop {
            let mut header = [0; FRAME_HEADER];
            if let Err(error) = server.read_exact(&mut header) {
                client.shutdown(Shutdown::Both)?;
                return Err(error);
            }
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
            let mut payload = vec![0; length];
            server.read_exact(&mut payload)?;
            self.received.fetch_add((FRAME_HEADER + length) as u64, Ordering::SeqCst);
            let is_message = header[3] == DATA && length > 0;
            let first = is_message && begun.insert(header[5..].to_vec());
            let kept = if first { MESSAGE_HEADER.min(length) } else { 0 };
            match (self.now(is_message), is_message) {
                (Weather::GarbageBytes, _) => {
                    header.fill(b'!');
                    payload.fill(b'!');
                }
                (Weather::GarbageMessages, true) => payload[kept..].fill(0xff),
                (Weather::EmptyMessages, true) => {
                    payload = vec![0; kept];
                    header[..3].copy_from_slice(&(kept as u32).to_be_bytes()[1..]);
                }
                (Weather::Cut, true) => {
                    client.write_all(&header)?;
                    client.write_all(&payload[..length / 2])?;
                    return client.shutdown(Shutdown::Both);
                }
                _ => {}
            }
            client.write_all(&header)?;
            client.write_all(&payload)?;
        }
    }

    /// The weather for the frame at hand; a message is held back first when it is to be late.
    fn now(&self, is_message: bool) -> Weather {
        let weather = lock(&self.weather);
        let (Weather::Late(time), true) = (*weather, is_message) else { return *weather };
        let late = |now: &mut Weather| *now == Weather::Late(time);
        let held = self.changed.wait_timeout_while(weather, time, late);
        *held.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
