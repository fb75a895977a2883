//! Files of other programs outside of every workspace, such as the conversations that an agent keeps in the user's home.
//!
//! They are reached by path, and a link on the way is the user's own business; but whatever lies at its end, opening and
//! reading it neither hangs nor takes more than it may.

use std::fs::{File, Metadata, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::boundary::ReadError;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> Result<File, ReadError> {
    // NONBLOCK: a pipe with no writer must not hold us.
    let flags = i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0);
    only_regular(OpenOptions::new().read(true).custom_flags(flags).open(path)?)
}

/// Reads a regular file of at most `limit` bytes, with its metadata from before the reading.
pub fn read(path: &Path, limit: u64) -> Result<(Vec<u8>, Metadata), ReadError> {
    read_open(open(path)?, limit)
}

/// Lets a regular file through; what is opened blocks for nobody, so that looking at it afterwards is soon enough.
pub(crate) fn only_regular(file: File) -> Result<File, ReadError> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(ReadError::Folder);
    }
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    Ok(file)
}

/// Reads an open file of at most `limit` bytes.
pub(crate) fn read_open(file: File, limit: u64) -> Result<(Vec<u8>, Metadata), ReadError> {
    let metadata = file.metadata()?;
    let size = metadata.len();
    if size > limit {
        return Err(ReadError::TooLarge { size, limit });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // It may grow while it is read; a log grows for ever.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(ReadError::TooLarge { size: bytes.len() as u64, limit });
    }
    Ok((bytes, metadata))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_pipe_a_device_a_folder_and_an_endless_file_are_refused_and_a_linked_file_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        rustix::fs::mknodat(rustix::fs::CWD, path("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        symlink("/dev/zero", path("device")).unwrap();
        File::create(path("sparse")).unwrap().set_len(1 << 30).unwrap();
        std::fs::write(path("file"), "text").unwrap();
        symlink("file", path("link")).unwrap();
        let said = |name: &str| match read(&path(name), 4) {
            Ok((bytes, _)) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        };
        assert_eq!(said("pipe"), "it is not a regular file");
        assert_eq!(said("device"), "it is not a regular file");
        assert_eq!(said("."), "it is a folder");
        assert_eq!(said("sparse"), "it has 1073741824 bytes, more than 4");
        assert_eq!(said("none"), "it does not exist");
        assert_eq!(said("link"), "text");
    }
}
