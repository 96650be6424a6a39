//! `plateau query SQL`: runs a query on the library's index.

use serde_json::{Value as Json, json};
use stdx::table::table;
use stdx::text::on_one_line;
use store::{Answer, Limits, StoreError, TABLES, Value};

use crate::cli::{Cli, Query};
use crate::commands::export::parquet;
use crate::failure::{Done, Exit, Failure};
use crate::output::catalogue;
use crate::output::extension;
use crate::output::file;
use crate::output::places;
use crate::output::printer;
use crate::output::shared;

pub fn run(cli: &Cli, options: &Query) -> Done {
    if let Some(path) = &options.parquet {
        extension::check_name("parquet", &["parquet"], path)
            .map_err(|text| Failure::text(Exit::Usage, text))?;
        file::check([path.as_path()], false)?;
    }
    let library = places::library(cli.library.as_deref())?;
    let index = match store::chosen(options.store.store.as_ref())? {
        Some(address) => shared::opened(&address, &library)?,
        None => catalogue::current(&library)?,
    };
    let answer =
        index.ask(&options.sql, Limits::within(options.time_limit)).map_err(|error| match error {
            StoreError::Query(why) => {
                let tables: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                Failure::text(Exit::Usage, format!("{why}; the tables are {}", tables.join(", ")))
            }
            error => error.into(),
        })?;
    if cli.json {
        return printer::print_json(&json!({
            "columns": answer.columns,
            "rows": answer.rows.iter().map(|row| row.iter().map(Json::from).collect()).collect::<Vec<Vec<Json>>>(),
        }));
    }
    if let Some(path) = &options.parquet {
        let bytes = store::parquet(&answer).map_err(|error| parquet::failed(error, path))?;
        file::file(path, &bytes)?;
        return if file::is_stdout(path) { Ok(()) } else { printer::print(&path.display().to_string()) };
    }
    if options.csv {
        return printer::print_bytes(&store::csv(&answer));
    }
    printer::print(&table(&rows(&answer)))
}

fn rows(answer: &Answer) -> Vec<Vec<String>> {
    let cell = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        other => on_one_line(&other.to_string()).into_owned(),
    };
    let rows = answer.rows.iter().map(|row| row.iter().map(cell).collect());
    std::iter::once(answer.columns.clone()).chain(rows).collect()
}
