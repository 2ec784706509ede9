import { useEffect, useState } from 'preact/hooks'
import { latestRemoval, offerUndo, onRemoval, type Removal } from '../lib/undo.ts'
import { ErrorBox } from './parts.tsx'
import './undo-bar.css'

/** How long it is offered while neither the pointer nor the focus is on it. */
const offeredMs = 30_000

/** Says what was removed, and brings it back. */
export function UndoBar() {
  const [removal, setRemoval] = useState(latestRemoval)
  const [isHeld, setHeld] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  useEffect(() => onRemoval(() => setRemoval(latestRemoval())), [])
  useEffect(() => {
    if (removal === null || isHeld) return
    const timer = setTimeout(() => offerUndo(null), offeredMs)
    return () => clearTimeout(timer)
  }, [removal, isHeld])
  const undo = (last: Removal) => {
    setBusy(true)
    setError(null)
    last
      .undo()
      .then(() => offerUndo(null), setError)
      .finally(() => setBusy(false))
  }
  return (
    <div
      class={`undo-bar${removal ? '' : ' gone'}`}
      role="status"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      {removal && (
        <>
          <span>{removal.text}</span>
          <button type="button" disabled={isBusy} onClick={() => undo(removal)}>
            Undo
          </button>
          <button type="button" class="plain" aria-label="Close this message" onClick={() => offerUndo(null)}>
            ✕
          </button>
          {error && <ErrorBox error={error} />}
        </>
      )}
    </div>
  )
}
