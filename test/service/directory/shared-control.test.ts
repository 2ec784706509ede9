import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectToPostgres, type Postgres } from '../../../src/engine/storage/postgres/client.ts'
import { logRows } from '../../../src/engine/storage/postgres/log-rows.ts'
import { prepareTables } from '../../../src/engine/storage/postgres/tables.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
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

  describe('batches of an import', () => {
    let next = 0
    /** An import that is running, and the log of its project at both servers. */
    const begun = async (status = 'running') => {
      const [a, b] = [connections[0]!, connections[1]!]
      const project = 500 + ++next
      const id = `import-${next}`
      const none = { rows: null, unreadable: null, removed_events: null, removed_persons: null, latest_error: null, created_by_id: null }
      const unended = { finished_at: null, undone_by_id: null, undone_at: null }
      const record = { id, project_id: project, file: 'history.jsonl', format: '', status, events: 0, duplicates: 0, ...none, ...unended }
      await first!.context.store.write((tables) => tables.imports.insert({ ...record, created_at: new Date() }))
      const row = (of: string | null = id) => ({
        appendId: randomUUID(),
        records: 2,
        bytes: Buffer.from('batch'),
        importId: of ?? undefined,
      })
      const change = (on: Pick<Postgres, 'run'>, to: string) => on.run('UPDATE waymark.imports SET status = $1 WHERE id = $2', [to, id])
      return { a, b, log: logRows(b, project), row, undo: (on: Pick<Postgres, 'run'> = a) => change(on, 'undoing') }
    }

    test('are in the log before an undo at the other server has its turn, or not at all', async () => {
      const { a, log, row, undo } = await begun()
      expect(await log.append([row(), row()])).toBe(4)
      const entered = deferred<void>()
      const held = deferred<void>()
      const undoing = a.transaction(async (on) => {
        await undo(on)
        entered.resolve()
        await held.promise
      })
      await entered.promise
      let isOver = false
      const late = log.append([row()]).finally(() => {
        isOver = true
      })
      late.catch(() => undefined)
      const others = await log.append([row(null)])
      const wasOver = isOver
      held.resolve()
      await undoing
      await expect(late).rejects.toMatchObject({ code: 'import-over', status: 409 })
      expect([others, wasOver], 'others did not wait').toEqual([6, false])
      expect(await log.append([row(null)])).toBe(8)
    })

    test.each(['undoing', 'undone', 'done', 'stopped'])('are refused when it is %s', async (status) => {
      const { log, row } = await begun(status)
      await expect(log.append([row()])).rejects.toMatchObject({ code: 'import-over' })
      await expect(log.appendAgain([row()], 0)).rejects.toMatchObject({ code: 'import-over' })
      await expect(log.append([row('import-of-nobody')])).rejects.toMatchObject({ code: 'import-over' })
    })

    test('that were committed by an attempt of unknown outcome are there, even if the import was undone since', async () => {
      const { log, row, undo } = await begun()
      const rows = [row(), row()]
      await log.append(rows)
      await undo()
      expect(await log.appendAgain(rows, 0)).toBe(4)
      await expect(log.appendAgain([row()], 4)).rejects.toMatchObject({ code: 'import-over' })
    })
  })
})
