import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import type { Diagnostic } from '@codemirror/lint'
import { ApiError } from '../lib/api.ts'
import type { CurrentProject } from '../lib/session.ts'
import { type Variables, variablesOf } from './variables.ts'

// What the server knows about a statement while it is written (docs/editor.md).

interface Notice {
  readonly message: string
  readonly start?: number | null
  readonly end?: number | null
  readonly fix?: string | null
}
interface Suggestion {
  readonly label: string
  readonly insertText: string
  readonly kind: string
  readonly detail?: string | null
  readonly documentation?: string | null
}

function diagnostic({ message, start, end, fix }: Notice, severity: 'error' | 'warning', length: number): Diagnostic {
  const from = Math.max(0, Math.min(start ?? 0, length))
  const to = Math.max(from, Math.min(end ?? length, length))
  return {
    from,
    to,
    severity,
    message,
    ...(fix && {
      actions: [
        { name: `Replace by ${fix}`, apply: (view, at, until) => view.dispatch({ changes: { from: at, to: until, insert: fix } }) },
      ],
    }),
  }
}

/** The errors and warnings of a statement, where they are. None if the server cannot be asked: running it says why. */
export async function checkStatement(project: CurrentProject, text: string, known: Variables): Promise<readonly Diagnostic[]> {
  if (text.trim() === '') return []
  try {
    const answer = await project.ask({ kind: 'HogQLMetadata', language: 'hogQL', query: text, variables: variablesOf(text, known) })
    const [errors, warnings] = [answer.errors, answer.warnings].map((list) => (Array.isArray(list) ? (list as Notice[]) : []))
    return [
      ...errors!.map((one) => diagnostic(one, 'error', text.length)),
      ...warnings!.map((one) => diagnostic(one, 'warning', text.length)),
    ]
  } catch {
    return []
  }
}

const completionTypes: Readonly<Record<string, string>> = {
  Function: 'function',
  Variable: 'variable',
  Folder: 'class',
  Keyword: 'keyword',
}
const word = /[\w$]{0,200}$/

export async function completeStatement(project: CurrentProject, context: CompletionContext): Promise<CompletionResult | null> {
  const before = context.matchBefore(word)
  const from = before?.from ?? context.pos
  const previous = context.state.sliceDoc(from - 1, from)
  if (from === context.pos && !context.explicit && previous !== '.') return null
  const control = new AbortController()
  context.addEventListener('abort', () => control.abort())
  const query = {
    kind: 'HogQLAutocomplete',
    language: 'hogQL',
    query: context.state.doc.toString(),
    startPosition: from,
    endPosition: context.pos,
  }
  const answer = await project.ask(query, control.signal).catch(() => null)
  if (!answer || !Array.isArray(answer.suggestions)) return null
  return {
    from,
    options: (answer.suggestions as Suggestion[]).map(({ label, insertText, kind, detail, documentation }) => ({
      label,
      apply: (view, _, start, end) => {
        // The cursor stands between the parentheses of a function.
        const at = insertText.endsWith('()') ? start + insertText.length - 1 : start + insertText.length
        view.dispatch({ changes: { from: start, to: end, insert: insertText }, selection: { anchor: at } })
      },
      ...(completionTypes[kind] && { type: completionTypes[kind] }),
      ...(detail && { detail }),
      ...(documentation && { info: documentation }),
    })),
    ...(answer.incomplete_list !== true && { validFor: /^[\w$]*$/ }),
  }
}

interface Place {
  readonly line: number
  readonly offset: number
  readonly length: number
}
interface Extra {
  readonly position?: Place
  readonly suggestions?: readonly string[]
  readonly others?: readonly { readonly detail: string; readonly position?: Place }[]
}

/** The errors beside the first one, with their lines. */
export function furtherErrors(error: Error): readonly string[] {
  if (!(error instanceof ApiError)) return []
  const extra = error.body.extra as Extra | null | undefined
  return (extra?.others ?? []).map(({ detail, position }) => (position ? `Line ${position.line}: ${detail}` : detail))
}

/** Where the error of an answer is in the statement that was run. */
export function errorMarks(error: Error, length: number): readonly Diagnostic[] {
  if (!(error instanceof ApiError)) return []
  const extra = error.body.extra as Extra | null | undefined
  const all = [{ detail: error.message, position: extra?.position, fix: extra?.suggestions?.[0] }, ...(extra?.others ?? [])]
  return all.flatMap(({ detail, position, ...more }) => {
    if (!position) return []
    const fix = 'fix' in more ? (more.fix ?? null) : null
    return [diagnostic({ message: detail, start: position.offset, end: position.offset + position.length, fix }, 'error', length)]
  })
}
