import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/doors/library/client.ts'
import { tornPart } from '../../../src/engine/storage/duckdb/file/block-notes.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import { crc32 } from '../../../src/lib/ids/crc32.ts'
import type { LocalProject } from '../../../src/project.ts'
import { copiesIn } from '../../../src/service/backups/backups.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import { compressLog, splitLog } from '../../harness/split-log.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'waymark-backups-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

let folder: string
let count = 0
beforeEach(async () => {
  folder = join(root, String(++count))
  await mkdir(folder)
})
const inFolder = (name: string) => join(folder, name)
const quiet = { onRecovery: () => undefined } satisfies Partial<OpenOptions>

/** An open directory, closed at the end of the test. */
async function using<T>(name: string, work: (waymark: LocalWaymark) => Promise<T>, options: Partial<OpenOptions> = {}): Promise<T> {
  const waymark = await open({ dataDir: inFolder(name), ...quiet, ...options })
  try {
    return await work(waymark)
  } finally {
    await waymark.close()
  }
}

const events = (from: number, count: number) => ({
  batch: Array.from({ length: count }, (_, i) => ({
    event: (from + i) % 3 === 0 ? 'bought' : 'looked',
    distinct_id: `u${(from + i) % 7}`,
    timestamp: `2026-03-0${1 + ((from + i) % 9)}T10:00:00Z`,
    properties: { n: from + i, $set: { last: from + i } },
  })),
})
const counts = async (project: LocalProject) => {
  const query = 'select count(), count(distinct person_id), sum(properties.n), groupUniqArray(person.properties.last) from events'
  const [row] = (await project.query({ kind: 'SqlLikeQuery', query })).results as unknown[][]
  return [row![0], row![1], row![2], [...(row![3] as unknown[])].map(Number).sort((a, b) => a - b)]
}
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof WaymarkError)) throw error ?? new Error('it was not refused')
  return error.detail
}

describe.each([false, true])('with an engine of its own: %s', (isolate) => {
  test('a copy that is taken while events arrive opens with all that was acknowledged before it, and answers the same', async () => {
    const before = await using(
      'data',
      async (waymark) => {
        const project = await waymark.createProject({ name: 'Shop' })
        const other = await waymark.createProject({ name: 'Other' })
        await project.ingest(events(0, 100))
        await other.ingest(events(1000, 10))
        await project.createAction({ name: 'Bought', steps: [{ event: 'bought' }] })
        await waymark.backup(inFolder('place'))
        await project.ingest(events(100, 100))
        const [summary] = await Promise.all([waymark.backup(inFolder('place')), project.ingest(events(200, 100))])
        expect(summary.copy).toBe(2)
        await project.ingest(events(300, 100))
        return counts(other)
      },
      { isolate },
    )
    const { projects, copy } = await restore(inFolder('place'), inFolder('restored'))
    expect(copy).toBe(2)
    await using('restored', async (waymark) => {
      const project = await waymark.project('Shop')
      const [n, people, sum] = await counts(project)
      // What arrived meanwhile is there whole or not at all.
      expect([200, 300]).toContain(n)
      expect(people).toBe(7)
      expect(sum).toBe((Number(n) * (Number(n) - 1)) / 2)
      expect(projects.find(({ name }) => name === 'Shop')!.position).toBe(Number(n) + 1) // the action is a record, too
      expect(await counts(await waymark.project('Other'))).toEqual(before)
      expect((await project.actions.list()).map(({ name }) => name)).toEqual(['Bought'])
    })
  })
})

test('each copy can be restored, and is as the directory was', async () => {
  const states: unknown[] = []
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    for (let i = 0; i < 4; i++) {
      await project.ingest(events(i * 50, 50))
      states.push(await counts(project))
      await waymark.backup(inFolder('place'))
    }
  })
  for (const [i, state] of states.entries()) {
    await restore(inFolder('place'), inFolder(`r${i}`), { copy: i + 1 })
    await using(`r${i}`, async (waymark) => expect(await counts(await waymark.project('Shop'))).toEqual(state))
  }
})

test('a later copy writes what is new only', async () => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    const random = Array.from({ length: 3000 }, (_, i) => ({
      event: 'e',
      distinct_id: `u${i}`,
      properties: { x: Math.random().toString(36).repeat(20) },
    }))
    await project.ingest({ batch: random })
    const first = await waymark.backup(inFolder('place'))
    await project.ingest(events(0, 10))
    const second = await waymark.backup(inFolder('place'))
    expect(second.stored).toBeLessThan(first.stored / 3)
    const third = await waymark.backup(inFolder('place'))
    expect(third.stored).toBeLessThan(second.stored)
  })
})

test('a moment between two copies is brought back, to the record', async () => {
  let now = Date.parse('2026-06-01T00:00:00Z')
  const clock = () => new Date(now)
  const states: { readonly at: Date; readonly counts: unknown }[] = []
  await using(
    'data',
    async (waymark) => {
      const project = await waymark.createProject({ name: 'Shop' })
      await project.ingest(events(0, 20))
      now += 1000
      await waymark.backup(inFolder('place'))
      for (let i = 1; i <= 6; i++) {
        now += 60_000
        await project.ingest(events(i * 20, 20))
        states.push({ at: new Date(now + 500), counts: await counts(project) })
        if (i % 2 === 0) {
          now += 1000
          await waymark.backup(inFolder('place'))
        }
      }
    },
    { clock },
  )
  for (const [i, { at, counts: expected }] of states.entries()) {
    await restore(inFolder('place'), inFolder(`r${i}`), { at })
    await using(`r${i}`, async (waymark) => expect(await counts(await waymark.project('Shop'))).toEqual(expected), { clock })
  }
  const outside = (text: string) => refusal(restore(inFolder('place'), inFolder('r'), { at: new Date(text) }))
  expect(await outside('2026-05-01T00:00:00Z')).toMatch(
    /begins after that moment.* from 2026-06-01 00:00:01 UTC to 2026-06-01 00:06:04 UTC/,
  )
  expect(await outside('2026-07-01T00:00:00Z')).toMatch(/ends before that moment/)
})

describe('compressed segments of a log', () => {
  const logOf = (name: string) => inFolder(`${name}/projects/1/log`)
  const segmentsOf = async (name: string) =>
    Object.fromEntries(
      await Promise.all((await readdir(logOf(name))).sort().map(async (file) => [file, await readFile(join(logOf(name), file))] as const)),
    )
  const isCompressed = (bytes: Buffer) => bytes.readUInt16BE(0) === 0x1f8b
  const fill = (clock: () => Date) =>
    using(
      'data',
      async (waymark) => {
        const project = await waymark.createProject({ name: 'Shop' })
        for (let i = 0; i < 10; i++) await project.ingest(events(i * 100, 100))
      },
      { clock },
    )

  test('are copied as they are, and not again where a copy has the plain ones; a mix is verified and restored', async () => {
    const clock = () => new Date('2026-06-01T00:00:00Z')
    await fill(clock)
    await splitLog(logOf('data'), 40_000)
    const plain = await segmentsOf('data')
    expect(Object.keys(plain).length).toBeGreaterThan(3)
    await using('data', (waymark) => waymark.backup(inFolder('place')), { clock })
    await compressLog(logOf('data'))
    const packed = await segmentsOf('data')
    const compressed = Object.keys(packed).filter((name) => isCompressed(packed[name]!))
    expect(compressed).toEqual(Object.keys(packed).slice(0, compressed.length))
    expect(compressed.length).toBeGreaterThan(2)
    await using(
      'data',
      async (waymark) => {
        await (await waymark.project('Shop')).ingest(events(1000, 100))
        await waymark.backup(inFolder('place'), { verify: true })
        await waymark.backup(inFolder('other'), { verify: true })
      },
      { clock },
    )
    // The first place has the plain ones of its first copy, the other one what is on the disk.
    await restore(inFolder('place'), inFolder('r1'))
    await restore(inFolder('other'), inFolder('r2'))
    const [first, second] = [await segmentsOf('r1'), await segmentsOf('r2')]
    for (const name of compressed)
      expect([name, first[name]!.equals(plain[name]!), second[name]!.equals(packed[name]!)]).toEqual([name, true, true])
    for (const name of ['data', 'r1', 'r2']) {
      await rm(inFolder(`${name}/projects/1/store.duckdb`)) // all of it comes from the log
      await using(name, async (waymark) => expect((await counts(await waymark.project('Shop')))[0]).toBe(1100), { clock })
    }
  })

  test('bring back a moment, whichever copies have which form', async () => {
    let now = Date.parse('2026-06-01T00:00:00Z')
    const clock = () => new Date(now)
    const states: { readonly at: Date; readonly counts: unknown }[] = []
    await fill(clock)
    await splitLog(logOf('data'), 20_000)
    for (const isPacked of [false, true, true]) {
      now += 60_000
      if (isPacked) await compressLog(logOf('data'))
      await using(
        'data',
        async (waymark) => {
          const project = await waymark.project('Shop')
          now += 1000
          await waymark.backup(inFolder('place'))
          for (let i = 0; i < 4; i++) {
            now += 60_000
            await project.ingest(events(1000 + states.length * 100, 100))
            states.push({ at: new Date(now + 500), counts: await counts(project) })
          }
        },
        { clock },
      )
      await splitLog(logOf('data'), 20_000)
    }
    await compressLog(logOf('data'))
    now += 60_000
    await using('data', (waymark) => waymark.backup(inFolder('place')), { clock })
    const restored: boolean[] = []
    for (const [i, { at, counts: expected }] of states.entries()) {
      await restore(inFolder('place'), inFolder(`r${i}`), { at })
      restored.push(...Object.values(await segmentsOf(`r${i}`)).map(isCompressed))
      await using(`r${i}`, async (waymark) => expect([i, await counts(await waymark.project('Shop'))]).toEqual([i, expected]), { clock })
    }
    expect(new Set(restored)).toEqual(new Set([true, false]))
  })
})

test('a verification restores the copy and compares it; what the place has lost is found', async () => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    await project.ingest(events(0, 500))
    await project.ingest({ batch: [{ event: '$identify', distinct_id: 'u1', properties: { $anon_distinct_id: 'anon' } }] })
    const { verified } = await waymark.backup(inFolder('place'), { verify: true })
    expect(verified).toMatchObject({ copy: 1, projects: 1, events: 501, persons: 7, compared: 27 })
  })
  const [object] = await readdir(inFolder('place/objects'))
  const path = join(inFolder('place/objects'), object!)
  const bytes = await readFile(path)
  for (let i = 0; i < bytes.length; i += 512) bytes[i]! ^= 1
  await rm(path)
  await writeFile(path, bytes)
  expect(await refusal(restore(inFolder('place'), inFolder('r')))).toMatch(
    /objects\/.* is damaged\. The copies that need it cannot be restored\.$/,
  )
  await rm(path)
  expect(await refusal(restore(inFolder('place'), inFolder('r')))).toMatch(/objects\/.* is missing/)
  expect(await readdir(folder)).toEqual(['data', 'place'])
})

test('a tar file has one copy', async () => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    await project.ingest(events(0, 100))
    await waymark.backup(inFolder('copy.tar'))
    expect(await refusal(waymark.backup(inFolder('copy.tar')))).toMatch(/exists\. A tar file holds one copy/)
  })
  await restore(inFolder('copy.tar'), inFolder('r'))
  await using('r', async (waymark) => expect((await counts(await waymark.project('Shop')))[0]).toBe(100))
  const whole = await readFile(inFolder('copy.tar'))
  await writeFile(inFolder('part.tar'), whole.subarray(0, whole.length - 5000))
  expect(await refusal(restore(inFolder('part.tar'), inFolder('r2')))).toMatch(/ends too early/)
})

test('with a key nothing can be read without it, and another key is refused', async () => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Secret shop' })
    await project.ingest({ batch: [{ event: 'unmistakable', distinct_id: 'u1', properties: {} }] })
    await waymark.backup(inFolder('place'), { key: 'correct horse' })
    await waymark.backup(inFolder('place'), { key: 'correct horse' })
    expect(await refusal(waymark.backup(inFolder('place')))).toMatch(/is encrypted: give its key/)
  })
  for (const path of await readdir(inFolder('place'), { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue
    const text = await readFile(join(path.parentPath, path.name), 'latin1')
    expect(text).not.toMatch(/unmistakable|Secret shop|projects\/1/)
  }
  expect(await refusal(restore(inFolder('place'), inFolder('r')))).toMatch(/is encrypted/)
  expect(await refusal(restore(inFolder('place'), inFolder('r'), { key: 'wrong' }))).toMatch(/The key does not open/)
  await restore(inFolder('place'), inFolder('r'), { key: 'correct horse' })
  await using('r', async (waymark) => expect((await waymark.projects()).map(({ name }) => name)).toEqual(['Secret shop']))
})

test('two directories do not share a place, unless one takes it over; then the other one is refused', async () => {
  await using('data', async (waymark) => {
    await (await waymark.createProject({ name: 'Shop' })).ingest(events(0, 10))
    await waymark.backup(inFolder('place'))
  })
  await restore(inFolder('place'), inFolder('restored'))
  await cp(inFolder('data'), inFolder('copied'), { recursive: true })
  for (const name of ['restored', 'copied'])
    await using(name, async (waymark) => {
      expect(await refusal(waymark.backup(inFolder('place')))).toMatch(/has the backups of .*data on .* must not share a place/)
    })
  await using('restored', async (waymark) => {
    expect((await waymark.backup(inFolder('place'), { takeOver: true })).copy).toBe(2)
    expect((await waymark.backup(inFolder('place'))).copy).toBe(3)
  })
  await using('data', async (waymark) => {
    expect(await refusal(waymark.backup(inFolder('place')))).toMatch(/has the backups of .*restored on /)
  })
  expect((await copiesIn(inFolder('place'))).map(({ number }) => number)).toEqual([1, 2, 3])
})

test('one project of a copy becomes a new one of an open directory, at a moment too', async () => {
  let now = Date.parse('2026-06-01T00:00:00Z')
  await using(
    'data',
    async (waymark) => {
      const project = await waymark.createProject({ name: 'Shop', timezone: 'Europe/Berlin' })
      await project.ingest(events(0, 20))
      await project.createAction({ name: 'Bought', steps: [{ event: 'bought' }] })
      const client = createClient(waymark)
      await client.projects.update(project, { test_account_filters: [{ key: 'email', type: 'person', value: 'a' }] })
      const shown = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'bought' }] }
      const dashboard = await client.dashboards.create(project, { name: 'Sales', tags: ['weekly'] })
      await client.insights.create(project, { name: 'Bought', query: shown, dashboards: [dashboard.id] })
      await client.insights.create(project, { name: 'Aside', query: shown })
      const at = new Date(now)
      const flag = {
        id: 7,
        project_id: project.id,
        key: 'new-ui',
        name: '',
        filters: { groups: [] },
        tags: ['new'],
        active: true,
        deleted: false,
        version: 3,
      }
      await waymark.accounts.context.store.write((tables) =>
        tables.feature_flags.insert({ ...flag, created_at: at, created_by_id: null, updated_at: at }),
      )
      now += 60_000
      await waymark.backup(inFolder('place'))
      now += 60_000
      await project.ingest(events(20, 20))
      now += 60_000
      await waymark.backup(inFolder('place'))
    },
    { clock: () => new Date(now) },
  )
  await using('other', async (waymark) => {
    const mine = await waymark.createProject({ name: 'Mine' })
    await mine.ingest(events(0, 3))
    const restored = await waymark.restoreProject(inFolder('place'), { project: 1 })
    expect(restored).toEqual({ project_id: 2, name: 'Shop (restored)', copy: 2, position: 41 })
    const then = await waymark.restoreProject(inFolder('place'), { project: 1, name: 'Then', at: new Date('2026-06-01T00:01:30Z') })
    expect(then).toMatchObject({ project_id: 3, name: 'Then', copy: 1, position: 21 })
    expect((await waymark.projects()).map(({ name, timezone }) => [name, timezone])).toEqual([
      ['Mine', 'UTC'],
      ['Shop (restored)', 'Europe/Berlin'],
      ['Then', 'Europe/Berlin'],
    ])
    const whole = await waymark.project(2)
    const client = createClient(waymark)
    const insights = (await client.insights.list(whole)).results
    expect(insights.map(({ name }) => name).sort()).toEqual(['Aside', 'Bought'])
    const dashboards = (await client.dashboards.list(whole)).results
    expect(dashboards.map(({ name, tags }) => [name, tags])).toEqual([
      ['My App Dashboard', []],
      ['Sales', ['weekly']],
    ])
    const sales = await client.dashboards.retrieve(whole, dashboards[1]!.id)
    expect(sales.tiles!.map(({ insight }) => [insight?.name, insight?.id])).toEqual([
      ['Bought', insights.find(({ name }) => name === 'Bought')!.id],
    ])
    const { test_account_filters, api_token, ...rest } = await client.projects.retrieve(whole)
    expect([test_account_filters, (rest as Record<string, unknown>).primary_dashboard]).toEqual([
      [{ key: 'email', type: 'person', value: 'a' }],
      dashboards[0]!.id,
    ])
    expect(new Set([api_token, mine.token, (await waymark.project(3)).token]).size).toBe(3)
    expect((await counts(whole))[0]).toBe(40)
    const flags = await waymark.accounts.context.store.read.feature_flags.find({ project_id: whole.id })
    expect(flags.map(({ key, version }) => [key, version])).toEqual([['new-ui', 3]])
    expect((await whole.actions.list()).map(({ name }) => name)).toEqual(['Bought'])
    expect((await counts(await waymark.project(3)))[0]).toBe(20)
    await whole.ingest(events(40, 5))
    expect((await counts(whole))[0]).toBe(45)
    expect(await refusal(waymark.restoreProject(inFolder('place'), { project: 7 }))).toMatch(
      /Copy 2 has no project 7: it has 1 \(Shop\)\.$/,
    )
    expect((await waymark.projects()).length).toBe(3)
  })
})

test.each([
  ['a project without events', async () => undefined],
  [
    'members of a cohort that were just computed',
    async (waymark: LocalWaymark, project: LocalProject) => {
      await project.importPersons([{ distinct_ids: ['u'], properties: { plan: 'pro' } }])
      const filters = { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: 'pro' }] } }
      const { id } = await project.createCohort({ name: 'Pros', filters } as never)
      await waymark.backup(inFolder('place')) // a checkpoint
      await project.sql`select count() from persons where id in cohort ${id}`
    },
  ],
])('a snapshot at rest opens: %s', async (_, prepare) => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    await prepare(waymark, project)
    const store = inFolder('data/projects/1/store.duckdb')
    await expect.poll(async () => (await tornPart(store)) === null).toBe(true)
    await cp(inFolder('data'), inFolder('copy'), { recursive: true })
  })
  await using('copy', async (waymark) => {
    expect((await (await waymark.project(1)).warnings()).length).toBe(0)
  })
})

test('a snapshot from before the first record opens, also before the write-ahead log is noted', async () => {
  await using('data', async (waymark) => {
    await (await waymark.createProject({ name: 'Shop' })).warnings()
    const store = inFolder('copy/projects/1/store.duckdb')
    await cp(inFolder('data'), inFolder('copy'), { recursive: true })
    // As the notes are right after a checkpoint.
    const [head, body] = (await readFile(`${store}.blocks`, 'utf8')).split('\n')
    const text = JSON.stringify({ ...(JSON.parse(body!) as object), log: null })
    await writeFile(`${store}.blocks`, `${head!.slice(0, -8)}${crc32(Buffer.from(text)).toString(16).padStart(8, '0')}\n${text}`)
    expect(await tornPart(store)).toBe('its write-ahead log may be that of another checkpoint')
    await rm(inFolder('copy/projects/1/log'), { recursive: true })
    await mkdir(inFolder('copy/projects/1/log'))
  })
  await using('copy', async (waymark) => {
    const project = await waymark.project(1)
    await project.ingest(events(0, 3))
    expect((await counts(project))[0]).toBe(3)
  })
})

test('old copies are removed with what only they need, the newest one never', async () => {
  let now = Date.parse('2026-06-01T00:00:00Z')
  await using(
    'data',
    async (waymark) => {
      const project = await waymark.createProject({ name: 'Shop' })
      for (let day = 0; day < 6; day++) {
        now += 86_400_000
        await project.ingest(events(day * 30, 30))
        const { removed } = await waymark.backup(inFolder('place'), { keepDays: 2 })
        expect(removed).toBe(day < 3 ? 0 : 1)
      }
      now += 20 * 86_400_000
      await waymark.backup(inFolder('place'), { keepDays: 2 })
    },
    { clock: () => new Date(now) },
  )
  const copies = await copiesIn(inFolder('place'))
  expect(copies.map(({ number }) => number)).toEqual([7])
  const needed = new Set(copies.flatMap(({ objects }) => objects.split(' ').map((run) => run.split(':')[0]!)))
  for (const name of await readdir(inFolder('place/objects'))) expect(needed).toContain(name.split('-')[0])
  await restore(inFolder('place'), inFolder('r'))
  await using('r', async (waymark) => expect((await counts(await waymark.project('Shop')))[0]).toBe(180))
})

test.each([
  [
    'a directory that is not empty',
    async () => restore(inFolder('place'), inFolder('data')),
    /is not empty\. A copy is restored into a new directory/,
  ],
  ['a copy that does not exist', async () => restore(inFolder('place'), inFolder('r'), { copy: 9 }), /has no copy 9: it has 1 to 1/],
  ['a place without a backup', async () => restore(folder, inFolder('r')), /has no backup of Waymark/],
  ['a place that does not exist', async () => restore(inFolder('nowhere'), inFolder('r')), /nowhere does not exist/],
  [
    'an unknown kind of place',
    async () => restore('ftp://host/folder', inFolder('r')),
    /a backup goes to a folder, to a file that ends with \.tar, or to s3:/,
  ],
])('%s is refused', async (_, work, message) => {
  await using('data', async (waymark) => void (await waymark.backup(inFolder('place'))))
  expect(await refusal(work())).toMatch(message)
})

test.skipIf(process.platform !== 'linux')('a place and a directory where nothing can be made are refused, and nothing hangs', async () => {
  await using('data', async (waymark) => {
    expect(await refusal(waymark.backup('/proc/never/place'))).toMatch(/^\/proc\/never\/place cannot be written to: ENOENT/)
    await writeFile(inFolder('a file'), '')
    expect(await refusal(waymark.backup(inFolder('a file/place')))).toMatch(/cannot be written to: ENOTDIR/)
    await waymark.backup(inFolder('deep/er/place'))
  })
  expect(await refusal(restore(inFolder('deep/er/place'), '/proc/never/data'))).toMatch(/^\/proc\/never\/data cannot be made: ENOENT/)
  await restore(inFolder('deep/er/place'), inFolder('as/deep/data'))
})

test('a file outside of the directory is never written, whatever a place says', async () => {
  await using('data', async (waymark) => void (await waymark.backup(inFolder('place'))))
  const { Repository } = await import('../../../src/service/backups/repository/repository.ts')
  const real = Repository.prototype.filesOf
  Repository.prototype.filesOf = async function (copy) {
    const [first, ...rest] = await real.call(this, copy)
    return [{ ...first!, path: '../../evil' }, ...rest]
  }
  try {
    expect(await refusal(restore(inFolder('place'), inFolder('r')))).toMatch(
      /names a file "\.\.\/\.\.\/evil", which is not inside a directory/,
    )
  } finally {
    Repository.prototype.filesOf = real
  }
})

test('a project that cannot be opened is copied as it is, and the others are copied', async () => {
  await using('data', async (waymark) => {
    for (const name of ['Whole', 'Broken']) await (await waymark.createProject({ name })).ingest(events(0, 10))
  })
  await rm(inFolder('data/projects/2/log'), { recursive: true })
  await writeFile(inFolder('data/projects/2/store.duckdb'), 'not a database')
  await using(
    'data',
    async (waymark) => {
      const { projects, verified } = await waymark.backup(inFolder('place'), { verify: true })
      expect(projects).toEqual([
        { id: 1, name: 'Whole', position: 10 },
        { id: 2, name: 'Broken', position: 10, problem: expect.stringContaining('store.duckdb') },
      ])
      expect(verified).toMatchObject({ projects: 1, events: 10 })
    },
    { onError: () => undefined },
  )
  await restore(inFolder('place'), inFolder('r'))
  expect(await readFile(inFolder('r/projects/2/store.duckdb'), 'utf8')).toBe('not a database')
})

test('a server that makes backups keeps what none has, and stops keeping it when it makes none any more', async () => {
  await using('data', async (waymark) => {
    await (await waymark.createProject({ name: 'Shop' })).ingest(events(0, 10))
  })
  await using(
    'data',
    async (waymark) => {
      await expect.poll(async () => (await waymark.scheduledBackups!.status())?.copy).toBe(1)
      expect(await readFile(inFolder('data/projects/1/backed-up'), 'utf8')).toBe('10\n')
    },
    { backups: { to: inFolder('place'), verifyEveryHours: 0 } },
  )
  await using('data', async () => expect(await readdir(inFolder('data/projects/1'))).not.toContain('backed-up'))
})

test('a directory that was copied while it was used says so where it is torn', async () => {
  await using('data', async (waymark) => {
    const project = await waymark.createProject({ name: 'Shop' })
    const stored = async (from: number) => {
      await project.ingest(events(from, 100))
      await project.warnings() // all of it is applied
      await project.settle()
    }
    await stored(0)
    await cp(inFolder('data'), inFolder('snapshot'), { recursive: true })
    await cp(inFolder('data'), inFolder('torn'), { recursive: true })
    for (let i = 1; i <= 3; i++) await stored(i * 100)
    // The notes were copied last, and the log before the others.
    await cp(inFolder('data/projects/1/store.duckdb.blocks'), inFolder('torn/projects/1/store.duckdb.blocks'))
  })
  await using('snapshot', async (waymark) => expect((await counts(await waymark.project('Shop')))[0]).toBe(100))
  // The log has all of it, so the store is made again.
  const notices: string[] = []
  await using('torn', async (waymark) => expect((await counts(await waymark.project('Shop')))[0]).toBe(100), {
    onRecovery: (notice) => void (notice.kind === 'store-rebuilt' && notices.push(notice.reason)),
  })
  expect(notices).toEqual([expect.stringContaining('was copied while a process wrote to it, and is torn')])
})

test('accounts that were copied while they changed are refused', async () => {
  await using('data', async (waymark) => {
    await waymark.createProject({ name: 'Shop' })
    await waymark.backup(inFolder('one'))
    await cp(inFolder('data'), inFolder('torn'), { recursive: true })
    await waymark.createProject({ name: 'Other' })
    await waymark.backup(inFolder('one'))
    await cp(inFolder('data/control.duckdb.blocks'), inFolder('torn/control.duckdb.blocks'))
  })
  expect(await refusal(open({ dataDir: inFolder('torn'), ...quiet }))).toMatch(
    /control\.duckdb cannot be opened: it was copied while a process wrote to it, and is torn.*waymark backup/,
  )
})

test('salts of visitors without cookies, locks and caches are in no copy', async () => {
  await using('data', async (waymark) => {
    const project = await waymark
      .createProject({ name: 'Shop', cookieless_server_hash_mode: 2 } as never)
      .catch(() => waymark.createProject({ name: 'Shop' }))
    await project.ingest(events(0, 10))
    await mkdir(inFolder('data/cookieless'), { recursive: true })
    await writeFile(inFolder('data/cookieless/salts.json'), '{}')
    await waymark.backup(inFolder('place'))
  })
  await restore(inFolder('place'), inFolder('r'))
  const files = (await readdir(inFolder('r'), { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map(({ name }) => name)
  expect(files.sort()).toEqual(expect.arrayContaining(['000000000001.arrow', 'control.duckdb', 'log.position', 'store.duckdb']))
  for (const name of ['salts.json', 'waymark.lock', 'server.json', 'backups.json']) expect(files).not.toContain(name)
})
