//! `plateau tag RUN TAG…`.

use record::Change;

use crate::cli::{Cli, Tag};
use crate::failure::{Done, Exit, Failure};
use crate::output::annotating::{Subject, annotate};

pub fn run(cli: &Cli, options: &Tag) -> Done {
    annotate(cli, &options.run, |subject| match options.remove {
        true => removed(subject, &options.tags),
        false => Ok(added(subject, &options.tags)),
    })
}

fn added(subject: &Subject<'_>, tags: &[String]) -> Vec<Change> {
    let new = tags.iter().filter(|tag| !subject.labels.tags.contains(tag));
    new.map(|tag| Change::Tagged { run: subject.id.into(), tag: tag.clone() }).collect()
}

fn removed(subject: &Subject<'_>, tags: &[String]) -> Done<Vec<Change>> {
    if let Some(unknown) = tags.iter().find(|tag| !subject.labels.tags.contains(tag)) {
        let has = match &subject.labels.tags[..] {
            [] => "it has none".to_owned(),
            tags => format!("it has {}", tags.join(", ")),
        };
        return Err(Failure::text(Exit::Usage, format!("{} has no tag '{unknown}': {has}", subject.id)));
    }
    Ok(tags.iter().map(|tag| Change::Untagged { run: subject.id.into(), tag: tag.clone() }).collect())
}
