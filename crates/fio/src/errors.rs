//! `continue_on_error` and `ignore_error`: failed I/Os that do not end a job.

use record::{Errors, errno};

use super::Job;

pub fn continue_on_error(job: &mut Job, text: &str) -> Result<(), String> {
    job.continues_after.kinds = match text {
        "none" | "0" => [false; 3],
        "read" => [true, false, false],
        "write" => [false, true, false],
        "io" => [true, true, false],
        "verify" => [false, false, true],
        "all" | "1" => [true; 3],
        _ => return Err("supported: none, read, write, io, verify, all, 0, 1".into()),
    };
    Ok(())
}

/// As in fio, a list of errors also means that the job continues after errors of its kind.
pub fn ignore_error(job: &mut Job, text: &str) -> Result<(), String> {
    let lists: Vec<&str> = text.split(',').collect();
    if lists.len() > job.continues_after.kinds.len() {
        return Err("at most three lists are supported: of reads, of writes, and of verification".into());
    }
    for (kind, list) in lists.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        let errors = list.split(':').map(number_of).collect::<Result<Vec<u8>, _>>()?;
        job.continues_after.kinds[kind] = true;
        job.continues_after.errors[kind] = Some(errors);
    }
    Ok(())
}

/// Parses an error, by its name or number.
fn number_of(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().or_else(|| errno::number(text)),
    };
    number
        .and_then(|number| u8::try_from(number).ok())
        .filter(|number| (1..=Errors::MOST).contains(number))
        .ok_or_else(|| format!("{text}: unknown; write the number of the error, from 1 to {}", Errors::MOST))
}

#[cfg(test)]
mod tests {
    use crate::{Job, set};
    use record::Tolerated;

    fn tolerated(options: &[(&str, &str)]) -> Result<[Vec<u8>; 2], String> {
        let mut job = Job::default();
        options.iter().try_for_each(|(name, value)| set(&mut job, name, Some(value)))?;
        let Tolerated { read, write } = job.continues_after.tolerated();
        Ok([read.into(), write.into()])
    }

    #[test]
    fn errors_are_tolerated_by_kind() {
        let (fatal, usual) = (Vec::new(), vec![5, 84]);
        for (options, expected) in [
            (&[][..], [fatal.clone(), fatal.clone()]),
            (&[("continue_on_error", "write")], [fatal.clone(), usual.clone()]),
            (&[("continue_on_error", "read")], [usual.clone(), fatal.clone()]),
            (&[("continue_on_error", "io")], [usual.clone(), usual.clone()]),
            (&[("continue_on_error", "all")], [usual.clone(), usual.clone()]),
            (&[("continue_on_error", "verify")], [fatal.clone(), fatal.clone()]),
            (&[("continue_on_error", "all"), ("continue_on_error", "none")], [fatal.clone(), fatal.clone()]),
            (&[("continue_on_error", "write"), ("ignore_error", ",ENOSPC")], [fatal.clone(), vec![28]]),
            (&[("ignore_error", "EAGAIN,ENOSPC:122:0x5")], [vec![11], vec![5, 28, 122]]),
            // As in fio, the kinds of the later option apply.
            (&[("ignore_error", ",ENOSPC"), ("continue_on_error", "read")], [usual, fatal.clone()]),
        ] {
            assert_eq!(tolerated(options).as_ref(), Ok(&expected), "{options:?}");
        }
        for (options, expected) in [
            (("continue_on_error", "trim"), "supported: none, read"),
            (("ignore_error", ",ENOSPACE"), "write the number"),
            (("ignore_error", "0"), "1 to 127"),
            (("ignore_error", "EIO,EIO,EIO,EIO"), "at most three"),
        ] {
            let error = tolerated(&[options]).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }
}
