//! `plateau user`: who may sign in to `plateau serve`.

use std::io::{BufRead as _, IsTerminal as _, Read as _, stdin};

use lab::{Role, Users};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::json;

use super::serve::{failure, folder};
use crate::cli::{Cli, RoleChoice, User};
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

/// Size limit of the line with the password.
const MOST_LINE_BYTES: u64 = 4096;

pub fn run(cli: &Cli, action: &User) -> Done {
    let users = Users::at(&folder()?);
    match action {
        User::Add { name, role } => {
            let role = match role {
                RoleChoice::Viewer => Role::Viewer,
                RoleChoice::Operator => Role::Operator,
            };
            users.add(name, role, &password()?).map_err(failure)?;
            printer::print_line(&format!("{name} is now {}", role.word()));
            Ok(())
        }
        User::Remove { name } => {
            if users.remove(name).map_err(failure)? {
                return Ok(());
            }
            let text = format!("there is no user '{name}'; `plateau user list` lists them");
            Err(Failure::text(Exit::Usage, text))
        }
        User::List => {
            let all = users.list().map_err(failure)?;
            if cli.json {
                let all = all.iter().map(|(name, role)| json!({ "name": name, "role": role.word() }));
                return printer::print_json(&all.collect());
            }
            let lines = all.iter().map(|(name, role)| format!("{:<8}  {name}\n", role.word()));
            printer::print(&lines.collect::<String>())
        }
    }
}

/// Reads a password, which a terminal does not show.
fn password() -> Done<String> {
    let input = stdin();
    if !input.is_terminal() {
        return line();
    }
    printer::ask("password: ");
    let before = tcgetattr(&input).map_err(std::io::Error::from)?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &hidden).map_err(std::io::Error::from)?;
    let typed = line();
    tcsetattr(&input, OptionalActions::Now, &before).map_err(std::io::Error::from)?;
    printer::print_line("");
    typed
}

fn line() -> Done<String> {
    let mut line = String::new();
    stdin().lock().take(MOST_LINE_BYTES).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
