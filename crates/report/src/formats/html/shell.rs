//! The frame of a self-contained HTML file, shared by reports and comparisons.

use base64::prelude::{BASE64_STANDARD, Engine as _};

use charts::markup::escape;

/// Colours for light and dark mode.
const STYLE: &str = include_str!("shell.css");

/// Precedes the script of each file that has one.
const SIDEWAYS: &str = include_str!("sideways.js");

/// The parts that differ between files.
pub struct Shell<'a> {
    /// Unescaped title.
    pub title: &'a str,
    /// Appended to the shared style.
    pub style: &'a str,
    /// Class of the body; may be empty.
    pub class: &'a str,
    /// Markup of the body.
    pub content: &'a str,
    /// The only script that the file may run, after the hint for parts that scroll sideways.
    pub script: Option<&'a str>,
}

impl Shell<'_> {
    /// Returns the complete file. Its content security policy blocks all requests.
    #[must_use]
    pub fn html(&self) -> String {
        let class = if self.class.is_empty() { String::new() } else { format!(" class=\"{}\"", self.class) };
        let (allowed, script) = match self.script {
            None => (String::new(), String::new()),
            Some(script) => {
                let script = format!("{SIDEWAYS}{script}");
                (format!("; script-src '{}'", fingerprint(&script)), format!("<script>{script}</script>\n"))
            }
        };
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:{allowed}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"Plateau\">\n<title>{}</title>\n<style>\n{STYLE}{}</style>\n</head>\n\
             <body{class}>\n{}{script}</body>\n</html>\n",
            escape(self.title),
            self.style,
            self.content,
        )
    }
}

/// Returns the CSP hash that allows a browser to run only this script: `sha256-...`.
fn fingerprint(script: &str) -> String {
    let hex = record::Digest::of(script.as_bytes()).to_string();
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or_default();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    format!("sha256-{}", BASE64_STANDARD.encode(bytes))
}
