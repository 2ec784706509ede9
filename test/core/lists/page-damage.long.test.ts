import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { ask, type Explained, resultsOf } from './shapes.ts'

// Lists in files, folded in threads, whose files are damaged, cut or gone: the answers stay right, and the files are rebuilt.

const clock = () => new Date('2026-03-10T12:00:00Z')
/** Folds of this many events run in threads. */
const events = 210_000
const listMemory = 3_600_000

let folder = ''
let waymark: LocalWaymark
let project: LocalProject
const reports: string[] = []

const trend = {
  kind: 'TrendsQuery',
  series: [{ kind: 'EventsNode', event: 'visit', math: 'dau' }],
  dateRange: { date_from: '2026-03-01', date_to: '2026-03-09' },
  breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
}
const funnel = {
  kind: 'FunnelsQuery',
  series: ['visit', 'sign up', 'buy'].map((event) => ({ kind: 'EventsNode', event })),
  dateRange: trend.dateRange,
}

async function opened(): Promise<void> {
  waymark = await open({ dataDir: folder, clock, threads: 2, listMemory })
  const [known] = await waymark.projects()
  project = known ? await waymark.project(known.id) : await waymark.createProject()
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waymark-page-damage-'))
  process.on('warning', noted)
  await opened()
  for (let first = 0; first < events; first += 10_000)
    await project.ingest({
      batch: Array.from({ length: 10_000 }, (_, i) => {
        const n = first + i
        return {
          event: ['visit', 'sign up', 'buy', 'other'][(n * 7) % 4]!,
          distinct_id: `somebody-${(n * 7919) % 2000}`,
          timestamp: new Date(Date.UTC(2026, 2, 1) + ((n * 104_729) % (9 * 86_400)) * 1000).toISOString(),
          properties: { plan: ['free', 'pro', 'team'][(n * 31) % 3]! },
        }
      }),
    } as never)
})
afterEach(async () => {
  await waymark.close()
  process.off('warning', noted)
  reports.length = 0
  await rm(folder, { recursive: true, force: true })
})
const noted = ({ message }: Error) => void reports.push(message)

/** From the events in files, or from what is kept of their days. */
const fromFiles = ({ explain }: Explained) =>
  (explain as readonly { readonly files?: true; readonly days?: true }[]).some(({ files, days }) => files || days)
const pagesFolder = () => join(folder, 'projects', '1', 'core', 'pages')
/** The one folder of pages that is in use. */
const generation = () => {
  const names = readdirSync(pagesFolder())
  expect(names).toHaveLength(1)
  return join(pagesFolder(), names[0]!)
}

let asked = 0
/** Each time another question of the same columns: answers are kept. */
async function askBoth(given: object): Promise<boolean> {
  const query = { ...given, dateRange: { date_from: '2026-03-01', date_to: `2026-03-${10 + (asked++ % 20)}` } }
  const answer = await ask(project, query)
  const stated = await ask(project, { ...query, modifiers: { road: 'sql' } })
  expect(resultsOf(answer)).toEqual(resultsOf(stated))
  return fromFiles(answer)
}

test.each([
  ['flipped', 'events'],
  ['cut', 'events'],
  ['gone', 'events'],
  ['gone', 'records'],
  ['flipped', 'column'],
  ['gone', 'column'],
] as const)('%s files of %s are noticed, and rebuilt', async (damage, what) => {
  expect(await askBoth(trend)).toBe(true)
  expect(await askBoth(funnel)).toBe(true)
  await waymark.close()
  const before = generation()
  const name = (await readdir(before)).find((one) => one.startsWith(what))!
  const path = join(before, name)
  if (damage === 'gone') await rm(path)
  else if (damage === 'cut') await truncate(path, 1000)
  else {
    const bytes = await readFile(path)
    for (let at = 100; at < bytes.length; at += 10_000) bytes[at]! ^= 0x55
    await writeFile(path, bytes)
  }
  await opened()
  // `records` are read by few folds: a new column is one that needs them.
  const again = what === 'records' ? { ...trend, breakdownFilter: { breakdown: '$lib', breakdown_type: 'event' } } : trend
  await askBoth(again)
  expect(await askBoth(again)).toBe(true)
  expect(await askBoth(funnel)).toBe(true)
  expect(existsSync(before)).toBe(false)
  expect(reports.join('\n')).toMatch(/records|events|column-\d/)
})

test('after a restart without damage the files are read again, and not made', async () => {
  await askBoth(trend)
  await waymark.close()
  const before = generation()
  await opened()
  expect(await askBoth(trend)).toBe(true)
  expect(generation()).toBe(before)
  await project.ingest({
    batch: [{ event: 'visit', distinct_id: 'somebody-7', timestamp: '2026-03-02T10:00:00Z', properties: { plan: 'new' } }],
  })
  expect(await askBoth(trend)).toBe(true)
  expect(reports).toEqual([])
})

test('events that have arrived go to files once they take much memory', async () => {
  await askBoth(trend)
  const before = generation()
  for (let round = 0; round < 8; round++) {
    await project.ingest({
      batch: Array.from({ length: 10_000 }, (_, i) => ({
        event: 'visit',
        distinct_id: `somebody-${(round * 500 + i) % 2400}`,
        timestamp: new Date(Date.UTC(2026, 2, 5) + i * 1000).toISOString(),
        properties: { plan: `plan ${i % 5}` },
      })),
    })
    await askBoth(trend)
  }
  await waymark.close() // once they are written
  expect(generation()).not.toBe(before)
  await opened()
  expect(await askBoth(trend)).toBe(true)
  expect(await askBoth(funnel)).toBe(true)
})

test('a disk that takes no more fails no question, and what is there stays in use', async () => {
  expect(await askBoth(funnel)).toBe(true)
  const before = generation()
  // In the place of the next column lies a folder: nothing can be written there.
  await mkdir(join(before, 'column-1'))
  expect(await askBoth(trend)).toBe(false)
  expect(await askBoth(trend)).toBe(false)
  expect(await askBoth(funnel)).toBe(true)
  expect(generation()).toBe(before)
  expect(reports.join('\n')).toContain('cannot be written, and statements answer for a while')
  await rm(join(before, 'column-1'), { recursive: true })
})

test('lists that cannot be written at all fail no question', async () => {
  await writeFile(join(folder, 'projects', '1', 'core'), 'no folder')
  expect(await askBoth(trend)).toBe(false)
  expect(await askBoth(funnel)).toBe(false)
  expect(reports.filter((one) => one.includes('cannot be written'))).toHaveLength(1)
})
