use std::ffi::{CStr, CString};
use std::fs::{DirBuilder, File, OpenOptions, read_dir, symlink_metadata};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

const WRITABLE_BY_OTHERS: u32 = 0o022;

#[derive(Debug, PartialEq)]
pub enum Spooled {
    Written,
    Exists,
    Full(usize),
    Failed(String),
}

/// Puts `text` into `directory` under `name`, whole or not at all, and durably. A file that is there already is believed if
/// it is ours and says the same; any other file is replaced.
pub fn spool(directory: &str, name: &str, text: &str, max_files: usize) -> Spooled {
    let put = || {
        // Without trailing slashes, behind which a symbolic link would be followed.
        let path = Path::new(directory).components().as_path();
        let opened = open_directory(path)?;
        let outcome = put_file(&opened, path, name, text, max_files)?;
        // An existing file too may have been linked by a process that was stopped before this.
        opened.sync_all()?;
        Ok(outcome)
    };
    put().unwrap_or_else(|error: Error| Spooled::Failed(format!("{directory}: {error}")))
}

/// Root would otherwise write into a directory that another user controls.
fn open_directory(path: &Path) -> Result<File> {
    make_directory(path)?;
    if symlink_metadata(path)?.is_symlink() {
        return Err(Error::other("is a symbolic link"));
    }
    let mut options = OpenOptions::new();
    let directory = options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)?;
    let metadata = directory.metadata()?;
    // SAFETY: asks for a number and cannot fail.
    if metadata.uid() != unsafe { libc::geteuid() } {
        return Err(Error::other(format!("belongs to user {}", metadata.uid())));
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(Error::other("may be written by others"));
    }
    Ok(directory)
}

fn make_directory(path: &Path) -> Result<()> {
    match (make_one(path), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == ErrorKind::NotFound => {
            make_directory(parent)?;
            make_one(path)
        }
        (made, _) => made,
    }
}

/// A new directory is only there after a power cut if its parent was synced too.
fn make_one(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => File::open(path.parent().unwrap_or(path))?.sync_all(),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn put_file(directory: &File, path: &Path, name: &str, text: &str, max_files: usize) -> Result<Spooled> {
    let unfinished = CString::new(format!(".{name}.{}", std::process::id()))?;
    let name = CString::new(name)?;
    if let Some(found) = look_up(directory, &name) {
        if found.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(Error::other(format!("{} is not a plain file", name.to_string_lossy())));
        }
        if says(directory, &name, text) {
            return touch(directory, &name).map(|()| Spooled::Exists);
        }
    } else {
        let files = read_dir(path)?.count();
        if files >= max_files {
            return Ok(Spooled::Full(files));
        }
    }
    // Of an earlier process with our number that was stopped half-way.
    remove(directory, &unfinished);
    let written = create(directory, &unfinished).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        rename(directory, &unfinished, &name)
    });
    if written.is_err() {
        remove(directory, &unfinished);
    }
    written.map(|()| Spooled::Written)
}

// Below, names are looked up in the opened directory: the one that was checked, whatever its path leads to by now.

/// None where there is nothing of that name.
fn look_up(directory: &File, name: &CStr) -> Option<libc::stat> {
    let mut found = MaybeUninit::<libc::stat>::zeroed();
    let (fd, flags) = (directory.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: an open descriptor, a C string and room for the answer, all alive until after the call.
    check(unsafe { libc::fstatat(fd, name.as_ptr(), found.as_mut_ptr(), flags) }).ok()?;
    // SAFETY: zeroed, which is a valid stat, and filled by the call.
    Some(unsafe { found.assume_init() })
}

/// Whether it is a file of ours, as we would write it, with exactly this content. What cannot be read says nothing.
fn says(directory: &File, name: &CStr, text: &str) -> bool {
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let Ok(file) = open(directory, name, flags) else { return false };
    let Ok(metadata) = file.metadata() else { return false };
    // SAFETY: asks for a number and cannot fail.
    let is_ours = metadata.uid() == unsafe { libc::geteuid() } && metadata.mode() & WRITABLE_BY_OTHERS == 0;
    let mut found = Vec::new();
    is_ours
        && metadata.is_file()
        && metadata.len() == text.len() as u64
        && file.take(text.len() as u64).read_to_end(&mut found).is_ok()
        && found == text.as_bytes()
}

/// By its time the agent sees whether a call was spooled again since it looked.
fn touch(directory: &File, name: &CStr) -> Result<()> {
    let (fd, now) = (directory.as_raw_fd(), std::ptr::null());
    // SAFETY: an open descriptor and a C string, both alive until after the call; no times means now.
    check(unsafe { libc::utimensat(fd, name.as_ptr(), now, libc::AT_SYMLINK_NOFOLLOW) }).map(drop)
}

fn create(directory: &File, name: &CStr) -> Result<File> {
    open(directory, name, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)
}

fn open(directory: &File, name: &CStr, flags: libc::c_int) -> Result<File> {
    let flags = flags | libc::O_CLOEXEC;
    // SAFETY: an open descriptor and a C string, both alive until after the call; O_CREAT has its mode.
    let file = check(unsafe { libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o600) })?;
    // SAFETY: just opened and owned by nobody else.
    Ok(unsafe { File::from_raw_fd(file) })
}

fn rename(directory: &File, from: &CStr, to: &CStr) -> Result<()> {
    let fd = directory.as_raw_fd();
    // SAFETY: an open descriptor and two C strings, all alive until after the call.
    check(unsafe { libc::renameat(fd, from.as_ptr(), fd, to.as_ptr()) }).map(drop)
}

fn remove(directory: &File, name: &CStr) {
    // SAFETY: an open descriptor and a C string, both alive until after the call.
    unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) };
}

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result == -1 { Err(Error::last_os_error()) } else { Ok(result) }
}
