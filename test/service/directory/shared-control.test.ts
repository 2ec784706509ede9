import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectToPostgres, type Postgres } from '../../../src/engine/storage/postgres/client.ts'
import { prepareTables } from '../../../src/engine/storage/postgres/tables.ts'
import type { Accounts } from '../../../src/service/accounts/accounts.ts'
import { openSharedAccounts, prepareSharedAccounts } from '../../../src/service/directory/shared-control.ts'
import { type Postgres as PostgresProcess, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'

// Account data of two servers, through the package pg on a real PostgreSQL.

const missing = whyNoPostgres()
if (missing) console.log(`Account data of several servers: skipped, ${missing}.`)

describe.skipIf(missing !== null)('two servers', () => {
  let process: PostgresProcess
  const connections: Postgres[] = []
  let [first, second]: Accounts[] = []

  const connect = async (schema: string): Promise<Postgres> => {
    const one = await connectToPostgres({ url: `postgres://waymark@127.0.0.1:${process.port}/postgres`, schema })
    connections.push(one)
    return one
  }
  const prepare = (postgres: Postgres) => prepareTables(postgres, (on) => prepareSharedAccounts(on, postgres.schema))
  beforeAll(async () => {
    process = await startPostgres()
    // The database and the schema may have the name of views that every database has.
    const servers = [await connect('waymark'), await connect('waymark')]
    await Promise.all(servers.map(prepare))
    ;[first, second] = await Promise.all(servers.map((postgres) => openSharedAccounts(postgres)))
  })
  afterAll(async () => {
    for (const one of connections) await one.close()
    await process?.stop()
  })

  test('tables are made once, whoever comes first, and found again', async () => {
    const servers = await Promise.all(Array.from({ length: 4 }, () => connect('several')))
    const ids = await Promise.all(servers.map(prepare))
    expect(new Set(ids).size).toBe(1)
    expect(await prepare(servers[0]!)).toBe(ids[0])
    await servers[0]!.run("UPDATE several.cluster_facts SET value = '1000' WHERE key = 'version'")
    await expect(prepare(servers[1]!)).rejects.toMatchObject({ code: 'command-failed', message: expect.stringContaining('format 1000') })
  })

  test('a first start at both at the same time makes one organization, one owner and one key', async () => {
    const given = {
      personalKey: 'phx_the_same_at_both_servers_000000000000000',
      projectKey: 'phc_the_same_at_both_servers_000000000000000',
    }
    const starts = await Promise.all([first!.firstStart(given), second!.firstStart(given)])
    expect(new Set(starts.map(({ organization }) => organization.id)).size).toBe(1)
    const { read } = first!.context.store
    expect([
      await read.organizations.count({}),
      await read.users.count({}),
      await read.projects.count({}),
      await read.personal_keys.count({}),
    ]).toEqual([1, 1, 1, 1])
  })

  test('a check and the change that follows it are one step of both servers together', async () => {
    const made = await Promise.all(Array.from({ length: 24 }, (_, i) => (i % 2 ? first! : second!).createProject({ name: `P${i}` })))
    expect(new Set(made.map(({ id }) => id)).size).toBe(24)
    const ids = made.map(({ id }) => id).sort((a, b) => a - b)
    expect(ids.at(-1)! - ids[0]!).toBe(23) // none was given twice, and none was skipped
  })

  test('what one server writes is what the other reads next, in the order in which it was made', async () => {
    const { read } = second!.context.store
    const before = await read.projects.find({})
    const [oldest] = before
    await first!.context.store.write((tables) => tables.projects.update({ id: oldest!.id }, { name: 'Changed last' }))
    const after = await read.projects.find({})
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    expect(after[0]).toMatchObject({ id: oldest!.id, name: 'Changed last' })
  })

  test('a key that is removed at one server opens nothing at the other', async () => {
    const { user } = await first!.firstStart({ makesKey: false })
    const { key, value } = await first!.personalKeys.create(user, { label: 'short-lived', scopes: ['*'] })
    expect((await second!.personalKeys.authenticate(value))?.user.id).toBe(user.id)
    await first!.personalKeys.remove(user, key)
    expect(await second!.personalKeys.authenticate(value)).toBeUndefined()
  })

  test('limits are counted by the database', async () => {
    const { user } = await first!.firstStart({ makesKey: false })
    const wanted = Array.from({ length: 20 }, (_, i) =>
      (i % 2 ? first! : second!).personalKeys.create(user, { label: `k${i}`, scopes: ['*'] }),
    )
    const made = (await Promise.allSettled(wanted)).filter(({ status }) => status === 'fulfilled')
    expect(made.length).toBe(9) // ten are allowed, and there is one
    await expect(second!.personalKeys.create(user, { label: 'one more', scopes: ['*'] })).rejects.toThrow('10 personal API keys')
  })

  test('a text with a character that PostgreSQL does not have is refused', async () => {
    const named = first!.context.store.write((tables) => tables.projects.update({}, { name: 'a\0b' }))
    await expect(named).rejects.toMatchObject({ code: 'validation-failed' })
  })

  test('a failed change is undone, and holds no other one up', async () => {
    const { store } = first!.context
    const { read } = second!.context.store
    const count = await read.projects.count({})
    const undone = store.write(async (tables) => {
      await tables.projects.remove({})
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await read.projects.count({})).toBe(count)
    await second!.createProject({ name: 'After it' })
    expect(await store.read.projects.count({})).toBe(count + 1)
  })
})
