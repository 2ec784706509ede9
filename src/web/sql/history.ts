import { useState } from 'preact/hooks'

// The statements that were run in this browser, the newest first.

export interface Ran {
  readonly statement: string
  readonly at: string
  /** Null: it failed. */
  readonly rows: number | null
  readonly ms: number
}

const most = 100
const longest = 100_000
const key = (projectId: number) => `waymark-sql-${projectId}`

function readHistory(projectId: number): readonly Ran[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key(projectId)) ?? '[]')
    return Array.isArray(stored)
      ? stored.filter((one): one is Ran => typeof one?.statement === 'string' && typeof one?.at === 'string')
      : []
  } catch {
    return []
  }
}

/** A statement that is run again moves to the top. */
function remember(projectId: number, ran: Ran): readonly Ran[] {
  if (ran.statement.length > longest) return readHistory(projectId)
  let kept = [ran, ...readHistory(projectId).filter(({ statement }) => statement !== ran.statement)].slice(0, most)
  // A browser keeps some megabytes.
  while (kept.length > 0) {
    try {
      localStorage.setItem(key(projectId), JSON.stringify(kept))
      return kept
    } catch {
      kept = kept.slice(0, Math.floor(kept.length / 2))
    }
  }
  return kept
}

function forgetHistory(projectId: number): void {
  localStorage.removeItem(key(projectId))
}

/** The history of a project, as it is shown beside the editor. */
export function useHistory(projectId: number) {
  const [ran, setRan] = useState(() => readHistory(projectId))
  return {
    ran,
    add(statement: string, ms: number, rows: Ran['rows']): void {
      setRan(remember(projectId, { statement, at: new Date().toISOString(), rows, ms: Math.round(ms) }))
    },
    forget(): void {
      forgetHistory(projectId)
      setRan([])
    },
  }
}
