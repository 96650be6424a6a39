//! The page for browsers that are not signed in.

use maud::{Markup, html};

use super::account;
use super::edition::Edition;
use super::frame::{Page, with_code};

/// The page that explains how to sign in.
pub fn page(text: &str, is_stranger: bool) -> Markup {
    let content = html! {
        h1 { "Plateau" }
        p { (with_code(text)) }
        @if is_stranger { (account::form()) }
    };
    let title = if is_stranger { "Not signed in" } else { "Refused" };
    Page { title, section: "", follows: None, edition: Edition::Server, content }.html()
}
