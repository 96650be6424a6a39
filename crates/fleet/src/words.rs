//! Names in the Slurm configuration, and quoting for shell scripts.

/// Returns `text` as a name that Slurm accepts as the type of a GRES, as a feature or as a license.
pub fn name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    text.trim().chars().map(plain).collect()
}

/// Quotes a word for a shell.
pub fn quoted(word: &str) -> String {
    stdx::text::shell_word(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_program_unchanged() {
        assert_eq!(quoted("/dev/nvme0n1"), "/dev/nvme0n1");
        assert_eq!(quoted("it's $HOME; rm *"), r"'it'\''s $HOME; rm *'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a\nb"), "'a\nb'");
        assert_eq!(name("WD Black:SN850,X=1 "), "WD_Black_SN850_X_1");
    }
}
