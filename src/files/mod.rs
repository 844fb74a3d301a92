//! Reading and writing files so that nothing is lost: whole or not at all.

mod temporary;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest, Sha256};

pub use temporary::{abandon_unfinished, remove_left_files, TemporaryFolder};
use temporary::{unfinished, TemporaryFile};

/// Longest text that is read, in bytes. Configurations and scenarios have a few thousand;
/// a device that never ends must not fill the memory.
const LONGEST_TEXT: u64 = 16 << 20;

/// The names of files, one after the other.
pub(crate) fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

/// How data begin that gzip compressed (RFC 1952, 2.3.1).
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];

/// How data begin that zstd compressed (RFC 8878, 3.1.1).
pub(crate) const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A path as a word of a shell's command, for commands that are printed to be repeated.
pub(crate) fn shell_word(path: &Path) -> String {
    let word = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

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
    #[error(
        "{path}: cannot write: {}; nothing was left behind: {}",
        problem(.cause),
        remedy(.cause, "another file")
    )]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// Some of several files could not take their places any more, after others had.
    #[error(
        "{path}: cannot write: {}; {}; already replaced: {}",
        problem(.cause),
        remedy(.cause, "another file"),
        listed(.replaced)
    )]
    Partly {
        /// The file that was to be written.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
        /// What has been written.
        replaced: Vec<PathBuf>,
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
        "{path}: cannot remove this file of an earlier configuration or run: {source}; remove it by hand"
    )]
    Remove {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The folder that is to hold the file cannot be made.
    #[error(
        "{path}: cannot write: the folder {folder} cannot be made: {}; {}",
        problem(.cause),
        remedy(.cause, "another folder")
    )]
    Folder {
        /// The file that was to be written.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// No file can be made in the folder.
    #[error(
        "{folder}: cannot write into this folder: {}; {}",
        problem(.cause),
        remedy(.cause, "another folder")
    )]
    NotWritable {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// What is to be written is an input of the same run.
    #[error("{path}: cannot write: {input} is the same file, and an input of this run; name another file")]
    ReplacesInput {
        /// The file that was to be written.
        path: PathBuf,
        /// The input as it was named.
        input: PathBuf,
    },
    /// The folder is a file.
    #[error("{path}: not a folder; name a folder to write to")]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// Another process writes into the folder.
    #[error(
        "{folder}: another linkdoze writes into this folder; wait for it, or name another folder"
    )]
    Busy {
        /// The folder.
        folder: PathBuf,
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

/// Why the system refuses to write, in words of its own where those of Rust's library would tell
/// nothing.
pub(crate) fn problem(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "no file or folder can be made there".into(),
        ErrorKind::PermissionDenied => "you have no permission to write there".into(),
        ErrorKind::ReadOnlyFilesystem => "the file system can only be read".into(),
        ErrorKind::StorageFull => "the disk is full".into(),
        ErrorKind::QuotaExceeded => "your quota of the disk is used up".into(),
        ErrorKind::InvalidFilename => "the system does not take such a name".into(),
        _ => error.to_string(),
    }
}

/// What helps against [`problem`]; `other` is what could be named instead.
fn remedy(error: &std::io::Error, other: &str) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::PermissionDenied => format!("get the permission, or name {other}"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            format!("make room, or name {other} on another disk")
        }
        _ => format!("name {other}"),
    }
}

/// The name that stands for standard input where a file is read.
pub const STANDARD_INPUT: &str = "-";

/// Opens a file to be read, or standard input if it is called [`STANDARD_INPUT`].
///
/// # Errors
/// If the file cannot be opened, or standard input was opened before: it can be read only once.
pub fn open(path: &Path) -> std::io::Result<Box<dyn Read>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    if path != Path::new(STANDARD_INPUT) {
        return Ok(Box::new(File::open(path)?));
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(std::io::Error::other(
            "standard input stands for one file only; give the other one by its name",
        ));
    }
    Ok(Box::new(std::io::stdin()))
}

/// Reads a file of at most 16 MiB.
///
/// # Errors
/// If the file cannot be read or is longer.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open(path)?.take(LONGEST_TEXT + 1).read_to_end(&mut bytes)?;
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
const EMITTED_NAMES: [&str; 9] = [
    ".v",
    ".sv",
    ".core",
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

/// Whether a file says that `generate` has written it. What cannot be read does not.
fn is_emitted(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut start));
    read.is_ok() && has_origin(&String::from_utf8_lossy(&start))
}

/// The files in `folder` that `generate` has written, by their names and headers, sorted; none
/// if there is no such folder. A list of files has no header: `NAME.f` is one if it has `NAME.v` and
/// nothing but such files, and `NAME_checkers.f` if it has nothing but such files of a folder below.
/// Links and what cannot be read are left alone.
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
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let is_list = |stem: &str| {
            let text = read_text(&entry.path()).unwrap_or_default();
            let as_emitted = match stem.ends_with("_checkers") {
                true => !text.is_empty() && text.lines().all(|name| name.contains('/')),
                false => text.lines().any(|name| name == format!("{stem}.v")),
            };
            as_emitted && text.lines().all(|name| is_emitted(&folder.join(name)))
        };
        let ours = match name.strip_suffix(".f") {
            Some(stem) => is_list(stem),
            None => {
                EMITTED_NAMES.iter().any(|end| name.ends_with(end)) && is_emitted(&entry.path())
            }
        };
        if ours {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes one of [`emitted_in`], or of an earlier run.
///
/// # Errors
/// If the system refuses.
pub fn remove(path: &Path) -> Result<(), FileError> {
    std::fs::remove_file(path).map_err(|source| FileError::Remove {
        path: path.into(),
        source,
    })
}

/// Refuses outputs that are inputs of the same run, under whatever names: of the same file on the
/// disk, be it through links or folders. To be called before any work.
///
/// # Errors
/// The first output that is an input.
pub fn refuse_to_replace(
    outputs: impl IntoIterator<Item = impl AsRef<Path>>,
    inputs: impl IntoIterator<Item = impl AsRef<Path>>,
) -> Result<(), FileError> {
    // What does not exist is replaced by nothing, and replaces nothing.
    let identity = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    let inputs: Vec<_> = inputs
        .into_iter()
        .filter_map(|input| Some((identity(input.as_ref())?, input)))
        .collect();
    for path in outputs {
        let path = path.as_ref();
        let Some(output) = identity(path) else {
            continue;
        };
        if let Some((_, input)) = inputs.iter().find(|(input, _)| *input == output) {
            return Err(FileError::ReplacesInput {
                path: path.into(),
                input: input.as_ref().into(),
            });
        }
    }
    Ok(())
}

/// A folder that no other process writes to while this lives, however this process ends. Where
/// the file system has no locks, nobody is kept out.
pub struct FolderLock {
    _lock: Option<Flock<std::fs::File>>,
}

impl FolderLock {
    /// Takes a folder, which is made if it is missing, and removes what processes that were killed
    /// have left half-written there.
    ///
    /// # Errors
    /// If another process has it, or it cannot be made.
    pub fn new(folder: &Path) -> Result<FolderLock, FileError> {
        make_folder(folder)?;
        let file = std::fs::File::open(folder).map_err(|source| FileError::Read {
            path: folder.into(),
            source,
        })?;
        let lock = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Some(lock),
            Err((_, nix::errno::Errno::EWOULDBLOCK)) => {
                return Err(FileError::Busy {
                    folder: folder.into(),
                })
            }
            Err(_) => None,
        };
        remove_left_files(folder);
        Ok(FolderLock { _lock: lock })
    }
}

/// Makes a folder to write to, and those above it, where they are missing.
///
/// # Errors
/// If it cannot be made, or something else has its name or that of one above it.
pub fn make_folder(folder: &Path) -> Result<(), FileError> {
    make_folder_for(folder, folder)
}

/// Makes the folder in which `path` is to be written.
fn make_folder_for(path: &Path, folder: &Path) -> Result<(), FileError> {
    let there = folder.ancestors().find(|it| it.symlink_metadata().is_ok());
    if let Some(other) = there.filter(|there| !there.is_dir()) {
        return Err(FileError::NotAFolder { path: other.into() });
    }
    std::fs::create_dir_all(folder).map_err(|cause| FileError::Folder {
        path: path.into(),
        folder: folder.into(),
        cause,
    })
}

/// Sees whether a folder can be written to, or be made where it is missing: to be called before work
/// whose results would be lost. Nothing is left behind.
///
/// # Errors
/// If it cannot be made, or no file in it.
pub fn refuse_unwritable_folder(folder: &Path) -> Result<(), FileError> {
    let missing = |it: &&Path| !it.as_os_str().is_empty() && it.symlink_metadata().is_err();
    let missing: Vec<&Path> = folder.ancestors().take_while(missing).collect();
    make_folder(folder)?;
    let tried = TemporaryFile::new(folder, "");
    let tried = tried.map(drop).map_err(|cause| FileError::NotWritable {
        folder: folder.into(),
        cause: without_name(cause),
    });
    for made in missing {
        // Whoever has put something there meanwhile needs it.
        let _ = std::fs::remove_dir(made);
    }
    tried
}

/// Sees whether a file can be written, and makes its folder where it is missing: to be called before
/// work whose results would be lost. A file that is there stays as it is.
///
/// # Errors
/// Those of [`Staged::new`].
pub fn refuse_unwritable(path: &Path) -> Result<(), FileError> {
    Staged::new(path, "").map(drop)
}

/// A file under a temporary name beside its place.
pub struct Staged {
    path: PathBuf,
    place: PathBuf,
    temporary: TemporaryFile,
}

impl Staged {
    /// An empty file that will become `path`; its temporary name ends with `suffix`, which is
    /// empty or that of a waveform. Folders that are missing are made.
    ///
    /// # Errors
    /// If a folder or the file cannot be made, or `path` names something that is not a regular
    /// file, such as a folder or a device.
    pub fn new(path: &Path, suffix: &str) -> Result<Staged, FileError> {
        let place = place_of(path)?;
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        make_folder_for(path, folder)?;
        Ok(Staged {
            temporary: TemporaryFile::new(folder, suffix)
                .map_err(|error| write_error(path, error))?,
            path: path.into(),
            place,
        })
    }

    /// The temporary name.
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Makes sure that the content is on the disk, and gives the file its name.
    ///
    /// # Errors
    /// If the system refuses; the file is removed then.
    pub fn take_place(self) -> Result<(), FileError> {
        take_places(vec![self.complete()?])
    }

    /// To be called where a program has put another file under the temporary name instead of
    /// opening the one that is there.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn opened_anew(&mut self) -> Result<(), FileError> {
        let held = self.temporary.hold_anew();
        held.map_err(|error| write_error(&self.path, error))
    }

    fn complete(self) -> Result<Staged, FileError> {
        match self.temporary.sync() {
            Ok(()) => Ok(self),
            Err(error) => Err(write_error(&self.path, error)),
        }
    }
}

fn write_error(path: &Path, cause: std::io::Error) -> FileError {
    FileError::Write {
        path: path.into(),
        cause: without_name(cause),
    }
}

/// An error without the name of a temporary file, which tells nobody anything.
fn without_name(error: std::io::Error) -> std::io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => error.kind().into(),
    }
}

/// Where a file called `path` lies: where a symbolic link leads.
fn place_of(path: &Path) -> Result<PathBuf, FileError> {
    let not_a_file = |problem: &str| FileError::NotAFile {
        path: path.into(),
        problem: problem.into(),
    };
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(not_a_file("the name is that of a folder"));
    }
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(not_a_file("it is a folder")),
        // A rename would put a plain file in the place of /dev/null.
        Ok(found) if !found.is_file() => Err(not_a_file("it is not a regular file")),
        Ok(_) => path
            .canonicalize()
            .map_err(|error| write_error(path, error)),
        Err(_) if path.is_symlink() => Err(not_a_file("it is a symbolic link that leads nowhere")),
        Err(_) => Ok(path.to_owned()),
    }
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
/// regular file, such as a folder or a device; [`FileError::Partly`] if that turns out only when others
/// have taken their places.
pub fn write_together(files: &[(PathBuf, &[u8])]) -> Result<(), FileError> {
    let mut staged = Vec::with_capacity(files.len());
    for (path, content) in files {
        staged.push(stage(path, |file| file.write_all(content))?);
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
    take_places(vec![staged])
}

/// Puts complete files into their places.
fn take_places(staged: Vec<Staged>) -> Result<(), FileError> {
    // No end of the process in between.
    let mut list = unfinished();
    let mut finished = Vec::with_capacity(staged.len());
    let mut replaced = Vec::with_capacity(staged.len());
    for Staged {
        path,
        place,
        temporary,
    } in staged
    {
        let (renamed, rest) = temporary.persist(&place, &mut list);
        finished.push(rest);
        if let Err(cause) = renamed {
            drop(list);
            return Err(match replaced.is_empty() {
                true => FileError::Write { path, cause },
                false => FileError::Partly {
                    path,
                    cause,
                    replaced,
                },
            });
        }
        replaced.push(path);
    }
    drop(list);
    Ok(())
}

fn stage(
    path: &Path,
    content: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<Staged, FileError> {
    let mut staged = Staged::new(path, "")?;
    content(staged.temporary.file()).map_err(|error| write_error(path, error))?;
    staged.complete()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_shell() {
        for (path, word) in [
            ("out/port.toml", "out/port.toml"),
            ("my port.toml", "'my port.toml'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(Path::new(path)), word);
        }
    }

    /// The names of the files in a folder, in order.
    pub(super) fn names(folder: &Path) -> Vec<String> {
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

    /// A folder appears where a file is to go after all are written.
    #[test]
    fn what_was_replaced_before_a_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let staged =
            ["a", "b", "c"].map(|name| stage(&at(name), |file| file.write_all(b"1")).unwrap());
        std::fs::create_dir(at("b")).unwrap();
        let error = take_places(staged.into()).unwrap_err().to_string();
        let a = at("a").display().to_string();
        assert!(
            error.ends_with(&format!("already replaced: {a}")),
            "{error}"
        );
        assert_eq!(names(folder.path()), ["a", "b"]);
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
        let not_a_folder = format!("{}: not a folder; name a folder", file.display());
        for below in ["x", "x/y"] {
            assert!(message(&file.join(below)).starts_with(&not_a_folder));
            let error = refuse_unwritable_folder(&file.join(below)).unwrap_err();
            assert!(error.to_string().starts_with(&not_a_folder), "{error}");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(read_text(&file).unwrap(), "new");
        assert_eq!(names(folder.path()), ["file", "link", "nowhere", "socket"]);
    }

    /// Before any work, and without a trace of the trial.
    #[test]
    fn what_cannot_be_written_is_told_with_a_way_out() {
        let nowhere = Path::new("/proc/k");
        let message = |error: Result<(), FileError>| error.unwrap_err().to_string();
        let refused =
            "/proc/k: cannot write: no file or folder can be made there; nothing was left \
                       behind: name another file";
        assert_eq!(message(refuse_unwritable(nowhere)), refused);
        let refused =
            "/proc/k: cannot write: the folder /proc/k cannot be made: no file or folder can \
                       be made there; name another folder";
        assert_eq!(message(refuse_unwritable_folder(nowhere)), refused);
        let refused =
            "/proc: cannot write into this folder: no file or folder can be made there; name \
                       another folder";
        assert_eq!(
            message(refuse_unwritable_folder(Path::new("/proc"))),
            refused
        );
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let (told, helps) = (problem(&full), remedy(&full, "another file"));
        assert_eq!(
            format!("{told}; {helps}"),
            "the disk is full; make room, or name another file on another disk"
        );
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("old"), "old").unwrap();
        refuse_unwritable(&at("old")).unwrap();
        refuse_unwritable(&at("new")).unwrap();
        refuse_unwritable_folder(&at("made/below")).unwrap();
        refuse_unwritable_folder(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["old"]);
        assert_eq!(read_text(&at("old")).unwrap(), "old");
    }

    #[test]
    fn an_output_that_is_an_input_is_refused_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("input"), "in").unwrap();
        std::fs::write(at("other"), "out").unwrap();
        std::os::unix::fs::symlink("../input", at("sub/link")).unwrap();
        std::fs::hard_link(at("input"), at("sub/hard")).unwrap();
        for name in ["input", "sub/../input", "sub/link", "sub/hard"] {
            let error = refuse_to_replace([at("other"), at(name)], [at("input")]);
            let text = error.unwrap_err().to_string();
            assert!(text.starts_with(at(name).to_str().unwrap()), "{text}");
            assert!(text.contains("an input of this run"), "{text}");
            // The input may be the one that is called otherwise.
            refuse_to_replace([at("input")], [at(name)]).unwrap_err();
        }
        refuse_to_replace([at("other"), at("new")], [at("input"), at("absent")]).unwrap();
        // Not a word about what is no file yet, on either side.
        refuse_to_replace([at("new")], [at("new")]).unwrap();
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
        write("a_checker.sv", &format!("// {emitted}\n// {hashed}\n"));
        write("b.core", &format!("CAPI=2:\n# {emitted}\n# {hashed}\n"));
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
        // Lists: of emitted files alone; with one made by hand; put together by hand.
        std::fs::create_dir(folder.path().join("below")).unwrap();
        write("below/a.sv", &format!("// {emitted}\n// {hashed}\n"));
        write("a.f", "a.v\na_checker.sv\n");
        write("a_checkers.f", "below/a.sv\n");
        write("b_checkers.f", "a.v\nbelow/a.sv\n");
        write("e.f", "a.v\ne.v\n");
        write("simulation.f", "a.v\nbelow/a.sv\n");
        write("c.f", "");
        write("c_checkers.f", "");
        std::os::unix::fs::symlink("a.v", folder.path().join("link.v")).unwrap();
        let found = emitted_in(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(
            names,
            [
                "a.f",
                "a.v",
                "a_checker.sv",
                "a_checkers.f",
                "b.core",
                "b.sdc",
                "c_registers.h",
                "d_registers.md"
            ]
        );
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
