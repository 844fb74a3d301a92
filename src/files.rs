//! Reading and writing files so that nothing is lost: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{path}: cannot read: {source}")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: cannot write: {source}; nothing was left behind")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{path}: not UTF-8 at byte {offset}: the file is damaged, or not text")]
    NotUtf8 { path: PathBuf, offset: usize },
}

/// Reads a text file.
///
/// # Errors
/// If the file cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let bytes = std::fs::read(path).map_err(|source| FileError::Read {
        path: path.into(),
        source,
    })?;
    String::from_utf8(bytes).map_err(|error| FileError::NotUtf8 {
        path: path.into(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// Writes a file under a temporary name beside it and renames it when it is complete,
/// so that a full disk or an interrupt leaves the old content or none.
/// Folders that are missing are made.
///
/// # Errors
/// If a folder or the file cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), FileError> {
    let write = || -> std::io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".linkdoze-")
            .tempfile_in(folder)?;
        file.write_all(content)?;
        file.as_file().sync_data()?;
        // A temporary file is private; what a user keeps follows the usual permissions.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file()
                .set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|source| FileError::Write {
        path: path.into(),
        source,
    })
}
