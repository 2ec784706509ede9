import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, expect, test } from 'vitest'
import { runCommand } from '../../src/doors/cli/run.ts'
import { openControl } from '../../src/engine/storage/control/control-store.ts'
import { controlFile } from '../../src/engine/storage/control/format.ts'
import { openInstance } from '../../src/engine/storage/instance.ts'
import { open } from '../../src/engine.ts'
import { type Accounts, createAccounts } from '../../src/service/accounts/accounts.ts'
import { type AccountStore, accountShapes, longTables } from '../../src/service/accounts/records.ts'

const closing: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})
const now = new Date('2024-05-01T00:00:00Z')

const cli = async (args: readonly string[]) => {
  const lines: string[] = []
  const code = await runCommand(args, {}, { out: (line) => lines.push(line), err: (line) => lines.push(line) })
  return { code, out: lines.join('\n') }
}

/** Account data without the rules of the store, as they were before. */
const bareStore = async (dataDir: string): Promise<AccountStore> => {
  const instance = await openInstance({ dataDir, memoryLimit: '1GB', threads: 1, concurrency: 1 })
  await instance.attach('control', 'control.duckdb', controlFile)
  closing.push(() => instance.close())
  return openControl(instance, accountShapes, { long: longTables })
}

test('a directory whose account data is larger than its memory opens, is listed, and is shortened', async () => {
  const root = await mkdtemp(join(tmpdir(), 'waymark-full-'))
  closing.push(() => rm(root, { recursive: true, force: true }))
  const [made, killed] = [join(root, 'made'), join(root, 'killed')]
  await mkdir(made)
  await mkdir(join(killed, 'projects'), { recursive: true })
  const bare = await bareStore(made)
  const accounts = createAccounts({ store: bare })
  const { organization } = await accounts.firstStart({ email: 'owner@acme.test' })
  const message = 'x'.repeat(10e6)
  for (let i = 0; i < 16; i++)
    await bare.write((tables) =>
      tables.invites.insert({
        id: `i${i}`,
        organization_id: organization.id,
        target_email: `a${i}@b.test`,
        first_name: '',
        message,
        level: 1,
        emailing_attempt_made: false,
        private_project_access: [],
        created_by_id: null,
        created_at: now,
        updated_at: now,
        secret_hash: null,
      }),
    )
  for (const file of ['control.duckdb', 'control.duckdb.wal']) await copyFile(join(made, file), join(killed, file)).catch(() => undefined)

  const waymark = await open({ dataDir: killed, isolate: true })
  const read: Accounts['context']['store']['read'] = waymark.accounts.context.store.read
  expect(await read.invites.count({})).toBe(16)
  await waymark.createProject({ name: 'another' })
  await waymark.close()

  const { code, out } = await cli(['doctor', '--largest', '--data', killed])
  expect(code).toBe(0)
  expect(out).toContain('Largest row      invites/i0: 10,000,049 characters, more than the 12,000 of its table')
  const removed = await cli(['trim', '--data', killed, '--remove', 'invites/i3'])
  expect(removed).toMatchObject({ code: 0, out: expect.stringContaining('invites/i3: 10,000,049 characters, now removed') })
  expect((await cli(['trim', '--data', killed, '--remove', 'users/1'])).code).toBe(2)
  const trimmed = await cli(['trim', '--data', killed])
  expect(trimmed.out.trim().split('\n')).toHaveLength(15)
  expect((await cli(['trim', '--data', killed])).out).toContain('No row exceeds its limit.')
  const again = await open({ dataDir: killed, isolate: true })
  const left = await again.accounts.context.store.read.invites.find({})
  expect(left.map((invite) => invite.message?.length)).toEqual(Array.from({ length: 15 }, () => expect.any(Number)))
  expect(Math.max(...left.map((invite) => invite.message!.length))).toBeLessThanOrEqual(12_000)
  await again.close()
})

test('a project with large descriptions from before opens within its memory', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'waymark-definitions-'))
  closing.push(() => rm(dataDir, { recursive: true, force: true }))
  const made = await open({ dataDir })
  const { id } = await made.createProject({ name: 'a' })
  await (await made.project(id)).ingest({ batch: [{ event: 'e', distinct_id: 'd' }] })
  await (await made.project(id)).query({ kind: 'HogQLQuery', query: 'select 1 from events' })
  await made.close()
  const database = await DuckDBInstance.create(':memory:', { memory_limit: '2GB', threads: '1' })
  const connection = await database.connect()
  await connection.run(`ATTACH '${join(dataDir, 'projects', String(id), 'store.duckdb')}' AS p`)
  await connection.run("DELETE FROM p.main.meta WHERE key = 'definitions_bounded'")
  for (let i = 1; i <= 14; i++)
    await connection.run(
      `INSERT INTO p.main.cohorts VALUES (${i}, '{"name":"c${i}","is_static":true,"created_at":"2024-01-01","updated_at":"2024-01-01","description":"' || repeat('x', 10000000) || '"}')`,
    )
  await connection.run('CHECKPOINT p')
  connection.closeSync()
  database.closeSync()

  const waymark = await open({ dataDir, memoryLimit: '96MB', threads: 1 })
  const project = await waymark.project(id)
  expect((await project.cohorts.list()).map(({ name, description }) => `${name} ${description}`)).toEqual(
    Array.from({ length: 14 }, (_, i) => `c${i + 1} `),
  )
  expect((await project.query({ kind: 'HogQLQuery', query: 'select count() from events' })).results).toEqual([[1]])
  await waymark.close()
})
