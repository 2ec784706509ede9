import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CopiedStore } from '../../../src/engine/storage/duckdb/copy-store.ts'
import { openInstance, projectDatabase } from '../../../src/engine/storage/duckdb/instance.ts'
import { replaceByCopy, storeCopyOf } from '../../../src/engine/storage/files/store-copy.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../../src/engine.ts'
import { WaymarkError } from '../../../src/errors/errors.ts'
import type { LocalProject } from '../../../src/project.ts'
import { restore } from '../../../src/service/backups/restore-directory.ts'
import type { CompactProgress } from '../../../src/service/directory/compact-projects.ts'

// Deleted rows keep their space in a store until it is compacted: then the file is smaller, and everything else as it was.

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'waymark-compact-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

let folder: string
let count = 0
beforeEach(async () => {
  folder = join(root, String(++count))
  await mkdir(folder)
})
const inFolder = (...names: string[]) => join(folder, ...names)
const storeOf = (name: string, id = 1) => inFolder(name, 'projects', String(id), 'store.duckdb')
const sizeOf = async (path: string) => (await stat(path)).size

/** An open directory, closed at the end of the test. */
async function using<T>(name: string, work: (waymark: LocalWaymark) => Promise<T>, options: Partial<OpenOptions> = {}): Promise<T> {
  const waymark = await open({
    dataDir: inFolder(name),
    threads: 2,
    memoryLimit: '512MB',
    minFreeBytes: 0,
    onRecovery: () => undefined,
    ...options,
  })
  try {
    return await work(waymark)
  } finally {
    await waymark.close()
  }
}

const people = 40
/** Texts that do not compress, and take far more than the blocks that a small file begins with. */
const noise = (i: number) => Array.from({ length: 60 }, (_, k) => Math.imul(i * 97 + k, 2654435761) >>> 0).join('-')
const events = (from: number, count: number) => ({
  batch: Array.from({ length: count }, (_, k) => {
    const i = from + k
    return {
      event: i % 3 === 0 ? 'bought' : 'looked',
      distinct_id: `u${i % people}`,
      uuid: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      timestamp: `2026-03-0${1 + (i % 9)}T10:00:00Z`,
      properties: { n: i, note: noise(i), plan: i % 2 ? 'pro' : 'free', $set: { last: i } },
    }
  }),
})
const send = async (project: LocalProject, from: number, count: number, most = 2_000) => {
  for (let at = from; at < from + count; at += most) await project.ingest(events(at, Math.min(most, from + count - at)))
}
const rows = async (project: LocalProject, query: string) =>
  (await project.query({ kind: 'SqlLikeQuery', query }, { refresh: 'force_blocking' })).results as unknown[][]
const answers = async (project: LocalProject) => [
  await rows(project, 'select count(), count(distinct person_id), sum(properties.n), max(toInt(person.properties.last)) from events'),
  await rows(project, 'select event, properties.plan, count() as n from events group by 1, 2 order by 1, 2'),
  await project
    .query(
      {
        kind: 'TrendsQuery',
        series: [{ kind: 'EventsNode', event: 'bought', math: 'dau' }],
        dateRange: { date_from: '2026-03-01', date_to: '2026-03-09' },
      },
      { refresh: 'force_blocking' },
    )
    .then(({ results }) => results),
]
const deleteHalf = async (project: LocalProject) => {
  const found = await rows(project, 'select distinct person_id, distinct_id from events')
  const half = found.filter(([, id]) => Number(String(id).slice(1)) % 2 === 0).map(([person]) => String(person))
  expect((await project.deletePersons(half, true)).every((ids) => ids === 1)).toBe(true)
}
const made = async (waymark: LocalWaymark, count = 20_000) => {
  const project = await waymark.createProject({ name: 'Shop' })
  await send(project, 0, count)
  return project
}
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof WaymarkError)) throw error ?? new Error('it was not refused')
  return error.message
}
/** What a store says that is made anew from the records of the log. */
const rebuilt = async (name: string) => {
  await cp(inFolder(name), inFolder(`${name}-rebuilt`), { recursive: true })
  for (const file of await readdir(inFolder(`${name}-rebuilt`, 'projects', '1')))
    if (file !== 'log' && file !== 'log.position') await rm(inFolder(`${name}-rebuilt`, 'projects', '1', file), { recursive: true })
  return using(`${name}-rebuilt`, async (waymark) => (await waymark.project(1)).digest())
}

describe.each([false, true])('with an engine of its own: %s', (isolate) => {
  test('the space of deleted events is given back, and every answer and row is as it was, also after the next start', async () => {
    const [before, digest] = await using(
      'data',
      async (waymark) => {
        const project = await made(waymark)
        await deleteHalf(project)
        const before = await answers(project)
        const digest = await project.digest()
        const { projects, ...total } = await waymark.compact()
        expect(projects).toEqual([
          {
            id: project.id,
            name: 'Shop',
            outcome: 'compacted',
            bytes_before: expect.any(Number),
            bytes_after: await sizeOf(storeOf('data')),
            given_back: expect.any(Number),
            seconds: expect.any(Number),
          },
        ])
        const [one] = projects
        expect(one!.given_back).toBe(one!.bytes_before - one!.bytes_after)
        expect(one!.bytes_after).toBeLessThan(one!.bytes_before * 0.75)
        expect(total).toMatchObject({ bytes_before: one!.bytes_before, bytes_after: one!.bytes_after, given_back: one!.given_back })
        expect(await answers(project)).toEqual(before)
        expect(await project.digest()).toEqual(digest)
        // Events that were deleted with a person stay deleted when they are sent again, and new ones arrive.
        await project.ingest(events(0, 2))
        await project.ingest(events(20_000, 1))
        expect(await rows(project, 'select count() from events')).toEqual([[10_001]])
        return [await answers(project), await project.digest()] as const
      },
      { isolate },
    )
    await using(
      'data',
      async (waymark) => {
        const project = await waymark.project('Shop')
        expect(await answers(project)).toEqual(before)
        expect(await project.digest()).toEqual(digest)
        expect((await readdir(inFolder('data', 'projects', '1'))).filter((name) => name.includes('compact'))).toEqual([])
      },
      { isolate },
    )
    expect(await rebuilt('data')).toEqual(digest)
  })

  test('events, queries and deletions go on meanwhile; nothing is lost or doubled', async () => {
    const digest = await using(
      'data',
      async (waymark) => {
        const project = await made(waymark, 5_000)
        let sent = 5_000
        let isOver = false
        const sending = (async () => {
          for (; !isOver; sent += 20) await project.ingest(events(sent, 20))
        })()
        const asking = (async () => {
          for (let last = 0; !isOver; ) {
            const atLeast = sent
            const [[n]] = (await rows(project, 'select count() from events')) as [[number]]
            expect(n).toBeGreaterThanOrEqual(Math.max(last, atLeast))
            last = n
          }
        })()
        try {
          for (let round = 0; round < 2; round++)
            expect((await waymark.compact({ force: true })).projects).toMatchObject([{ outcome: 'compacted' }])
        } finally {
          isOver = true
          await Promise.all([sending, asking])
        }
        await deleteHalf(project)
        const { projects } = await waymark.compact()
        expect(projects[0]).toMatchObject({ outcome: 'compacted' })
        const [[n, sum]] = (await rows(project, 'select count(), sum(properties.n) from events')) as [[number, number]]
        const kept = Array.from({ length: sent }, (_, i) => i).filter((i) => (i % people) % 2 === 1)
        expect([n, sum]).toEqual([kept.length, kept.reduce((a, b) => a + b, 0)])
        return project.digest()
      },
      { isolate },
    )
    expect(await rebuilt('data')).toEqual(digest)
  })
})

test('a compacted store has the columns of a new one, its rows are in the order of the log, and its row groups are full', async () => {
  await using('data', async (waymark) => {
    const project = await made(waymark, 6_000)
    await deleteHalf(project)
    await waymark.createProject({ name: 'New' })
    expect((await waymark.compact({ project: project.id })).projects).toMatchObject([{ outcome: 'compacted' }])
  })
  const instance = await openInstance({ dataDir: inFolder('data'), memoryLimit: '256MB', threads: 2, access: 'read' })
  try {
    for (const id of [1, 2]) await instance.attachProject(id)
    const columnsOf = (id: number) =>
      instance.rows(
        `SELECT table_name, column_name, column_index, data_type, is_nullable, column_default FROM duckdb_columns() WHERE database_name = $1 ORDER BY 1, 3`,
        [projectDatabase(id)],
      )
    expect(await columnsOf(1)).toEqual(await columnsOf(2))
    const [blocks] = await instance.rows('SELECT free_blocks::INT AS free FROM pragma_database_size() WHERE database_name = $1', [
      projectDatabase(1),
    ])
    expect(blocks).toEqual({ free: 0 })
    const [order] =
      await instance.rows(`SELECT count(*)::INT AS n, count(*) FILTER (log_seq < before)::INT AS astray, max(rowid)::INT AS last
      FROM (SELECT log_seq, lag(log_seq) OVER (ORDER BY rowid) AS before, rowid FROM ${projectDatabase(1)}.main.events)`)
    expect(order).toEqual({ n: 3_000, astray: 0, last: 2_999 })
  } finally {
    await instance.close()
  }
})

test('a store that would give little back is skipped unless it is forced, and only the chosen project is looked at', async () => {
  await using('data', async (waymark) => {
    const project = await made(waymark, 3_000)
    await waymark.createProject({ name: 'Other' })
    const skipped = await waymark.compact({ project: project.id })
    expect(skipped).toMatchObject({ given_back: 0, projects: [{ id: project.id, outcome: 'skipped', given_back: 0 }] })
    expect((await waymark.compact({ project: project.id, force: true })).projects).toMatchObject([{ outcome: 'compacted' }])
    expect((await waymark.compact()).projects.map(({ id }) => id)).toEqual([1, 2])
    await expect(waymark.compact({ project: 9 })).rejects.toMatchObject({ code: 'not-found' })
    await expect(waymark.compact({ project: 'Shop' as never })).rejects.toThrow('project must be the id of a project')
    await expect(waymark.compact({ all: true } as never)).rejects.toThrow('all')
  })
})

test('what has no file is refused with a sentence', async () => {
  const waymark = await open({ dataDir: ':memory:' })
  expect(await refusal(waymark.compact())).toBe('dataDir is :memory:, which has no files to compact')
  await waymark.close()
})

test('copies of the directory before and after it restore to the same, also one by one into the same place', async () => {
  const [before, digest] = await using('data', async (waymark) => {
    const project = await made(waymark, 8_000)
    await waymark.backup(inFolder('place'))
    await deleteHalf(project)
    await waymark.backup(inFolder('place'))
    expect((await waymark.compact()).projects).toMatchObject([{ outcome: 'compacted' }])
    const { verified } = await waymark.backup(inFolder('place'), { verify: true })
    expect(verified).toMatchObject({ projects: 1, events: 4_000 })
    await send(project, 8_000, 100)
    await waymark.backup(inFolder('place'))
    return [await answers(project), await project.digest()] as const
  })
  await restore(inFolder('place'), inFolder('restored'))
  await using('restored', async (waymark) => {
    const project = await waymark.project('Shop')
    expect(await answers(project)).toEqual(before)
    expect(await project.digest()).toEqual(digest)
  })
  await restore(inFolder('place'), inFolder('older'), { copy: 2 })
  await using('older', async (waymark) => expect(await rows(await waymark.project(1), 'select count() from events')).toEqual([[4_000]]))
})

test('a copy of the directory that is made with cp after it is whole', async () => {
  await using('data', async (waymark) => {
    const project = await made(waymark, 4_000)
    await deleteHalf(project)
    expect((await waymark.compact()).projects).toMatchObject([{ outcome: 'compacted' }])
    await cp(inFolder('data'), inFolder('copied'), { recursive: true })
  })
  const notices: string[] = []
  await using('copied', async (waymark) => expect(await rows(await waymark.project(1), 'select count() from events')).toEqual([[2_000]]), {
    onRecovery: ({ kind }) => notices.push(kind),
  })
  expect(notices).toEqual([])
})

test('what a crash left of a copy is removed at the next start, and never served', async () => {
  await using('data', (waymark) => made(waymark, 1_000))
  for (const file of ['.compact.new', '.compact.new.wal', '.compact.new.blocks']) await writeFile(storeOf('data') + file, 'half of it')
  await using('data', async (waymark) => {
    expect(await rows(await waymark.project(1), 'select count() from events')).toEqual([[1_000]])
    expect((await readdir(inFolder('data', 'projects', '1'))).filter((name) => name.includes('compact'))).toEqual([])
  })
})

describe.each([false, true])('stopped, with an engine of its own: %s', (isolate) => {
  test('nothing changes, no copy stays, and it can be compacted again', async () => {
    await using(
      'data',
      async (waymark) => {
        const project = await made(waymark, 4_000)
        await deleteHalf(project)
        const before = await answers(project)
        const stop = new AbortController()
        stop.abort(new WaymarkError('command-failed', { message: 'Stopped.' }))
        await expect(waymark.compact({ signal: stop.signal })).rejects.toThrow('Stopped.')
        const later = new AbortController()
        const seen: CompactProgress[] = []
        const onProgress = (progress: CompactProgress) => {
          seen.push(progress)
          later.abort(new WaymarkError('command-failed', { message: 'Stopped later.' }))
        }
        const outcome = await waymark.compact({ signal: later.signal, onProgress }).catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome.message).toBe('Stopped later.') // it may have been faster than the first look
        for (const progress of seen) expect(progress).toMatchObject({ phase: 'compacting', project: 1 })
        expect((await readdir(inFolder('data', 'projects', '1'))).filter((name) => name.includes('compact'))).toEqual([])
        expect(await answers(project)).toEqual(before)
        expect((await waymark.compact({ force: true })).projects).toMatchObject([{ outcome: 'compacted' }])
        expect(await answers(project)).toEqual(before)
      },
      { isolate },
    )
  })
})

test('with too little free disk nothing is copied, and the sentence says how much is missing', async () => {
  await using('data', (waymark) => made(waymark, 1_000))
  const instance = await openInstance({ dataDir: inFolder('data'), memoryLimit: '256MB', threads: 2 })
  try {
    await instance.attachProject(1)
    const space = new CopiedStore(instance, projectDatabase(1), storeOf('data'), async () => 10 * 1024 ** 2)
    expect(await refusal(space.copy())).toMatch(
      /^A copy of the store needs \d+ MiB of free disk, but 10 MiB are free\. Free some space, and compact again\.$/,
    )
    expect((await readdir(inFolder('data', 'projects', '1'))).filter((name) => name.includes('compact'))).toEqual([])
  } finally {
    await instance.close()
  }
})

test('the log keeps what a copy lacks until the copy has replaced the store', async () => {
  await using('data', (waymark) => made(waymark, 1_000))
  const instance = await openInstance({ dataDir: inFolder('data'), memoryLimit: '256MB', threads: 2 })
  try {
    const name = await instance.attachProject(1)
    const space = new CopiedStore(instance, name, storeOf('data'))
    await instance.makeDurable(name)
    await space.copy()
    await expect(instance.makeDurable(name)).rejects.toThrow('lacks records of the log')
    await expect(instance.replaceProject(1)).rejects.toThrow('is open')
    await space.discard()
    await instance.makeDurable(name)
    await space.copy()
    await instance.closeFile(name)
    await instance.replaceProject(1)
    await instance.attachProject(1)
    await instance.makeDurable(name)
    await instance.closeFile(name)
    await expect(instance.replaceProject(1)).rejects.toThrow('has no copy that is complete')
  } finally {
    await instance.close()
  }
})

test('a copy never replaces a store with a write-ahead log: it would be applied to other rows', async () => {
  await using('data', (waymark) => made(waymark, 1_000))
  const store = storeOf('data')
  await cp(store, storeCopyOf(store))
  await writeFile(`${store}.wal`, 'of the old file')
  await expect(replaceByCopy(store)).rejects.toThrow('has a write-ahead log')
  expect(await stat(storeCopyOf(store)).then(() => true)).toBe(true)
})
