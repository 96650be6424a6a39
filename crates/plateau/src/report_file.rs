//! The report of a run as a file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use record::Run;

use crate::failure::{Done, Exit, Failure};

/// Writes the HTML report of `run` to `path` (default: into its directory) and says where it is.
pub fn write(run: &Run, path: Option<&Path>) -> Done<PathBuf> {
    let document = report::fold(&run.file, &run.load()?).map_err(|text| Failure::text(Exit::Run, text))?;
    let path = path.map_or_else(|| run.dir.join("report.html"), Path::to_path_buf);
    write_whole(&path, report::html(&document).as_bytes()).map_err(|error| {
        Failure::new(Exit::Run, anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    })?;
    Ok(std::path::absolute(&path)?)
}

/// A reader sees the old file or the new one, never half of one.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let mut file = std::fs::File::create(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)
}
