//! The table of special notes.

use crate::pages::notes::NoteRow;
use charts::markup::{escape, escape_running};

/// Returns the table of special notes; contains "None" if there are none.
pub(super) fn table(rows: &[NoteRow]) -> String {
    let rows = if rows.is_empty() {
        "<tr><td>-</td><td>None</td><td>-</td></tr>\n".to_owned()
    } else {
        rows.iter().map(row).collect()
    };
    format!(
        "<table class=\"notes\"><thead><tr><th>ITEM</th><th>NOTATION</th><th>COMMENTS</th></tr></thead>\n\
         <tbody>{rows}</tbody></table>\n"
    )
}

fn row(NoteRow { item, notation, comments }: &NoteRow) -> String {
    let comments = match comments.as_slice() {
        [one] => escape_running(one),
        many => {
            let items: String = many.iter().map(|c| format!("<li>{}</li>", escape_running(c))).collect();
            format!("<ul>{items}</ul>")
        }
    };
    format!("<tr><td>{}</td><td><b>{}</b></td><td>{comments}</td></tr>\n", escape(item), escape(notation))
}
