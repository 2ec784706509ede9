import type { StatementScheduler } from '../../../lib/flow/statement-scheduler.ts'
import type { CohortMembers, Refresh, Refreshed } from '../../execution/ports.ts'
import { metaInsert, metaRow } from './journal.ts'
import { type ProjectStore, rowVersion } from './project-store.ts'
import { numbers } from './sql.ts'

// Members of dynamic cohorts are computed from the store itself, so they are written without the log: a rebuilt store computes them again.

/** Up to this many persons who joined or left are listed. */
const mostMoved = 50_000

const markKey = (cohort: number) => `cohort_${cohort}`
const timeKey = (cohort: number) => `cohort_${cohort}_at`
const quoted = (name: string) => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``
const insert = 'INSERT INTO cohort_members (project_id, cohort_id, person_no, row_version, row_deleted)'

export function cohortMembers(store: ProjectStore, turns: StatementScheduler): CohortMembers {
  const { project } = store
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.schedule(() => store.alone(work))
  const membersOf = (cohort: number) => `FROM cohort_members WHERE project_id = ${project} AND cohort_id = ${cohort}`
  const setMarks = (cohort: number, version: number, values: readonly [mark: string, madeAt: string] | null) => {
    const rows = [markKey(cohort), timeKey(cohort)].map((key, i) => metaRow(project, key, values?.[i] ?? '', version))
    return store.run(metaInsert, rows.join(''))
  }
  const metaOf = (key: string) => store.rows<[string]>(`SELECT value FROM meta WHERE project_id = ${project} AND key = '${key}'`)

  return {
    mark: (cohort) => inTurn(async () => (await metaOf(markKey(cohort)))[0]?.[0] || null),
    refresh: ({ cohort, members, among, mark, madeAt }: Refresh): Promise<Refreshed | null> =>
      inTurn(async () => {
        if (among) return null // everybody is looked at: it is one pass over columns
        const version = rowVersion(await store.nextVersion(), 'put')
        const params = Object.fromEntries(members.params.map((value, i) => [`p${i + 1}`, value]))
        const found = `SELECT ${quoted(members.columns[0]!.name)} AS no FROM (${members.sql})`
        const known = `SELECT person_no ${membersOf(cohort)}`
        const change = (numbersFrom: string, isDeleted: 0 | 1) =>
          store.run(`${insert} SELECT ${project}, ${cohort}, no, ${version}, ${isDeleted} FROM (${numbersFrom})`, '', params)
        await change(`SELECT DISTINCT no FROM (${found}) WHERE no NOT IN (${known})`, 0)
        await change(`SELECT person_no AS no ${membersOf(cohort)} AND person_no NOT IN (${found})`, 1)
        const moved = await store.rows<[number]>(
          `SELECT person_no ${membersOf(cohort)} AND row_version = ${version} LIMIT ${mostMoved + 1} SETTINGS final = 0`,
        )
        const hasMoved = moved.length > 0
        await setMarks(cohort, version, [mark(hasMoved), madeAt])
        return { hasMoved, moved: moved.length > mostMoved ? null : moved.map(([no]) => no) }
      }),
    clear: (cohort) =>
      inTurn(async () => {
        const version = rowVersion(await store.nextVersion(), 'put')
        await store.run(`${insert} SELECT project_id, cohort_id, person_no, ${version}, 1 ${membersOf(cohort)}`)
        await setMarks(cohort, version, null)
      }),
    async madeAt(cohorts) {
      if (cohorts.length === 0) return new Map()
      const keys = cohorts.map((cohort) => `'${timeKey(cohort)}'`).join(', ')
      const found = await inTurn(() =>
        store.rows<[string, string]>(`SELECT key, value FROM meta WHERE project_id = ${project} AND key IN (${keys}) AND value <> ''`),
      )
      return new Map(found.map(([key, value]) => [Number(/\d+/.exec(key)![0]), value]))
    },
    async count(cohorts) {
      if (cohorts.length === 0) return new Map()
      const found = await inTurn(() =>
        store.rows<[number, number]>(
          `SELECT c.cohort_id, uniqExact(coalesce(m.survivor, c.person_no)) FROM
             (SELECT * FROM cohort_members WHERE project_id = ${project} AND cohort_id IN (${numbers(cohorts)})) AS c
           LEFT JOIN (SELECT * FROM person_merges WHERE project_id = ${project}) AS m ON m.merged = c.person_no GROUP BY 1`,
        ),
      )
      return new Map(found)
    },
  }
}
