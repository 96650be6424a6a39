//! Labels that an operator may assign to a run.

use record::{Labels, Library};

use crate::failure::{Done, Exit, Failure};

/// Rejects a name that another run already has, because the name would then identify neither run.
pub fn refuse_namesakes(library: &Library, labels: &Labels) -> Done {
    let Some(name) = &labels.name else { return Ok(()) };
    // If the library cannot be read, the run itself reports this.
    let Ok((runs, _)) = library.list() else { return Ok(()) };
    let namesakes = runs.iter().filter(|run| run.file.labels.name.as_ref() == Some(name));
    let ids: Vec<&str> = namesakes.map(|run| &*run.file.id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let text = format!(
        "--name: '{name}' is already the name of {}; choose another name, or remove that one with `plateau name --remove '{name}'`",
        ids.join(", ")
    );
    Err(Failure::text(Exit::Usage, text))
}
