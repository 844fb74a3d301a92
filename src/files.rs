//! Reading and writing files so that nothing is lost: whole or not at all.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

/// Longest text that is read, in bytes. Configurations and scenarios have a few thousand;
/// a device that never ends must not fill the memory.
const LONGEST_TEXT: u64 = 16 << 20;

/// A file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refuses to read.
    #[error("{path}: cannot read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file exceeds what is accepted as a text.
    #[error("{path}: longer than {LONGEST_TEXT} bytes: this is not a text written by hand")]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// The system refuses to write.
    #[error("{path}: cannot write: {source}; nothing was left behind")]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The path cannot name a file.
    #[error("{path}: cannot write: {problem}; name a file to write")]
    NotAFile {
        /// The path as given.
        path: PathBuf,
        /// What it names instead.
        problem: String,
    },
    /// The system refuses to remove.
    #[error(
        "{path}: cannot remove this file of an earlier configuration: {source}; remove it by hand"
    )]
    Remove {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The folder that is to hold the file cannot be made.
    #[error("{path}: cannot write: the folder {folder} cannot be made: {source}")]
    Folder {
        /// The file that was to be written.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The bytes are no text.
    #[error("{path}: not UTF-8 at byte {offset}: the file is damaged, or not text")]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first byte that is not UTF-8, from 0.
        offset: usize,
    },
}

/// Reads a file of at most 16 MiB.
///
/// # Errors
/// If the file cannot be read or is longer.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?
            .take(LONGEST_TEXT + 1)
            .read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|source| FileError::Read {
        path: path.into(),
        source,
    })?;
    if bytes.len() as u64 > LONGEST_TEXT {
        return Err(FileError::TooLong { path: path.into() });
    }
    Ok(bytes)
}

/// Reads a text file of at most 16 MiB.
///
/// # Errors
/// If the file cannot be read, is longer, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    String::from_utf8(read_bytes(path)?).map_err(|error| FileError::NotUtf8 {
        path: path.into(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// SHA-256 of a file of any length, in hexadecimal.
///
/// # Errors
/// If the file cannot be read.
pub fn sha256(path: &Path) -> Result<String, FileError> {
    let read = || -> std::io::Result<String> {
        let mut digest = Sha256::new();
        std::io::copy(&mut std::fs::File::open(path)?, &mut digest)?;
        let digest = digest.finalize();
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    read().map_err(|source| FileError::Read {
        path: path.into(),
        source,
    })
}

/// How the line begins by which an emitted file says where it comes from, and how it goes on
/// behind the version.
const EMITTED: [&str; 2] = [
    "Emitted by linkdoze ",
    "; change the configuration rather than this file.",
];

/// The line after it, up to the hash.
const HASHED: &str = "SHA-256 of the configuration: ";

/// How the names of the files with this header end.
const EMITTED_NAMES: [&str; 7] = [
    ".v",
    ".sdc",
    ".xdc",
    ".lpf",
    "_registers.rdl",
    "_registers.h",
    "_registers.md",
];

/// Most of an emitted file that is read for its header, in bytes: the longest is that of a
/// block whose description is long, some 1000.
const LONGEST_HEADER: u64 = 16 << 10;

/// The two lines by which every file that `generate` writes says where it comes from, without
/// the marks of a comment. `hash` is the SHA-256 of the configuration in hexadecimal.
pub fn origin(hash: &str) -> [String; 2] {
    let [before, behind] = EMITTED;
    let version = env!("CARGO_PKG_VERSION");
    [
        format!("{before}{version}{behind}"),
        format!("{HASHED}{hash}"),
    ]
}

/// Whether `text` has the lines of [`origin`], of any version and configuration.
fn has_origin(text: &str) -> bool {
    let marks = ['/', '*', '#', ' '];
    let mut header = text.lines().map(|line| line.trim_start_matches(marks)).zip(
        text.lines()
            .skip(1)
            .map(|line| line.trim_start_matches(marks)),
    );
    header.any(|(line, next)| {
        let emitted = line
            .strip_prefix(EMITTED[0])
            .is_some_and(|rest| rest.ends_with(EMITTED[1]));
        emitted && next.starts_with(HASHED)
    })
}

/// The files in `folder` that `generate` has written, by their names and headers, sorted; none
/// if there is no such folder. Links and what cannot be read are left alone.
///
/// # Errors
/// If the folder cannot be read.
pub fn emitted_in(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let read_error = |source| FileError::Read {
        path: folder.into(),
        source,
    };
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(read_error)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(read_error)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = EMITTED_NAMES.iter().any(|end| name.ends_with(end));
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let mut start = Vec::new();
        let read = std::fs::File::open(entry.path())
            .and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut start));
        if read.is_ok() && has_origin(&String::from_utf8_lossy(&start)) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes one of [`emitted_in`].
///
/// # Errors
/// If the system refuses.
pub fn remove(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(|source| FileError::Remove {
        path: path.into(),
        source,
    })
}

/// How the names of temporary files begin.
const TEMPORARY: &str = ".linkdoze-";

/// Whether a file of this name is one that a killed process may have left half-written.
pub fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes())
}

/// Temporary files and folders that a sudden end of the process would leave behind.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is whole between any two statements that change it.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file or folder, known to [`abandon_unfinished`] as long as this lives.
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes `path` known.
    pub fn new(path: &Path) -> Unfinished {
        unfinished().push(path.into());
        Unfinished(path.into())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        unfinished().retain(|path| *path != self.0);
    }
}

/// Removes what is unfinished, for a process that is about to end. Files that are just
/// taking their places do so first; nothing else is written any more.
pub fn abandon_unfinished() {
    let list = unfinished();
    for path in list.iter() {
        // What is gone already need not be removed, and nobody is left to tell.
        let _gone = match path.is_dir() {
            true => std::fs::remove_dir_all(path),
            false => std::fs::remove_file(path),
        };
    }
    // Kept locked: a thread that still writes waits here for the end.
    std::mem::forget(list);
}

/// A complete file under a temporary name beside its place.
struct Staged {
    file: NamedTempFile,
    place: PathBuf,
    unfinished: Unfinished,
}

/// Writes one file; see [`write_together`].
///
/// # Errors
/// As [`write_together`].
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), FileError> {
    write_together(&[(path.into(), content)])
}

/// Writes files that belong together: each under a temporary name beside its place, then
/// all are renamed, so that a full disk or an interrupt leaves the old content or none.
/// Folders that are missing are made; a symbolic link keeps pointing to the file, which is
/// replaced.
///
/// # Errors
/// If a folder or a file cannot be written, or a path names something that is not a
/// regular file, such as a folder or a device.
pub fn write_together(files: &[(PathBuf, &[u8])]) -> Result<(), FileError> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, content) in files {
        staged.push((path.as_path(), stage(path, |file| file.write_all(content))?));
    }
    take_places(staged)
}

/// Writes one file that is too long to be held: `content` writes it piece by piece; see
/// [`write_together`].
///
/// # Errors
/// As [`write_together`].
pub fn write_streamed(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), FileError> {
    let staged = stage(path, |file| {
        let mut buffer = std::io::BufWriter::with_capacity(1 << 16, file);
        content(&mut buffer)?;
        buffer.flush()
    })?;
    take_places(vec![(path, staged)])
}

/// Puts complete files into their places.
fn take_places(staged: Vec<(&Path, Staged)>) -> Result<(), FileError> {
    let mut list = unfinished();
    let mut finished = Vec::with_capacity(staged.len());
    for (
        path,
        Staged {
            file,
            place,
            unfinished,
        },
    ) in staged
    {
        let renamed = file.persist(&place);
        list.retain(|temporary| *temporary != unfinished.0);
        finished.push(unfinished);
        if let Err(error) = renamed {
            drop(list);
            return Err(FileError::Write {
                path: path.into(),
                source: error.error,
            });
        }
    }
    drop(list);
    Ok(())
}

fn stage(
    path: &Path,
    content: impl FnOnce(&mut NamedTempFile) -> std::io::Result<()>,
) -> Result<Staged, FileError> {
    let not_a_file = |problem: &str| FileError::NotAFile {
        path: path.into(),
        problem: problem.into(),
    };
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(not_a_file("the name is that of a folder"));
    }
    let write_error = |source: std::io::Error| FileError::Write {
        path: path.into(),
        // Without the temporary name, which tells nobody anything.
        source: match source.raw_os_error() {
            Some(_) => source,
            None => source.kind().into(),
        },
    };
    let place = match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(not_a_file("it is a folder")),
        // A rename would put a plain file in the place of /dev/null.
        Ok(found) if !found.is_file() => return Err(not_a_file("it is not a regular file")),
        Ok(_) => path.canonicalize().map_err(write_error)?,
        Err(_) if path.is_symlink() => {
            return Err(not_a_file("it is a symbolic link that leads nowhere"))
        }
        Err(_) => path.to_owned(),
    };
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(|source| FileError::Folder {
        path: path.into(),
        folder: folder.into(),
        source,
    })?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // A temporary file is private; what a user keeps follows the umask.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(write_error)?;
    let unfinished = Unfinished::new(file.path());
    content(&mut file)
        .and_then(|()| file.as_file().sync_data())
        .map_err(write_error)?;
    Ok(Staged {
        file,
        place,
        unfinished,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn folders_are_made_and_files_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.txt");
        write_whole(&path, b"1").unwrap();
        write_whole(&path, b"2").unwrap();
        assert_eq!(read_text(&path).unwrap(), "2");
        assert_eq!(names(path.parent().unwrap()), ["b.txt"]);
    }

    #[test]
    fn together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("taken")).unwrap();
        let error = write_together(&[(at("a"), b"1"), (at("taken"), b"2")]).unwrap_err();
        assert!(error.to_string().contains("it is a folder"), "{error}");
        assert_eq!(names(folder.path()), ["taken"]);
        write_together(&[(at("a"), b"1"), (at("b"), b"2")]).unwrap();
        assert_eq!(names(folder.path()), ["a", "b", "taken"]);
    }

    #[test]
    fn only_regular_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| write_whole(path, b"x").unwrap_err().to_string();
        let socket = folder.path().join("socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(message(&socket).contains("not a regular file"));
        let nowhere = folder.path().join("nowhere");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        assert!(message(&nowhere).contains("leads nowhere"));
        assert!(message(&folder.path().join("new/")).contains("name is that of a folder"));
        let file = folder.path().join("file");
        std::fs::write(&file, "old").unwrap();
        assert!(message(&file.join("x")).contains("cannot be made"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(read_text(&file).unwrap(), "new");
        assert_eq!(names(folder.path()), ["file", "link", "nowhere", "socket"]);
    }

    #[test]
    fn emitted_files_are_known_by_name_and_header() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let [emitted, hashed] = origin("0123");
        write(
            "a.v",
            &format!("// a\n//\n// {emitted}\n// {hashed}\n\nmodule a;\n"),
        );
        write("b.sdc", &format!("# {emitted}\n# {hashed}\n"));
        write(
            "c_registers.h",
            &format!("/* c\n * {emitted}\n * {hashed}\n */\n"),
        );
        let older = emitted.replace(env!("CARGO_PKG_VERSION"), "0.0.1-rc");
        write("d_registers.md", &format!("# d\n\n{older}\n{hashed}.\n"));
        // By hand, whatever they quote.
        write("e.v", "module e;\nendmodule\n");
        write("f.v", &format!("// As \"{emitted}\" says.\n// {hashed}\n"));
        write("g.v", &format!("// {emitted}\n//\n"));
        write("README.md", &format!("{emitted}\n{hashed}\n"));
        write("port.f", &format!("{emitted}\n{hashed}\n"));
        std::os::unix::fs::symlink("a.v", folder.path().join("link.v")).unwrap();
        let found = emitted_in(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["a.v", "b.sdc", "c_registers.h", "d_registers.md"]);
        assert!(emitted_in(&folder.path().join("absent"))
            .unwrap()
            .is_empty());
    }

    #[test]
    fn a_file_without_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert!(matches!(error, FileError::TooLong { .. }), "{error}");
    }
}
