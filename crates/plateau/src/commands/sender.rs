//! `plateau sender`: manages the hosts that may send their runs to `plateau serve`.

use lab::Senders;
use serde_json::json;

use super::serve::{failure, folder};
use crate::cli::{Cli, Sender};
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

pub fn run(cli: &Cli, action: &Sender) -> Done {
    let senders = Senders::at(&folder()?);
    match action {
        Sender::Add { name, certificate: true } => {
            senders.add_certified(name).map_err(failure)?;
            if cli.json { printer::print_json(&json!({ "name": name, "token": null })) } else { Ok(()) }
        }
        Sender::Add { name, certificate: false } => {
            let token = senders.add(name).map_err(failure)?;
            if cli.json {
                return printer::print_json(&json!({ "name": name, "token": token }));
            }
            printer::print(&format!(
                "{token}\nThis token lets {name} send its runs; it is not shown again. On {name}, store it in a file that only \
                 the user of `plateau forward` can read."
            ))
        }
        Sender::Remove { name } => {
            if senders.remove(name).map_err(failure)? {
                return Ok(());
            }
            Err(Failure::text(Exit::Usage, format!("there is no sender '{name}'; see `plateau sender list`")))
        }
        Sender::List => {
            let all = senders.list().map_err(failure)?;
            if cli.json {
                return printer::print_json(&json!({ "senders": all }));
            }
            if all.is_empty() {
                return printer::print("no senders; `plateau sender add NAME` adds one");
            }
            printer::print(&all.iter().map(|name| format!("{name}\n")).collect::<String>())
        }
    }
}
