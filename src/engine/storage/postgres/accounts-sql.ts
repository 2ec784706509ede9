import { WaymarkError } from '../../../errors/errors.ts'
import type { Sql, SqlRow, SqlValue } from '../sql.ts'
import type { Postgres, Statements } from './client.ts'
import { lockSchema } from './tables.ts'

// Account data in PostgreSQL. A change first takes a lock that all servers share, so that what it reads stays true until it is committed.

/** A server that stops in the middle of a change gives the lock back after this time. */
const longestPauseMs = 10_000

/** PostgreSQL has no texts with the character of code 0. */
const storable = (params: readonly SqlValue[] = []): readonly SqlValue[] => {
  if (params.some((value) => typeof value === 'string' && value.includes('\0')))
    throw new WaymarkError('validation-failed', { message: 'A text cannot contain the character U+0000.', attr: null })
  return params
}

const portOn = (on: Statements): Pick<Sql, 'run' | 'rows'> => ({
  run: (sql, params) => on.run(sql, storable(params)),
  rows: <R extends SqlRow>(sql: string, params?: readonly SqlValue[]) => on.rows<R>(sql, storable(params)),
})

/** The statements of a transaction that is open already. */
export const sqlWithin = (on: Statements): Sql => {
  const port: Sql = { ...portOn(on), transaction: (work) => work(port) }
  return port
}

export const accountsSql = (postgres: Postgres): Sql => ({
  ...portOn(postgres),
  transaction: (work) =>
    postgres.transaction(async (on) => {
      await on.run(`SET LOCAL idle_in_transaction_session_timeout = ${longestPauseMs}`)
      await lockSchema(on, postgres.schema, 'accounts')
      return work(sqlWithin(on))
    }),
})
