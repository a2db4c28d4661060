//! Values that users select by name: the names are the same in the program, in Python and in
//! browsers.

use thiserror::Error;

use crate::base::error_code::ErrorCode;

/// A text that names no value of an option; the message lists the names.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{option} '{text}' is not possible: use {}", quoted(.names))]
pub struct UnknownName {
    pub(crate) option: &'static str,
    pub(crate) text: String,
    pub(crate) names: Vec<&'static str>,
}

impl ErrorCode for UnknownName {
    fn code(&self) -> &'static str {
        "option.value"
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Names the values of an enumeration, and parses them as the values of `$option`.
macro_rules! named {
    ($type:ty, $option:literal, { $($variant:ident $(($payload:expr))? = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All values that have a name, in the order in which options list them.
            pub const ALL: &[Self] = &[$(Self::$variant $(($payload))?),+];

            /// The name, which [`FromStr`](std::str::FromStr) parses.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::base::names::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let named = Self::ALL.iter().find(|value| value.name() == text);
                named.copied().ok_or_else(|| {
                    let names = Self::ALL.iter().map(|value| value.name()).collect();
                    crate::base::names::UnknownName {
                        option: $option,
                        text: text.to_owned(),
                        names,
                    }
                })
            }
        }
    };
}
pub(crate) use named;

#[cfg(test)]
mod tests {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Fruit {
        Apple,
        Pears(u32),
    }

    named!(Fruit, "fruit", { Apple = "apple", Pears(2) = "pears" });

    #[test]
    fn names_are_parsed_and_others_are_refused_with_a_list() {
        assert_eq!("apple".parse(), Ok(Fruit::Apple));
        assert_eq!("pears".parse(), Ok(Fruit::Pears(2)));
        assert_eq!(Fruit::Pears(9).to_string(), "pears");
        let message = "Apple".parse::<Fruit>().map_err(|error| error.to_string());
        let expected = "fruit 'Apple' is not possible: use 'apple', 'pears'";
        assert_eq!(message, Err(expected.to_owned()));
    }
}
