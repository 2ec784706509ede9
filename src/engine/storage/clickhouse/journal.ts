import { type ProjectStore, rowVersion } from './project-store.ts'

// A server has no transactions over several tables. The changes of a group, other than new events, are first written to the journal; one row in
// `meta` is the commit; then the changes are executed. After a crash the journal of a committed group is executed again, which must be idempotent, and
// events without a committed group are removed.

/** A statement, or an INSERT and its rows. It must be idempotent. */
export interface Step {
  readonly query: string
  readonly rows: string
}

/** The changes of a group. */
export interface WrittenGroup {
  /** Number of the change. */
  readonly change: number
  /** The last record of the log that is applied with it. */
  readonly seq: number
  /** The INSERT of its events, with their number; null: it has none. */
  readonly events: (Step & { readonly count: number }) | null
  /** Everything else. The last step sets `applied_seq`. */
  readonly steps: readonly Step[]
}

/** Executes groups, each as a whole or not at all. */
export interface Journal {
  commit(group: WrittenGroup): Promise<void>
  /** Finishes or undoes the group that a crash or a failure interrupted. Returns the last record of the log that is applied. */
  recover(): Promise<number>
}

/** For a log that only this process reads: what is begun is in the store itself. */
export const journalInStore = (store: ProjectStore): Journal => ({
  async commit({ change, events, steps }) {
    if (events) await store.run(events.query, events.rows)
    await commitSteps(store, change, steps)
  },
  recover: () => recover(store),
})

const committed = 'committed_group'

const setMeta = (store: ProjectStore, key: string, value: string, version: number) =>
  store.run(metaInsert, metaRow(store.project, key, value, version))
export const metaInsert = 'INSERT INTO meta (project_id, key, value, row_version, row_deleted) FORMAT JSONCompactEachRow'
export const metaRow = (project: number, key: string, value: string, version: number) =>
  `${JSON.stringify([project, key, value, version, 0])}\n`

async function commitSteps(store: ProjectStore, group: number, steps: readonly Step[]): Promise<void> {
  const rows = steps.map(({ query, rows }, i) => JSON.stringify([store.project, group, i, query, rows])).join('\n')
  await store.run('INSERT INTO journal (project_id, group_no, step, query, rows) FORMAT JSONCompactEachRow', rows)
  await setMeta(store, committed, String(group), rowVersion(group, 'put'))
  await store.alone(() => doSteps(store, steps))
}

async function doSteps(store: ProjectStore, steps: readonly Step[]): Promise<void> {
  for (const { query, rows } of steps) await store.run(query, rows)
  await store.run(`ALTER TABLE journal DROP PARTITION ${store.project}`)
}

const metaValue = async ({ rows, project }: ProjectStore, key: string): Promise<string | undefined> =>
  (await rows<[string]>(`SELECT value FROM meta WHERE project_id = ${project} AND key = '${key}'`))[0]?.[0]

const recover = (store: ProjectStore): Promise<number> =>
  store.alone(async () => {
    const { project } = store
    await store.stopWrites()
    const group = Number((await metaValue(store, committed)) ?? 0)
    const found = await store.rows<[number, string, string]>(
      `SELECT group_no, query, rows FROM journal WHERE project_id = ${project} ORDER BY group_no, step`,
    )
    if (found.length > 0) {
      const steps = found.filter(([no]) => no === group).map(([, query, rows]): Step => ({ query, rows }))
      await doSteps(store, steps)
    }
    const appliedSeq = Number((await metaValue(store, 'applied_seq')) ?? 0)
    const [[left] = [0]] = await store.rows<[number]>(
      `SELECT count() FROM events WHERE project_id = ${project} AND log_seq > ${appliedSeq}`,
    )
    if (left > 0) await store.run(`DELETE FROM events WHERE project_id = ${project} AND log_seq > ${appliedSeq}`)
    return appliedSeq
  })

/** The last record of the log that is applied; null if the store has nothing of the project. An interrupted group is finished or undone first. */
export async function readAppliedSeq(store: ProjectStore): Promise<number | null> {
  const [[known] = [0]] = await store.rows<[number]>(`SELECT count() FROM meta WHERE project_id = ${store.project}`)
  if (known === 0) return null
  return recover(store)
}
