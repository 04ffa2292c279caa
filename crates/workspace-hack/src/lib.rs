//! Nothing: [its manifest](../Cargo.toml) alone matters.
