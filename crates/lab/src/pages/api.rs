//! The addresses for programs.

use maud::html;

use super::edition::Edition;
use super::frame::Page;
use crate::app::{Answer, App, Call};

/// `/api`
pub fn page(app: &App, _: &Call) -> Answer {
    let content = html! {
        h1 { "API" }
        p { "The same data as on the pages. " a href="/api/openapi.json" { "OpenAPI description" } }
        div.scroll tabindex="0" role="region" aria-label="Addresses" {
            table.cards {
                thead { tr { th { "Method" } th { "Address" } th { "Content" } th { "About" } } }
                tbody {
                    @for route in app.routes.iter().filter(|route| route.content.is_data()) {
                        tr {
                            td.method { (route.method.word().to_uppercase()) }
                            th scope="row" { code { (route.path) } }
                            td { code { (route.content.media_type()) } }
                            td { (route.about) }
                        }
                    }
                }
            }
        }
    };
    Answer::html(
        Page { title: "API", section: "API", follows: None, edition: Edition::Server, content }.html(),
    )
}
