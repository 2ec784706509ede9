import { Answer } from '../../engine/admission/answer.ts'
import { excerpt } from '../../lib/text/excerpt.ts'
import { fieldLimits } from '../../limits/limits.ts'
import type { AccountContext } from '../accounts/context.ts'
import { level, type Membership, type ProjectRecord, type SlowQuery } from '../accounts/records.ts'
import { mustFind } from '../accounts/refusals.ts'
import type { Json } from '../accounts/store.ts'
import type { EndedQuery } from './observed-queries.ts'
import { redactedQuery } from './redacted-query.ts'

// The log of queries that took long: what was asked, by whom, and where the time went. Its rows are written together, and so many a minute at most: a server that is
// slow has more to do than to say so.

export const defaultSlowMs = 2_000
const keptMs = 30 * 86_400_000
const writeAfterMs = 2_000
const mostWaiting = 100
const sweepEveryMs = 6 * 3_600_000
const longestShape = 20_000
/** Characters of an answer that are searched for its timings, and up to which its rows are counted. */
const [searched, longestCounted] = [20_000, 1024 * 1024]

interface Step {
  readonly label: string
  readonly seconds: number
}

/** The statements and folds of an answer, from the end of its text: the rest may be large. */
function stepsIn(text: string): readonly Step[] {
  const end = text.slice(-searched)
  const from = end.lastIndexOf('"timings":[')
  const to = from < 0 ? -1 : end.indexOf(']', from)
  if (to < 0) return []
  try {
    const timings = JSON.parse(end.slice(from + '"timings":'.length, to + 1)) as { k: string; t: number }[]
    return timings.filter(({ k }) => k !== '.').map(({ k, t }) => ({ label: k.replace('./', ''), seconds: t }))
  } catch {
    return []
  }
}

async function measured(result: unknown): Promise<{ readonly steps: readonly Step[]; readonly rows: number | null }> {
  const { answer } = (result ?? {}) as { answer?: unknown }
  if (!(answer instanceof Answer)) return { steps: [], rows: null }
  const text = await answer.text()
  const results = text.length <= longestCounted ? (answer.object as { results?: unknown }).results : null
  return { steps: stepsIn(text), rows: Array.isArray(results) ? results.length : null }
}

const userIn = (caller: string): number | null => {
  const id = caller.startsWith('user ') ? Number(caller.slice(5)) : Number.NaN
  return Number.isInteger(id) ? id : null
}

export interface ShownSlowQuery extends Omit<SlowQuery, 'query'> {
  /** With its values, for those who may see them. */
  readonly query: Json
}

export const createSlowQueries = (context: AccountContext, afterMs: number | null) => {
  const { store, clock } = context
  let waiting: SlowQuery[] = []
  let timer: NodeJS.Timeout | undefined
  let sweptAt = Number.NEGATIVE_INFINITY
  let writing: Promise<void> = Promise.resolve()
  let count = 0

  const write = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const rows = waiting
    waiting = []
    const now = clock().getTime()
    const isDue = Math.abs(now - sweptAt) >= sweepEveryMs
    if (isDue) sweptAt = now
    const old = isDue
      ? await store.read.slow_queries.find({}, { between: { created_at: { to: new Date(now - keptMs) } }, limit: 5_000 })
      : []
    if (rows.length + old.length === 0) return
    await store.write(async (tables) => {
      if (old.length > 0) await tables.slow_queries.remove({ id: old.map(({ id }) => id) })
      for (const row of rows) if (await tables.projects.first({ id: row.project_id })) await tables.slow_queries.insert(row)
    })
  }
  const flush = (): Promise<void> => {
    writing = writing.then(write).catch((error: unknown) => context.report('failed to write the log of slow queries', error))
    return writing
  }

  const note = async ({ project, kind, form, caller, query, ms, outcome, error, result }: EndedQuery): Promise<void> => {
    const { steps, rows } = await measured(result)
    const text = JSON.stringify(query)
    waiting.push({
      id: context.newId(),
      project_id: project,
      kind,
      form,
      caller: caller.slice(0, 100),
      user_id: userIn(caller),
      outcome,
      error,
      milliseconds: Math.round(ms),
      rows,
      steps: steps.slice(0, 100) as unknown as Json,
      shape: excerpt(JSON.stringify(redactedQuery(query)), longestShape),
      query: text.length <= fieldLimits.query.most ? text : null,
      created_at: clock(),
    })
    timer ??= setTimeout(() => void flush(), writeAfterMs).unref()
  }

  /** Administrators see the values of all queries, others those of their own. */
  const shown = (row: SlowQuery, { level: own, user_id }: Membership): ShownSlowQuery => {
    const maySee = own >= level.admin || row.user_id === user_id
    return { ...row, query: maySee && row.query !== null ? (JSON.parse(row.query) as Json) : null }
  }

  return {
    /** Since this process began, also of those that were not written. */
    get count(): number {
      return count
    },
    ended(query: EndedQuery): void {
      if (afterMs === null || query.ms < afterMs) return
      count++
      if (waiting.length >= mostWaiting) return
      note(query).catch((error: unknown) => context.report('failed to log a slow query', error))
    },
    /** Those of the last thirty days, the newest first. */
    async list(project: ProjectRecord, membership: Membership, page: { readonly limit: number; readonly offset: number }) {
      await flush()
      const where = { project_id: project.id }
      const kept = { between: { created_at: { from: new Date(clock().getTime() - keptMs) } } }
      const rows = await store.read.slow_queries.find(where, { ...kept, newestFirst: 'created_at', ...page })
      return { rows: rows.map((row) => shown(row, membership)), count: await store.read.slow_queries.count(where, kept) }
    },
    async find(project: ProjectRecord, membership: Membership, id: string): Promise<ShownSlowQuery> {
      await flush()
      return shown(await mustFind(store.read.slow_queries.first({ id: id.toLowerCase(), project_id: project.id })), membership)
    },
    async close(): Promise<void> {
      await flush()
    },
  }
}
export type SlowQueries = ReturnType<typeof createSlowQueries>
