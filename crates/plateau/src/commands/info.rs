//! `plateau info TARGET`.

use console::health;
use device::{About, Drive, Fact, OpenOptions, PurgeMethod, Value as Known};
use prepare::models;
use serde_json::{Map, Value, json};
use stdx::units::{amount_base10, parse_size};

use crate::cli::{Cli, Info};
use crate::failure::message::{of_refusal, why_not};
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;
use crate::output::summary;
use crate::run::request;

pub fn run(cli: &Cli, options: &Info) -> Done {
    let size = options.size.as_deref().map(parse_size).transpose();
    let size_bytes = size.map_err(|text| Failure::text(Exit::Usage, format!("--size: {text}")))?;
    // Shows the simulated drive that a run would use by default.
    let sim_seed = request::USUAL_SEED;
    let open = OpenOptions { size_bytes, scale: options.scale.clone(), sim_seed, ..OpenOptions::default() };
    let drive = device::open(&models::target(&options.target)?, &open)?;
    let about = drive.about()?;
    if cli.json {
        return printer::print_json(&document(&drive, &about));
    }
    printer::print(&text(&drive, &about))
}

fn document(drive: &Drive, about: &About) -> Value {
    let facts: Map<String, Value> = about.facts.iter().map(|f| (f.name.to_owned(), json_of(f))).collect();
    json!({
        "target": drive.facts(),
        "erase_confirmation_needed": drive.needs_erase_confirmation(),
        "refusals": drive.refusals().iter().map(of_refusal).collect::<Vec<_>>(),
        "facts": facts,
        "health": about.health,
        "purge_methods": about.purge.iter().map(|method| json!({
            "name": method.name,
            "label": method.label,
            "pts_purge": method.is_pts,
            "available": method.available,
            "chosen": method.is_chosen,
            "why_not": method.why_not.as_ref().map(why_not),
        })).collect::<Vec<_>>(),
    })
}

fn json_of(fact: &Fact) -> Value {
    match &fact.value {
        Known::Text(text) => json!(text),
        Known::Number(number) => json!(number),
        Known::Flag(flag) => json!(flag),
        Known::List(list) => json!(list),
    }
}

fn text(drive: &Drive, about: &About) -> String {
    let facts = drive.facts();
    let refusals = drive.refusals();
    let mut out = String::new();
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".into());
    let mut line =
        |name: &str, text: &str| out.push_str(&format!("{name:<10} {}\n", stdx::text::on_one_line(text)));
    line("target", &facts.path);
    line("identity", &facts.identity);
    line("vendor", &known(&facts.vendor));
    line("model", &known(&facts.model));
    let simulated = facts.simulated.as_ref();
    let serial = simulated.map_or_else(|| known(&facts.serial), |sim| format!("none (seed {})", sim.seed));
    let version = simulated.map(|sim| format!("model version {}", sim.model_version));
    line("serial", &serial);
    line("firmware", &version.unwrap_or_else(|| known(&facts.firmware)));
    line("interface", &known(&facts.interface));
    line("capacity", &format!("{} ({} B)", amount_base10(facts.capacity_bytes), facts.capacity_bytes));
    line(
        "sectors",
        &format!("{} B logical, {} B physical", facts.logical_block_bytes, facts.physical_block_bytes),
    );
    let members = facts.array.iter().flat_map(|array| &array.members);
    members.for_each(|member| line("member", &format!("{} {}", member.path, member.words())));
    health::line(&about.health).into_iter().for_each(|text| line("health", &text));
    about.purge.iter().for_each(|method| line("purge", &purge_text(method)));
    if refusals.is_empty() && drive.needs_erase_confirmation() {
        let options = summary::erase_options(facts);
        line("to test it", &format!("add {options}: everything on it will be lost"));
    } else if refusals.is_empty() {
        line("to test it", "no confirmation is needed: it contains no data");
    }
    refusals.iter().for_each(|refusal| line("refused", &of_refusal(refusal)));
    about.facts.iter().for_each(|fact| out.push_str(&fact_text(fact)));
    out
}

fn purge_text(method: &PurgeMethod) -> String {
    let verdict = match (&method.why_not, method.is_chosen, method.available) {
        (_, true, _) => "used by default".to_owned(),
        (Some(why), _, true) => format!("only if requested: {}", why_not(why)),
        (Some(why), _, false) => format!("no: {}", why_not(why)),
        (None, ..) => "if requested".to_owned(),
    };
    format!("{:<27} {verdict}", method.name)
}

fn fact_text(fact: &Fact) -> String {
    let name = fact.name.replace('_', " ");
    let text = match &fact.value {
        Known::Text(text) => text.clone(),
        Known::Flag(flag) => if *flag { "yes" } else { "no" }.into(),
        Known::Number(number) => match name.strip_suffix(" bytes") {
            Some(name) => return format!("{name:<26} {}\n", amount_base10(*number as u64)),
            None => number.to_string(),
        },
        Known::List(list) if list.is_empty() => "none".into(),
        Known::List(list) => list.join("\n                           "),
    };
    format!("{name:<26} {text}\n")
}

#[cfg(test)]
mod tests {
    use record::WhyNot;

    use super::*;

    #[test]
    fn facts_are_printed_with_their_units() {
        let fact = |name, value| fact_text(&Fact { name, value });
        assert!(
            fact("max_transfer_bytes", Known::Number(524_288.0))
                .starts_with("max transfer               524")
        );
        assert!(fact("solid_state", Known::Flag(true)).ends_with(" yes\n"));
        assert!(fact("other_namespaces", Known::List(Vec::new())).ends_with(" none\n"));
    }

    #[test]
    fn unused_methods_have_a_reason() {
        let mut method = PurgeMethod {
            name: "ata-security-erase",
            label: "ATA Security Erase Unit",
            is_pts: true,
            available: false,
            is_chosen: false,
            why_not: Some(WhyNot::Frozen),
        };
        let frozen = why_not(&WhyNot::Frozen);
        assert!(purge_text(&method).ends_with(&format!("no: {frozen}")));
        method.available = true;
        assert!(purge_text(&method).ends_with(&format!("only if requested: {frozen}")));
    }
}
