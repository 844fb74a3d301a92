//! Temporary files and folders. They are gone when they are no longer needed, also where a signal
//! ends the process; what a process that was killed has left, the next one removes.
//!
//! As long as a temporary file or folder is in use its process holds a lock on it (flock), which
//! ends with the process however that ends. Where the file system has no locks, nothing is
//! removed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use tempfile::{NamedTempFile, TempDir};

/// How the names of temporary files begin.
const FILE: &str = ".linkdoze-";
/// So many random letters and digits follow.
const RANDOM: usize = 6;
/// What may follow them: the files of waveforms, and one that Verilator keeps beside an FST file.
const SUFFIXES: [&str; 4] = ["", ".vcd", ".fst", ".fst.hier"];

/// Temporary files and folders that a sudden end of the process would leave behind.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list. It is whole between any two statements that change it.
pub(super) fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A temporary file or folder, known to [`abandon_unfinished`] as long as this lives.
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    fn new(path: &Path) -> Unfinished {
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

/// Whether `name` is `prefix`, random letters and digits, and `suffix`.
fn is_named(name: &str, prefix: &str, suffix: &str) -> bool {
    let random = name
        .strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(suffix));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Removes the temporary files in `folder` that no living process holds. What cannot be removed
/// stays: it is in nobody's way.
pub fn remove_left_files(folder: &Path) {
    remove_left(folder, |name| {
        SUFFIXES.iter().any(|suffix| is_named(name, FILE, suffix))
    });
}

fn remove_left(folder: &Path, is_ours: impl Fn(&str) -> bool) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(&is_ours);
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if !ours || !(kind.is_file() || kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        let free = File::open(&path)
            .map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| ()));
        if let Ok(Ok(_lock)) = free {
            // Another process may be faster, or the owner another user.
            let _gone = match kind.is_dir() {
                true => std::fs::remove_dir_all(&path),
                false => std::fs::remove_file(&path),
            };
        }
    }
}

/// The same, once for each folder: this process leaves nothing.
fn remove_left_once(folder: &Path, is_ours: impl Fn(&str) -> bool) {
    static SEEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let place = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let new = SEEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(place);
    if new {
        remove_left(folder, is_ours);
    }
}

/// A lock on a temporary file or folder, where the file system has locks.
pub(super) type Held = Option<Flock<File>>;

/// Takes `path`, which has just been made and is open as `file`, for this process; `None` if
/// another process was faster and has removed it.
fn hold(path: &Path, file: File) -> Option<Held> {
    let held = Flock::lock(file, FlockArg::LockExclusive).ok();
    path.symlink_metadata().is_ok().then_some(held)
}

/// A temporary file that will take its place beside others.
pub(super) struct TemporaryFile {
    file: NamedTempFile,
    unfinished: Unfinished,
    held: Held,
}

impl TemporaryFile {
    /// A new empty file in `folder` whose name ends with `suffix`, one of [`SUFFIXES`].
    pub(super) fn new(folder: &Path, suffix: &str) -> io::Result<TemporaryFile> {
        remove_left_once(folder, |name| {
            SUFFIXES.iter().any(|suffix| is_named(name, FILE, suffix))
        });
        let mut builder = tempfile::Builder::new();
        builder.prefix(FILE).rand_bytes(RANDOM).suffix(suffix);
        // A temporary file is private; what a user keeps follows the umask.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
        loop {
            let file = builder.tempfile_in(folder)?;
            let unfinished = Unfinished::new(file.path());
            if let Some(held) = hold(file.path(), file.as_file().try_clone()?) {
                return Ok(TemporaryFile {
                    file,
                    unfinished,
                    held,
                });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Holds the file that has come under its name.
    pub(super) fn hold_anew(&mut self) -> io::Result<()> {
        // It may still be the same file, whose lock would keep this process out, too.
        self.held = None;
        self.held = hold(self.path(), File::open(self.path())?).flatten();
        Ok(())
    }

    /// Waits until the content is on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        File::open(self.path())?.sync_data()
    }

    /// Renames it, with the list of what is unfinished in hand; what is returned beside is to be
    /// dropped when the list is free.
    pub(super) fn persist(
        self,
        place: &Path,
        list: &mut Vec<PathBuf>,
    ) -> (io::Result<()>, (Unfinished, Held)) {
        let renamed = self.file.persist(place).map(drop);
        list.retain(|temporary| *temporary != self.unfinished.0);
        let renamed = renamed.map_err(|error| error.error);
        (renamed, (self.unfinished, self.held))
    }
}

/// A temporary folder for this user alone.
pub struct TemporaryFolder {
    folder: TempDir,
    _unfinished: Unfinished,
    _held: Held,
}

impl TemporaryFolder {
    /// A new empty folder in `parent`, whose name is `prefix` and some letters and digits. Those
    /// that killed processes have left there are removed.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<TemporaryFolder> {
        // Once in a while is not enough: a cache lives long, and its folders are large.
        remove_left(parent, |name| is_named(name, prefix, ""));
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).rand_bytes(RANDOM);
        builder.permissions(std::fs::Permissions::from_mode(0o700));
        loop {
            let folder = builder.tempdir_in(parent)?;
            let unfinished = Unfinished::new(folder.path());
            let opened = match File::open(folder.path()) {
                // Another process took it for one that was left, and has removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened?,
            };
            if let Some(held) = hold(folder.path(), opened) {
                return Ok(TemporaryFolder {
                    folder,
                    _unfinished: unfinished,
                    _held: held,
                });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Gives it the name `place`, under which it stays.
    ///
    /// # Errors
    /// If the system refuses; it is removed then.
    pub fn keep_as(self, place: &Path) -> io::Result<()> {
        // No end of the process in between: it would miss the folder under its new name, which is
        // whole.
        let mut list = unfinished();
        std::fs::rename(self.path(), place)?;
        list.retain(|path| path != self.path());
        drop(list);
        let _moved = self.folder.keep();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::names;
    use super::*;

    /// Each takes the folders of the others for left ones in the moment before they are held.
    #[test]
    fn many_at_once_make_folders_in_one_place() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let folder = TemporaryFolder::new(parent.path(), "made-").unwrap();
                        assert!(folder.path().is_dir());
                    }
                });
            }
        });
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_living_one_holds_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let living = TemporaryFile::new(folder.path(), ".vcd").unwrap();
        let building = TemporaryFolder::new(folder.path(), ".build-").unwrap();
        for left in [".linkdoze-a1B2c3", ".linkdoze-000000.fst.hier"] {
            std::fs::write(at(left), "half").unwrap();
        }
        for left in [".build-zzzzzz/model", ".build-yyyyyy"] {
            std::fs::create_dir_all(at(left)).unwrap();
        }
        // Not ours, though they look alike.
        for other in [".linkdoze-notes", ".linkdoze-a1B2c3.txt", ".linkdoze-"] {
            std::fs::write(at(other), "kept").unwrap();
        }
        std::os::unix::fs::symlink("/", at(".build-xxxxxx")).unwrap();

        remove_left_files(folder.path());
        let another = TemporaryFolder::new(folder.path(), ".build-").unwrap();
        let mut expected: Vec<String> = [
            ".build-xxxxxx",
            ".linkdoze-",
            ".linkdoze-a1B2c3.txt",
            ".linkdoze-notes",
        ]
        .map(str::to_owned)
        .to_vec();
        for held in [living.path(), building.path(), another.path()] {
            expected.push(held.file_name().unwrap().to_str().unwrap().to_owned());
        }
        expected.sort();
        assert_eq!(names(folder.path()), expected);
    }

    #[test]
    fn a_folder_that_is_kept_is_no_longer_temporary() {
        let parent = tempfile::tempdir().unwrap();
        let place = parent.path().join("kept");
        let folder = TemporaryFolder::new(parent.path(), ".build-").unwrap();
        let before = folder.path().to_owned();
        std::fs::write(before.join("x"), "1").unwrap();
        assert!(unfinished().contains(&before));
        folder.keep_as(&place).unwrap();
        assert!(!unfinished().contains(&before));
        assert_eq!(names(parent.path()), ["kept"]);
        assert_eq!(names(&place), ["x"]);
    }
}
