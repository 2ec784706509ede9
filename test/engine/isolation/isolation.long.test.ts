import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { tableToIPC } from 'apache-arrow'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type * as engine from '../../../src/engine.ts'
import type { LocalWaymark, OpenOptions } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { program } from '../../harness/programs.ts'

// An engine in a separate process gives the same answers as in one process, and no acknowledged event is lost when it ends. The library is the built
// one, because starting from the sources is slow.

let open: typeof engine.open
beforeAll(async () => {
  open = ((await import(pathToFileURL(program('engine')).href)) as typeof engine).open
})

const opened: LocalWaymark[] = []
const folders: string[] = []
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'waymark-isolation-'))
  folders.push(made)
  return made
}
const start = async (options: Partial<OpenOptions> = {}): Promise<LocalWaymark> => {
  const waymark = await open({ dataDir: folder(), threads: 2, memoryLimit: '256MB', minFreeBytes: 0, onError: () => {}, ...options })
  opened.push(waymark)
  return waymark
}
afterEach(async () => {
  for (const waymark of opened.splice(0)) await waymark.close()
  for (const one of folders.splice(0)) rmSync(one, { recursive: true, force: true })
})

const enginePid = (waymark: LocalWaymark): number =>
  (waymark as unknown as { parts: { backends: { engine: { pid: number } } } }).parts.backends.engine.pid
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
const sql = (query: string) => ({ kind: 'SqlLikeQuery', query }) as const
const endless = sql('select count() from numbers(100000000) a cross join numbers(100000000) b where modulo(a.number * b.number, 7) = 8')
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const event = (n: number, more: object = {}) => ({
  event: n % 3 ? 'view' : 'buy',
  distinct_id: `u${n % 5}`,
  uuid: uuid(n),
  timestamp: '2026-01-02T03:04:05Z',
  properties: { price: n, $set: { plan: n % 2 ? 'free' : 'pro' } },
  ...more,
})
const count = async (project: LocalProject) => (await project.query(sql('select count(), count(distinct uuid) from events'))).results[0]

/** The result of a call, or its error. */
const outcome = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await work()
  } catch (error) {
    const { name, code, message, position, attr, others } = error as Error & Record<string, unknown>
    return { name, code, message, position, attr, others: (others as readonly Error[] | undefined)?.map((one) => one.message) }
  }
}
const plain = (value: unknown) =>
  JSON.parse(
    JSON.stringify(value, (key, one) =>
      [
        'timings',
        'last_refresh',
        'next_allowed_client_refresh',
        'cache_key',
        'created_at',
        'updated_at',
        'calculatedAt',
        'members_at',
        'first_seen',
        'last_seen',
      ].includes(key)
        ? undefined
        : typeof one === 'bigint'
          ? String(one)
          : one,
    ) ?? 'null',
  )

const calls: readonly [string, (project: LocalProject) => Promise<unknown>][] = [
  ['events', (project) => project.ingest({ batch: Array.from({ length: 40 }, (_, i) => event(i)) })],
  ['duplicates', (project) => project.ingest({ batch: [event(1), event(41), event(41)] })],
  ['past events', (project) => project.ingest({ batch: [event(42), event(2)], historical_migration: true })],
  ['a bad event', (project) => project.take({ batch: [{ event: 'x' }] })],
  ['persons', (project) => project.importPersons([{ distinct_ids: ['p1', 'p2'], properties: { plan: 'pro' } }])],
  ['groups', (project) => project.importGroups([{ group_type: 'company', group_key: 'acme', properties: { size: 4 } }])],
  ['a wrong group', (project) => project.importGroups([{ group_type: '', group_key: 'acme' }])],
  ['types', (project) => project.definePropertyTypes([{ type: 'event', name: 'price', property_type: 'Numeric' }])],
  [
    'a statement',
    (project) => project.query(sql('select event, count(), sum(properties.price) from events group by event order by event')),
  ],
  ['a mistake', (project) => project.query(sql('select evnt, nothing(1) from events'))],
  ['a mistake of the engine', (project) => project.query(sql("select toDate('x') from events"))],
  ['an unknown kind', (project) => project.answer({ kind: 'Tends' })],
  ['no kind', (project) => project.answer({})],
  [
    'a trend',
    (project) =>
      project.query({
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'view' }],
        dateRange: { date_from: '2026-01-01', date_to: '2026-01-03' },
      }),
  ],
  [
    'the same trend',
    (project) =>
      project.query({
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'view' }],
        dateRange: { date_from: '2026-01-01', date_to: '2026-01-03' },
      }),
  ],
  [
    'a long request',
    (project) =>
      project.query({
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'view' }],
        dateRange: { date_from: '2026-01-01', date_to: '2026-01-03' },
        properties: [
          { type: 'person', key: 'plan', operator: 'icontains', value: ['free', ...Array.from({ length: 3000 }, (_, i) => `v${i}`)] },
        ],
      }),
  ],
  ['a long statement', (project) => project.query(sql(`select length([${'1,'.repeat(7000)}1]), count() from events`))],
  ['a long statement with a mistake', (project) => project.query(sql(`select length([${'1,'.repeat(9000)}1]), evnt from events`))],
  [
    'a funnel',
    (project) =>
      project.query({
        kind: 'FunnelsQuery',
        series: [
          { kind: 'EventsNode', event: 'view' },
          { kind: 'EventsNode', event: 'buy' },
        ],
        dateRange: { date_from: '2026-01-01', date_to: '2026-01-03' },
      }),
  ],
  [
    'a list',
    (project) =>
      project.query({
        kind: 'EventsQuery',
        select: ['uuid', 'event', 'person'],
        orderBy: ['uuid'],
        after: '2026-01-01',
        before: '2026-01-04',
        limit: 5,
      }),
  ],
  [
    'Arrow',
    async (project) => [...tableToIPC(await project.queryArrow(sql('select uuid, event, properties.price from events order by uuid')))],
  ],
  [
    'Arrow of a chart',
    async (project) =>
      (
        await project.queryArrow({
          kind: 'TrendsQuery',
          series: [{ kind: 'EventsNode', event: 'view' }],
          dateRange: { date_from: '2026-01-01', date_to: '2026-01-03' },
        })
      )
        .toArray()
        .map(String),
  ],
  [
    'Arrow in batches',
    async (project) => {
      let rows = 0
      for await (const batch of project.queryArrowBatches(sql('select number from numbers(500000)'))) rows += batch.numRows
      return rows
    },
  ],
  ['Arrow of a mistake', (project) => project.queryArrow(sql('select x from events'))],
  [
    'changes of persons and groups',
    async (project) => {
      const { ids } = await project.importPersons(['split', 'merged', 'deleted'].map((id) => ({ distinct_ids: [id, `${id}-2`] })))
      const [split, merged, deleted] = ids as [string, string, string]
      await project.ingest(['split-2', 'deleted'].map((distinct_id) => ({ event: 'changed', distinct_id, timestamp: '2026-01-02' })))
      await project.importGroups([{ group_type: 'company', group_key: 'changed', properties: { a: 1, b: 2 } }])
      await project.changeGroup({ group_type_index: 0, group_key: 'changed', set: { a: 2 }, unset: ['b'] })
      return [
        await project.changePersons([
          { change: 'write', person: split, set: { name: 'S' }, unset: [] },
          { change: 'split', person: split, ids: ['split-2'] },
          { change: 'merge', person: split, sources: [merged] },
          { change: 'delete', person: deleted, withEvents: true },
          { change: 'delete', person: deleted, withEvents: true },
        ]),
        (await project.query(sql("select distinct_id, toString(person_id) from events where event = 'changed'"))).results,
        (await project.query(sql('select toString(id), properties.name from persons order by id'))).results,
        (await project.query(sql("select toString(properties) from groups where key = 'changed'"))).results,
      ]
    },
  ],
  ['an action', (project) => project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })],
  ['a wrong action', (project) => project.actions.create({ steps: 1 })],
  [
    'a cohort',
    (project) =>
      project.createCohort({
        name: 'Pros',
        filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }] } },
      }),
  ],
  [
    'a cohort of a cohort',
    (project) =>
      project.createCohort({ name: 'Buyers', filters: { properties: { type: 'AND', values: [{ type: 'cohort', key: 'id', value: 1 }] } } }),
  ],
  [
    'a cohort that cannot be computed',
    async (project) => {
      await project.cohorts.remove(1)
      return [...(await project.cohorts.states([2]))].map(([id, { count: members, failure }]) => [
        id,
        members,
        failure?.code,
        failure?.message,
      ])
    },
  ],
  [
    'lists',
    async (project) => [
      await project.actions.list(),
      await project.cohorts.list(),
      await project.events(),
      await project.properties(),
      await project.warnings(),
    ],
  ],
  ['an action that is not there', (project) => project.actions.retrieve(7)],
  [
    'a status',
    async (project) => {
      await project.answer(sql('select 1'), { refresh: 'force_async', client_query_id: 'mine' })
      for (;;) {
        const status = await project.queryStatus('mine')
        await new Promise((resolve) => setImmediate(resolve))
        if (status.complete || status.error) return [status.error, (status.results as { results: unknown }).results]
      }
    },
  ],
]

test('every call returns the same as in one process, errors included', async () => {
  const clock = () => new Date('2026-01-05T00:00:00Z')
  const both = [await start({ clock }), await start({ clock, isolate: true })] as const
  const projects = [await both[0].createProject({ name: 'a' }), await both[1].createProject({ name: 'a' })] as const
  for (const [name, call] of calls) {
    const expected = plain(await outcome(() => call(projects[0])))
    expect([name, plain(await outcome(() => call(projects[1])))]).toEqual([name, expected])
  }
  // One process can read what the second process wrote.
  const { dataDir } = both[1]
  await both[1].close()
  opened.splice(opened.indexOf(both[1]), 1)
  const again = await start({ clock, dataDir })
  expect(await count(await again.project('a'))).toEqual(await count(projects[0]))
  expect((await again.project('a')).recoveryReports()).toEqual([])
})

describe('when the engine ends', () => {
  test('events are acknowledged meanwhile, and the next answer has all of them, once each', async () => {
    const waymark = await start({ isolate: true })
    const project = await waymark.createProject()
    await project.ingest({ batch: [event(0)] })
    for (let round = 1; round <= 3; round++) {
      const asked = project.query(sql('select count() from events'))
      const pid = enginePid(waymark)
      process.kill(pid, 'SIGKILL')
      // With and without the number of duplicates, which the engine counts.
      const source = Object.assign([event(round * 10)], { count: 1, bytes: 100 })
      expect(await project.ingestEvents(source, {})).toMatchObject({ accepted: 1 })
      expect(await project.ingest({ batch: [event(round * 10), event(round * 10 + 1)] })).toMatchObject({ accepted: 1, duplicates: 1 })
      expect((await asked).results[0]![0]).toBeGreaterThanOrEqual(1)
      expect(await count(project)).toEqual([1 + round * 2, 1 + round * 2])
      expect(enginePid(waymark)).not.toBe(pid)
    }
  })

  test('a query that ran alone fails, and another one is retried', async () => {
    const errors: unknown[] = []
    const waymark = await start({ isolate: true, onError: (error) => errors.push(error) })
    const project = await waymark.createProject()
    await project.ingest({ batch: [event(0)] })
    const heavy = outcome(() => project.query(endless))
    const { load } = waymark.asking
    const isSuspect = async () => {
      while (load().running === 0) await new Promise((resolve) => setImmediate(resolve))
      const since = performance.now()
      while (performance.now() - since < 1_100) await project.query(sql('select 1')) // it has to have run for a second
    }
    await isSuspect()
    process.kill(enginePid(waymark), 'SIGKILL')
    expect(await count(project)).toEqual([1, 1])
    expect(await heavy).toMatchObject({ code: 'engine-ended', message: expect.stringContaining('exited while handling this request') })
    expect(errors.map(String)).toEqual([expect.stringContaining('is being restarted')])
  })

  test('the next engine is loaded in advance, and takes over when that one ends too', async () => {
    const waymark = await start({ isolate: true })
    const project = await waymark.createProject()
    const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
    const before = children()
    const killed = async (pid: number) => {
      process.kill(pid, 'SIGKILL')
      while (enginePid(waymark) === pid) await new Promise((resolve) => setImmediate(resolve))
      expect(await count(project)).toEqual([0, 0])
    }
    await killed(enginePid(waymark))
    const [spare] = children().filter((pid) => !before.includes(pid) && pid !== enginePid(waymark))
    await killed(enginePid(waymark))
    expect(enginePid(waymark)).toBe(spare)
    const [next] = children().filter((pid) => !before.includes(pid) && pid !== spare)
    process.kill(next!, 'SIGKILL')
    await killed(spare!)
    await waymark.close()
    opened.splice(opened.indexOf(waymark), 1)
    for (const pid of children()) expect(before).toContain(pid)
  })

  test('it is not ended because the machine stood still', async () => {
    const errors: unknown[] = []
    const waymark = await start({ isolate: true, onError: (error) => errors.push(error) })
    const project = await waymark.createProject()
    const pid = enginePid(waymark)
    const real = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + 60_000)
    try {
      for (const since = real(); real() - since < 1_500; ) await project.query(sql('select 1')) // the engine is looked at twice a second
    } finally {
      clock.mockRestore()
    }
    expect([enginePid(waymark), errors]).toEqual([pid, []])
  })

  test('a stream in progress ends with an error, and is not cut silently', async () => {
    const waymark = await start({ isolate: true })
    const project = await waymark.createProject()
    const batches = project.queryArrowBatches(sql('select number, toString(number) from numbers(20000000)'))
    await batches.next()
    process.kill(enginePid(waymark), 'SIGKILL')
    const rest = async () => {
      for await (const _ of batches);
    }
    expect(await outcome(rest)).toMatchObject({ code: 'engine-ended' })
  })

  test('definitions survive it', async () => {
    const waymark = await start({ isolate: true })
    const project = await waymark.createProject()
    await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }] })
    process.kill(enginePid(waymark), 'SIGKILL')
    expect((await project.actions.list()).map(({ name }) => name)).toEqual(['Bought'])
  })
})

test('a query that is cancelled stops in the engine', async () => {
  const waymark = await start({ isolate: true })
  const project = await waymark.createProject()
  const leaving = new AbortController()
  const asked = outcome(() => project.query(endless, { signal: leaving.signal }))
  while (waymark.asking.load().running === 0) await new Promise((resolve) => setImmediate(resolve))
  const pid = enginePid(waymark)
  leaving.abort()
  expect(await asked).toMatchObject({ code: 'query-cancelled' })
  expect(waymark.asking.load()).toEqual({ waiting: 0, running: 0 })
  expect(enginePid(waymark)).toBe(pid)
})

test('values that cannot be sent to another process are refused, and have no effect', async () => {
  const waymark = await start({ isolate: true })
  const project = await waymark.createProject()
  for (const values of [{ a: () => 1 }, { a: [Symbol('a')] }, new Proxy({ a: 1 }, {})])
    expect(await outcome(() => project.query({ ...sql('select {a}'), values }))).toMatchObject({ code: 'validation-failed' })
  expect(waymark.asking.load()).toEqual({ waiting: 0, running: 0 })
  expect((await project.query(sql('select 1'))).results).toEqual([[1]])
})

test('a removed project is gone from the disk, and the others stay', async () => {
  const dataDir = folder()
  const waymark = await start({ isolate: true, dataDir })
  const [kept, removed] = [await waymark.createProject({ name: 'kept' }), await waymark.createProject({ name: 'removed' })]
  for (const project of [kept, removed]) await project.ingest({ batch: [event(1)] })
  const record = await waymark.accounts.projects.byId(removed.id)
  await waymark.accounts.projects.remove(null, record!)
  expect(existsSync(join(dataDir, 'projects', String(removed.id)))).toBe(false)
  await expect(removed.query(sql('select 1'))).rejects.toMatchObject({ name: 'WaymarkError' })
  expect(await count(kept)).toEqual([1, 1])
})

test('a long answer of an async query does not take the memory of the accounts database', async () => {
  const waymark = await start({ isolate: true, memoryLimit: '1GB' })
  const project = await waymark.createProject()
  const rows = 600_000
  const asked = sql("select number, repeat('x', 90) from numbers(600000)")
  const limits = { defaultRows: rows, mostRows: rows }
  await project.query(asked, { refresh: 'force_async', client_query_id: 'long', rows: limits })
  await waymark.asking.runs.drain(60_000)
  const { error_message, results } = await project.queryStatus('long')
  expect(error_message).toBeNull()
  expect((results as { results: unknown[] }).results).toHaveLength(rows)
  expect((await waymark.createProject()).id).toBeGreaterThan(project.id)
})

test('a reader that leaves frees its slot', async () => {
  const waymark = await start({ isolate: true, threads: 1 })
  const project = await waymark.createProject()
  for (let i = 0; i < 6; i++) {
    const batches = project.queryArrowBatches(sql('select number from numbers(50000000)'))
    await batches.next()
    await batches.return()
  }
  expect((await project.query(sql('select 1'))).results).toEqual([[1]])
})

test('an engine whose door was killed ends, and the directory opens again', async () => {
  const dataDir = folder()
  const script = `import(${JSON.stringify(pathToFileURL(program('engine')).href)}).then(async ({ open }) => {
    const waymark = await open({ dataDir: ${JSON.stringify(dataDir)}, isolate: true, minFreeBytes: 0 })
    const project = await waymark.createProject({ name: 'a' })
    await project.ingest({ batch: [{ event: 'x', distinct_id: 'a' }] })
    console.log(waymark.parts.backends.engine.pid)
  })`
  const door = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface({ input: door.stdout }), 'line')) as [string]
  door.kill('SIGKILL')
  await once(door, 'exit')
  const waymark = await start({ dataDir, isolate: true })
  expect((await (await waymark.project('a')).query(sql('select count() from events'))).results).toEqual([[1]])
  expect(isAlive(Number(line)) && existsSync(`/proc/${line}/exe`)).toBe(false)
})

test.each([
  [{ dataDir: ':memory:', isolate: true }, 'isolate', 'two processes cannot share an in-memory store'],
  [{ isolate: 'yes' }, 'isolate', 'must be true or false'],
  [{ isolate: true, engine: { clickhouse: { client: {} } } }, 'engine.clickhouse.client', 'must be a URL here'],
])('%j is refused', async (options, attr, message) => {
  await expect(start(options as never)).rejects.toMatchObject({
    code: 'validation-failed',
    attr,
    message: expect.stringContaining(message),
  })
})

test('a store that cannot be opened gives the same error as in one process', async () => {
  const words = async (isolate: boolean) =>
    outcome(() => start({ isolate, dataDir: folder(), memoryLimit: '1MB' })) as Promise<{ message: string }>
  expect(await words(true)).toEqual(await words(false))
})
