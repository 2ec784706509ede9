import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { preparePart } from '../../../src/events/bulk/prepare-part.ts'
import { blocksOf, linesOfBlock, linesReader, openSource, type SourceFile } from '../../../src/events/imports/open.ts'
import type { ImportedEvent } from '../../../src/events/imports/record.ts'
import { RowTaker } from '../../../src/events/imports/row-taker.ts'
import { type BatchResult, type Checkpoints, type ImportRun, type ImportSummary, runImport } from '../../../src/events/imports/run.ts'
import type { IngestAnswer } from '../../../src/events/ingestion/intake.ts'
import { nameUuid } from '../../../src/lib/ids/name-uuid.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { openWorld, type World } from '../ingestion/harness.ts'

// Files by the road that other threads take, compared with the same rows as batches of the ordinary road, and with each event as a batch of its own.

const folder = mkdtempSync(join(tmpdir(), 'waymark-bulk-'))
afterAll(() => rmSync(folder, { recursive: true }))
let written = 0

async function fileOf(text: string, isPacked = false): Promise<SourceFile> {
  const path = join(folder, `${++written}.jsonl${isPacked ? '.gz' : ''}`)
  writeFileSync(path, isPacked ? gzipSync(text) : text)
  return openSource(path, {
    format: 'posthog',
    readTable: async function* () {
      yield { rows: [] }
    },
  })
}

const uuid = (n: number) => nameUuid('6ba7b810-9dad-11d1-80b4-00c04fd430c8', String(n))
const start = Date.parse('2025-03-01T00:00:00Z')

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'ü', 'null', '__proto__')
const value = fc.constantFrom<unknown>(
  1,
  2.5,
  'x',
  'ä€',
  '12',
  null,
  false,
  '',
  [1, 'x'],
  { a: { b: null } },
  '2026-01-01T00:00:00Z',
  'lone \ud800',
)
const values = fc.dictionary(fc.constantFrom('p', 'q', '__proto__', 'constructor', '$browser', '7'), value, { maxKeys: 4 })
const visit = fc.dictionary(fc.constantFrom('$browser', '$current_url', '$os', 'utm_source', 'gclid'), value, { maxKeys: 4 })

/** A row of a file, as JSON. Few uuids: some rows are duplicates. Few times: late rows, and rows at once. */
const row = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .record({
        event: fc.constantFrom<unknown>('visit', '$pageview', '$identify', '$create_alias', '$merge_dangerously', '$groupidentify', '$set'),
        who: id,
        other: id,
        minutes: fc.nat(12),
        number: fc.option(fc.nat(30), { nil: undefined }),
        set: fc.option(values, { nil: undefined }),
        once: fc.option(values, { nil: undefined }),
        unset: fc.option(fc.subarray(['p', 'q', '$browser']), { nil: undefined }),
        visit: fc.option(visit, { nil: undefined }),
        group: fc.option(fc.constantFrom('acme', 'other'), { nil: undefined }),
        profile: fc.constantFrom<unknown>(undefined, undefined, undefined, false, 'maybe'),
        cookieless: fc.constantFrom<unknown>(undefined, undefined, undefined, undefined, undefined, true),
      })
      .map(({ event, who, other, minutes, number, set, once, unset, visit, group, profile, cookieless }) =>
        JSON.stringify({
          event,
          distinct_id: who,
          timestamp: new Date(start + minutes * 60_000).toISOString(),
          ...(number !== undefined && { uuid: uuid(number) }),
          properties: {
            ...visit,
            ...(set && { $set: set }),
            ...(once && { $set_once: once }),
            ...(unset && { $unset: unset }),
            ...(group && event !== '$groupidentify' && { $groups: { company: group } }),
            ...(event === '$groupidentify' && { $group_type: 'company', $group_key: group, $group_set: set }),
            ...(event === '$identify' && { $anon_distinct_id: other }),
            ...(event === '$create_alias' || event === '$merge_dangerously' ? { alias: other } : {}),
            ...(profile !== undefined && { $process_person_profile: profile }),
            ...(cookieless !== undefined && { $cookieless_mode: cookieless }),
          },
        }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{"event": "cut',
      '[1]',
      '{"event":"x","distinct_id":"a"}',
      '{"event":"x","distinct_id":"$posthog_cookieless","timestamp":"2025-03-01T00:00:00Z"}',
      '{"event":"x","distinct_id":"a","timestamp":"2025-03-01T00:00:00Z","uuid":"none"}',
      '{"event":"x","distinct_id":"a","timestamp":"2025-03-01T00:00:00Z","properties":{"$set":"text"}}',
      '{"event":"$performance_event","distinct_id":"a","timestamp":"2025-03-01T00:00:00Z"}',
      `{"event":"x","distinct_id":"a","timestamp":"2025-03-01T00:00:00Z","properties":{"deep":${'['.repeat(300)}${']'.repeat(300)}}}`,
    ),
  },
)

class Memory implements Checkpoints {
  readonly rows = new Map<string, number>()
  read = async (fingerprint: string) => this.rows.get(fingerprint) ?? 0
  write = async (fingerprint: string, rows: number) => void this.rows.set(fingerprint, rows)
}

const resultOf = ({ accepted, duplicates, dropped, warnings }: IngestAnswer): BatchResult => ({
  accepted,
  duplicates,
  dropped,
  warnings: warnings.map(({ type }) => ({ kind: type, count: 1 })),
})

/** Without events that are refused, each of which is a batch of its own first. */
async function sendOrdinary(world: World, events: readonly ImportedEvent[], refused: () => void = () => undefined): Promise<BatchResult> {
  for (let left = events; left.length > 0; ) {
    try {
      return resultOf(await world.pipeline.ingest({ historical_migration: true, batch: left }))
    } catch (error) {
      const { index } = (error as { data: { index: number } }).data
      refused()
      left = left.filter((_, i) => i !== index)
    }
  }
  return { accepted: 0, duplicates: 0, dropped: 0, warnings: [] }
}

interface Road {
  /** Events that the project itself refused. */
  refused: number
  readonly parts: NonNullable<ImportRun['parts']>
  /** Called before and after each batch. */
  border: (() => Promise<void>) | null
}

/** `isBulk`: prepared as in another thread; false: the same batches by the ordinary road. */
function roadOf(world: World, least: number, isBulk: boolean): Road {
  const refuse = () => {
    road.refused++
  }
  const road: Road = {
    refused: 0,
    border: null,
    async *parts(file, { skip, onBytes }) {
      const reader = linesReader(file)!
      for await (const { bytes, first } of blocksOf(file, least, onBytes)) {
        const rows = reader.rows(linesOfBlock(bytes), first, skip)
        const stored = async (store: () => Promise<BatchResult>) => {
          await road.border?.()
          const result = await store()
          await road.border?.()
          return result
        }
        if (isBulk) {
          const preparing = { receivedAt: world.now.getTime(), anonymizeIps: world.anonymizeIps }
          const { counts, batch, events } = structuredClone(preparePart(rows, file, skip, preparing))
          const store = batch
            ? async () => resultOf(await world.pipeline.ingestPrepared(batch))
            : events.length > 0
              ? () => sendOrdinary(world, events, refuse)
              : null
          yield { counts, store: store && (() => stored(store)) }
        } else {
          const taker = new RowTaker(file, skip)
          for (const [i, item] of rows.items.entries()) taker.take(item, rows.first + i)
          const events = taker.takeEvents()
          yield { counts: taker.takeCounts(), store: events.length === 0 ? null : () => stored(() => sendOrdinary(world, events, refuse)) }
        }
      }
    },
  }
  return road
}

const never = () => Promise.reject(new Error('not by this road'))
const carry = (road: Road, files: readonly SourceFile[], checkpoints: Checkpoints = new Memory()): Promise<ImportSummary> =>
  runImport({ files, send: never, parts: road.parts, checkpoints, inFlight: 1 })

const tables = {
  events: 'uuid',
  event_names: 'event_id',
  persons: 'person_no',
  person_versions: 'log_seq, person_no',
  distinct_ids: 'distinct_id',
  person_merges: 'merged',
  merge_journal: 'seq, merged',
  import_families: 'family',
  import_members: 'person_no',
  groups: 'group_key',
  group_types: 'group_type',
  property_keys: 'scope, name',
  warnings: 'kind',
  cookieless_visits: 'key',
}

/** All rows of all tables, to the last number. */
async function everything(world: World): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {}
  for (const [table, order] of Object.entries(tables)) {
    const columns = table === 'warnings' ? 'kind, count, last_seen' : '*'
    found[table] = (await world.rows(`SELECT ${columns} FROM ${table} ORDER BY ${order}`)).map((one) =>
      Object.fromEntries(Object.entries(one).map(([name, cell]) => [name, String(cell)])),
    )
  }
  return found
}

/** What does not depend on how rows were grouped: without numbers and positions. */
async function answers(world: World): Promise<Record<string, unknown>> {
  return {
    persons: await world.rows(
      `SELECT uuid::VARCHAR AS uuid, has_record, properties, property_times, is_identified, epoch_us(created_at)::DOUBLE AS created,
         (SELECT string_agg(distinct_id ORDER BY distinct_id) FROM distinct_ids d WHERE d.person_no = p.person_no) AS ids FROM persons p ORDER BY uuid`,
    ),
    events: await world.rows(
      `SELECT e.* EXCLUDE (uuid, event_id, person_no, log_seq, timestamp, created_at), e.uuid::VARCHAR AS event, epoch_us(timestamp)::DOUBLE AS at, n.name, p.uuid::VARCHAR AS person
       FROM events e JOIN event_names n USING (event_id) LEFT JOIN person_merges m ON m.merged = e.person_no
       JOIN persons p ON p.person_no = coalesce(m.survivor, e.person_no) ORDER BY event`,
    ),
    names: await world.rows(
      'SELECT name, count::DOUBLE AS n, epoch_us(first_seen)::DOUBLE AS first, epoch_us(last_seen)::DOUBLE AS last FROM event_names ORDER BY name',
    ),
    keys: (await world.rows('SELECT * EXCLUDE (first_seen, last_seen) FROM property_keys ORDER BY scope, name')).map((key) =>
      Object.values(key).map(String),
    ),
    groups: await world.rows('SELECT group_type_index, group_key, properties, property_times FROM groups ORDER BY ALL'),
  }
}

const sorted = (text: unknown) => JSON.stringify(Object.entries(JSON.parse(text as string) as object).sort())
/** Properties in any order: a person whose family is decided once has them in another one than a person decided after each merge. */
const inAnyOrder = async (world: World) => {
  const { persons, ...others } = await answers(world)
  return {
    ...others,
    persons: (persons as Record<string, unknown>[]).map(({ properties, property_times: _, ...one }) => ({
      ...one,
      properties: sorted(properties),
    })),
  }
}

const files = fc.array(fc.array(row, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 })
const plan = fc.record({
  files,
  least: fc.constantFrom(1, 150, 600, 5_000),
  isPacked: fc.boolean(),
  anonymizeIps: fc.boolean(),
  /** Borders of batches at which the process ends, counted over all files. */
  ends: fc.array(fc.nat(12), { maxLength: 3 }),
  isTurned: fc.boolean(),
})

/** The first row says what the file is. */
const textOf = (rows: readonly string[]) =>
  [JSON.stringify({ event: 'first', distinct_id: 'a', timestamp: '2025-03-01T00:05:00Z' }), ...rows, ''].join('\n')

describe('files that are prepared in other threads', () => {
  test('give the rows that the ordinary road gives for the same batches, to the last number', async () => {
    await assertGenerated(
      fc.asyncProperty(plan, async ({ files, least, isPacked, anonymizeIps }) => {
        const [bulk, ordinary] = [await openWorld(), await openWorld()]
        bulk.anonymizeIps = ordinary.anonymizeIps = anonymizeIps
        const sources = await Promise.all(files.map((rows) => fileOf(textOf(rows), isPacked)))
        const [byThreads, byBatches] = [roadOf(bulk, least, true), roadOf(ordinary, least, false)]
        const counted = await carry(byThreads, sources)
        const expected = await carry(byBatches, sources)
        expect({ ...counted, unreadable: 0, problems: [] }).toEqual({ ...expected, unreadable: 0, problems: [] })
        expect(counted.unreadable + byThreads.refused).toBe(expected.unreadable + byBatches.refused)
        expect(counted.rows).toBe(counted.stored + counted.duplicates + counted.dropped + counted.unreadable + byThreads.refused)
        expect(await everything(bulk)).toEqual(await everything(ordinary))
        await bulk.rebuild()
        expect(await answers(bulk)).toEqual(await answers(ordinary))
        await bulk.close()
        await ordinary.close()
      }),
      { numRuns: 25 },
    )
  })

  test('give the answers of single events, in any order of files, however often the import ends and goes on', async () => {
    await assertGenerated(
      fc.asyncProperty(plan, async ({ files, least, isPacked, ends, isTurned }) => {
        const [bulk, single] = [await openWorld(), await openWorld()]
        const sources = await Promise.all(files.map((rows) => fileOf(textOf(rows), isPacked)))
        const order = isTurned ? [...sources].reverse() : sources
        const checkpoints = new Memory()
        const road = roadOf(bulk, least, true)
        for (const end of ends) {
          let borders = 0
          road.border = async () => {
            if (borders++ === end) throw new Error('ended')
          }
          const isEnded = await carry(road, order, checkpoints).then(
            () => false,
            (error: Error) => error.message === 'ended',
          )
          await bulk.restart()
          if (!isEnded) break
        }
        road.border = null
        await carry(road, order, checkpoints)
        for (const file of order) {
          const reader = linesReader(file)!
          for await (const { bytes, first } of blocksOf(file, 1)) {
            const taker = new RowTaker(file, 0)
            for (const [i, item] of reader.rows(linesOfBlock(bytes), first, 0).items.entries()) taker.take(item, first + i)
            for (const event of taker.takeEvents()) await sendOrdinary(single, [event])
          }
        }
        expect(await inAnyOrder(bulk)).toEqual(await inAnyOrder(single))
        await bulk.close()
        await single.close()
      }),
      { numRuns: 25 },
    )
  })
})
