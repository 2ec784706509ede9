import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { StandardSQL, sql } from '@codemirror/lang-sql'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, linter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { EditorState, Prec } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { tags } from '@lezer/highlight'

// CodeMirror in a shadow root: there its styles are style sheets of scripts, which the content security policy allows.

export interface CodeEditor {
  text(): string
  /** Replaces everything. */
  setText(text: string): void
  /** At the cursor. */
  insert(text: string): void
  mark(diagnostics: readonly Diagnostic[]): void
  goTo(offset: number): void
  focus(): void
  destroy(): void
}

export interface CodeEditorOptions {
  readonly label: string
  readonly text: string
  onChange(text: string): void
  onRun(): void
  check(text: string): Promise<readonly Diagnostic[]>
  complete(context: CompletionContext): Promise<CompletionResult | null>
}

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--raised)', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace', fontSize: '13px', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '0.5rem 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--side)', color: 'var(--faint)', border: 'none' },
  '.cm-placeholder': { color: 'var(--faint)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'rgb(from var(--heat) r g b / 28%)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--rule)', borderRadius: '6px', boxShadow: 'var(--shadow)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'inherit', maxHeight: '18rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--faint)', marginLeft: '0.8em' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-diagnostic': { whiteSpace: 'pre-wrap', padding: '0.35rem 0.6rem', maxWidth: '34rem' },
  '.cm-diagnostic-error': { borderLeft: '4px solid var(--bad)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)', borderRadius: '4px', padding: '0.1rem 0.5rem' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline dotted var(--faint)', textUnderlineOffset: '3px' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'rgb(from var(--heat) r g b / 22%)' },
})
const highlight = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--faint)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--code-name)' },
])

/** Text over a selection: the browser itself would write it with inline styles, which the content security policy refuses. */
const replaceSelected = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main
    const text = event.data
    if (event.inputType !== 'insertText' || empty || text === null || view.composing) return false
    event.preventDefault()
    const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: 'input.type' })
    if (!view.state.facet(EditorView.inputHandler).some((handle) => handle(view, from, to, text, insert))) view.dispatch(insert())
    return true
  },
})

export function createCodeEditor(host: HTMLElement, options: CodeEditorOptions): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const run = (target: EditorView) => {
    closeCompletion(target)
    options.onRun()
    return true
  }
  const state = EditorState.create({
    doc: options.text,
    extensions: [
      Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      EditorView.lineWrapping,
      replaceSelected,
      EditorView.contentAttributes.of({ 'aria-label': options.label, 'aria-multiline': 'true' }),
      placeholder('select event, count() from events group by event'),
      sql({ dialect: StandardSQL }),
      // Names come from the server only, which knows the project.
      autocompletion({ override: [options.complete], icons: false }),
      linter(({ state: { doc } }) => options.check(doc.toString()), { delay: 400 }),
      keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
      theme,
      syntaxHighlighting(highlight),
      EditorView.updateListener.of(({ docChanged, state: { doc } }) => docChanged && options.onChange(doc.toString())),
    ],
  })
  const view = new EditorView({ state, root, parent: root })
  const within = (offset: number) => Math.max(0, Math.min(view.state.doc.length, offset))
  return {
    text: () => view.state.doc.toString(),
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: text.length } }),
    insert(text) {
      view.dispatch(view.state.replaceSelection(text))
      view.focus()
    },
    mark: (diagnostics) => view.dispatch(setDiagnostics(view.state, diagnostics)),
    goTo(offset) {
      view.dispatch({ selection: { anchor: within(offset) }, scrollIntoView: true })
      view.focus()
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  }
}
