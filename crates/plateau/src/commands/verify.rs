//! `plateau verify RUN`: checks the journal's hash chain and evaluates the run again.

use pts::verify::Verified;
use record::{Digest, Loaded, Origin, Run};
use serde_json::{Value, json};

use crate::cli::{Cli, Publisher, Verify};
use crate::failure::{Done, Exit, Failure};
use crate::output::places;
use crate::output::printer;
use crate::output::publication;
use crate::output::signature;
use crate::run::lifecycle;
use record::run_files::IMPORTED;

/// A run whose files are intact.
pub struct Checked {
    loaded: Loaded,
    /// The run's tests; empty for an imported run.
    tests: Vec<Verified>,
}

/// Checks that a run's files are intact and that this version can evaluate them. Different conclusions are not
/// treated as an error.
pub fn check(run: &Run) -> Done<Checked> {
    // Loading verifies every link in the chain.
    let loaded = run.load()?;
    check_order(run, &loaded)?;
    if let Some(origin) = &run.file.origin {
        check_imported(run, origin)?;
        return Ok(Checked { loaded, tests: Vec::new() });
    }
    // The logo is not covered by the chain.
    publication::of(run, &Publisher::default())?;
    let tests = pts::verify::verify(&run.file, &loaded.entries)
        .map_err(|text| Failure::text(Exit::Run, text).of_run(&run.file.id))?;
    Ok(Checked { loaded, tests })
}

pub fn run(cli: &Cli, options: &Verify) -> Done {
    let run = places::library(cli.library.as_deref())?.find(&options.run)?;
    let Checked { loaded, tests: verified } = check(&run)?;
    let digest = loaded.digest.to_string();
    if let Some(key) = &options.verify_key {
        signature::check(&run, &digest, key)?;
    }
    if let Some(origin) = &run.file.origin {
        return imported(cli, &run, origin, &loaded);
    }
    let count: usize = verified.iter().map(|test| test.differences.len()).sum();
    let document = json!({
        "run": run.file.id,
        "journal_sha256": digest,
        "records": loaded.entries.len(),
        "signature_valid": options.verify_key.as_ref().map(|_| true),
        "closed": lifecycle::is_complete(&loaded),
        "torn_bytes": loaded.torn.map(|torn| torn.bytes),
        "same": count == 0,
        "tests": verified.iter().map(test_json).collect::<Vec<_>>(),
    });
    if !cli.json {
        let mut out = format!("run       {}\n{}", run.file.id, journal(&loaded));
        if let Some(key) = &options.verify_key {
            out.push_str(&format!("signature of {}, valid\n", key.display()));
        }
        verified.iter().for_each(|test| out.push_str(&text(test)));
        printer::print(&out)?;
    } else if count == 0 {
        printer::print_json(&document)?;
    }
    if count == 0 {
        return Ok(());
    }
    let places = if count == 1 { "1 place".to_owned() } else { format!("{count} places") };
    let problem = format!(
        "run {} is evaluated differently by this version ({}) in {places}; its report shows the \
         evaluation by this version",
        run.file.id,
        crate::output::version::NUMBER
    );
    Err(Failure::text(Exit::Run, problem).of_run(&run.file.id).with_document(document))
}

/// Rejects records in an order that no run writes; a valid hash chain does not rule this out.
fn check_order(run: &Run, loaded: &Loaded) -> Done {
    record::check_order(&run.file.tests, &loaded.entries).map_err(|misplaced| {
        let text = format!(
            "run {} cannot have written this journal: record {}: {}; it was changed, and its hashes were \
             recomputed; restore it from a copy",
            run.file.id, misplaced.record, misplaced.problem
        );
        Failure::text(Exit::Run, text).of_run(&run.file.id)
    })
}

/// Checks an imported run's file; imported runs have no evaluations.
fn check_imported(run: &Run, origin: &Origin) -> Done {
    let path = run.dir.join(IMPORTED);
    let wrong = match run.read_file(IMPORTED, import::largest_bytes() as u64) {
        Ok(bytes) if Digest::of(&bytes).is(&origin.sha256) => None,
        Ok(_) => Some("its SHA-256 differs".to_owned()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(why) = wrong {
        let text = format!("{} is missing or is not the imported file: {why}", path.display());
        return Err(Failure::text(Exit::Run, text).of_run(&run.file.id));
    }
    Ok(())
}

fn imported(cli: &Cli, run: &Run, origin: &Origin, loaded: &Loaded) -> Done {
    if cli.json {
        return printer::print_json(&json!({
            "run": run.file.id, "journal_sha256": loaded.digest.to_string(), "records": loaded.entries.len(),
            "closed": lifecycle::is_complete(loaded), "torn_bytes": loaded.torn.map(|torn| torn.bytes),
            "same": true, "imported_file_sha256": origin.sha256, "tests": [],
        }));
    }
    printer::print(&format!(
        "run       {}\n{}imported  {} of {}: its file is unchanged\n",
        run.file.id,
        journal(loaded),
        origin.file,
        origin.tool
    ))
}

/// Describes the journal. The hash chain cannot show whether whole records are missing at the end; only the closing
/// record shows that.
fn journal(loaded: &Loaded) -> String {
    let (records, digest) = (loaded.entries.len(), loaded.digest);
    let intact = if lifecycle::is_complete(loaded) { "intact" } else { "intact as far as it goes" };
    let mut out = format!("journal   {records} records, {intact}, SHA-256 {digest}\n");
    if let Some(torn) = loaded.torn {
        out.push_str(&format!("note      {torn}, and was ignored\n"));
    }
    if !lifecycle::is_complete(loaded) {
        out.push_str(
            "note      the run is not complete: the journal has no closing record, so records may be missing at its \
             end\n",
        );
    }
    out
}

fn text(test: &Verified) -> String {
    let ended = if test.ended { " and the verdict" } else { "; the test was interrupted" };
    let compared = match test.judgements {
        1 => format!("1 judgement{ended}"),
        count => format!("{count} judgements{ended}"),
    };
    if test.differences.is_empty() {
        return format!("test      {}: {compared}: this version agrees\n", test.test);
    }
    let mut out = format!("test      {}: {compared}: DIFFERENT\n", test.test);
    for difference in &test.differences {
        let place = difference.record.map_or_else(String::new, |record| format!("record {record}: "));
        out.push_str(&format!("          {place}{}\n", difference.text));
    }
    out
}

fn test_json(test: &Verified) -> Value {
    json!({
        "test": test.test,
        "judgements": test.judgements,
        "ended": test.ended,
        "differences": test.differences.iter().map(|difference| json!({
            "record": difference.record,
            "text": difference.text,
        })).collect::<Vec<_>>(),
    })
}
