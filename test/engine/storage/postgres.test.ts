import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openControl } from '../../../src/engine/storage/control/control-store.ts'
import { createAccounts } from '../../../src/service/accounts/accounts.ts'
import { accountShapes, longTables, type User } from '../../../src/service/accounts/records.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

// The tables of account data and every form of statement on them, on a real PostgreSQL.

const missing = whyNoPostgres()
if (missing) console.log(`Account data on PostgreSQL: skipped, ${missing}.`)

type AnyRow = Record<string, unknown>
interface AnyTable {
  find(where: AnyRow, options?: object): Promise<readonly AnyRow[]>
  first(where: AnyRow): Promise<AnyRow | undefined>
  count(where: AnyRow): Promise<number>
  insert(row: AnyRow): Promise<void>
  update(where: AnyRow, change: AnyRow): Promise<number>
  remove(where: AnyRow): Promise<number>
}

const samples: Readonly<Record<string, readonly [unknown, unknown]>> = {
  text: ['it\'s \\ "q" 日本\n$1', 'other'],
  integer: [-7, 2_000_000_000],
  boolean: [true, false],
  time: [new Date('2024-02-29T12:34:56.789Z'), new Date('1999-12-31T00:00:00Z')],
  json: [{ a: [1, null, "'"], b: { c: '日本' } }, []],
}
const kindOf = (column: string) => column.replace('?', '')
const rowOf = (shape: Readonly<Record<string, string>>, which: 0 | 1): AnyRow =>
  Object.fromEntries(Object.entries(shape).map(([name, column]) => [name, samples[kindOf(column)]![which]]))

describe.skipIf(missing !== null)('PostgreSQL', () => {
  let postgres: Postgres
  let store: { read: Record<string, AnyTable>; write<T>(work: (tables: Record<string, AnyTable>) => Promise<T>): Promise<T> }
  beforeAll(async () => {
    postgres = await startPostgres()
    await postgres.sql.run('CREATE SCHEMA control')
    store = (await openControl(postgres.sql, accountShapes, { long: Object.keys(accountShapes) })) as unknown as typeof store
  })
  afterAll(() => postgres?.stop())

  test.each(Object.entries(accountShapes))('%s', async (name, shape) => {
    const [one, two] = [rowOf(shape, 0), rowOf(shape, 1)]
    const nulls = Object.entries(shape).filter(([, column]) => column.endsWith('?'))
    const empty = { ...one, ...Object.fromEntries(nulls.map(([column]) => [column, null])) }
    const table = store.read[name]!
    await store.write(async (tables) => {
      await tables[name]!.insert(one)
      await tables[name]!.insert(two)
    })
    expect(await table.find({})).toEqual([one, two])
    for (const [column, kind] of Object.entries(shape)) {
      if (kindOf(kind) === 'json') continue // nobody looks for what is in a document
      expect(await table.find({ [column]: one[column] }), column).toEqual([one])
      expect(await table.count({ [column]: [one[column], two[column]] }), column).toBe(2)
      expect(await table.first({ [column]: [] }), column).toBeUndefined()
    }
    if ('id' in shape)
      for (const [column, kind] of Object.entries(shape))
        if (kindOf(kind) === 'time' || kindOf(kind) === 'integer') {
          const newest = [...[one, two]].sort((a, b) => Number(b[column]) - Number(a[column]))
          expect(await table.find({}, { newestFirst: column, limit: 1, offset: 1 }), column).toEqual([newest[1]])
        }
    const undone = store.write(async (tables) => {
      await tables[name]!.remove({})
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await store.write(async (tables) => {
      const all = tables[name]!
      expect(
        await all.remove(
          Object.fromEntries(Object.entries(two).filter(([column]) => kindOf((shape as AnyRow)[column] as string) !== 'json')),
        ),
      ).toBe(1)
      expect(await all.update({}, empty)).toBe(1)
      const searched = nulls.filter(([, kind]) => kindOf(kind as string) !== 'json')
      expect(await all.find(Object.fromEntries(searched.map(([column]) => [column, null])))).toEqual([empty])
      expect(await all.update({}, {})).toBe(1)
      expect(await all.remove({})).toBe(1)
    })
  })

  test('a first start, people, projects and keys; and the same rows for the next process', async () => {
    const open = () => openControl(postgres.sql, accountShapes, { long: longTables })
    const accounts = createAccounts({ store: await open() })
    const { organization, user, project, personalKey } = await accounts.firstStart({})
    const ada = await accounts.createUser(organization.id, { email: 'ada@acme.test', first_name: "A'da" }, 'admin')
    const by = async (one: User) => ({ user: one, membership: (await accounts.organizations.membership(organization.id, one))! })
    await accounts.projects.update(await by(ada), project, { name: 'Shop', timezone: 'Asia/Tokyo' })
    const again = createAccounts({ store: await open() })
    expect(await again.projects.byId(project.id)).toMatchObject({ name: 'Shop', timezone: 'Asia/Tokyo' })
    expect((await again.personalKeys.authenticate(personalKey!))?.user.id).toBe(user.id)
    expect(await again.context.store.read.activity.find({ scope: 'Team' }, { newestFirst: 'created_at', limit: 1 })).toMatchObject([
      { activity: 'updated', item_id: String(project.id) },
    ])
    await again.organizations.remove(await by(user))
    expect(await again.context.store.read.projects.count({})).toBe(0)
  })
})
