import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ListSource } from '../../src/core/lists/ports.ts'
import { ProjectLists } from '../../src/core/lists/project-lists.ts'
import { type LocalWaymark, type OpenOptions, open } from '../../src/engine.ts'
import { RecentEvents } from '../../src/events/ingestion/applying/recent-events.ts'
import type { EventRow, StagedGroup } from '../../src/events/ingestion/ports.ts'
import { MemoryShare } from '../../src/lib/memory/memory-share.ts'
import type { LocalProject } from '../../src/project.ts'

const root = resolve(import.meta.dirname, '../..')
const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))

test('docs/invariants.md names each check, where it is, and the file that tests it', () => {
  const rows = readFileSync(join(root, 'docs/invariants.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const documented = rows.map(([, name, , where]) => `${name!.replaceAll('`', '')} in ${where!.replaceAll('`', '')}`)
  const checked = filesIn('src').flatMap((file) =>
    Array.from(
      readFileSync(join(root, file), 'utf8').matchAll(/mustHold\('([^']+)'/g),
      ([, name]) => `${name} in ${file.slice('src/'.length)}`,
    ),
  )
  expect(documented.sort()).toEqual(checked.sort())
  const named = Array.from(readFileSync(join(root, 'src/errors/invariants.ts'), 'utf8').matchAll(/^ {2}'([^']+)':/gm), ([, name]) => name)
  expect([...new Set(checked.map((one) => one.slice(0, one.lastIndexOf(' in '))))].sort()).toEqual(named.sort())
  for (const [, , , , tests] of rows)
    for (const [, file] of tests!.matchAll(/`(test\/[^`]+)`/g)) expect(readFileSync(join(root, file!), 'utf8')).not.toBe('')
})

describe('a broken invariant ends the engine of its project', () => {
  let waymark: LocalWaymark
  let project: LocalProject
  const reported: string[] = []
  const options: OpenOptions = { dataDir: ':memory:', onError: (error) => void reported.push((error as Error).message) }
  const event = (n: number) => ({ event: 'visited', distinct_id: 'a', timestamp: '2026-01-01T00:00:00Z', properties: { n } })
  beforeEach(async () => {
    waymark = await open(options)
    project = await waymark.createProject()
    await project.ingest({ batch: [event(1)] })
    await project.answer({ kind: 'SqlLikeQuery', query: 'select count() from events' })
  })
  afterEach(async () => {
    await waymark.close()
    reported.length = 0
  })

  interface Inside {
    readonly backend: {
      readonly inner: {
        readonly pipeline: {
          readonly loop: { readonly applier: { appliedSeq: number }; readonly parts: { readonly log: { readonly lastSeq: number } } }
        }
      }
    }
  }
  const pipelineOf = () => (project as unknown as Inside).backend.inner.pipeline

  const cases: Record<string, () => void> = {
    'records in order': () => {
      pipelineOf().loop.applier.appliedSeq = 1_000
    },
    'applied never back': () => {
      Object.defineProperty(pipelineOf().loop.applier, 'appliedSeq', { get: () => 0, set: () => undefined })
    },
    'applied within the log': () => {
      Object.defineProperty(pipelineOf().loop.parts.log, 'lastSeq', { get: () => 1, set: () => undefined })
    },
  }
  test.each(Object.entries(cases))('%s: what is asked and sent gets the report', async (name, harm) => {
    harm()
    const report = expect.objectContaining({ invariant: name })
    await project.ingest({ batch: [event(2)] }) // durable, whatever becomes of the engine
    const asked = project.answer({ kind: 'SqlLikeQuery', query: 'select count() from events' })
    await expect(asked).rejects.toEqual(report)
    await expect(project.answer({ kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'visited' }] })).rejects.toEqual(report)
    await expect(project.ingest({ batch: [event(3)] })).rejects.toEqual(report)
    expect(project.failure).toEqual(report)
    expect(reported.filter((message) => message.includes(`"${name}"`))).toHaveLength(1)
  })
})

test('recent in order', () => {
  const recent = new RecentEvents(0, 0, async () => undefined)
  void recent.until(1) // somebody reads them
  const group = recent.noting({ events: 0, pushEvent: () => undefined } as Partial<StagedGroup> as StagedGroup)
  const row = { personNo: 1, time: 0, eventId: 1, bytes: new Uint8Array(2), from: 0, to: 2 } as Partial<EventRow>
  group.pushEvent({ ...row, seq: 2 } as EventRow)
  expect(() => group.pushEvent({ ...row, seq: 2 } as EventRow)).toThrow(expect.objectContaining({ invariant: 'recent in order' }))
})

describe('lists have every event', () => {
  const noColumns = { columns: [], ofEvents: async () => undefined, ofPersons: async () => undefined, ofKeys: async () => undefined }
  /** A store whose statement returns an event that it was not asked for. `changes`: events are removed meanwhile. */
  const sourceOf = (rows: number, changes: boolean): ListSource => {
    let changedSeq = 0
    return {
      counts: async () => ({ person: Int32Array.of(0), events: Int32Array.of(2) }),
      state: async () => ({ seq: 2, events: changedSeq > 0 ? rows : 2, mergesMark: '', changedSeq }),
      marks: async () => ({ mergesMark: '', changedSeq }),
      async events(_, __, take) {
        if (changes) changedSeq = 2
        const seq = Float64Array.from({ length: rows }, (___, i) => i + 1)
        take({ person: new Int32Array(rows), time: seq, event: new Int32Array(rows), seq })
      },
      fingerprint: async () => '',
      merges: async () => new Map(),
    }
  }
  test('or nobody reads them', async () => {
    const reported: unknown[] = []
    const lists = new ProjectLists(new MemoryShare(1e9), { report: (error) => void reported.push(error) })
    const broken = expect.objectContaining({ invariant: 'lists have every event' })
    await expect(lists.use(sourceOf(3, false), 2, noColumns, async () => 'read')).rejects.toEqual(broken)
    expect(reported).toEqual([broken])
  })
  test('as many as the store had, or events were removed meanwhile', async () => {
    for (const source of [sourceOf(2, false), sourceOf(1, true)])
      expect(await new ProjectLists(new MemoryShare(1e9)).use(source, 2, noColumns, async () => 'read')).toEqual({ answer: 'read' })
  })
})
