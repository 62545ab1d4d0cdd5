//! Enums whose variants have names.

/// Declares an enum whose variants have names, and the function that gives them. With `none of`, it is also written and
/// read as its name, and the error for another names those that there are.
macro_rules! names {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of:meta])* $variant:ident = $text:literal,)+
        }
        $(#[$doc:meta])*
        $function:ident
        $(, $others:literal)?
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$of])* $variant,)+
        }

        impl $name {
            #[allow(dead_code, reason = "only those that are read need it")]
            const EACH: &[Self] = &[$(Self::$variant),+];

            $(#[$doc])*
            pub fn $function(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        $(
            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.pad(self.$function())
                }
            }

            impl std::str::FromStr for $name {
                type Err = $crate::error::Error;

                fn from_str(name: &str) -> Result<Self, Self::Err> {
                    let found = Self::EACH.iter().copied().find(|own| own.$function() == name);
                    found.ok_or_else(|| Self::Err::new(format!("`{name}` is {}", $others)))
                }
            }
        )?
    };
}
pub(crate) use names;
