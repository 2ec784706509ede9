import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'
import { type Instance, identifier } from './instance.ts'
import { prepare, type Statement } from './run.ts'

// Members of dynamic cohorts are made from the store itself, so they go into it without the log: rebuilt, it is asked for them again.

const markKey = (cohort: number) => `cohort_${cohort}`
const timeKey = (cohort: number) => `cohort_${cohort}_at`
const list = (cohorts: readonly number[]) => [...cohorts.map(Number), 'NULL'].join(', ')
const attempts = 3
const isConflict = (error: unknown) => error instanceof Error && /Conflict/i.test(error.message)

export function cohortMembers(instance: Pick<Instance, 'use'>, database: string) {
  const at = `${identifier(database)}.main`
  const inTransaction = async (work: (connection: DuckDBConnection) => Promise<unknown>): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await instance.use(async (connection) => {
          await connection.run('BEGIN TRANSACTION')
          try {
            await work(connection)
            await connection.run('COMMIT')
          } catch (error) {
            await connection.run('ROLLBACK').catch(() => undefined)
            throw error
          }
        })
      } catch (error) {
        if (attempt === attempts || !isConflict(error)) throw error
      }
    }
  }
  const first = (sql: string, params: DuckDBValue[]) =>
    instance.use(async (connection) => (await connection.runAndReadAll(sql, params)).getRowsJS()[0]?.[0])
  const all = (sql: string) => instance.use(async (connection) => (await connection.runAndReadAll(sql)).getRowsJS())
  const clear = async (connection: DuckDBConnection, cohort: number) => {
    await connection.run(`DELETE FROM ${at}.cohort_members WHERE cohort_id = ${Number(cohort)}`)
    await connection.run(`DELETE FROM ${at}.meta WHERE key IN ($1, $2)`, [markKey(cohort), timeKey(cohort)])
  }
  return {
    async mark(cohort: number): Promise<string | null> {
      return ((await first(`SELECT value FROM ${at}.meta WHERE key = $1`, [markKey(cohort)])) as string | undefined) ?? null
    },
    /** The statement answers one row per member, with the number of the person in its first column. */
    refresh: (cohort: number, { sql, params, columns }: Statement, mark: string, madeAt: string): Promise<void> =>
      inTransaction(async (connection) => {
        await clear(connection, cohort)
        const insert = `INSERT INTO ${at}.cohort_members SELECT ${Number(cohort)}, q.${identifier(columns[0]!.name)} FROM (${sql}) q`
        const prepared = await prepare(connection, { sql: insert, params })
        try {
          await prepared.run()
        } finally {
          prepared.destroySync()
        }
        await connection.run(`INSERT INTO ${at}.meta VALUES ($1, $2), ($3, $4)`, [markKey(cohort), mark, timeKey(cohort), madeAt])
      }),
    clear: (cohort: number): Promise<void> => inTransaction((connection) => clear(connection, cohort)),
    async madeAt(cohorts: readonly number[]): Promise<Map<number, string>> {
      const sql = `SELECT id, value FROM (SELECT unnest([${list(cohorts)}]) AS id) JOIN ${at}.meta ON key = 'cohort_' || id || '_at'`
      return new Map((await all(sql)).map(([id, value]) => [Number(id), String(value)]))
    },
    async count(cohorts: readonly number[]): Promise<Map<number, number>> {
      // Members who were merged since are one.
      const sql = `SELECT c.cohort_id, count(DISTINCT coalesce(m.survivor, c.person_no))::DOUBLE FROM ${at}.cohort_members c
        LEFT JOIN ${at}.person_merges m ON m.merged = c.person_no WHERE c.cohort_id IN (${list(cohorts)}) GROUP BY ALL`
      return new Map((await all(sql)).map(([id, count]) => [Number(id), Number(count)]))
    },
  }
}
