//! `plateau user`: manages the users who may sign in to `plateau serve`.

use lab::{Role, Users};
use serde_json::json;

use super::serve::{failure, folder};
use crate::cli::{Cli, User};
use crate::failure::{Done, Exit, Failure};
use crate::output::printer;

pub fn run(cli: &Cli, action: &User) -> Done {
    let users = Users::at(&folder()?);
    match action {
        User::Add { name, role } => {
            users.add(name, *role, &console::secret("password: ")?).map_err(failure)?;
            if cli.json {
                return printer::print_json(&json!({ "name": name, "role": role.word() }));
            }
            let role = match role {
                Role::Viewer => "a viewer",
                Role::Operator => "an operator",
            };
            printer::print_line(&format!("{name} is now {role}"));
            Ok(())
        }
        User::Remove { name } => {
            if users.remove(name).map_err(failure)? {
                return Ok(());
            }
            Err(Failure::text(Exit::Usage, format!("there is no user '{name}'; see `plateau user list`")))
        }
        User::List => {
            let all = users.list().map_err(failure)?;
            if cli.json {
                let all = all.iter().map(|(name, role)| json!({ "name": name, "role": role.word() }));
                return printer::print_json(&all.collect());
            }
            if all.is_empty() {
                return printer::print("no users; `plateau user add NAME` adds one");
            }
            let lines = all.iter().map(|(name, role)| format!("{:<8}  {name}\n", role.word()));
            printer::print(&lines.collect::<String>())
        }
    }
}
