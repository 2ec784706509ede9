import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { program } from '../../harness/programs.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// A data directory has one process, and with it the runs of its exports. What another process finds while it runs, and after it was killed.

let dataDir: string
let receiver: Receiver
const children: ChildProcess[] = []
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-two-'))
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await receiver.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Stores three events, and executes what is due. */
const start = (now: string): { readonly child: ChildProcess; readonly ended: Promise<unknown> } => {
  const child = spawn(process.execPath, [program('export-kills'), dataDir, now, '0', '3'], { stdio: 'ignore' })
  children.push(child)
  return { child, ended: new Promise((resolve) => child.once('close', resolve)) }
}

test('a second process cannot execute runs of the same directory; after a kill it starts the run again at once, before its lease is over', async () => {
  const first = await open({ dataDir, clock: () => new Date('2026-03-02T10:30:00Z'), exports: { runs: false } })
  const { user, organization, project } = await first.accounts.firstStart({ makesKey: false })
  const membership = (await first.accounts.organizations.membership(organization.id, user))!
  const destination = { type: 'HTTP', config: { url: receiver.url, token: 'secret' } }
  const { id } = await first.exports.service.create({ user, membership }, project, { name: 'x', destination, interval: 'hour' })
  await first.exports.scheduler.tick()
  await first.close()
  await start('2026-03-02T11:30:00Z').ended

  const reached = deferred<void>()
  receiver.answer = () => {
    reached.resolve()
    return new Promise(() => undefined)
  }
  const { child, ended } = start('2026-03-02T12:30:00Z')
  await reached.promise
  const now = new Date('2026-03-02T12:30:01Z')
  const another = () => open({ dataDir, clock: () => now, exports: { runs: false } })
  await expect(another()).rejects.toMatchObject({ code: 'directory-locked' })
  child.kill('SIGKILL')
  await ended
  receiver.answer = () => 200

  const second = await another()
  try {
    const { scheduler } = second.exports
    const { read } = second.accounts.context.store
    const latest = async () => (await read.batch_export_runs.find({ batch_export_id: id }, { newestFirst: 'created_at', limit: 1 }))[0]!
    const lost = await latest()
    expect(lost).toMatchObject({ status: 'Running', attempt: 1 })
    const [lease] = await read.leases.find({})
    expect(lease!.until.getTime()).toBeGreaterThan(now.getTime())
    await scheduler.tick()
    await scheduler.settled()
    expect(await latest()).toMatchObject({
      id: lost.id,
      status: 'Completed',
      attempt: 2,
      failures: 0,
      records_completed: 3,
    })
    expect(await read.leases.find({})).toEqual([])
    const uuids = receiver.runs.flatMap(({ rows }) => rows.map(({ uuid }) => uuid))
    expect([uuids.length, new Set(uuids).size]).toEqual([3, 3])
  } finally {
    await second.close()
  }
})
