//! The page for browsers that are not signed in.

use maud::{Markup, html};

use super::account;
use super::edition::Edition;
use super::frame::{Page, sentence, with_code};

/// The page that explains how to sign in.
pub fn page(text: &str, is_stranger: bool) -> Markup {
    let title = if is_stranger { "Not signed in" } else { "Refused" };
    let content = html! {
        h1 { (title) }
        p { (with_code(&sentence(text))) }
        @if is_stranger { (account::form()) }
    };
    Page { title, section: "", follows: None, edition: Edition::Server, content }.html()
}
