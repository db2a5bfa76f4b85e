/** CodeMirror for YAML with a schema. This module and its dependencies are loaded when the first editor opens. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { linter, lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Compartment, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { check } from "./check";
import { suggest } from "./complete";
import type { Simulated } from "./schema";
import type { Problem } from "./reading";

export interface EditorOptions {
  text: string;
  label: string;
  /** The allowed kinds; a document without a kind is the first one. */
  kinds: readonly string[];
  /** Whose plugins a configuration names. */
  simulated?: Simulated | undefined;
  readonly?: boolean;
  onchange(text: string, problems: readonly Problem[]): void;
  /** Mod+Enter. */
  onsubmit?(): void;
}

export interface YamlEditor {
  /** Replace the whole text. */
  replace(text: string): void;
  /** Mark and scroll to an error that the server reported, until the text changes. */
  mark(problem: Problem): void;
  text(): string;
  destroy(): void;
}

const LINT_MILLIS = 200;

export function openEditor(parent: HTMLElement | ShadowRoot, options: EditorOptions): YamlEditor {
  let serverProblem: Problem | null = null;
  const problemsIn = (text: string): Problem[] => (options.readonly ? [] : [...check(text, options.kinds, options.simulated), ...(serverProblem ? [serverProblem] : [])]);
  const diagnose = (view: EditorView): Diagnostic[] =>
    problemsIn(view.state.doc.toString()).map((problem) => ({ ...problem, to: Math.min(Math.max(problem.to, problem.from), view.state.doc.length) }));
  const complete = (context: CompletionContext): CompletionResult | null => {
    const suggestions = suggest(context.state.doc.toString(), context.pos, options.kinds[0] ?? "", options.simulated);
    if (!suggestions || (!context.explicit && suggestions.from === context.pos)) return null;
    return {
      from: suggestions.from,
      validFor: /^[\w./-]*$/,
      options: suggestions.options.map((option) => ({
        label: option.label,
        detail: option.detail,
        ...(option.about ? { info: option.about } : {}),
        ...(option.detail ? { apply: option.opens ? `${option.label}:` : `${option.label}: ` } : {}),
      })),
    };
  };
  const editable = new Compartment();
  const view = new EditorView({
    parent,
    ...(parent instanceof ShadowRoot ? { root: parent } : {}),
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        foldGutter(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("  "),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        yaml(),
        syntaxHighlighting(COLORS),
        lintGutter(),
        linter(diagnose, { delay: LINT_MILLIS }),
        autocompletion({ override: [complete], icons: false }),
        editable.of([EditorState.readOnly.of(options.readonly ?? false), EditorView.editable.of(!options.readonly)]),
        EditorView.contentAttributes.of({ "aria-label": options.label, ...(options.readonly ? { tabindex: "0" } : {}) }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          serverProblem = null;
          const text = update.state.doc.toString();
          options.onchange(text, problemsIn(text));
        }),
        keymap.of([
          {
            key: "Mod-Enter",
            run() {
              options.onsubmit?.();
              return true;
            },
          },
          // Tab indents within a line. After Escape it leaves the editor, as the hint next to it says.
          { key: "Tab", run: (target) => !target.state.readOnly && indentMore(target), shift: indentLess },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...completionKeymap,
          ...lintKeymap,
        ]),
        LOOK,
      ],
    }),
  });
  options.onchange(options.text, problemsIn(options.text));
  return {
    replace(text) {
      serverProblem = null;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
    },
    mark(problem) {
      serverProblem = problem;
      view.dispatch({ selection: { anchor: Math.min(problem.from, view.state.doc.length) }, scrollIntoView: true });
      view.dispatch(setDiagnostics(view.state, diagnose(view)));
      options.onchange(view.state.doc.toString(), problemsIn(view.state.doc.toString()));
    },
    text: () => view.state.doc.toString(),
    destroy() {
      view.destroy();
    },
  };
}

const COLORS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--ink)", fontWeight: "500" },
  { tag: [tags.string, tags.content, tags.attributeValue], color: "var(--waterline)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--assumed)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--ink-3)" },
  { tag: [tags.punctuation, tags.separator, tags.squareBracket, tags.brace], color: "var(--ink-2)" },
  { tag: [tags.labelName, tags.typeName], color: "var(--wait)" },
]);

const LOOK = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--paper-sunk)", color: "var(--ink)", fontSize: "12px" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--font-code)", lineHeight: "18px", overflow: "auto" },
  ".cm-content": { padding: "8px 0", caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", border: "0", color: "var(--ink-3)" },
  ".cm-activeLine": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selected-back)" },
  ".cm-matchingBracket": { backgroundColor: "var(--selected-back)", outline: "none" },
  ".cm-tooltip": { border: "1px solid var(--line-strong)", borderRadius: "3px", backgroundColor: "var(--paper-raised)", color: "var(--ink)", maxWidth: "440px" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--font-code)", maxHeight: "240px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--selected-back)", color: "var(--ink)" },
  ".cm-completionDetail": { color: "var(--ink-3)", fontStyle: "normal", marginLeft: "16px" },
  ".cm-completionInfo": { padding: "8px" },
  ".cm-diagnostic": { borderLeftWidth: "2px", fontFamily: "var(--font)", padding: "4px 8px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--error)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--unschedulable)" },
  ".cm-diagnostic-info": { borderLeftColor: "var(--ink-3)" },
  ".cm-lintRange": { backgroundImage: "none", textDecorationLine: "underline", textDecorationThickness: "1.5px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationStyle: "wavy", textDecorationColor: "var(--error)" },
  ".cm-lintRange-warning": { textDecorationStyle: "wavy", textDecorationColor: "var(--unschedulable)" },
  ".cm-lintRange-info": { textDecorationLine: "none", opacity: "0.6" },
  ".cm-lint-marker": { width: "8px", height: "8px", margin: "5px 2px", content: '""', borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--error)" },
  ".cm-lint-marker-warning": { backgroundColor: "var(--unschedulable)" },
  ".cm-lint-marker-info": { backgroundColor: "transparent", border: "1px solid var(--ink-3)" },
});
