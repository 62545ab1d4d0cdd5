//! Methods that set fields, enums whose variants have names, and lists of words.

/// Declares methods that set the field of their name.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)+) => {$(
        #[doc = concat!("Sets `", stringify!($name), "`.\n")]
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name.into();
            self
        }
    )+};
}

/// Declares an enum whose variants have names, and the function that gives them. With `none of`, it is also written and
/// read as its name, and the error for another names those that there are.
#[doc(hidden)]
#[macro_export]
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
            /// All of them, in their order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            $(#[$doc])*
            pub const fn $function(self) -> &'static str {
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
                type Err = $crate::Error;

                fn from_str(name: &str) -> Result<Self, Self::Err> {
                    let found = Self::ALL.into_iter().find(|own| own.$function() == name);
                    found.ok_or_else(|| Self::Err::new(format!("`{name}` is {}", $others)))
                }
            }
        )?
    };
}
pub(crate) use names;

/// The words of a text, with a space between each two, for a constant list that is too long for a line.
pub(crate) const fn words<const N: usize>(mut text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut count, mut end) = (0, 0);
    while end < text.len() {
        if text.as_bytes()[end] == b' ' {
            words[count] = text.split_at(end).0;
            text = text.split_at(end + 1).1;
            (count, end) = (count + 1, 0);
        } else {
            end += 1;
        }
    }
    words[count] = text;
    assert!(count + 1 == N, "another number of words");
    words
}
