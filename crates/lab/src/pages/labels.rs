//! Tags, notes and archiving: changes that operators make to runs, recorded in the library's journal.

use maud::{Markup, html};
use record::{Change, Stamp};

use super::account::token;
use super::frame::{moment, problem};
use crate::app::{Answer, App, Call};
use crate::snapshot::Snapshot;

/// Length limit of a tag or a note, as on the command line.
const MOST_CHARACTERS: usize = 200;

/// The tags and notes of a run with the users who added them, and the forms to change them.
pub fn forms(app: &App, call: &Call, snapshot: &Snapshot) -> Markup {
    let file = &snapshot.run.file;
    let (id, added) = (file.id.as_str(), app.catalogue.added());
    let path = |what: &str| format!("/runs/{id}/{what}");
    let by = |stamp: Option<&Stamp>| stamp.map(|stamp| format!("{}, {}", stamp.who, moment(stamp.wall)));
    let (tags, notes) = (added.tags(id, &file.labels), added.notes(id, &file.labels));
    html! {
        section {
            h2 { "Tags and notes" }
            @if !tags.is_empty() {
                ul.plain {
                    @for (tag, stamp) in &tags {
                        li {
                            @if call.is_operator() {
                                form.inline action=(path("untag")) method="post" {
                                    (token(call)) input type="hidden" name="tag" value=(tag);
                                    span.tag { (tag) } " " span.soft { (by(*stamp).unwrap_or_default()) " " }
                                    button aria-label=(format!("Remove the tag {tag}")) { "Remove" }
                                }
                            } @else { span.tag { (tag) } " " span.soft { (by(*stamp).unwrap_or_default()) } }
                        }
                    }
                }
            }
            @for (note, stamp) in &notes { p { (note) " " span.soft { (by(*stamp).unwrap_or_default()) } } }
            @if let Some(stamp) = added.archived(id) { p.soft { "Archived: " (by(Some(stamp)).unwrap_or_default()) } }
            @if call.is_operator() {
                form.fields action=(path("tag")) method="post" {
                    (token(call)) label { "Tag" input name="tag" required maxlength=(MOST_CHARACTERS); } button { "Add tag" }
                }
                form.fields action=(path("note")) method="post" {
                    (token(call)) label { "Note" input name="note" required maxlength=(MOST_CHARACTERS) size="40"; } button { "Add note" }
                }
                @let (what, name, effect) = match added.archived(id) {
                    Some(_) => ("unarchive", "Unarchive", "Shows this run in lists again."),
                    None => ("archive", "Archive", "Hides this run from lists; its files are not changed."),
                };
                form action=(path(what)) method="post" { (token(call)) button { (name) } " " span.soft { (effect) } }
            } @else if tags.is_empty() && notes.is_empty() { p.soft { "None." } }
        }
    }
}

/// `/runs/{id}/tag`
pub fn tag(app: &App, call: &Call) -> Answer {
    let tag = text(call, "tag").and_then(|tag| match tag.contains(|c: char| c.is_whitespace() || c == ',') {
        true => Err("a tag is one word without spaces or commas".into()),
        false => Ok(tag),
    });
    changed(app, call, |run| Ok(Change::Tagged { run, tag: tag? }))
}

/// `/runs/{id}/untag`
pub fn untag(app: &App, call: &Call) -> Answer {
    changed(app, call, |run| Ok(Change::Untagged { run, tag: text(call, "tag")? }))
}

/// `/runs/{id}/note`
pub fn note(app: &App, call: &Call) -> Answer {
    changed(app, call, |run| Ok(Change::Noted { run, text: text(call, "note")? }))
}

/// `/runs/{id}/archive`
pub fn archive(app: &App, call: &Call) -> Answer {
    changed(app, call, |run| Ok(Change::Archived { run }))
}

/// `/runs/{id}/unarchive`
pub fn unarchive(app: &App, call: &Call) -> Answer {
    changed(app, call, |run| Ok(Change::Unarchived { run }))
}

/// Returns one line of text from the form's field `name`.
fn text(call: &Call, name: &str) -> Result<String, String> {
    let text = call.form(name).trim();
    if text.is_empty() {
        return Err(format!("the {name} is empty"));
    }
    if text.contains(stdx::text::is_unprintable) {
        return Err(format!("the {name} must be one line without control characters"));
    }
    if text.chars().count() > MOST_CHARACTERS {
        return Err(format!("the {name} has more than {MOST_CHARACTERS} characters"));
    }
    Ok(text.to_owned())
}

fn changed(app: &App, call: &Call, change: impl FnOnce(String) -> Result<Change, String>) -> Answer {
    let refused =
        |status: u16, why: &str| Answer { status, ..Answer::html(problem("Nothing was changed", why)) };
    let Some(run) = app.catalogue.run(call.name()) else {
        return refused(404, "This library does not contain that run.");
    };
    let id = run.file.id;
    let change = match change(id.clone()) {
        Ok(change) => change,
        Err(why) => return refused(422, &why),
    };
    match app.catalogue.change(call.user(), change) {
        Ok(()) => Answer::see(format!("/runs/{id}")),
        Err(error) => refused(500, &stdx::text::with_causes(&error)),
    }
}
