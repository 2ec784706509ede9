import { type ControlPlace, openControl } from '../../engine/storage/control/control-store.ts'
import { accountsSql, sqlWithin } from '../../engine/storage/postgres/accounts-sql.ts'
import type { Postgres, Statements } from '../../engine/storage/postgres/client.ts'
import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import { boundedStore } from '../accounts/bounded-store.ts'
import type { AccountContext } from '../accounts/context.ts'
import { type AccountStore, accountShapes } from '../accounts/records.ts'
import { createCnameLookup, createTxtLookup } from '../network/dns.ts'

// Account data that several servers share, in PostgreSQL. Nothing of it is in the memory of a server: keys, sessions and memberships are read with each request.

const placeIn = (schema: string): ControlPlace => ({
  schema,
  rowNumber: { name: 'row_no', type: 'BIGINT GENERATED ALWAYS AS IDENTITY' },
})
const allTables = Object.keys(accountShapes)
/** Columns by which rows are looked up with a request. */
const lookedUp: ReadonlySet<string> = new Set([
  'id',
  'uuid',
  'hash',
  'key',
  'api_token',
  'email',
  'user_id',
  'project_id',
  'organization_id',
])

/** Creates missing tables, columns and indexes. */
export async function prepareSharedAccounts(on: Statements, schema: string): Promise<void> {
  await openControl(sqlWithin(on), accountShapes, { long: allTables, place: placeIn(schema) })
  for (const [table, shape] of Object.entries<Readonly<Record<string, string>>>(accountShapes))
    for (const column of Object.keys(shape).filter((name) => lookedUp.has(name)))
      await on.run(`CREATE INDEX IF NOT EXISTS ${table}_by_${column} ON ${schema}.${table} (${column})`)
}

export async function openSharedAccounts(
  postgres: Postgres,
  options: Partial<Omit<AccountContext, 'store' | 'newId' | 'isShared'>> = {},
): Promise<Accounts> {
  const store: AccountStore = await openControl(accountsSql(postgres), accountShapes, { long: allTables, place: placeIn(postgres.schema) })
  return createAccounts({
    store: await boundedStore(store, undefined, { isShared: true }),
    isShared: true,
    lookupTxt: createTxtLookup(),
    lookupCname: createCnameLookup(),
    ...options,
  })
}
