//! How Chartroom says it: child processes under a keeper, framing, one JSON-RPC peer.
//!
//! Nothing here knows what a message means. [`spawn`] starts a process that cannot outlive us, [`codec`] cuts
//! a byte stream into messages and keeps going after garbage, [`rpc`] pairs requests with answers.

#![warn(missing_docs)]

mod aside;
pub mod child;
pub mod codec;
pub mod keeper;
pub mod process;
pub mod rpc;
pub mod sandbox;
pub mod terminal;

pub use aside::{LONG, aside};
pub use child::{Child, ChildSpec, Exit, ExitWatch, Keeper, KillSwitch, SpawnError, spawn};
pub use codec::{Framing, Received};
pub use rpc::{Handler, Peer, PeerOptions, ResponseError, RpcError, connect};
pub use sandbox::{Sandbox, SandboxSupport, SandboxTool};
pub use terminal::{Terminal, TerminalSize};
