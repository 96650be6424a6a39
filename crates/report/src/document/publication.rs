//! Information that the publisher adds to a report. It never changes a figure.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use record::run_files::LOGO;
use record::{Digest, RunFile};

/// Sponsor, auditor, notes and logo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    /// Sponsor of the test.
    pub sponsor: Option<String>,
    /// Auditor of the test.
    pub auditor: Option<String>,
    /// Special notes.
    pub notes: Vec<String>,
    /// Logo for the summary pages.
    pub logo: Option<Logo>,
}

impl Publication {
    /// Returns the information from a run's plan. The logo is `logo` or, if that is None, the one stored with the
    /// run. `read` returns the content of the [stored logo](LOGO), up to the given number of bytes, and is
    /// called only if this logo is needed.
    ///
    /// # Errors
    /// Returns an error if the stored logo cannot be read, is not an image, or differs from the logo with which the
    /// run started.
    pub fn of_run(
        run: &RunFile,
        logo: Option<Logo>,
        read: impl FnOnce(u64) -> std::io::Result<Vec<u8>>,
    ) -> Result<Self, String> {
        let plan = run.plan.clone().unwrap_or_default();
        let logo = match (logo, &plan.logo) {
            (None, Some(_)) => Some(stored_logo(run, read(MOST_STORED_BYTES))?),
            (logo, _) => logo,
        };
        Ok(Self { sponsor: plan.sponsor, auditor: plan.auditor, notes: plan.notes, logo })
    }
}

fn stored_logo(run: &RunFile, stored: std::io::Result<Vec<u8>>) -> Result<Logo, String> {
    let id = &run.id;
    let changed =
        |why: String| format!("`{LOGO}` of run {id} is not the image with which the run started: {why}");
    let bytes = stored.map_err(|error| changed(format!("it cannot be read: {error}")))?;
    let recorded = run.plan.as_ref().and_then(|plan| plan.logo_sha256.as_deref());
    let found = Digest::of(&bytes);
    if !recorded.is_some_and(|recorded| found.is(recorded)) {
        return Err(changed(format!("its SHA-256 is {found}")));
    }
    Logo::of(bytes).map_err(|why| format!("`{LOGO}` of run {id}: {why}"))
}

/// A PNG or JPEG image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    bytes: Vec<u8>,
    png: bool,
}

/// Size limit for reading a stored logo; larger than [`LOGO_LIMIT`], so that a logo that is too large is reported.
const MOST_STORED_BYTES: u64 = 8 << 20;
/// Size limit, so that reports remain small enough to send.
const LOGO_LIMIT: usize = 1 << 20;

impl Logo {
    /// Creates a logo from the bytes of a file.
    ///
    /// # Errors
    /// Returns an error if the file is neither PNG nor JPEG, or is larger than 1 MiB.
    pub fn of(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.len() > LOGO_LIMIT {
            return Err(format!("the logo is {} bytes long; at most {LOGO_LIMIT} are allowed", bytes.len()));
        }
        let png = bytes.starts_with(b"\x89PNG\r\n\x1a\n");
        if !png && !bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            return Err("the logo is neither a PNG nor a JPEG image".into());
        }
        Ok(Self { bytes, png })
    }

    /// Returns a data URI that contains the image.
    pub(crate) fn data_address(&self) -> String {
        let kind = if self.png { "png" } else { "jpeg" };
        format!("data:image/{kind};base64,{}", BASE64_STANDARD.encode(&self.bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) const fn is_png(&self) -> bool {
        self.png
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logos_are_pictures_of_limited_size() {
        assert!(Logo::of(b"GIF89a".to_vec()).unwrap_err().contains("neither"));
        assert!(Logo::of(vec![0x89; LOGO_LIMIT + 1]).unwrap_err().contains("at most"));
        assert!(
            Logo::of(b"\x89PNG\r\n\x1a\n...".to_vec())
                .unwrap()
                .data_address()
                .starts_with("data:image/png;base64,iVBOR")
        );
    }
}
