import { numberText } from '../lib/format.ts'
import { Working } from '../ui/parts.tsx'
import type { BackgroundRun } from './background.ts'
import type { Asked } from './use-runs.ts'

interface Props {
  /** What is asked now. */
  readonly working: Asked | null
  readonly isInBackground: boolean
  onAsk(what: Asked): void
  onStartInBackground(): void
  onCancel(): void
}

export const RunBar = ({ working, isInBackground, onAsk, onStartInBackground, onCancel }: Props) => (
  <div class="toolbar" role="toolbar" aria-label="Run">
    <button type="button" class="primary" onClick={() => onAsk('run')}>
      Run <kbd>Ctrl ↵</kbd>
    </button>
    <button
      type="button"
      disabled={isInBackground}
      title="For long statements: up to ten minutes, also while this page is closed"
      onClick={onStartInBackground}
    >
      Run in background
    </button>
    <button type="button" onClick={() => onAsk('explain')}>
      Explain
    </button>
    {working && <Working what={working === 'run' ? 'Running' : 'Explaining'} look="bar" cancel={onCancel} />}
  </div>
)

export function InBackground({ run, cancel }: { run: BackgroundRun; cancel: () => void }) {
  const { rows_read = 0, estimated_rows_total: total = 0, time_elapsed } = run.progress ?? {}
  return (
    <section class="background" aria-label="In the background">
      <code>{run.statement.slice(0, 200)}</code>
      <progress aria-label="Rows read" {...(total > 0 ? { max: total, value: Math.min(rows_read, total) } : {})} />
      <span role="status">
        {time_elapsed === undefined ? 'Waiting for the server' : `Running: ${numberText(Math.floor(time_elapsed))} s`}
        {total > 0 && `, ${numberText(rows_read)} of ${numberText(total)} rows read`}
      </span>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </section>
  )
}
