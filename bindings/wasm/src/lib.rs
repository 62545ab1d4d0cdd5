//! toolcheck as a WebAssembly module that imports nothing.
//!
//! A host calls [`alloc`] for a buffer, writes a request into it, and gives it to [`call`], which returns a buffer with the
//! answer. The host gives that back to [`dealloc`]. A request is one line of JSON (`Request`), a line break, and the bytes of
//! its parts, such as the body to lint. An answer is the length of its JSON and that of its text, each in four bytes (little
//! endian), the JSON, and the text.
//!
//! A panic traps. The host then reads [`panicked`] and drops the instance.

mod calls;
mod random;

use std::cell::RefCell;

use serde_json::json;

use calls::Answer;

thread_local! {
    /// What the last panic said: its length in four bytes, and the text.
    static PANICKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A buffer of this length, for a request.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    into_raw(vec![0; length])
}

/// Takes a buffer back.
///
/// # Safety
///
/// `buffer` is from [`alloc`] with this length or from [`call`] with the length of the answer, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dealloc(buffer: *mut u8, length: usize) {
    // SAFETY: the caller promises that `into_raw` made it with this length.
    drop(unsafe { from_raw(buffer, length) });
}

/// Answers a request.
///
/// # Safety
///
/// `buffer` is from [`alloc`] with this length, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call(buffer: *mut u8, length: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|info| {
        PANICKED.with_borrow_mut(|text| *text = with_length(info.to_string().into_bytes()));
    }));
    // SAFETY: the caller promises that `into_raw` made it with this length.
    let request = unsafe { from_raw(buffer, length) };
    let Answer { json, text } = calls::answer(&request)
        .unwrap_or_else(|error| Answer { json: json!({ "error": error }).to_string(), text: Vec::new() });
    let mut answer = Vec::with_capacity(8 + json.len() + text.len());
    answer.extend(length_of(json.as_bytes()));
    answer.extend(length_of(&text));
    answer.extend(json.into_bytes());
    answer.extend(text);
    into_raw(answer)
}

/// What the last panic said: the length of the text in four bytes, and the text. It stays the module's.
#[unsafe(no_mangle)]
pub extern "C" fn panicked() -> *const u8 {
    PANICKED.with_borrow_mut(|text| {
        if text.is_empty() {
            *text = with_length(Vec::new());
        }
        text.as_ptr()
    })
}

fn with_length(text: Vec<u8>) -> Vec<u8> {
    let mut all = length_of(&text).to_vec();
    all.extend(text);
    all
}

fn length_of(bytes: &[u8]) -> [u8; 4] {
    // An address of this machine has 32 bits, and so has a length.
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes()
}

fn into_raw(bytes: Vec<u8>) -> *mut u8 {
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// The buffer that [`into_raw`] gave away.
///
/// # Safety
///
/// `buffer` is from [`into_raw`] with this length, and is not used any more.
unsafe fn from_raw(buffer: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: the caller promises it.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(buffer, length)) }
}
