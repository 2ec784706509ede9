import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { deferred } from '../../../src/lib/flow/deferred.ts'
import { usualLimits } from '../../../src/service/exports/destinations/destination.ts'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { type SchedulerWorld, schedulerWorld } from './scheduler-world.ts'

// Destinations that are slow, or never answer: what their runs say, that other exports go on, and that each row is there once in the end.

const why = whyNoPostgres()
if (why) console.warn(`NOT RUN: a PostgreSQL that is slow: ${why}`)

let world: SchedulerWorld
beforeEach(async () => {
  world = await schedulerWorld()
  world.now = new Date('2026-03-02T10:30:00Z')
})
afterEach(async () => {
  expect(world.reports).toEqual([])
  await world.close()
})

/** Of servers that never answer: the limit passes in any case, however busy the machine is. */
const impatient = { ...usualLimits, silentMs: 30 }
/** However busy the machine is. */
const patiently = { timeout: 120_000 }
const nextHour = () => {
  world.now = new Date(world.now.getTime() + 3_600_000)
}
const lastRun = async (id: string) => {
  const runs = await world.read.batch_export_runs.find({ batch_export_id: id })
  return [...runs].sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1)!
}
const toFolder = { destination: { type: 'LocalFiles', config: {} } }
const seqs = () => world.receiver.runs.flatMap(({ rows }) => rows.map(({ seq }) => seq))

describe('HTTP', () => {
  test('a server that answers late: other exports are completed meanwhile, and its own run when it has answered', async () => {
    const slow = await world.create()
    const other = await world.create(toFolder)
    const gate = deferred<number>()
    world.receiver.answer = () => gate.promise
    world.arrive(3)
    nextHour()
    for (let i = 0; i < 4; i++) await world.scheduler.tick()
    await expect.poll(async () => (await lastRun(other))?.status, patiently).toBe('Completed')
    expect(await lastRun(slow)).toMatchObject({ status: 'Running', latest_error: null })
    gate.resolve(200)
    await world.drain()
    expect(await lastRun(slow)).toMatchObject({ status: 'Completed', attempt: 1, records_completed: 3 })
    expect(seqs()).toEqual([1, 2, 3])
  })

  test('a server that never answers: the run is retried and says why, and the rows come once', async () => {
    const silent = await world.create()
    const other = await world.create(toFolder)
    world.receiver.answer = () => new Promise(() => undefined)
    world.limits = impatient
    world.arrive(3)
    nextHour()
    await world.drain()
    const { port } = new URL(world.receiver.url)
    expect(await lastRun(silent)).toMatchObject({
      status: 'Starting',
      failures: 1,
      latest_error: `127.0.0.1:${port} did not answer within 0.03 seconds.`,
    })
    expect(await lastRun(other)).toMatchObject({ status: 'Completed' })
    world.limits = usualLimits
    world.receiver.answer = () => 200
    nextHour()
    await world.drain()
    expect(seqs()).toEqual([1, 2, 3])
  })

  test('a server that answers a few bytes at a time, for ever', async () => {
    const sockets: Socket[] = []
    const dripping = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n')
        const drip = setInterval(() => socket.write('.'), 5)
        socket.on('close', () => clearInterval(drip))
      })
    })
    const port = await listening(dripping)
    try {
      const id = await world.create({ destination: { type: 'HTTP', config: { url: `http://127.0.0.1:${port}/`, token: 'x' } } })
      world.limits = impatient
      world.arrive(1)
      nextHour()
      await world.drain()
      // Silence if the machine is busy, else too long.
      expect(await lastRun(id)).toMatchObject({
        status: 'Starting',
        latest_error: expect.stringMatching(/^127\.0\.0\.1:\d+ did not answer within 0\.0?3 seconds\.$/),
      })
    } finally {
      for (const socket of sockets) socket.destroy()
      dripping.close()
    }
  })

  test('runs that have failed, and further runs of an export, let those of other exports go first', async () => {
    const failing = [await world.create(), await world.create(), await world.create()]
    world.receiver.answer = () => 500
    world.arrive(2)
    nextHour()
    await world.drain()
    for (const id of failing) expect(await lastRun(id)).toMatchObject({ status: 'Starting', failures: 1 })
    const healthy = await world.create(toFolder)
    world.arrive(2)
    nextHour()
    // Their retries have gone on until now: what failed goes behind other work of its age.
    const due_at = new Date(world.now.getTime() - 30_000)
    await world.write((tables) => tables.batch_export_runs.update({ batch_export_id: failing }, { due_at }))
    const gate = deferred<number>()
    world.receiver.answer = () => gate.promise
    for (let i = 0; i < 3; i++) await world.scheduler.tick()
    await expect.poll(async () => (await lastRun(healthy))?.status, patiently).toBe('Completed')
    gate.resolve(200)
    await world.drain()
    for (const id of failing) expect(await lastRun(id)).toMatchObject({ status: 'Completed' })
  })
})

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** A minute for a message, 15 seconds for the connection, an hour for a statement over many rows. */
const noAnswer =
  /^PostgreSQL at 127\.0\.0\.1:\d+ (did not answer within (60|3600) seconds|closed the connection or did not answer in time)\.$/

describe.skipIf(why !== null)('PostgreSQL', () => {
  let database: Postgres
  beforeAll(async () => {
    database = await startPostgres()
  })
  afterAll(() => database?.stop())
  beforeEach(() => database.sql.run('CREATE TABLE IF NOT EXISTS unused(); DROP TABLE IF EXISTS events, waymark_published_runs'))

  const to = (port: number) => ({
    destination: { type: 'Postgres', config: { user: 'waymark', password: 'any', host: '127.0.0.1', port, database: 'postgres' } },
  })
  const stored = async () => (await database.sql.rows('SELECT seq::int AS seq FROM events ORDER BY 1')).map(({ seq }) => seq)
  const exported = async (id: string) => {
    nextHour()
    await world.drain()
    return lastRun(id)
  }

  test.each([
    ['the table', 'LOCK TABLE events IN ACCESS EXCLUSIVE MODE', {}],
    ['the same row', "INSERT INTO events VALUES ('4', 4)", {}],
    ['the same run', "INSERT INTO waymark_published_runs VALUES ('events', $KEY)", { sql_like_query: 'select event from events' }],
  ])('another transaction has %s: the run says so and is retried, other exports go on', async (_, lock, more) => {
    const id = await world.create({ ...to(database.port), ...more })
    world.arrive(2)
    expect(await exported(id)).toMatchObject({ status: 'Completed', records_completed: 2 })
    const other = await world.create(toFolder)
    world.arrive(3)
    const start = new Date(world.now.getTime())
    start.setUTCMinutes(0)
    const key = `'${id}-${start.getTime()}-${start.getTime() + 3_600_000}'`
    await database.sql.run('BEGIN')
    await database.sql.run(`CREATE TABLE IF NOT EXISTS unused(); ${lock.replace('$KEY', key)}`)
    world.limits = { ...usualLimits, lockMs: 1 }
    expect(await exported(id)).toMatchObject({
      status: 'Starting',
      failures: 1,
      latest_error: `PostgreSQL at 127.0.0.1:${database.port} has a transaction that locks the table or some of its rows.`,
    })
    expect(await lastRun(other)).toMatchObject({ status: 'Completed', records_completed: 3 })
    await database.sql.run('ROLLBACK')
    nextHour()
    await world.drain()
    expect(await lastRun(id)).toMatchObject({ status: 'Completed' })
    expect(await stored()).toEqual([1, 2, 3, 4, 5])
  })

  test.each(['messages', 'answers'])('at each message of a run, the %s from then on are lost', async (lost) => {
    // A connection through here is silent after so many messages of the client; then time passes at once.
    let most = Number.POSITIVE_INFINITY
    let isSilent = false
    const sockets: Socket[] = []
    const between = createServer((client) => {
      let messages = 0
      const server = connect(database.port, '127.0.0.1')
      sockets.push(client, server)
      for (const socket of [client, server]) socket.on('error', () => undefined)
      client.on('data', (bytes) => {
        if (++messages > most) isSilent = true
        if (!isSilent || lost === 'answers') server.write(bytes)
      })
      server.on('data', (bytes) => isSilent || client.write(bytes))
      client.on('close', () => server.destroy())
    })
    const port = await listening(between)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const passing = setInterval(() => isSilent && vi.advanceTimersByTime(usualLimits.silentMs * 60), 5)
    try {
      const id = await world.create(to(port))
      let rounds = 0
      for (let isDone = false; !isDone; rounds++) {
        world.arrive(1)
        nextHour()
        most = rounds
        await world.drain()
        const first = await lastRun(id)
        isDone = first.status === 'Completed' // with its last message, the client says goodbye
        if (!isDone)
          expect(first, `after ${rounds} messages`).toMatchObject({ status: 'Starting', latest_error: expect.stringMatching(noAnswer) })
        most = Number.POSITIVE_INFINITY
        isSilent = false
        world.now = new Date(world.now.getTime() + 60_000)
        await world.drain()
        expect(await lastRun(id)).toMatchObject({ status: 'Completed' })
        expect(await stored()).toEqual(Array.from({ length: rounds + 1 }, (_, i) => i + 1))
      }
      expect(rounds).toBeGreaterThan(8)
    } finally {
      clearInterval(passing)
      vi.useRealTimers()
      for (const socket of sockets) socket.destroy()
      between.close()
    }
  })
})
