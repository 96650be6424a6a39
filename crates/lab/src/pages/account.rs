//! Who is signed in, and the form to sign in.

use maud::{Markup, html};

use super::edition::Edition;
use super::frame::Page;
use crate::app::{Answer, App, Call};

/// `/login`
pub fn login(_: &App, _: &Call) -> Answer {
    let content = html! { h1 { "Sign in" } (form()) };
    Answer::html(
        Page { title: "Sign in", section: "", follows: None, edition: Edition::Server, content }.html(),
    )
}

/// The form to sign in with a name and a password.
pub fn form() -> Markup {
    html! {
        form.fields action="/login" method="post" {
            label { "Name" input name="name" autocomplete="username" required; }
            label { "Password" input type="password" name="password" autocomplete="current-password" required; }
            button.primary { "Sign in" }
        }
    }
}

/// `/account`
pub fn page(_: &App, call: &Call) -> Answer {
    let user = call.visitor.as_ref().and_then(|visitor| visitor.user.as_deref());
    let role = call.visitor.as_ref().map_or("", |visitor| visitor.role.word());
    let content = html! {
        h1 { "Account" }
        dl.facts {
            div { dt { "User" } dd { (user.unwrap_or("none: this browser signed in with a link")) } }
            div { dt { "Role" } dd { (role) } }
        }
        @if call.is_operator() {
            p { "Operators can start, stop and resume runs. Each change is recorded in " code { "lab.journal" } "." }
        } @else {
            p { "Viewers can read everything and change nothing." }
        }
        form action="/leave" method="post" { (token(call)) button { "Sign out" } }
    };
    Answer::html(
        Page { title: "Account", section: "Account", follows: None, edition: Edition::Server, content }
            .html(),
    )
}

/// `/leave`
pub fn leave(app: &App, call: &Call) -> Answer {
    if let Some(visitor) = &call.visitor {
        app.gate.leave(visitor);
    }
    Answer::see("/login".into())
}

/// The token that every form contains.
pub fn token(call: &Call) -> Markup {
    html! { input type="hidden" name="csrf" value=(call.csrf()); }
}
