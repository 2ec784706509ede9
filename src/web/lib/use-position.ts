import { useEffect, useState } from 'preact/hooks'
import type { PositionAnswer } from '../../doors/answers/events.ts'
import { get } from './api.ts'
import { useProject } from './session.ts'

const everyMs = 2000

/**
 * Where the events of the project end: another number when there are new ones, looked at every two seconds while the page is in sight. A look waits while
 * `isBusy` says that the answers to the last number are not there yet, so that a slow server is asked less often. Null: not known, or nobody wants it.
 */
export function usePosition(isWanted: boolean, isBusy: () => boolean): number | null {
  const { api } = useProject()
  const [position, setPosition] = useState<number | null>(null)
  useEffect(() => {
    if (!isWanted) return setPosition(null)
    const control = new AbortController()
    const look = async () => {
      if (document.hidden || isBusy()) return
      // What fails is asked again; the tiles say why they have no answer.
      const found = await get<PositionAnswer>(api('events/position/'), control.signal).catch(() => null)
      if (found && !control.signal.aborted) setPosition(found.position)
    }
    void look()
    const timer = setInterval(() => void look(), everyMs)
    return () => {
      control.abort()
      clearInterval(timer)
    }
  }, [isWanted])
  return position
}
