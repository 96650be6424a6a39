//! Properties of the target that only an imported run can lack. They are null in the file, and empty or zero in
//! memory. No real target has an empty name, a capacity of 0 B or sectors of 0 B.

/// Names.
pub(crate) mod text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &String, serializer: S) -> Result<S::Ok, S::Error> {
        (!value.is_empty()).then_some(value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or_default())
    }
}

/// Sizes.
pub(crate) mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<N, S>(value: &N, serializer: S) -> Result<S::Ok, S::Error>
    where
        N: Serialize + Default + PartialEq,
        S: Serializer,
    {
        (*value != N::default()).then_some(value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, N, D>(deserializer: D) -> Result<N, D::Error>
    where
        N: Deserialize<'de> + Default,
        D: Deserializer<'de>,
    {
        Ok(Option::deserialize(deserializer)?.unwrap_or_default())
    }
}
