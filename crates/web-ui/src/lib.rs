//! The page, embedded.
//!
//! `build.rs` built it; whoever serves it asks by path and gets bytes with what HTTP needs to say about them.

use std::borrow::Cow;

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/dist"]
struct Page;

/// One file of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    pub bytes: Cow<'static, [u8]>,
    /// The value of `Content-Type`.
    pub mime: &'static str,
    /// The value of `ETag`, quotes included.
    pub etag: String,
    /// True when the name carries a hash of the content: a browser may keep it for ever.
    pub immutable: bool,
}

/// Returns the file at a URL path, with or without the leading slash; the root is `index.html`.
pub fn file(path: &str) -> Option<File> {
    let path = path.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let embedded = Page::get(path)?;
    let hash = embedded.metadata.sha256_hash();
    Some(File {
        bytes: embedded.data,
        mime: mime(path),
        etag: format!("\"{}\"", hash[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        immutable: path.starts_with("assets/"),
    })
}

/// Returns the path of every file, in order.
pub fn paths() -> Vec<String> {
    let mut paths: Vec<String> = Page::iter().map(Cow::into_owned).collect();
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
        for path in ["nothing.js", "../Cargo.toml", "/assets/../index.html", "assets", "//etc/passwd"] {
            assert_eq!(file(path), None, "{path}");
        }
    }

    /// The server's policy forbids them, so the page would stay white.
    #[test]
    fn the_page_has_no_inline_script_or_style() {
        let page = file("/").expect("the page is embedded");
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        for tag in text.split('<').filter(|tag| tag.starts_with("script")) {
            assert!(tag.contains(" src="), "inline script: <{tag}");
        }
        assert!(!text.contains("<style") && !text.contains(" style="), "inline style in index.html");
    }
}
