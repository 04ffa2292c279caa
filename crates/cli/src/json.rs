//! Conversion to JSON, which has no NaN and no infinities.

use ciborium::Value as Any;
use serde::Serialize;
use serde_json::Value;

/// The value as JSON; NaN and ±∞ are the strings `"NaN"`, `"inf"` and `"-inf"`, where `serde_json`
/// would write `null`.
pub fn json(value: impl Serialize) -> Value {
    Any::serialized(&value).map_or(Value::Null, convert)
}

fn convert(value: Any) -> Value {
    match value {
        Any::Float(number) => serde_json::Number::from_f64(number)
            .map_or_else(|| number.to_string().into(), Value::Number),
        Any::Integer(number) => {
            serde_json::Number::from_i128(number.into()).map_or(Value::Null, Value::Number)
        }
        Any::Text(text) => text.into(),
        Any::Bool(bool) => bool.into(),
        Any::Array(items) => items.into_iter().map(convert).collect(),
        Any::Map(entries) => entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.into_text().ok()?, convert(value))))
            .collect(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn numbers_that_json_lacks_are_strings() {
        let value =
            json([Some(f64::NAN), Some(f64::INFINITY), Some(-f64::INFINITY), Some(0.1), None]);
        assert_eq!(value.to_string(), r#"["NaN","inf","-inf",0.1,null]"#);
        assert_eq!(
            json((u64::MAX, -3, "a", true)).to_string(),
            r#"[18446744073709551615,-3,"a",true]"#
        );
        let nested = std::collections::BTreeMap::from([("k", vec![1.0, f64::NAN])]);
        assert_eq!(json(nested).to_string(), r#"{"k":[1.0,"NaN"]}"#);
    }
}
