import { useEffect, useRef, useState } from 'preact/hooks'
import type { QueryStatusAnswer, RunStatusAnswer } from '../../doors/answers/query.ts'
import { type Answer, ApiError, get, post, type Query, remove } from '../lib/api.ts'
import type { CurrentProject } from '../lib/session.ts'

// A statement that runs on the server without this page: it has ten minutes, and its answer is kept for ten more. The browser remembers which one it is.

interface Held {
  readonly id: string
  readonly statement: string
  /** Its answer was shown before, and is shown again until another statement runs. */
  readonly isShown: boolean
}
export interface BackgroundRun extends Held {
  /** Null: not known yet. */
  readonly progress: QueryStatusAnswer['query_progress']
}
interface Outcome {
  readonly statement: string
  readonly ms: number
  readonly result: Answer | Error
  readonly isAgain: boolean
}

const key = (projectId: number) => `waymark-sql-background-${projectId}`
const readHeld = (projectId: number): Held | null => {
  try {
    const held = JSON.parse(localStorage.getItem(key(projectId)) ?? 'null') as Partial<Held> | null
    return typeof held?.id === 'string' && typeof held.statement === 'string'
      ? { id: held.id, statement: held.statement, isShown: held.isShown === true }
      : null
  } catch {
    return null
  }
}
const hold = (projectId: number, held: Held | null) => {
  try {
    if (held) localStorage.setItem(key(projectId), JSON.stringify(held))
    else localStorage.removeItem(key(projectId))
  } catch {
    // Without storage the answer is lost with the page.
  }
}

const millisecondsOf = ({ start_time, end_time }: QueryStatusAnswer) =>
  start_time && end_time ? Date.parse(end_time) - Date.parse(start_time) : 0
const [soonest, latest] = [200, 2000]
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

export function useBackground(project: CurrentProject, onEnd: (outcome: Outcome) => void) {
  const [run, setRun] = useState<BackgroundRun | null>(() => {
    const held = readHeld(project.id)
    return held && { ...held, progress: null }
  })
  const latestEnd = useRef(onEnd)
  latestEnd.current = onEnd
  const path = (id: string) => project.api(`query/${encodeURIComponent(id)}/`)

  useEffect(() => {
    if (run === null) return
    const control = new AbortController()
    const { signal } = control
    const end = (result: Answer | Error, ms = 0) => {
      const { id, statement, isShown } = run
      hold(project.id, result instanceof Error ? null : { id, statement, isShown: true })
      setRun(null)
      latestEnd.current({ statement, ms, result, isAgain: isShown })
    }
    const follow = async () => {
      for (let wait = soonest; ; wait = Math.min(latest, wait * 1.5)) {
        try {
          const { query_status: status } = await get<RunStatusAnswer>(`${path(run.id)}?show_progress=true`, signal)
          if (signal.aborted) return
          if (status.complete || status.error) {
            const ms = millisecondsOf(status)
            if (status.error || !status.results) return end(new Error(status.error_message ?? 'The statement failed.'), ms)
            return end(status.results as Answer, ms)
          }
          setRun((before) => before && { ...before, progress: status.query_progress })
        } catch (error) {
          if (signal.aborted) return
          if (run.isShown) {
            hold(project.id, null)
            return setRun(null)
          }
          // A server that cannot be reached may come back.
          if (!(error instanceof ApiError && error.status === 0))
            return end(
              error instanceof ApiError && error.status === 404
                ? new Error('The answer of the background statement is no longer stored. Run it again.')
                : (error as Error),
            )
        }
        await pause(wait, signal)
        if (signal.aborted) return
      }
    }
    void follow()
    return () => control.abort()
  }, [run?.id])

  return {
    run: run?.isShown ? null : run,
    /** Another statement runs here: the answer is not shown again. */
    forget: () => {
      if (readHeld(project.id)?.isShown) hold(project.id, null)
    },
    async start(statement: string, query: Query): Promise<void> {
      const body = { query, refresh: 'force_async' }
      const { query_status } = await post<RunStatusAnswer>(project.api('query/'), body)
      const held = { id: query_status.id, statement, isShown: false }
      hold(project.id, held)
      setRun({ ...held, progress: null })
    },
    async cancel(): Promise<void> {
      if (run === null) return
      await remove(path(run.id))
      hold(project.id, null)
      setRun(null)
    },
  }
}
