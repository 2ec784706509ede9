import { agoText, counted, numberText } from '../lib/format.ts'
import type { Ran } from './history.ts'

export function HistoryPanel({
  ran,
  onOpen,
  onForget,
}: {
  ran: readonly Ran[]
  onOpen: (statement: string) => void
  onForget: () => void
}) {
  if (ran.length === 0) return <p class="note">What you run is listed here. It stays in this browser.</p>
  return (
    <>
      <p class="note">
        Of this browser, the newest first.{' '}
        <button type="button" class="plain link" onClick={onForget}>
          Forget all
        </button>
      </p>
      <ul class="views">
        {ran.map(({ statement, at, rows, ms }) => (
          <li key={at}>
            <button type="button" class="plain cell past" onClick={() => onOpen(statement)}>
              <code>{statement.slice(0, 200)}</code>
            </button>
            <small>
              {agoText(at)}, {rows === null ? 'failed' : counted(rows, 'row')}, {numberText(ms)} ms
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}
