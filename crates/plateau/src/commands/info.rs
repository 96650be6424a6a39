//! `plateau info TARGET`.

use drive::OpenOptions;
use serde_json::json;
use stdx::units::{amount_base10, parse_size};

use crate::cli::{Cli, Info};
use crate::failure::{Done, Exit, Failure};
use crate::printer;

pub fn run(cli: &Cli, options: &Info) -> Done {
    let size = options.size.as_deref().map(parse_size).transpose();
    let size_bytes = size.map_err(|text| Failure::text(Exit::Usage, format!("--size: {text}")))?;
    let open = OpenOptions { size_bytes, scale: options.scale.clone(), ..OpenOptions::default() };
    let drive = drive::open(&options.target, &open)?;
    let (facts, refusals) = (drive.facts(), drive.refusals());
    if cli.json {
        return printer::print_json(&json!({
            "target": facts,
            "erase_confirmation_needed": drive.needs_erase_confirmation(),
            "refusals": refusals.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }));
    }
    let mut out = String::new();
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let mut line = |name: &str, text: &str| out.push_str(&format!("{name:<10} {text}\n"));
    line("target", &facts.path);
    line("identity", &facts.identity);
    line("vendor", &known(&facts.vendor));
    line("model", &known(&facts.model));
    line("serial", &known(&facts.serial));
    line("firmware", &known(&facts.firmware));
    line("interface", &known(&facts.interface));
    line("capacity", &format!("{} ({} B)", amount_base10(facts.capacity_bytes), facts.capacity_bytes));
    line(
        "sectors",
        &format!("{} B logical, {} B physical", facts.logical_block_bytes, facts.physical_block_bytes),
    );
    if refusals.is_empty() && drive.needs_erase_confirmation() {
        line("to test it", &format!("add --erase '{}': everything on it will be lost", facts.identity));
    } else if refusals.is_empty() {
        line("to test it", "no confirmation is needed: there is nothing on it to lose");
    }
    refusals.iter().for_each(|refusal| line("refused", &refusal.to_string()));
    printer::print(&out)
}
