//! What a browser sees that is not signed in.

use maud::{Markup, html};

use super::frame::Page;

/// The page that says how to enter.
pub fn page(text: &str) -> Markup {
    let content = html! {
        h1 { "Plateau" }
        p { (text) }
    };
    Page { title: "Not signed in", section: "", follows: None, content }.html()
}
