//! How Chartroom says it: child processes under a keeper, framing, one JSON-RPC peer.
