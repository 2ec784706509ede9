import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'

// CodeMirror in a shadow root: there its styles are style sheets of scripts, which the content security policy allows.

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

export interface CodeViewOptions {
  readonly label: string
  readonly text: string
  onChange(text: string): void
  /** The language, and what else the editor can do. They come before the common keys. */
  readonly extensions: readonly Extension[]
}

export function createCodeView(host: HTMLElement, { label, text, onChange, extensions }: CodeViewOptions): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const state = EditorState.create({
    doc: text,
    extensions: [
      ...extensions,
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      EditorView.lineWrapping,
      replaceSelected,
      EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true' }),
      keymap.of([...historyKeymap, ...defaultKeymap]),
      theme,
      syntaxHighlighting(highlight),
      EditorView.updateListener.of(({ docChanged, state: { doc } }) => docChanged && onChange(doc.toString())),
    ],
  })
  return new EditorView({ state, root, parent: root })
}
