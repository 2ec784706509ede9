import type { ClickHouseClient } from './client.ts'
import { type Connection, connectionOf } from './connection.ts'
import { clickHouseTables } from './schema.ts'

/** A project's rows on a server, for one process. */
export interface ProjectStore extends Connection {
  /** Grows when a change begins and when it ends: as long as it is the same, this process has changed nothing. */
  readonly changes: number
  /** Serializes changes that others must see together, and consistent reads of several tables. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** Numbers changes: rows with higher numbers win. */
  nextVersion(): Promise<number>
}

/** Orders changes with the same number. */
const phases = { moved: 0, rewritten: 1, removed: 2, put: 3 } as const
export const rowVersion = (change: number, phase: keyof typeof phases): number => change * 4 + phases[phase]

/** `nextChange`: where several processes write; default: this one counts. */
export function projectStore(client: ClickHouseClient, project: number, nextChange?: () => Promise<number>): ProjectStore {
  const connection = connectionOf(client, project)
  let last: Promise<number> | null = null
  let turn: Promise<unknown> = Promise.resolve()
  let changes = 0
  return {
    ...connection,
    get changes() {
      return changes
    },
    async run(...statement) {
      changes++
      try {
        await connection.run(...statement)
      } finally {
        changes++
      }
    },
    alone(work) {
      const next = turn.then(work, work)
      turn = next
      return next
    },
    nextVersion() {
      if (nextChange) return nextChange()
      last = (last ?? lastVersion(connection)).then((version) => version + 1)
      last.catch(() => {
        last = null
      })
      return last
    },
  }
}

async function lastVersion({ rows, project }: Connection): Promise<number> {
  const latest = (table: string) => `SELECT intDiv(max(row_version), 4) AS version FROM ${table} WHERE project_id = ${project}`
  const sources = [latest('meta'), latest('cohort_members'), `SELECT max(group_no) FROM journal WHERE project_id = ${project}`]
  const [[version] = [0]] = await rows<[number]>(`SELECT max(version) FROM (${sources.join(' UNION ALL ')})`)
  return version
}

/** Removes all rows of a project. */
export async function removeRows(store: Connection): Promise<void> {
  await store.run(`ALTER TABLE journal DROP PARTITION ${store.project}`)
  for (const table of Object.keys(clickHouseTables))
    if (table !== 'journal') await store.run(`DELETE FROM ${table} WHERE project_id = ${store.project}`)
}
