import { useState } from 'preact/hooks'
import type { Query } from '../lib/api.ts'
import { CopyButton, Dialog } from '../ui/parts.tsx'
import { kinds, queryOf } from './query.ts'

/** The question as JSON, to copy, and to change. */
export function QueryDialog({ query, onChange, onClose }: { query: Query; onChange: (query: Query) => void; onClose: () => void }) {
  const [text, setText] = useState(JSON.stringify(query, null, 2))
  const [problem, setProblem] = useState<string | null>(null)
  const use = () => {
    const typed = queryOf(text)
    if (!typed) return setProblem(`This is not the JSON of a query. A query is an object with a kind, such as {"kind": "TrendsQuery", …}.`)
    if (!kinds.some(({ kind }) => kind === typed.kind))
      return setProblem(`An insight here is one of ${kinds.map(({ kind }) => kind).join(', ')}, but the kind is ${typed.kind}.`)
    onChange(typed)
    onClose()
  }
  return (
    <Dialog title="The query" onClose={onClose}>
      <textarea
        class="query-text"
        aria-label="Query as JSON"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setProblem(null)
        }}
      />
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
      <div class="actions">
        <button type="button" class="primary" onClick={use}>
          Use this query
        </button>
        <CopyButton text={text} label="Copy JSON" />
        <CopyButton text={location.href} label="Copy link" />
      </div>
    </Dialog>
  )
}
