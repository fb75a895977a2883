//! Who may come in: the bearer token, one-time launch codes, and the cookies they become.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use subtle::ConstantTimeEq as _;

/// As many browsers as one person has open; the oldest is asked to log in again.
const MAX_COOKIES: usize = 64;
/// Unused links; asking for more makes the oldest useless.
const MAX_CODES: usize = 8;
/// A token that a person chose must at least not be guessable at once.
pub const MIN_TOKEN_LENGTH: usize = 16;

/// A secret that does not show itself in logs or panics, and compares in constant time.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Makes a new secret of 256 random bits.
    pub fn random() -> anyhow::Result<Self> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("the system has no random numbers ({error})"))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Takes a secret that the user gave.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret itself; the name makes every use easy to find.
    pub fn expose(&self) -> &str {
        &self.0
    }

    fn matches(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The keys of one running server.
#[derive(Debug)]
pub struct Access {
    token: Secret,
    codes: Mutex<VecDeque<Secret>>,
    cookies: Mutex<VecDeque<Secret>>,
}

impl Access {
    /// Returns the doorkeeper of one token.
    pub fn new(token: Secret) -> Self {
        Self { token, codes: Mutex::default(), cookies: Mutex::default() }
    }

    /// The bearer token, for the 0600 file that scripts read.
    pub fn token(&self) -> &Secret {
        &self.token
    }

    /// Tells whether this is the token, in constant time.
    pub fn is_token(&self, given: &str) -> bool {
        self.token.matches(given)
    }

    /// Makes a link that logs in one browser, once.
    pub fn new_launch_code(&self) -> anyhow::Result<Secret> {
        let code = Secret::random()?;
        push_bounded(&self.codes, code.clone(), MAX_CODES);
        Ok(code)
    }

    /// Uses up a launch code and returns the cookie that it becomes; nothing when it is wrong or used.
    pub fn redeem(&self, given: &str) -> anyhow::Result<Option<Secret>> {
        let used = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            match codes.iter().position(|code| code.matches(given)) {
                Some(position) => codes.remove(position).is_some(),
                None => false,
            }
        };
        if !used {
            return Ok(None);
        }
        let cookie = Secret::random()?;
        push_bounded(&self.cookies, cookie.clone(), MAX_COOKIES);
        Ok(Some(cookie))
    }

    /// Tells whether this is a cookie that we gave out, in constant time.
    pub fn is_cookie(&self, given: &str) -> bool {
        let cookies = self.cookies.lock().unwrap_or_else(PoisonError::into_inner);
        // All are looked at, so that the time does not tell which one was near.
        cookies.iter().fold(false, |found, cookie| found | cookie.matches(given))
    }
}

fn push_bounded(list: &Mutex<VecDeque<Secret>>, secret: Secret, most: usize) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    if list.len() == most {
        list.pop_front();
    }
    list.push_back(secret);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_no_two_are_alike() {
        let (a, b) = (Secret::random().unwrap(), Secret::random().unwrap());
        assert_eq!((a.expose().len(), b.expose().len()), (64, 64));
        assert_ne!(a.expose(), b.expose());
    }

    #[test]
    fn a_launch_code_opens_once() {
        let access = Access::new(Secret::new("token"));
        let code = access.new_launch_code().unwrap();
        let cookie = access.redeem(code.expose()).unwrap().expect("the first use opens");
        assert!(access.is_cookie(cookie.expose()));
        assert!(access.redeem(code.expose()).unwrap().is_none(), "the second use does not");
    }

    #[test]
    fn nothing_else_opens() {
        let access = Access::new(Secret::new("token"));
        let code = access.new_launch_code().unwrap();
        for wrong in ["", "t", "tokem", "token ", "TOKEN", code.expose()] {
            assert!(!access.is_token(wrong), "{wrong} is not the token");
        }
        for wrong in ["", "token", code.expose()] {
            assert!(!access.is_cookie(wrong), "{wrong} is not a cookie");
        }
        for wrong in ["", "token", &code.expose()[1..]] {
            assert!(access.redeem(wrong).unwrap().is_none(), "{wrong} is not the code");
        }
        assert!(access.is_token("token"));
    }

    #[test]
    fn old_links_and_browsers_make_room() {
        let access = Access::new(Secret::new("token"));
        let first = access.new_launch_code().unwrap();
        for _ in 0..MAX_CODES {
            access.new_launch_code().unwrap();
        }
        assert!(access.redeem(first.expose()).unwrap().is_none());
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        assert_eq!(format!("{:?}", Access::new(Secret::new("hidden")).token()), "Secret(…)");
    }
}
