import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from 'pg'
import type { Postgres } from './client.ts'

// What servers tell each other through LISTEN and NOTIFY. Whatever is lost is found by looking: nothing depends on a message.

export type News =
  /** The log of a project ends at `seq`. */
  | { readonly kind: 'grown'; readonly project: number; readonly seq: number }
  /** It is applied up to `seq`. */
  | { readonly kind: 'applied'; readonly project: number; readonly seq: number }
  /** A query waits until it is applied up to `seq`. */
  | { readonly kind: 'wanted'; readonly project: number; readonly seq: number }
  /** Nobody applies it any more. */
  | { readonly kind: 'free'; readonly project: number; readonly seq: number }
  /** Its plugins have changed, for the `seq`th time. */
  | { readonly kind: 'plugins'; readonly project: number; readonly seq: number }
  /** A query is cancelled, at once or if it has not begun. `seq`: which one, as `cancels.ts` says. */
  | { readonly kind: 'cancelled' | 'withdrawn'; readonly project: number; readonly seq: number }

const kinds: ReadonlySet<string> = new Set([
  'grown',
  'applied',
  'wanted',
  'free',
  'plugins',
  'cancelled',
  'withdrawn',
] satisfies News['kind'][])
const againMs = [100, 500, 2_000]

const channelOf = (schema: string): string => `waymark_${schema}`
/** As an expression of SQL, within a statement. */
export const told = (schema: string, kind: News['kind'], project: string, seq: string): string =>
  `pg_notify('${channelOf(schema)}', '${kind} ' || ${project} || ' ' || ${seq})`

/** Listens until it is ended. `onNews` gets null after a time without a connection: anything may have happened. */
export function listen(postgres: Postgres, onNews: (news: News | null) => void, report: (error: unknown) => void): () => Promise<void> {
  const ending = new AbortController()
  let client: Client | null = null
  const once = async (): Promise<void> => {
    const one = await postgres.connect()
    if (ending.signal.aborted) {
      await one.end()
      return
    }
    client = one
    const lost = new Promise<void>((resolve) => {
      one.once('end', resolve)
      one.once('error', () => resolve())
    })
    one.on('notification', ({ payload = '' }) => {
      const [kind = '', project, seq] = payload.split(' ')
      if (kinds.has(kind)) onNews({ kind: kind as News['kind'], project: Number(project), seq: Number(seq) })
    })
    await one.query(`LISTEN ${channelOf(postgres.schema)}`)
    onNews(null)
    await lost
  }
  const listening = (async () => {
    for (let attempt = 0; !ending.signal.aborted; attempt++) {
      try {
        await once()
        attempt = 0
      } catch (error) {
        if (attempt === 0 && !ending.signal.aborted) report(error)
      }
      await pause(againMs[Math.min(attempt, againMs.length - 1)], undefined, { signal: ending.signal, ref: false }).catch(() => undefined)
    }
  })()
  return async () => {
    ending.abort()
    await client?.end().catch(() => undefined)
    await listening
  }
}
