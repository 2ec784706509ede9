import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  closeBrackets,
  closeCompletion,
  completionKeymap,
} from '@codemirror/autocomplete'
import { StandardSQL, sql } from '@codemirror/lang-sql'
import { type Diagnostic, linter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Prec } from '@codemirror/state'
import { type EditorView, keymap, placeholder } from '@codemirror/view'
import { createCodeView } from '../lib/code-view.ts'

// The editor of statements.

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

export function createCodeEditor(host: HTMLElement, options: CodeEditorOptions): CodeEditor {
  const run = (target: EditorView) => {
    closeCompletion(target)
    options.onRun()
    return true
  }
  const view = createCodeView(host, {
    label: options.label,
    text: options.text,
    onChange: options.onChange,
    extensions: [
      Prec.highest(keymap.of([{ key: 'Mod-Enter', run }])),
      closeBrackets(),
      placeholder('select event, count() from events group by event'),
      sql({ dialect: StandardSQL }),
      // Names come from the server only, which knows the project.
      autocompletion({ override: [options.complete], icons: false }),
      linter(({ state: { doc } }) => options.check(doc.toString()), { delay: 400 }),
      keymap.of([...completionKeymap, ...lintKeymap]),
    ],
  })
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
