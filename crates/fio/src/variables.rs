//! Variables in job files: `${NAME}` for environment variables, and two of fio's keywords.

/// Determines a property of the host.
type Property = fn() -> Option<u64>;

/// fio's keywords, which stand for properties of the host.
const KEYWORDS: &[(&str, Property)] = &[("$pagesize", page_bytes), ("$ncpus", processors)];

fn page_bytes() -> Option<u64> {
    Some(rustix::param::page_size() as u64)
}

fn processors() -> Option<u64> {
    std::thread::available_parallelism().ok().map(|count| count.get() as u64)
}

/// Returns the line with all variables replaced.
///
/// # Errors
/// Returns an error that names a variable without a value.
pub fn expanded(line: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').ok_or_else(|| format!("{line}: ${{ without }}"))?;
        let value = variable(name).filter(|value| !value.contains(char::is_control));
        let value = value.ok_or_else(|| {
            format!("{line}: the environment has no usable variable {name}; set it, as in {name}=VALUE plateau load ...")
        })?;
        out.push_str(before);
        out.push_str(&value);
        rest = behind;
    }
    out.push_str(rest);
    for (keyword, value) in KEYWORDS {
        if out.contains(keyword) {
            let value = value().ok_or_else(|| format!("{line}: the value of {keyword} is unknown"))?;
            out = out.replace(keyword, &value.to_string());
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_keywords_have_their_values() {
        let variable = |name: &str| (name == "DEV").then(|| "/dev/x".to_owned());
        assert_eq!(expanded("filename=${DEV}:${DEV}1", &variable).unwrap(), "filename=/dev/x:/dev/x1");
        let page = format!("bs={}", rustix::param::page_size());
        assert_eq!(expanded("bs=$pagesize", &variable).unwrap(), page);
        assert!(expanded("$ncpus", &variable).unwrap().parse::<u64>().is_ok_and(|count| count > 0));
        assert!(expanded("a=${NONE}", &variable).unwrap_err().contains("no usable variable NONE"));
        assert!(expanded("a=${DEV", &variable).unwrap_err().contains("without }"));
    }
}
