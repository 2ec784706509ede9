import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { AccountStore } from '../../../src/service/accounts/records.ts'
import type { Runner } from '../../../src/service/jobs/runner.ts'
import { openFileStorage } from '../../../src/service/plugins/file-storage.ts'
import { createJobQueue, createPluginSchedule, moveFromStorage } from '../../../src/service/plugins/schedule.ts'
import { memoryStore } from '../jobs/memory-store.ts'
import { closeSharedSandbox, createWorld, eventOf, pluginOf, type World } from './world.ts'

let store: AccountStore
let world: World
let schedule: Runner
const reports: unknown[] = []
let ids = 0

const code = `
  let failures = 0
  exports.runEveryMinute = () => console.log('minute')
  exports.runEveryHour = () => console.log('hour')
  exports.runEveryDay = () => console.log('day')
  exports.processEvent = async (event, { jobs }) => {
    for (const name of event.properties.names) await jobs.send({ name }).runIn(event.properties.minutes, 'minutes')
    return event
  }
  exports.jobs = {
    send({ name }) {
      console.log('send ' + name)
      if (name === 'busy') throw new RetryError('busy')
      if (name === 'broken') throw new Error('broken')
    },
  }`

/** The same tables, as after a restart. `random`: waits are neither shorter nor longer. */
const open = async (now: Date) => {
  const context = { store, clock: () => world.now, newId: () => String(++ids).padStart(4, '0') }
  world = createWorld({ ports: { jobs: createJobQueue(context, () => undefined) } })
  world.now = now
  const report = (error: unknown) => void reports.push(error)
  schedule = createPluginSchedule({ context, report, random: () => 0.5, runtime: world.runtime })
  await world.runtime.use(1, [pluginOf(code)])
}
const close = async () => {
  await schedule.close()
  await world.runtime.close()
}
const jobs = () => store.read.plugin_jobs.find({})
const seen = () => world.logs.splice(0).flatMap(({ source, message }) => (source === 'CONSOLE' ? [message] : []))
const tickAt = async (time: string) => {
  world.now = new Date(`2026-01-05T${time}Z`)
  await schedule.tick()
  await schedule.settled()
  return seen()
}

beforeEach(async () => {
  store = memoryStore(['leases', 'plugin_jobs', 'plugin_tasks', 'projects'])
  await open(new Date('2026-01-05T10:00:30Z'))
})
afterEach(async () => {
  await close()
  expect(reports).toEqual([])
})
afterAll(closeSharedSandbox)

test('a task runs once in its period, from the period after the first', async () => {
  expect(await tickAt('10:00:30')).toEqual([])
  expect(await tickAt('10:00:59')).toEqual([])
  expect(await tickAt('10:01:00')).toEqual(['minute'])
  expect(await tickAt('10:01:30')).toEqual([])
  expect((await tickAt('11:00:00')).sort()).toEqual(['hour', 'minute'])
  world.now = new Date('2026-01-06T00:00:00Z')
  await Promise.all([schedule.tick(), schedule.tick()])
  await schedule.settled()
  expect(seen().sort()).toEqual(['day', 'hour', 'minute'])
})

test('a restart neither repeats a task nor skips the next', async () => {
  await tickAt('10:00:30')
  expect(await tickAt('10:01:00')).toEqual(['minute'])
  await close()
  await open(new Date('2026-01-05T10:01:40Z'))
  expect(await tickAt('10:01:40')).toEqual([])
  expect(await tickAt('10:02:00')).toEqual(['minute'])
})

const jobsIn = (minutes: number, ...names: string[]) => world.runtime.transform(1, [eventOf({ minutes, names })])

test('a job runs once when it is due, also after a restart', async () => {
  await jobsIn(5, 'a', 'b')
  expect((await tickAt('10:05:29')).filter((line) => line.startsWith('send'))).toEqual([])
  await close()
  await open(new Date('2026-01-05T10:05:30Z'))
  expect((await tickAt('10:05:30')).sort()).toEqual(['send a', 'send b'])
  expect(await tickAt('10:05:59')).toEqual([])
  expect(await jobs()).toEqual([])
})

test('a job that asks for another attempt gets eight, with growing pauses; another failure ends it', async () => {
  await jobsIn(0, 'busy', 'broken')
  const times: string[] = []
  const start = world.now.getTime()
  for (let second = 0; second <= 2_000; second += 5) {
    world.now = new Date(start + second * 1000)
    await schedule.tick()
    await schedule.settled()
    for (const line of seen()) if (line.startsWith('send')) times.push(`${second} ${line}`)
  }
  expect(times.sort()).toEqual(['0 send broken', ...[0, 5, 15, 35, 75, 155, 315, 635].map((second) => `${second} send busy`)].sort())
  expect(await jobs()).toEqual([])
})

test('a job of a config that is gone ends', async () => {
  await jobsIn(0, 'a')
  await world.runtime.use(1, [])
  expect(await tickAt('10:10:00')).toEqual([])
  expect(await jobs()).toEqual([])
})

test('two processes: a task runs in one of them, and so does a job', async () => {
  await tickAt('10:00:30')
  await jobsIn(0, 'a', 'b', 'c')
  const other = createPluginSchedule({
    context: { store, clock: () => world.now },
    report: (error) => void reports.push(error),
    isAlone: false,
    runtime: world.runtime,
  })
  world.now = new Date('2026-01-05T10:01:30Z')
  for (let i = 0; i < 3; i++) {
    await Promise.all([schedule.tick(), other.tick()])
    await Promise.all([schedule.settled(), other.settled()])
  }
  expect(seen().sort()).toEqual(['minute', 'send a', 'send b', 'send c'])
  await other.close()
})

test('what an older version kept in the storage of plugins is moved once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-schedule-'))
  const storage = await openFileStorage(join(folder, 'storage.jsonl'))
  const job = { id: 'old', projectId: 1, configId: 1, name: 'send', payload: { name: 'old' }, at: '2026-01-05T10:00:00.000Z', attempts: 3 }
  await storage.set('jobs', job.id, JSON.stringify(job))
  await storage.set('tasks', '1/runEveryMinute', String(Math.floor(world.now.getTime() / 60_000)))
  for (let i = 0; i < 2; i++) await moveFromStorage(storage, store, (error) => void reports.push(error))
  expect([await storage.list('jobs'), await storage.list('tasks')]).toEqual([[], []])
  expect(await jobs()).toMatchObject([{ id: 'old', attempts: 3, plugin_config_id: 1 }])
  expect(await tickAt('10:00:40')).toEqual(['send old'])
  expect(await tickAt('10:01:00'), 'the period before is known').toEqual(['minute'])
  await storage.close()
  await rm(folder, { recursive: true })
})
