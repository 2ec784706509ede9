import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import type { ScheduledStatement, StatementScheduler } from '../../../lib/flow/statement-scheduler.ts'
import type { Changed, CohortMembers, Refresh, Refreshed, Statement } from '../../execution/ports.ts'
import { engineError } from './engine-errors.ts'
import { type Instance, identifier } from './instance.ts'
import { prepare } from './run.ts'

// Members of dynamic cohorts are computed from the store itself, so they are written without the log: a rebuilt store computes them again.

/** Cohorts that exist only inside a transaction. */
const changedPersons = -1
const newMembers = -2
/** Up to this many persons who joined or left are listed. */
const maxMoved = 50_000
const attempts = 3

const markKey = (cohort: number) => `cohort_${cohort}`
const timeKey = (cohort: number) => `cohort_${cohort}_at`
const list = (cohorts: readonly number[]) => [...cohorts.map(Number), 'NULL'].join(', ')
const isConflict = (error: unknown) => error instanceof Error && /Conflict/i.test(error.message)

export function cohortMembers(
  instance: Pick<Instance, 'use' | 'committed' | 'gate'>,
  database: string,
  turns: StatementScheduler,
): CohortMembers {
  const at = `${identifier(database)}.main`
  const inTurn = <T>(work: (connection: DuckDBConnection, turn: ScheduledStatement) => Promise<T>): Promise<T> =>
    turns.schedule((turn) => instance.use((connection) => work(connection, turn), turn.signal))
  const inTransaction = async <T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTurn((connection, turn) =>
          instance.gate.write(database, async () => {
            await connection.run('BEGIN TRANSACTION')
            try {
              const answer = await work(connection)
              turn.signal.throwIfAborted()
              turn.hasRows() // what is committed must not be done twice
              await connection.run('COMMIT')
              instance.committed(database)
              return answer
            } catch (error) {
              await connection.run('ROLLBACK').catch(() => undefined)
              throw error
            }
          }),
        )
      } catch (error) {
        if (attempt === attempts || !isConflict(error)) throw error
      }
    }
  }
  const rows = async (connection: DuckDBConnection, sql: string, params?: DuckDBValue[]) =>
    (await connection.runAndReadAll(sql, params)).getRowsJS()
  const number = async (connection: DuckDBConnection, sql: string) => Number((await rows(connection, sql))[0]?.[0] ?? 0)
  const all = (sql: string, params?: DuckDBValue[]) => inTurn((connection) => rows(connection, sql, params))

  const current = (cohort: number) => `SELECT DISTINCT coalesce(m.survivor, t.person_no) AS no FROM ${at}.cohort_members t
    LEFT JOIN ${at}.person_merges m ON m.merged = t.person_no WHERE t.cohort_id = ${cohort}`
  const clear = (connection: DuckDBConnection, cohort: number) =>
    connection.run(`DELETE FROM ${at}.cohort_members WHERE cohort_id = ${cohort}`)
  const forgetMark = (connection: DuckDBConnection, cohort: number) =>
    connection.run(`DELETE FROM ${at}.meta WHERE key IN ($1, $2)`, [markKey(cohort), timeKey(cohort)])

  async function fill(connection: DuckDBConnection, cohort: number, { sql, params, columns }: Statement): Promise<void> {
    const insert = `INSERT INTO ${at}.cohort_members SELECT ${cohort}, q.${identifier(columns[0]!.name)} FROM (${sql}) q`
    const prepared = await prepare(connection, { sql: insert, params })
    try {
      await prepared.run()
    } catch (error) {
      throw engineError(error, sql)
    } finally {
      prepared.destroySync()
    }
  }

  /** Selects persons who may have joined or left; false if that is unknown, or if evaluating everybody costs no more. */
  async function findChanged(connection: DuckDBConnection, { sinceSeq, stretches, persons }: Changed): Promise<boolean> {
    const since = BigInt(sinceSeq)
    if (BigInt(await number(connection, `SELECT value FROM ${at}.meta WHERE key = 'rewritten_seq'`)) > since) return false
    const time = (micros: number) => `make_timestamp(${Math.trunc(micros)})`
    const feeds = [
      `SELECT person_no AS no FROM ${at}.events WHERE log_seq > ${since}`,
      ...stretches.map(([from, to]) => `SELECT person_no FROM ${at}.events WHERE timestamp >= ${time(from)} AND timestamp <= ${time(to)}`),
      `SELECT person_no FROM ${at}.person_versions WHERE log_seq > ${since}`,
      `SELECT survivor FROM ${at}.merge_journal WHERE seq > ${since}`,
      ...(persons.length ? [`SELECT unnest([${persons.map(Number).join(', ')}])`] : []),
    ]
    await connection.run(`INSERT INTO ${at}.cohort_members SELECT DISTINCT ${changedPersons}, coalesce(m.survivor, c.no)
      FROM (${feeds.join(' UNION ALL ')}) c LEFT JOIN ${at}.person_merges m ON m.merged = c.no`)
    const found = await number(connection, `SELECT count(*) FROM ${at}.cohort_members WHERE cohort_id = ${changedPersons}`)
    if (found <= 1000 || found * 3 < (await number(connection, `SELECT count(*) FROM ${at}.persons`))) return true
    await clear(connection, changedPersons)
    return false
  }

  return {
    async mark(cohort: number): Promise<string | null> {
      const [[value] = []] = await all(`SELECT value FROM ${at}.meta WHERE key = $1`, [markKey(cohort)])
      return (value as string | undefined) ?? null
    },
    /** null: evaluate everybody. */
    refresh: ({ cohort, members, among, mark, madeAt }: Refresh): Promise<Refreshed | null> =>
      inTransaction(async (connection) => {
        const isPart = among !== null
        if (isPart && !(await findChanged(connection, among))) return null
        await fill(connection, newMembers, members)
        const looked = isPart ? `IN (SELECT person_no FROM ${at}.cohort_members WHERE cohort_id = ${changedPersons})` : 'IS NOT NULL'
        const known = `SELECT no FROM (${current(Number(cohort))}) WHERE no ${looked}`
        const now = current(newMembers)
        const found = await rows(connection, `((${known}) EXCEPT (${now})) UNION ALL ((${now}) EXCEPT (${known})) LIMIT ${maxMoved + 1}`)
        if (found.length) {
          await connection.run(`DELETE FROM ${at}.cohort_members WHERE cohort_id = ${Number(cohort)} AND (person_no ${looked}
            OR person_no IN (SELECT merged FROM ${at}.person_merges WHERE survivor ${looked}))`)
          await connection.run(`INSERT INTO ${at}.cohort_members SELECT ${Number(cohort)}, no FROM (${now})`)
        }
        await clear(connection, newMembers)
        await clear(connection, changedPersons)
        await forgetMark(connection, cohort)
        const marks = [markKey(cohort), mark(found.length > 0), timeKey(cohort), madeAt]
        await connection.run(`INSERT INTO ${at}.meta VALUES ($1, $2), ($3, $4)`, marks)
        const moved = found.length > maxMoved ? null : found.map(([no]) => Number(no))
        return { hasMoved: found.length > 0, moved }
      }),
    clear: (cohort: number): Promise<void> =>
      inTransaction(async (connection) => {
        await clear(connection, Number(cohort))
        await forgetMark(connection, cohort)
      }),
    async madeAt(cohorts: readonly number[]): Promise<Map<number, string>> {
      const sql = `SELECT id, value FROM (SELECT unnest([${list(cohorts)}]) AS id) JOIN ${at}.meta ON key = 'cohort_' || id || '_at'`
      return new Map((await all(sql)).map(([id, value]) => [Number(id), String(value)]))
    },
    async count(cohorts: readonly number[]): Promise<Map<number, number>> {
      // Merged members count once.
      const sql = `SELECT c.cohort_id, count(DISTINCT coalesce(m.survivor, c.person_no))::DOUBLE FROM ${at}.cohort_members c
        LEFT JOIN ${at}.person_merges m ON m.merged = c.person_no WHERE c.cohort_id IN (${list(cohorts)}) GROUP BY ALL`
      return new Map((await all(sql)).map(([id, count]) => [Number(id), Number(count)]))
    },
  }
}
