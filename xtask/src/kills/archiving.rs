//! Kills `plateau archive` and `plateau unarchive` at chosen system calls.
//!
//! After each kill, the run must be in the library, complete and unchanged. Repeating the command, or running the
//! opposite one, must then leave exactly one form of the run, with the same bytes as without the kill.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use nix::sys::signal::Signal;
use serde_json::Value;

use super::tracer::{ERR, LIBRARY, OUT, Point, Program};

/// Name of this kind of trial.
pub const NAME: &str = "archive";
/// Exit code of a command whose run already has the requested form.
const EXIT_RUN: i32 = 6;

/// Content of a library: the names of its files, relative to the library, with their bytes.
type Content = BTreeMap<PathBuf, Vec<u8>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Folder,
    Archive,
}

impl Form {
    /// Returns the command that results in this form.
    const fn command(self) -> &'static str {
        match self {
            Self::Folder => "unarchive",
            Self::Archive => "archive",
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Folder => Self::Archive,
            Self::Archive => Self::Folder,
        }
    }
}

/// A run in both forms.
struct Trials<'a> {
    binary: &'a Path,
    folder: &'a Path,
    id: String,
    as_folder: Content,
    as_archive: Content,
}

/// Kills each command `times` times, at points distributed evenly over its system calls, or once at every point if
/// there are fewer points. Returns the number of faults.
pub fn run(binary: &Path, folder: &Path, times: u64) -> anyhow::Result<usize> {
    let begun = Instant::now();
    let trials = Trials::prepare(binary, folder)?;
    let (mut faults, mut kills) = (0, 0);
    for form in [Form::Archive, Form::Folder] {
        trials.put(form.other())?;
        let all = trials.program(&trials.words(form)).trace(None)?.counts.relevant;
        println!("{NAME}: {} makes {all} relevant system calls", form.command());
        let points = times.min(all);
        for index in 0..points {
            let point =
                Point { number: index * all / points + 1, among_relevant: true, at_end: index % 2 == 1 };
            let (killed, fault) = trials.trial(form, point, index % 4 < 2)?;
            kills += u64::from(killed);
            if let Some(fault) = fault {
                println!("{NAME}: {} ({point:?}): {fault}", form.command());
                faults += 1;
            }
        }
    }
    println!("{NAME}: {kills} commands killed, {faults} faults ({:.0} s)", begun.elapsed().as_secs_f64());
    if kills == 0 {
        bail!("no command was killed");
    }
    Ok(faults)
}

impl<'a> Trials<'a> {
    /// Executes a short run, and archives it once without a kill.
    fn prepare(binary: &'a Path, folder: &'a Path) -> anyhow::Result<Self> {
        let (id, none) = (String::new(), Content::new());
        let mut trials = Self { binary, folder, id, as_folder: none.clone(), as_archive: none };
        let words = "run lat sim:sas-slc-2011 --scale 1/1024 --max-rounds 5 --json";
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let (code, out, err) = trials.plain(&words)?;
        let document: Value = serde_json::from_str(&out).with_context(|| format!("{code:?}: {err}"))?;
        trials.id = document["run"].as_str().context("no id")?.to_owned();
        trials.as_folder = trials.content()?;
        for form in [Form::Archive, Form::Folder, Form::Archive] {
            let (code, _, err) = trials.plain(&trials.words(form))?;
            if code != Some(0) {
                bail!("{}: {code:?}: {err}", form.command());
            }
        }
        trials.as_archive = trials.content()?;
        Ok(trials)
    }

    fn words(&self, form: Form) -> Vec<String> {
        vec![form.command().into(), self.id.clone()]
    }

    fn program<'b>(&'b self, words: &'b [String]) -> Program<'b> {
        Program { path: self.binary, arguments: words, folder: self.folder }
    }

    fn plain(&self, words: &[String]) -> anyhow::Result<(Option<i32>, String, String)> {
        let status = self.program(words).command(&[])?.status()?;
        let text = |name: &str| std::fs::read_to_string(self.folder.join(name));
        Ok((status.code(), text(OUT)?, text(ERR)?))
    }

    fn library(&self) -> PathBuf {
        self.folder.join(LIBRARY)
    }

    /// Replaces the library with the undisturbed library whose run has this form.
    fn put(&self, form: Form) -> anyhow::Result<()> {
        std::fs::remove_dir_all(self.library())?;
        for (name, bytes) in self.undisturbed(form) {
            let path = self.library().join(name);
            std::fs::create_dir_all(path.parent().context("no parent")?)?;
            std::fs::write(path, bytes)?;
        }
        Ok(())
    }

    fn undisturbed(&self, form: Form) -> &Content {
        match form {
            Form::Folder => &self.as_folder,
            Form::Archive => &self.as_archive,
        }
    }

    /// Returns the files of the runs in the library, without what an interrupted command has left behind, which
    /// the next run removes.
    fn content(&self) -> anyhow::Result<Content> {
        let mut content = Content::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(self.library().join(&folder))? {
                let (entry, name) = entry.map(|entry| (entry.path(), folder.join(entry.file_name())))?;
                if name.as_os_str().as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                if entry.is_dir() {
                    folders.push(name);
                } else {
                    content.insert(name, std::fs::read(&entry)?);
                }
            }
        }
        Ok(content)
    }

    /// Kills the command that results in `form`, then repeats it if `is_repeated` is set, and otherwise runs the
    /// opposite command. Returns whether the command was killed, and the fault found afterwards, if any.
    fn trial(&self, form: Form, point: Point, is_repeated: bool) -> anyhow::Result<(bool, Option<String>)> {
        self.put(form.other())?;
        let traced = self.program(&self.words(form)).trace(Some((Signal::SIGKILL, point)))?;
        let killed = traced.hit.is_some();
        let (code, out, err) = self.plain(&["verify".into(), self.id.clone()])?;
        if code != Some(0) {
            return Ok((killed, Some(format!("the run is lost: {code:?}: {out}{err}"))));
        }
        let then = if is_repeated { form } else { form.other() };
        let (code, out, err) = self.plain(&self.words(then))?;
        // The run may already have this form.
        if !matches!(code, Some(0 | EXIT_RUN)) {
            return Ok((killed, Some(format!("{}: {code:?}: {out}{err}", then.command()))));
        }
        let is_same = self.content()? == *self.undisturbed(then);
        let names: Vec<PathBuf> = self.content()?.into_keys().collect();
        let fault = || {
            format!("{}: {code:?}: {out}{err}: afterwards, the library contains {names:?}", then.command())
        };
        Ok((killed, (!is_same).then(fault)))
    }
}
