//! Opens the user's browser on a link, without the link in any process list.

use std::path::Path;
use std::process::Stdio;

use chartroom_workspace::gate::find_program;

use crate::data::DataFolder;
use crate::exit::Failure;

/// Opens `link` by way of a file that only the user can read: an argument could be read by every local user.
pub(super) fn open(data: &DataFolder, link: &str) -> Result<(), Failure> {
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Chartroom</title>\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\"><a href=\"{link}\">Open Chartroom</a>\n"
    );
    data.write_private("open.html", &page).map_err(|error| Failure::impossible(error.to_string()))?;
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let path = std::env::var_os("PATH");
    let Some(program) = find_program(Path::new(program), path.as_ref()) else {
        tracing::warn!("no {program} on PATH: open the link by hand");
        return Ok(());
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the browser is the user's own and must outlive us and our keeper"
    )]
    let child = std::process::Command::new(program)
        .arg(data.path().join("open.html"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = child {
        tracing::warn!("the browser did not open ({error}): open the link by hand");
    }
    Ok(())
}
