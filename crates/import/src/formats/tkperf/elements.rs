//! Access to the elements of a result file, whose text is JSON.

use roxmltree::Node;
use serde::de::DeserializeOwned;

/// Limit on the number of attributes of an element; TKperf writes none.
const MOST_ATTRIBUTES: usize = 100;

/// Limits the number of attributes before parsing, because the parser compares each attribute of an element with
/// all previous ones.
pub(super) fn check_attributes(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let (opening, end) = match rest {
            _ if rest.starts_with("<!--") => ("<!--", "-->"),
            _ if rest.starts_with("<![CDATA[") => ("<![CDATA[", "]]>"),
            _ => ("<", ""),
        };
        rest = &rest[opening.len()..];
        if !end.is_empty() {
            // If the end is missing, the parser reports it.
            let Some(at) = rest.find(end) else { return Ok(()) };
            rest = &rest[at + end.len()..];
            continue;
        }
        let (mut quote, mut attributes, mut length) = (None, 0_usize, rest.len());
        for (at, byte) in rest.bytes().enumerate() {
            match (byte, quote) {
                (b'"' | b'\'', None) => quote = Some(byte),
                (_, Some(open)) if byte == open => quote = None,
                (b'=', None) => attributes += 1,
                (b'>', None) => {
                    length = at;
                    break;
                }
                _ => {}
            }
        }
        if attributes > MOST_ATTRIBUTES {
            return Err(format!("an element has more than {MOST_ATTRIBUTES} attributes"));
        }
        rest = &rest[length..];
    }
    Ok(())
}

/// Returns the child with this name; fails if there are two, because it is unclear which one applies.
pub(super) fn child<'a>(parent: Node<'a, 'a>, name: &str) -> Result<Option<Node<'a, 'a>>, String> {
    let mut found = parent.children().filter(|node| node.has_tag_name(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("two elements <{name}>"));
    }
    Ok(first)
}

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
