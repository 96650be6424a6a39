//! `plateau note RUN TEXT`.

use record::Change;

use crate::cli::{Cli, Note};
use crate::failure::Done;
use crate::output::annotating::annotate;

pub fn run(cli: &Cli, options: &Note) -> Done {
    annotate(cli, &options.run, |subject| {
        Ok(vec![Change::Noted { run: subject.id.into(), text: options.text.clone() }])
    })
}
