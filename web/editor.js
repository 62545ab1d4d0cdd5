// The field for the conversation: CodeMirror, with marks at the places of findings.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Text with more characters is not colored: that would be slow, and of no use. */
const COLOURED = 1_000_000;

// The colors are those of the page, which are inherited.
const look = EditorView.theme({
  "&": { height: "100%", fontSize: "var(--code-size)", color: "var(--text)", backgroundColor: "var(--field)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected)" },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warning-ground)" },
  ".cm-placeholder": { color: "var(--quiet)", whiteSpace: "pre-wrap", maxWidth: "min(30rem, 70vw)" },
  // Those of the library are pictures in its style sheet, which the policy of the page forbids.
  ".cm-lintRange": { backgroundImage: "none", textDecorationLine: "underline", textDecorationStyle: "wavy", textDecorationSkipInk: "none", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecorationColor: "var(--error)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecorationColor: "var(--warning)" },
  // A place between two characters, such as that of a missing comma, has nothing to underline.
  ".cm-lintPoint::after": { left: "-0.35em", width: "0.7em", height: "0", border: "0", borderBottom: "3px solid var(--error)" },
  ".cm-lintPoint-warning::after": { borderBottomColor: "var(--warning)" },
  ".cm-gutter-lint": { width: "1.2em" },
  ".cm-gutter-lint .cm-lint-marker": { width: "0.7em", height: "0.7em", margin: "0.4em 0.1em 0 0.3em", borderRadius: "50%", cursor: "pointer" },
  ".cm-gutter-lint .cm-lint-marker-error": { content: "normal", backgroundColor: "var(--error)" },
  ".cm-gutter-lint .cm-lint-marker-warning": { content: "normal", backgroundColor: "var(--warning)", borderRadius: "0" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "0.4rem", maxWidth: "min(32rem, 90vw)" },
  ".cm-diagnostic": { padding: "0.4rem 0.6rem", whiteSpace: "normal", overflowWrap: "anywhere", fontFamily: "system-ui, sans-serif" },
  ".cm-diagnostic-error": { borderLeft: "0.3rem solid var(--error)" },
  ".cm-diagnostic-warning": { borderLeft: "0.3rem solid var(--warning)" },
  ".cm-diagnostic p": { margin: "0.2rem 0 0" },
  ".cm-diagnostic .answer": { color: "var(--quiet)", borderLeft: "2px solid var(--line)", paddingLeft: "0.5rem" },
  ".cm-tooltip a": { color: "var(--link)" },
  ".cm-tooltip code": { fontFamily: "var(--mono)", fontSize: "0.9em", padding: "0 0.2em", borderRadius: "0.2em", backgroundColor: "var(--active)" },
  ".cm-panels": { backgroundColor: "var(--card)", color: "var(--text)" },
  ".cm-textfield, .cm-button": { color: "var(--text)", backgroundColor: "var(--field)", backgroundImage: "none", border: "1px solid var(--line)" },
});
const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-key)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-value)" },
]);

/**
 * A browser that types over marked text gives the new text the style of the old one, in an attribute, which the policy of the
 * page blocks and tells the console. So the editor replaces it itself.
 */
const typing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    if (event.inputType !== "insertText" || event.data === null || view.composing) return false;
    if (view.state.readOnly || view.state.selection.main.empty) return false;
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/**
 * Makes a field of an element, in a shadow tree: there the styles of the editor are no elements, so the policy of the page
 * allows them. `onInput` is told when a person has changed something, and whether it was pasted, and `onPlace` where the cursor was put.
 */
export class Field {
  #view;
  #colored = new Compartment();
  #locked = new Compartment();
  #isOwn = false;

  constructor(host, { label, hint, onInput = () => {}, onPlace = () => {} }) {
    const root = host.attachShadow({ mode: "open", delegatesFocus: true });
    const frame = document.createElement("div");
    frame.style.cssText = "position: absolute; inset: 0";
    root.append(frame);
    const told = EditorView.updateListener.of((update) => {
      if (this.#isOwn) return;
      if (update.docChanged) onInput(update.transactions.some((one) => one.isUserEvent("input.paste") || one.isUserEvent("input.drop")));
      else if (update.selectionSet) onPlace(update.state.selection.main.head);
    });
    this.#view = new EditorView({
      root,
      parent: frame,
      state: EditorState.create({
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          highlightSelectionMatches(),
          search({ top: true }),
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
          this.#colored.of(json()),
          this.#locked.of([]),
          syntaxHighlighting(colors),
          placeholder(hint),
          EditorView.contentAttributes.of({ "aria-label": label, autocapitalize: "off", spellcheck: "false" }),
          typing,
          look,
          told,
        ],
      }),
    });
    fields.set(host, this);
  }

  get value() {
    return this.#view.state.doc.toString();
  }

  set value(text) {
    const { state } = this.#view;
    if (text === this.value) return;
    this.#own({
      changes: { from: 0, to: state.doc.length, insert: text },
      selection: { anchor: 0 },
      effects: this.#colored.reconfigure(text.length > COLOURED ? [] : json()),
    });
    this.#view.scrollDOM.scrollTo(0, 0);
  }

  set readOnly(is) {
    this.#own({ effects: this.#locked.reconfigure(is ? [EditorState.readOnly.of(true)] : []) });
  }

  /** The text that is selected. */
  get selected() {
    const { from, to } = this.#view.state.selection.main;
    return this.#view.state.sliceDoc(from, to);
  }

  /** Selects a place and shows its beginning. */
  select(from, to) {
    const end = this.#view.state.doc.length;
    const anchor = Math.min(to, end);
    const head = Math.min(from, end);
    this.#own({ selection: { anchor, head }, effects: EditorView.scrollIntoView(head, { y: "start", yMargin: 80 }) });
    this.#view.focus();
  }

  /** Shows a place, and selects nothing. */
  reveal(place) {
    this.#own({ effects: EditorView.scrollIntoView(Math.min(place, this.#view.state.doc.length), { y: "start", yMargin: 80 }) });
  }

  /** Shows marks: `from`, `to`, `severity` and `renderMessage`. */
  mark(diagnostics) {
    const { doc } = this.#view.state;
    const shown = diagnostics
      .filter(({ from }) => from >= 0 && from <= doc.length)
      // A place may be a whole message. Its first line is enough to find it, and leaves the others legible.
      .map((one) => ({ ...one, to: Math.max(one.from, Math.min(one.to, doc.lineAt(one.from).to)) }));
    this.#own(setDiagnostics(this.#view.state, shown));
  }

  #own(spec) {
    this.#isOwn = true;
    try {
      this.#view.dispatch(spec);
    } finally {
      this.#isOwn = false;
    }
  }
}

const fields = new WeakMap();
/** The field of an element. */
export const fieldOf = (host) => fields.get(host);
