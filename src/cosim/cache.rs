//! The folder in which compiled models are kept.
//!
//! What lies there is loaded into the process. So nobody else may write to it, and an entry counts
//! only if its files have the lengths and hashes of its record, which is written last.

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::files::{self, FileError, TemporaryFolder};

/// The record of an entry: a line of the builder's own, then hash, length and name of each file.
const RECORD: &str = "done";

/// The cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Others can write to the folder from which compiled models are loaded.
    #[error(
        "{folder}: compiled models are loaded from here, and {problem}; {cure}name a folder of \
         your own in the environment variable LINKDOZE_CACHE"
    )]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// Who can write to it.
        problem: String,
        /// How to mend it, if it can be mended.
        cure: String,
    },
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file or folder cannot be used.
    #[error("{path}: {source}")]
    Io {
        /// The file or the folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn io(path: &Path) -> impl Fn(io::Error) -> CacheError + '_ {
    move |source| CacheError::Io {
        path: path.into(),
        source,
    }
}

/// What a builder has put into a folder.
pub(super) struct Made {
    /// The files that are used later on.
    pub(super) files: Vec<String>,
    /// What is to be known of them, in a line.
    pub(super) note: String,
}

/// A folder with what was built.
pub(super) struct Entry {
    pub(super) folder: PathBuf,
    pub(super) note: String,
    /// Where there is no cache the folder lives as long as this.
    pub(super) private: Option<TemporaryFolder>,
}

/// Where builds are kept: `LINKDOZE_CACHE`, else `linkdoze` in `XDG_CACHE_HOME` or in
/// `~/.cache`.
fn cache_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(folder) = variable("LINKDOZE_CACHE") {
        return Some(folder.into());
    }
    variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .map(|folder| folder.join("linkdoze"))
}

/// What `build` makes, under the name `key` in the cache; built if it is not there or damaged.
/// Without a cache that can be written, in a folder that lives as long as the entry.
///
/// # Errors
/// If others can write to the cache, or the build fails.
pub(super) fn cached<E: From<CacheError>>(
    key: &str,
    build: impl Fn(&Path) -> Result<Made, E>,
) -> Result<Entry, E> {
    match cache_folder() {
        Some(cache) => cached_in(&cache, key, build),
        None => {
            not_kept(
                "none of the environment variables LINKDOZE_CACHE, XDG_CACHE_HOME and HOME names a \
                 folder to keep compiled models in",
            );
            private(build)
        }
    }
}

/// Says once that what is compiled has to be compiled again by the next run.
fn not_kept(why: &str) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        log::warn!(
            "the compiled model is not kept, and the next run compiles it again: {why}; name a folder \
             of your own in the environment variable LINKDOZE_CACHE"
        );
    });
}

/// That no model can be kept in `cache`.
fn not_writable(cache: &Path, error: &io::Error) -> String {
    format!("{}: {}", cache.display(), files::problem(error))
}

fn cached_in<E: From<CacheError>>(
    cache: &Path,
    key: &str,
    build: impl Fn(&Path) -> Result<Made, E>,
) -> Result<Entry, E> {
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(cache);
    if let Err(error) = made {
        not_kept(&not_writable(cache, &error));
        return private(build);
    }
    refuse_what_others_write(cache)?;
    let folder = cache.join(key);
    let there = || -> Result<Option<Entry>, CacheError> {
        if !folder.exists() {
            return Ok(None);
        }
        refuse_what_others_write(&folder)?;
        let note = note_of_whole(&folder);
        Ok(note.map(|note| Entry {
            folder: folder.clone(),
            note,
            private: None,
        }))
    };
    if let Some(entry) = there()? {
        return Ok(entry);
    }
    // A cache that cannot be written costs time, not the run.
    let work = match TemporaryFolder::new(cache, ".build-") {
        Ok(work) => work,
        Err(error) => {
            not_kept(&not_writable(cache, &error));
            return private(build);
        }
    };
    let note = record(work.path(), build(work.path())?)?;
    // Another process may have been faster.
    if let Some(entry) = there()? {
        return Ok(entry);
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(io(&folder))?;
    }
    if let Err(error) = work.keep_as(&folder) {
        return there()?.ok_or_else(|| io(&folder)(error).into());
    }
    sync(cache)?;
    Ok(Entry {
        folder,
        note,
        private: None,
    })
}

/// A build that is not kept.
fn private<E: From<CacheError>>(build: impl Fn(&Path) -> Result<Made, E>) -> Result<Entry, E> {
    let parent = std::env::temp_dir();
    let work = TemporaryFolder::new(&parent, "linkdoze-build-").map_err(io(&parent))?;
    let made = build(work.path())?;
    Ok(Entry {
        folder: work.path().to_owned(),
        note: made.note,
        private: Some(work),
    })
}

/// What others can write to is not loaded.
fn refuse_what_others_write(folder: &Path) -> Result<(), CacheError> {
    let found = std::fs::metadata(folder).map_err(io(folder))?;
    let user = nix::unistd::geteuid().as_raw();
    let mode = found.mode() & 0o7777;
    let (problem, cure) = if found.uid() != user {
        let owner = found.uid();
        let problem =
            format!("it belongs to the user with ID {owner}, and this process runs as {user}");
        (problem, String::new())
    } else if mode & 0o022 != 0 {
        let problem = format!("others can write to it (mode {mode:04o})");
        (problem, format!("`chmod go-w {}`, or ", folder.display()))
    } else {
        return Ok(());
    };
    Err(CacheError::NotOurs {
        folder: folder.into(),
        problem,
        cure,
    })
}

/// The lines of a record for these files, as they are on the disk now.
fn lines(folder: &Path, names: &[String]) -> Result<String, CacheError> {
    let mut lines = String::new();
    for name in names {
        let path = folder.join(name);
        let length = std::fs::metadata(&path).map_err(io(&path))?.len();
        let hash = files::sha256(&path)?;
        let _ = writeln!(lines, "{hash} {length} {name}");
    }
    Ok(lines)
}

/// Writes the record, when all that it tells of is on the disk; returns the builder's note.
fn record(folder: &Path, made: Made) -> Result<String, CacheError> {
    for name in &made.files {
        sync(&folder.join(name))?;
    }
    let text = format!("{}\n{}", made.note, lines(folder, &made.files)?);
    let path = folder.join(RECORD);
    std::fs::write(&path, text).map_err(io(&path))?;
    sync(&path)?;
    sync(folder)?;
    Ok(made.note)
}

/// Waits until a file or folder is on the disk.
fn sync(path: &Path) -> Result<(), CacheError> {
    let sync = || File::open(path)?.sync_all();
    match sync() {
        // Some file systems cannot do it for folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput && path.is_dir() => Ok(()),
        result => result.map_err(io(path)),
    }
}

/// The note of an entry whose files are those of its record; `None` if something is missing or
/// damaged.
fn note_of_whole(folder: &Path) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(RECORD)).ok()?;
    let (note, recorded) = text.split_once('\n')?;
    let names: Option<Vec<String>> = recorded
        .lines()
        .map(|line| line.splitn(3, ' ').nth(2).map(str::to_owned))
        .collect();
    let names = names.filter(|names| !names.is_empty())?;
    (lines(folder, &names).ok()? == recorded).then(|| note.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A cache in which one entry is built, and how often it was.
    struct Cache {
        folder: tempfile::TempDir,
        builds: AtomicU32,
    }

    impl Cache {
        fn new() -> Cache {
            let cache = Cache {
                folder: tempfile::tempdir().unwrap(),
                builds: AtomicU32::new(0),
            };
            cache.mode(0o700);
            cache
        }

        fn mode(&self, mode: u32) {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(self.folder.path(), permissions).unwrap();
        }

        fn get(&self) -> Result<Entry, CacheError> {
            cached_in(self.folder.path(), "key", |folder| {
                self.builds.fetch_add(1, Ordering::Relaxed);
                std::fs::write(folder.join("model.so"), "the model").unwrap();
                Ok(Made {
                    files: vec!["model.so".into()],
                    note: "root with notes".into(),
                })
            })
        }

        fn builds(&self) -> u32 {
            self.builds.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_damaged_entry_is_built_again_and_not_loaded() {
        let cache = Cache::new();
        let path = cache.folder.path().join("key/model.so");
        let damages: [&dyn Fn(); 4] = [
            &|| std::fs::write(&path, "the mod").unwrap(),
            &|| std::fs::write(&path, "The model").unwrap(),
            &|| std::fs::remove_file(&path).unwrap(),
            &|| std::fs::write(cache.folder.path().join("key/done"), "").unwrap(),
        ];
        for (before, damage) in damages.iter().enumerate() {
            for _ in 0..2 {
                let entry = cache.get().unwrap();
                assert_eq!(entry.note, "root with notes");
                let model = std::fs::read_to_string(entry.folder.join("model.so"));
                assert_eq!(model.unwrap(), "the model");
                assert_eq!(cache.builds() as usize, before + 1);
            }
            damage();
        }
    }

    #[test]
    fn a_cache_that_others_can_write_to_is_refused() {
        let cache = Cache::new();
        cache.get().unwrap();
        for mode in [0o777, 0o770, 0o702, 0o1777] {
            cache.mode(mode);
            let error = cache.get().err().unwrap().to_string();
            assert!(error.contains("others can write to it"), "{error}");
            assert!(error.contains("chmod go-w "), "{error}");
            assert!(error.contains("LINKDOZE_CACHE"), "{error}");
        }
        cache.mode(0o755);
        cache.get().unwrap();
        // An entry that was planted while the cache was open.
        let entry = cache.folder.path().join("key");
        std::fs::set_permissions(&entry, std::fs::Permissions::from_mode(0o777)).unwrap();
        let error = cache.get().err().unwrap().to_string();
        assert!(error.contains("key: "), "{error}");
        assert_eq!(cache.builds(), 1);
    }

    #[test]
    fn a_cache_of_another_user_is_refused() {
        if nix::unistd::geteuid().is_root() {
            let cache = Cache::new();
            std::os::unix::fs::chown(cache.folder.path(), Some(12345), None).unwrap();
            let error = cache.get().err().unwrap().to_string();
            assert!(
                error.contains("belongs to the user with ID 12345"),
                "{error}"
            );
            assert!(error.contains("LINKDOZE_CACHE"), "{error}");
            assert_eq!(cache.builds(), 0);
        } else {
            let error = cached_in::<CacheError>(Path::new("/usr"), "key", |_| unreachable!());
            let error = error.err().unwrap().to_string();
            assert!(error.contains("belongs to the user with ID 0"), "{error}");
        }
    }

    #[test]
    fn without_a_cache_a_build_lives_as_long_as_its_entry() {
        let nowhere = Path::new("/proc/k");
        let entry = cached_in::<CacheError>(nowhere, "key", |folder| {
            std::fs::write(folder.join("model.so"), "the model").unwrap();
            Ok(Made {
                files: vec!["model.so".into()],
                note: String::new(),
            })
        });
        let Entry {
            folder, private, ..
        } = entry.unwrap();
        assert!(folder.join("model.so").exists());
        drop(private);
        assert!(!folder.exists());
        let why = not_writable(nowhere, &io::Error::from(io::ErrorKind::PermissionDenied));
        assert_eq!(why, "/proc/k: you have no permission to write there");
    }

    #[test]
    fn what_a_killed_build_left_is_removed_by_the_next() {
        let cache = Cache::new();
        let left = cache.folder.path().join(".build-a1B2c3");
        std::fs::create_dir_all(left.join("model")).unwrap();
        let living = TemporaryFolder::new(cache.folder.path(), ".build-").unwrap();
        // That alone removes it; the next run does, too.
        std::fs::create_dir_all(left.join("model")).unwrap();
        cache.get().unwrap();
        assert!(!left.exists());
        assert!(living.path().exists());
    }
}
