//! `plateau name RUN NAME`.

use record::Change;

use crate::cli::{Cli, Name};
use crate::failure::{Done, Exit, Failure};
use crate::output::annotating::{Subject, annotate};

pub fn run(cli: &Cli, options: &Name) -> Done {
    annotate(cli, &options.run, |subject| {
        if subject.labels.name == options.name {
            return Ok(Vec::new());
        }
        options.name.as_ref().map_or(Ok(()), |name| refuse_namesake(subject, name))?;
        Ok(vec![Change::Named { run: subject.id.into(), name: options.name.clone() }])
    })
}

/// Rejects a name that another run has, because the name would then identify neither run.
fn refuse_namesake(subject: &Subject<'_>, name: &str) -> Done {
    let (runs, _) = subject.library.list()?;
    let namesake = runs.iter().find(|run| {
        run.file.id != subject.id
            && subject.annotations.labels(&run.file.id, &run.file.labels).name.as_deref() == Some(name)
    });
    match namesake {
        None => Ok(()),
        Some(other) => {
            let text = format!("'{name}' is already the name of {}; choose another name", other.file.id);
            Err(Failure::text(Exit::Usage, text))
        }
    }
}
