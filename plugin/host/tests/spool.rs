mod support;

use std::fs::{DirBuilder, File, Permissions, create_dir, metadata, read_dir, read_to_string, set_permissions, write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::thread;
use std::time::{Duration, SystemTime};

use plugin_host::spool::{Spooled, spool};
use support::TemporaryDirectory;

const MANY: usize = 10_000;

fn mode_of(path: &str) -> u32 {
    metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names_in(path: &str) -> Vec<String> {
    let mut names: Vec<_> =
        read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_appears_whole_and_private_in_directories_made_for_it() {
    let root = TemporaryDirectory::new("new");
    let directory = root.join("var/lib/spool");
    assert_eq!(spool(&directory, "c1@eth0.json", "{\"ü\":1}\n", MANY), Spooled::Written);
    assert_eq!(names_in(&directory), ["c1@eth0.json"]);
    assert_eq!(read_to_string(format!("{directory}/c1@eth0.json")).unwrap(), "{\"ü\":1}\n");
    assert_eq!(mode_of(&format!("{directory}/c1@eth0.json")), 0o600);
    for made in ["var", "var/lib", "var/lib/spool"] {
        assert_eq!(mode_of(&root.join(made)), 0o700, "{made}");
    }
}

#[test]
fn the_same_call_again_renews_the_time_of_its_file_even_in_a_full_directory() {
    let root = TemporaryDirectory::new("exists");
    assert_eq!(spool(&root.join("spool"), "a", "same", MANY), Spooled::Written);
    let early = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    File::open(root.join("spool/a")).unwrap().set_modified(early).unwrap();
    let before = metadata(root.join("spool/a")).unwrap();
    assert_eq!(spool(&root.join("spool"), "a", "same", 1), Spooled::Exists);
    let after = metadata(root.join("spool/a")).unwrap();
    assert_eq!(before.ino(), after.ino());
    assert!(after.modified().unwrap() > early);
    assert_eq!(names_in(&root.join("spool")), ["a"]);
}

#[test]
fn a_file_that_is_empty_torn_foreign_or_open_to_others_is_replaced() {
    let root = TemporaryDirectory::new("unsound");
    let (directory, file) = (root.join("spool"), root.join("spool/a"));
    let assert_replaced = |what: &str| {
        assert_eq!(spool(&directory, "a", "text", 1), Spooled::Written, "{what}");
        assert_eq!((read_to_string(&file).unwrap().as_str(), mode_of(&file)), ("text", 0o600), "{what}");
        assert_eq!(names_in(&directory), ["a"], "{what}");
        assert_eq!(spool(&directory, "a", "text", 1), Spooled::Exists, "{what}");
    };
    spool(&directory, "a", "text", MANY);
    for content in ["", "tex", "text and more", "tixt"] {
        write(&file, content).unwrap();
        assert_replaced(content);
    }
    set_permissions(&file, Permissions::from_mode(0o622)).unwrap();
    assert_replaced("open to others");
    // Only root can give a file away.
    if chown(&file, Some(12345), None).is_ok() {
        assert_replaced("foreign");
        assert_eq!(metadata(&file).unwrap().uid(), 0);
    }
}

#[test]
fn what_has_the_name_but_is_no_plain_file_is_not_taken_for_a_spooled_call() {
    let root = TemporaryDirectory::new("odd");
    create_dir(root.join("spool")).unwrap();
    set_permissions(root.join("spool"), Permissions::from_mode(0o700)).unwrap();
    symlink("/nowhere", root.join("spool/dangling")).unwrap();
    create_dir(root.join("spool/directory")).unwrap();
    for name in ["dangling", "directory"] {
        let Spooled::Failed(why) = spool(&root.join("spool"), name, "text", MANY) else {
            panic!("{name} was accepted")
        };
        assert!(why.ends_with(&format!("{name} is not a plain file")), "{why}");
    }
    assert_eq!(names_in(&root.join("spool")), ["dangling", "directory"]);
}

#[test]
fn a_directory_has_a_limit_that_counts_every_entry() {
    let root = TemporaryDirectory::new("full");
    let directory = root.join("spool");
    assert_eq!(spool(&directory, "a", "text", 1), Spooled::Written);
    assert_eq!(spool(&directory, "b", "text", 1), Spooled::Full(1));
    write(root.join("spool/.hidden"), "").unwrap();
    assert_eq!(spool(&directory, "b", "text", 2), Spooled::Full(2));
    assert_eq!(spool(&directory, "b", "text", 3), Spooled::Written);
}

#[test]
fn what_an_interrupted_process_of_our_number_left_is_replaced() {
    let root = TemporaryDirectory::new("leftover");
    let directory = root.join("spool");
    spool(&directory, "other", "text", MANY);
    write(format!("{directory}/.a.{}", std::process::id()), "half a te").unwrap();
    assert_eq!(spool(&directory, "a", "text", MANY), Spooled::Written);
    assert_eq!(names_in(&directory), ["a", "other"]);
    assert_eq!(read_to_string(root.join("spool/a")).unwrap(), "text");
}

#[test]
fn a_directory_that_others_decide_about_is_refused() {
    let root = TemporaryDirectory::new("refused");
    let directory = root.join("spool");
    let refused = |why: &str| Spooled::Failed(format!("{directory}: {why}"));
    DirBuilder::new().mode(0o700).create(&directory).unwrap();
    for mode in [0o770, 0o707, 0o777, 0o1777, 0o720, 0o702] {
        set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
        assert_eq!(spool(&directory, "a", "text", MANY), refused("may be written by others"), "{mode:o}");
    }
    for mode in [0o700, 0o755, 0o750] {
        set_permissions(&directory, Permissions::from_mode(mode)).unwrap();
        assert_eq!(spool(&directory, &format!("{mode}"), "text", MANY), Spooled::Written, "{mode:o}");
    }
    // Only root can give a directory away.
    if chown(&directory, Some(12345), None).is_ok() {
        assert_eq!(spool(&directory, "a", "text", MANY), refused("belongs to user 12345"));
    }
}

#[test]
fn a_symbolic_link_is_refused_with_and_without_a_slash() {
    let root = TemporaryDirectory::new("link");
    create_dir(root.join("elsewhere")).unwrap();
    set_permissions(root.join("elsewhere"), Permissions::from_mode(0o700)).unwrap();
    symlink(root.join("elsewhere"), root.join("spool")).unwrap();
    for path in ["spool", "spool/", "spool//", "spool/."] {
        let directory = root.join(path);
        let expected = Spooled::Failed(format!("{directory}: is a symbolic link"));
        assert_eq!(spool(&directory, "a", "text", MANY), expected);
    }
    assert_eq!(names_in(&root.join("elsewhere")), [] as [&str; 0]);
    assert_eq!(spool(&root.join("spool/below"), "a", "text", MANY), Spooled::Written, "above it a link is no matter");
}

#[test]
fn what_is_in_the_way_is_told_in_the_systems_words() {
    let root = TemporaryDirectory::new("failed");
    write(root.join("file"), "").unwrap();
    symlink("/nowhere", root.join("dangling")).unwrap();
    for directory in [root.join("file"), root.join("file/spool")] {
        assert_eq!(
            spool(&directory, "a", "text", MANY),
            Spooled::Failed(format!("{directory}: Not a directory (os error 20)"))
        );
    }
    for (directory, name) in [
        ("/proc/ipledger".into(), "a".to_string()),
        ("/".into(), "a/b".into()),
        (root.join("dangling/spool"), "a".into()),
        (root.join("spool"), "n".repeat(300)),
        (root.join("spool"), "a\0b".into()),
        (root.join("a\0b"), "a".into()),
    ] {
        assert!(matches!(spool(&directory, &name, "text", MANY), Spooled::Failed(_)), "{directory:?} {name:?}");
    }
    assert_eq!(names_in(&root.join("spool")), [] as [&str; 0], "nothing is left behind");
}

#[test]
fn many_at_once_write_each_file_once() {
    let root = TemporaryDirectory::new("crowd");
    let directory = root.join("a/b/spool");
    let crowd: Vec<_> = (0..8)
        .map(|writer| {
            let directory = directory.clone();
            // The number of this process is part of the hidden name, and threads share it: each has its own names here.
            thread::spawn(move || {
                (0..20)
                    .filter(|at| spool(&directory, &format!("{writer}-{at}"), "text", MANY) == Spooled::Written)
                    .count()
            })
        })
        .collect();
    let written: usize = crowd.into_iter().map(|writer| writer.join().unwrap()).sum();
    assert_eq!((written, names_in(&directory).len()), (160, 160));
}
