//! Why a connection cannot be made. The SDK tries again until its time is over and keeps the reason to itself; a second
//! attempt beside it, which is given up when the SDK is through, says it at once.

use std::error::Error;
use std::future::pending;
use std::time::Duration;

use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use super::Address;
use crate::trouble::{Trouble, TroubleKind};

/// Ends when the server cannot be reached, and not otherwise.
pub(super) async fn unreachable(address: &Address, patience: Duration) -> Trouble {
    let Some(endpoint) = endpoint(address, patience).await else { return pending().await };
    match endpoint.connect().await {
        Ok(_) => pending().await,
        Err(error) => {
            let text = format!("{} at {}", words(&chain(&error)), address.uri);
            Trouble::new(TroubleKind::Transport, text)
        }
    }
}

/// None when the address or the certificates are none: the SDK says that by itself.
async fn endpoint(address: &Address, patience: Duration) -> Option<Endpoint> {
    // Certificates to trust mean TLS, whatever the address begins with: so does the SDK take it.
    let uri = match &address.ca_file {
        Some(_) => address.uri.replacen("http://", "https://", 1),
        None => address.uri.clone(),
    };
    let endpoint = Endpoint::from_shared(uri).ok()?.connect_timeout(patience);
    let tls = match &address.ca_file {
        Some(file) => {
            let certificate = tokio::fs::read(file).await.ok()?;
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(certificate))
        }
        None if address.uri.starts_with("https://") => ClientTlsConfig::new().with_enabled_roots(),
        None => return Some(endpoint),
    };
    endpoint.tls_config(tls).ok()
}

/// What the errors say, outermost first.
fn chain(error: &dyn Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        texts.push(error.to_string());
        source = error.source();
    }
    texts
}

/// The reason in words, and what can be done about it where that is known.
fn words(chain: &[String]) -> String {
    let reason = chain.last().map_or("no reason is given", String::as_str);
    let about = |part: &str| chain.iter().any(|text| text.contains(part));
    if about("invalid peer certificate") {
        let what = match () {
            () if about("UnknownIssuer") => "set `caFile` in [index] store to the authority's certificate",
            () if about("NotValidForName") => "use the host name that the certificate is for",
            () if about("Expired") => "it has to be renewed on the server",
            () => "look at the server's certificate and at `caFile` in [index] store",
        };
        return format!("the server's certificate is not trusted ({reason}): {what};");
    }
    if about("InvalidContentType") {
        return format!("the server does not speak TLS ({reason}): begin the address with http://;");
    }
    if about("dns error") || about("failed to lookup address") {
        return format!("the host is not known ({reason})");
    }
    format!("no connection ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chain: &[&str], expected: &str) {
        let chain: Vec<String> = chain.iter().map(|text| (*text).to_owned()).collect();
        assert!(words(&chain).contains(expected), "{}", words(&chain));
    }

    #[test]
    fn each_reason_says_what_to_do() {
        check(&["transport error", "invalid peer certificate: UnknownIssuer"], "set `caFile`");
        check(&["transport error", "invalid peer certificate: Expired"], "renewed");
        check(&["x", "invalid peer certificate: NotValidForName"], "host name that the certificate is for");
        check(&["x", "invalid peer certificate: BadEncoding"], "look at the server's certificate");
        check(&["x", "received corrupt message of type InvalidContentType"], "http://");
        check(&["transport error", "dns error", "Name or service not known"], "the host is not known");
        check(&["x", "tcp connect error", "Connection refused (os error 111)"], "Connection refused");
    }
}
