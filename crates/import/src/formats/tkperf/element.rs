//! Values of XML elements, which TKperf writes as JSON.

use roxmltree::Node;
use serde::de::DeserializeOwned;

/// Returns the value of an element; `None` if it is missing or null.
pub(super) fn leaf<T: DeserializeOwned>(parent: Node<'_, '_>, name: &str) -> Result<Option<T>, String> {
    let mut found = parent.children().filter(|node| node.has_tag_name(name));
    let Some(node) = found.next() else { return Ok(None) };
    if found.next().is_some() {
        return Err(format!("two elements <{name}>"));
    }
    let text: String = node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
    serde_json::from_str(text.trim()).map_err(|error| format!("<{name}>: {error}"))
}
