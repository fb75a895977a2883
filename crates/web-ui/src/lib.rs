//! The page, embedded.
//!
//! `build.rs` built it; whoever serves it asks by path and gets bytes with what HTTP needs to say about them.

#![warn(missing_docs)]

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/dist"]
struct Page;

/// One file of the page, in every form in which it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The value of `Content-Type`.
    pub mime: &'static str,
    /// True when the name carries a hash of the content: a browser may keep it for ever.
    pub immutable: bool,
    /// The smallest first; the last one is the file as it is.
    pub forms: Vec<Form>,
}

/// The bytes of a file under one content coding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The value of `Content-Encoding`, or none.
    pub coding: Coding,
    /// The content in this coding.
    pub bytes: Cow<'static, [u8]>,
    /// The value of `ETag`, quotes included; another one for each form.
    pub etag: String,
}

/// A content coding, in the order in which we prefer them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coding {
    /// `br`.
    Brotli,
    /// `gzip`.
    Gzip,
    /// As it is.
    Identity,
}

impl Coding {
    /// Every coding, the preferred one first.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Identity];

    /// Returns its name in `Accept-Encoding` and `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }

    /// What the page's build appends to the name of a file that it has compressed.
    fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Identity => "",
        }
    }
}

/// Returns the file at a URL path, with or without the leading slash; the root is `index.html`.
pub fn file(path: &str) -> Option<File> {
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    if is_compressed(path) {
        return None;
    }
    let forms: Vec<Form> = Coding::ALL.into_iter().filter_map(|coding| form(path, coding)).collect();
    let whole = forms.last().is_some_and(|form| form.coding == Coding::Identity);
    whole.then(|| File { mime: mime(path), immutable: path.starts_with("assets/"), forms })
}

fn form(path: &str, coding: Coding) -> Option<Form> {
    let embedded = Page::get(&format!("{path}{}", coding.suffix()))?;
    let hash = embedded.metadata.sha256_hash();
    let hash: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    Some(Form { coding, bytes: embedded.data, etag: format!("\"{hash}\"") })
}

/// A compressed form is not a file of its own.
fn is_compressed(path: &str) -> bool {
    [Coding::Brotli, Coding::Gzip].into_iter().any(|coding| path.ends_with(coding.suffix()))
}

/// Returns the path of every file, in order.
pub fn paths() -> Vec<String> {
    let mut paths: Vec<String> =
        Page::iter().filter(|path| !is_compressed(path)).map(Cow::into_owned).collect();
    paths.sort();
    paths
}

fn mime(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("json" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_page() {
        let page = file("/").expect("the page is embedded");
        assert_eq!((page.mime, page.immutable), ("text/html; charset=utf-8", false));
        assert_eq!(Some(page), file("index.html"));
    }

    #[test]
    fn hashed_assets_may_be_kept_for_ever() {
        let assets: Vec<String> = paths().into_iter().filter(|path| path.starts_with("assets/")).collect();
        assert!(!assets.is_empty(), "the built page has assets");
        for path in assets {
            assert!(file(&path).expect("a listed path exists").immutable, "{path}");
        }
    }

    #[test]
    fn what_is_not_there_is_none() {
        for path in [
            "nothing.js",
            "../Cargo.toml",
            "/assets/../index.html",
            "assets",
            "//etc/passwd",
            "index.html.gz",
        ] {
            assert_eq!(file(path), None, "{path}");
        }
    }

    #[test]
    fn every_large_file_is_kept_smaller_in_both_codings_under_tags_of_their_own() {
        let large =
            |path: &String| file(path).is_some_and(|file| file.forms.last().unwrap().bytes.len() > 1024);
        let large: Vec<String> = paths().into_iter().filter(large).collect();
        assert!(large.iter().any(|path| path.ends_with(".js")), "{large:?}");
        for path in large {
            let forms = file(&path).unwrap().forms;
            let codings: Vec<Coding> = forms.iter().map(|form| form.coding).collect();
            assert_eq!(codings, Coding::ALL, "{path}");
            assert!(forms.is_sorted_by(|a, b| a.bytes.len() < b.bytes.len()), "{path}");
            assert!(forms[0].etag != forms[1].etag && forms[1].etag != forms[2].etag, "{path}");
        }
    }

    /// The server's policy forbids them, so the page would stay white.
    #[test]
    fn the_page_has_no_inline_script_or_style() {
        let page = file("/").expect("the page is embedded");
        let text = String::from_utf8_lossy(&page.forms.last().unwrap().bytes).into_owned();
        for tag in text.split('<').filter(|tag| tag.starts_with("script")) {
            assert!(tag.contains(" src="), "inline script: <{tag}");
        }
        assert!(!text.contains("<style") && !text.contains(" style="), "inline style in index.html");
    }
}
