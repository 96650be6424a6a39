//! Parses options that name files.

use crate::Job;
use crate::values::bytes;

/// Splits names at colons; `\:` is a literal colon.
fn names(text: &str) -> Result<Vec<String>, String> {
    let plain = text.replace("\\:", "\n");
    let names: Vec<String> = plain.split(':').map(|name| name.replace('\n', ":")).collect();
    if names.iter().any(String::is_empty) {
        return Err("missing name".into());
    }
    Ok(names)
}

pub fn filename(job: &mut Job, text: &str) -> Result<(), String> {
    // The colon in `sim:` and `array:` does not separate names.
    let single = text.starts_with("sim:") || text.starts_with("array:");
    job.files.names = if single { vec![text.to_owned()] } else { names(text)? };
    job.filename = job.files.names.first().cloned();
    Ok(())
}

pub fn directory(job: &mut Job, text: &str) -> Result<(), String> {
    job.files.folders = names(text)?;
    Ok(())
}

pub fn file_size(job: &mut Job, text: &str) -> Result<(), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let (least, most) = (bytes(least)?, bytes(most)?);
    if least != most {
        return Err("only files of the same size are supported".into());
    }
    if most == 0 {
        return Err("it must be at least 1".into());
    }
    job.files.size_bytes = Some(most);
    Ok(())
}

pub fn filename_format(job: &mut Job, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("missing format".into());
    }
    job.files.format = Some(text.to_owned());
    Ok(())
}
