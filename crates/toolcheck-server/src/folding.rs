//! What can be folded: messages, calls, results and tools that take more than one line.

use lsp_types::{DocumentSymbol, FoldingRange, FoldingRangeKind, Position, Range};

use crate::document::Document;
use crate::symbols;
use crate::text::Text;

pub(crate) fn folds(document: &mut Document) -> Vec<FoldingRange> {
    let part = document.part_at(Position::new(0, 0));
    // In JSON Lines, each message is in one line, and within a line there is nothing to fold.
    if part != (0..document.text.len()) || document.text.start_of(1) >= document.text.len() {
        return Vec::new();
    }
    let mut folds = Vec::new();
    for symbol in symbols::symbols(document) {
        of_symbol(&symbol, &document.text, &mut folds);
    }
    let sites = document.sites(&part);
    for tool in sites.iter().flat_map(|sites| &sites.tools) {
        let range = document.text.between(tool.place.clone());
        folds.extend(fold(range, tool.name.clone(), &document.text));
    }
    folds.sort_by_key(|fold| (fold.start_line, u32::MAX - fold.end_line));
    // What starts and ends in the same lines as what is around it can't be folded by itself.
    folds.dedup_by_key(|fold| (fold.start_line, fold.end_line));
    folds
}

fn of_symbol(symbol: &DocumentSymbol, text: &Text, folds: &mut Vec<FoldingRange>) {
    let title = match &symbol.detail {
        Some(detail) => format!("{} ({detail})", symbol.name),
        None => symbol.name.clone(),
    };
    folds.extend(fold(symbol.range, title, text));
    for child in symbol.children.iter().flatten() {
        of_symbol(child, text, folds);
    }
}

/// Lines that are folded. A last line that begins with a bracket stays, as editors do it with JSON.
fn fold(range: Range, title: String, text: &Text) -> Option<FoldingRange> {
    // A line may have megabytes, and thousands of messages.
    if range.end.line <= range.start.line {
        return None;
    }
    let last = text.line(range.end.line as usize);
    let stays = matches!(last.trim_ascii_start().first(), Some(b'}' | b']'));
    let end_line = if stays { range.end.line.saturating_sub(1) } else { range.end.line };
    (end_line > range.start.line).then(|| FoldingRange {
        start_line: range.start.line,
        end_line,
        kind: Some(FoldingRangeKind::Region),
        collapsed_text: Some(title),
        ..FoldingRange::default()
    })
}
