import type { AttemptNote, AttemptStore } from '../../../events/ingestion/ports.ts'
import { type Aside, textOfAside } from '../files/attempts-file.ts'
import type { Postgres } from './client.ts'
import type { Lease } from './partitions.ts'

// What a server was applying when it ended, for the one that applies the project after it. While all goes well nothing is noted: that a lease was not given back says
// that its server has ended, and only its successors note which records they apply.

/** That a server may have been applying when it ended. */
const mostSuspects = 2_048

export interface SharedAttempts {
  readonly store: AttemptStore
  /** Resolves when the latest note is written. */
  written(): Promise<void>
}

/** Where a server that has the lease of a project notes what it applies. */
export interface AttemptRows {
  read(): Promise<{
    /** Servers that ended with the lease before this one, one after the other. */
    readonly deaths: number
    readonly attempt: AttemptNote | null
    readonly appliedSeq: number
    readonly aside: readonly number[]
  }>
  /** Nothing is written once another server has the lease. */
  note(attempt: AttemptNote | null): Promise<unknown>
  setAside(seq: number, text: string): Promise<unknown>
  /** For people. */
  readonly place: string
}

export async function sharedAttempts(rows: AttemptRows): Promise<SharedAttempts> {
  const { deaths, attempt: noted, appliedSeq, aside: set } = await rows.read()
  const aside = new Set(set)
  const suspects = { from: appliedSeq + 1, to: appliedSeq + mostSuspects, weight: 0, lasted: 0 }
  const found = noted ?? (deaths > 0 ? suspects : null)
  let isNoting = found !== null
  let next: { readonly attempt: AttemptNote | null } | null = null
  let writing: Promise<void> | null = null

  const writeAll = async (): Promise<void> => {
    while (next) {
      const { attempt } = next
      next = null
      await rows.note(attempt).catch(() => undefined) // the records are applied all the same
    }
    writing = null
  }
  const write = (attempt: AttemptNote | null) => {
    next = { attempt }
    writing ??= writeAll()
  }

  return {
    written: async () => (await writing) ?? undefined,
    store: {
      found,
      aside,
      note(attempt) {
        if (!isNoting) return
        isNoting = attempt === null || attempt.from <= found!.to
        write(isNoting ? attempt : null)
      },
      async setAside(record) {
        await rows.setAside(record.seq, textOfAside(record))
        aside.add(record.seq)
        write(null)
        await writing
        return rows.place
      },
      close: () => undefined,
    },
  }
}

export function attemptRows({ schema, rows, run }: Postgres, { project, epoch, holder }: Lease): AttemptRows {
  const table = `${schema}.cluster_partitions`
  const asideTable = `${schema}.cluster_set_aside`
  return {
    async read() {
      const [row] = await rows<{ deaths: number; attempt: string | null; applied_seq: string }>(
        `SELECT deaths, attempt, applied_seq FROM ${table} WHERE project = $1`,
        [project],
      )
      const set = await rows<{ seq: string }>(`SELECT seq FROM ${asideTable} WHERE project = $1`, [project])
      return {
        deaths: row?.deaths ?? 0,
        attempt: row?.attempt ? (JSON.parse(row.attempt) as AttemptNote) : null,
        appliedSeq: Number(row?.applied_seq ?? 0),
        aside: set.map(({ seq }) => Number(seq)),
      }
    },
    note: (attempt) =>
      run(`UPDATE ${table} SET attempt = $1 WHERE project = $2 AND epoch = $3 AND holder = $4`, [
        attempt && JSON.stringify(attempt),
        project,
        epoch,
        holder,
      ]),
    setAside: (seq, text) =>
      run(`INSERT INTO ${asideTable} (project, seq, record) VALUES ($1, $2, $3) ON CONFLICT (project, seq) DO NOTHING`, [
        project,
        seq,
        text,
      ]),
    place: `PostgreSQL, table ${asideTable}`,
  }
}

/** Of all projects. */
export async function allSetAside({ schema, rows }: Postgres): Promise<readonly Aside[]> {
  const found = await rows<{ project: number; seq: string }>(`SELECT project, seq FROM ${schema}.cluster_set_aside ORDER BY project, seq`)
  const projects = new Map<number, number[]>()
  for (const { project, seq } of found) projects.set(project, [...(projects.get(project) ?? []), Number(seq)])
  return [...projects].map(([project, records]) => ({ project, records }))
}
