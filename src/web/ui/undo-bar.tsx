import { useEffect, useState } from 'preact/hooks'
import { latestRemoval, offerUndo, onRemoval } from '../lib/undo.ts'
import { useAction } from './forms.tsx'
import './undo-bar.css'

/** How long it is offered while neither the pointer nor the focus is on it. */
const offeredMs = 30_000

/** Says what was removed, and brings it back. */
export function UndoBar() {
  const [removal, setRemoval] = useState(latestRemoval)
  const [isHeld, setHeld] = useState(false)
  const { act, isBusy, failure } = useAction()
  useEffect(() => onRemoval(() => setRemoval(latestRemoval())), [])
  useEffect(() => {
    if (removal === null || isHeld) return
    const timer = setTimeout(() => offerUndo(null), offeredMs)
    return () => clearTimeout(timer)
  }, [removal, isHeld])
  return (
    <div
      class={`undo-bar${removal ? '' : ' empty'}`}
      role="status"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      {removal && (
        <>
          <span>{removal.text}</span>
          <button type="button" disabled={isBusy} onClick={() => act(() => removal.undo().then(() => offerUndo(null)))}>
            Undo
          </button>
          <button type="button" class="plain" aria-label="Close this message" onClick={() => offerUndo(null)}>
            ✕
          </button>
          {failure}
        </>
      )}
    </div>
  )
}
