import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { type FileStorage, openFileStorage } from '../../src/plugins/file-storage.ts'
import { createJobQueue, createPluginSchedule, type JobQueue, type PluginSchedule } from '../../src/plugins/schedule.ts'
import { closeSharedSandbox, createWorld, eventOf, pluginOf, type World } from './world.ts'

let folder: string
let storage: FileStorage
let world: World
let queue: JobQueue
let schedule: PluginSchedule
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

/** The same files, as after a restart. */
const open = async (now: Date) => {
  storage = await openFileStorage(join(folder, 'storage.jsonl'))
  queue = createJobQueue(storage, () => String(++ids).padStart(4, '0'))
  world = createWorld({ ports: { storage, jobs: queue } })
  world.now = now
  schedule = createPluginSchedule(world.runtime, queue, storage, () => world.now)
  await world.runtime.use(1, [pluginOf(code)])
}
const close = async () => {
  await world.runtime.close()
  await storage.close()
}
const seen = () => world.logs.splice(0).flatMap(({ source, message }) => (source === 'CONSOLE' ? [message] : []))
const tickAt = async (time: string) => {
  world.now = new Date(`2026-01-05T${time}Z`)
  await schedule.tick()
  return seen()
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-schedule-'))
  await open(new Date('2026-01-05T10:00:30Z'))
})
afterEach(async () => {
  await close()
  await rm(folder, { recursive: true })
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
  expect(await storage.list('jobs')).toEqual([])
})

test('a job that asks for another attempt gets eight, with growing pauses; another failure ends it', async () => {
  await jobsIn(0, 'busy', 'broken')
  const times: number[] = []
  const start = world.now.getTime()
  for (let second = 0; second <= 2_000; second += 5) {
    world.now = new Date(start + second * 1000)
    const due = await queue.due(world.now)
    for (const job of due) {
      times.push(second)
      await queue.settle(job, await world.runtime.runJob(job), world.now)
    }
  }
  expect(times).toEqual([0, 0, 5, 15, 35, 75, 155, 315, 635])
  expect(seen()).toEqual(['send busy', 'send broken', ...Array.from({ length: 7 }, () => 'send busy')])
  expect(await storage.list('jobs')).toEqual([])
})

test('a job of a config that is gone ends', async () => {
  await jobsIn(0, 'a')
  await world.runtime.use(1, [])
  expect(await tickAt('10:10:00')).toEqual([])
  expect(await storage.list('jobs')).toEqual([])
})
