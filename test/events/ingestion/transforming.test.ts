import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openTransformFile } from '../../../src/engine/storage/files/transform-file.ts'
import { decodeBatch } from '../../../src/events/ingestion/decoding/decode-batch.ts'
import type { PreparedEvent } from '../../../src/events/ingestion/decoding/prepare.ts'
import { forPlugins, fromPlugins } from '../../../src/events/ingestion/transforming/plugin-event.ts'
import type { PluginEvent, Transformations } from '../../../src/events/ingestion/transforming/ports.ts'
import { Transformer } from '../../../src/events/ingestion/transforming/transformer.ts'
import type { Work } from '../../../src/events/ingestion/work.ts'

// What plugins see of events, what becomes of their results, and how often they are asked.

const receivedAt = Date.UTC(2026, 0, 5, 10)
let last = 0
const newUuid = () => `00000000-0000-4000-8000-${String(++last).padStart(12, '0')}`
const workOf = (batch: readonly object[], firstSeq = 1, body: object = {}): Work => {
  const decoded = decodeBatch({ ...body, batch }, { receivedAt, ip: '1.2.3.4', anonymizeIps: false, newUuid })
  const content = { kind: 'event', events: decoded.events, bytes: decoded.payloads.bytes, duplicates: new Set<number>() } as const
  const about = {
    firstSeq,
    count: decoded.events.length,
    receivedAt: receivedAt * 1000,
    sentAt: decoded.sentAt,
    isHistorical: decoded.isHistorical,
  }
  return { ...about, bytes: decoded.payloads.byteLength, content }
}
const eventsOf = (work: Work): readonly PreparedEvent[] => (work.content.kind === 'event' ? work.content.events : [])
const propertiesOf = (work: Work, event: PreparedEvent) =>
  JSON.parse(
    Buffer.from((work.content as { bytes: Uint8Array }).bytes).toString('utf8', event.propertiesFrom, event.propertiesTo),
  ) as Record<string, unknown>
/** What is stored of the events of a batch. */
const storedOf = (work: Work) =>
  eventsOf(work)
    .filter(({ isDropped }) => !isDropped)
    .map((event) => {
      const { name, distinctId, uuid, time, elementsChain, set, setOnce, unset, mergeWith, groups, isPersonless, warnings } = event
      return {
        name,
        distinctId,
        uuid,
        time,
        elementsChain,
        set,
        setOnce,
        unset,
        mergeWith,
        groups,
        isPersonless,
        warnings,
        properties: propertiesOf(work, event),
      }
    })

type Change = (event: PluginEvent) => PluginEvent | null | undefined
const transformationsOf = (change: Change, reports: string[] = [], isOn = true) => {
  const calls: number[] = []
  const transformations: Transformations = {
    isOn: () => isOn,
    siteUrl: () => 'https://w.test',
    run: async (events) => {
      calls.push(events.length)
      return events.map((json) => change(JSON.parse(json) as PluginEvent))
    },
    untouched: (json) => {
      const event = JSON.parse(json) as { properties: object }
      return { ...event, properties: { ...event.properties, untouched: true } }
    },
    report: (message) => void reports.push(message),
  }
  return { transformations, calls }
}
const transformed = async (works: readonly Work[], change: Change, reports: string[] = []) => {
  const { transformations } = transformationsOf(change, reports)
  return new Transformer({ projectId: 7, transformations, file: null }).transform(works)
}

const names = ['$browser', '$current_url', '$referrer', 'utm_source', 'own', '$ip', '$elements_chain', 'nested']
const value = fc.oneof(fc.constantFrom('a', 'b', '', 'ü"\\', 1, 0.5, true, null), fc.constant({ a: [1, { b: 'c' }] }))
const bag = fc.dictionary(fc.constantFrom(...names, '$initial_browser', 'plan'), value, { maxKeys: 5 })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const sentEvent = fc.record({
  event: fc.constantFrom('view', '$identify', '$performance_event', '$create_alias', '$groupidentify'),
  distinct_id: fc.constantFrom('u1', 'u2', 3),
  timestamp: maybe(fc.constantFrom('2026-01-02T03:04:05Z', '2026-01-02', 'odd', '2036-01-01T00:00:00Z')),
  offset: maybe(fc.constantFrom(0, 1000, 'odd')),
  $set: maybe(bag),
  $set_once: maybe(bag),
  strange: maybe(fc.constant(1)),
  properties: fc.tuple(bag, maybe(bag), maybe(bag), maybe(fc.boolean())).map(([own, $set, $set_once, $process_person_profile]) => ({
    ...own,
    ...($set && { $set }),
    ...($set_once && { $set_once }),
    ...($process_person_profile !== undefined && { $process_person_profile }),
    alias: 'other',
    $group_type: 'company',
    $group_key: 'acme',
    $elements: own.nested ? [{ tag_name: 'a', $el_text: 'x' }] : undefined,
  })),
})

describe('what plugins see', () => {
  test('events that plugins return as they got them are stored as they were', async () => {
    const body = fc.record({ sent_at: maybe(fc.constantFrom('2026-01-05T09:59:00Z', 'odd')), historical_migration: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(sentEvent, { minLength: 1, maxLength: 5 }), body, async (batch, more) => {
        const work = workOf(batch, 1, more)
        const expected = storedOf(work)
        for (const change of [(event: PluginEvent) => event, () => undefined]) {
          const [result] = await transformed([work], change)
          expect(storedOf(result!)).toEqual(expected)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('what was derived on arrival is not shown, whichever way it is removed', () => {
    const facts = { projectId: 7, siteUrl: 'https://w.test', now: '2026-01-05T10:00:00.000Z', sentAt: null }
    fc.assert(
      fc.property(sentEvent, (event) => {
        const work = workOf([event])
        const [prepared] = eventsOf(work)
        if (prepared!.isDropped) return
        const bytes = Buffer.from((work.content as { bytes: Uint8Array }).bytes)
        const fast = JSON.parse(forPlugins(bytes, 0, prepared!, facts).json)
        // As read from the log, where nobody knows what was derived.
        const { derivedBytes: _, ...known } = prepared!
        const slow = JSON.parse(forPlugins(bytes, 0, { ...known, derivedBytes: 0 }, facts).json)
        expect(fast).toEqual(slow)
        expect(Object.keys(fromPlugins(fast, prepared!.uuid, facts))).toContain('distinct_id')
      }),
      { numRuns: 300 },
    )
  })

  test('all fields of an event', async () => {
    const seen: PluginEvent[] = []
    const event = {
      event: 'view',
      distinct_id: 'u1',
      timestamp: '2026-01-05T09:00:00Z',
      properties: { $browser: 'Firefox', a: 1, $set: { plan: 'pro' } },
    }
    await transformed([workOf([event], 1, { sent_at: '2026-01-05T10:00:00Z' })], (one) => void seen.push(one))
    expect(seen).toEqual([
      {
        uuid: expect.any(String),
        event: 'view',
        distinct_id: 'u1',
        ip: null,
        site_url: 'https://w.test',
        team_id: 7,
        now: '2026-01-05T10:00:00.000Z',
        sent_at: '2026-01-05T10:00:00Z',
        timestamp: '2026-01-05T09:00:00Z',
        properties: { $browser: 'Firefox', a: 1, $set: { plan: 'pro' }, $ip: '1.2.3.4', $sent_at: '2026-01-05T10:00:00Z' },
      },
    ])
  })
})

describe('results that cannot be stored', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })
  test.each([
    ['without a name', { event: null }],
    ['without a distinct id', { distinct_id: '' }],
    ['with properties that are no object', { properties: 'odd' }],
    ['nested too deeply', { properties: { a: nested(300) } }],
    ['larger than an event may be', { properties: { a: 'x'.repeat(1_100_000) } }],
  ])('%s: the event is stored as it was, marked, and its neighbors as changed', async (_, odd) => {
    const reports: string[] = []
    const work = workOf([
      { event: 'a', distinct_id: 'u' },
      { event: 'b', distinct_id: 'u', properties: { own: 1 } },
      { event: 'c', distinct_id: 'u' },
    ])
    const [result] = await transformed(
      [work],
      (event) => (event.event === 'b' ? { ...event, ...odd } : { ...event, event: `${event.event}!` }),
      reports,
    )
    const stored = storedOf(result!)
    expect(stored.map(({ name }) => name)).toEqual(['a!', 'b', 'c!'])
    expect(stored[1]!.properties).toMatchObject({ own: 1, untouched: true })
    expect(reports).toEqual([expect.stringContaining('is stored unchanged')])
  })
})

describe('how often plugins are asked', () => {
  const path = () => {
    const folder = mkdtempSync(join(tmpdir(), 'waymark-transforming-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'transformed.jsonl')
  }
  const batch = (n: number) =>
    workOf(
      [1, 2, 3].map((i) => ({ event: `e${n}${i}`, distinct_id: 'u', properties: { n, i } })),
      n * 3 + 1,
    )
  let runs = 0
  const counted = (file: string, change: Change = (event) => ({ ...event, event: `${event.event}#${++runs}` })) =>
    openTransformFile(file).then((opened) => {
      const { transformations, calls } = transformationsOf(change)
      return { transformer: new Transformer({ projectId: 7, transformations, file: opened }), calls, transformations }
    })

  test('once while the process lives, also about the rest of a batch; again when the store has it', async () => {
    const { transformer, calls } = await counted(path())
    transformer.started(0)
    const [work, next] = [batch(0), batch(1)]
    const first = await transformer.transform([work, next])
    const rest = { ...next, firstSeq: 5, count: 2, content: { ...next.content, events: eventsOf(next).slice(1) } } as Work
    const [again, partial] = await transformer.transform([work, rest])
    expect(storedOf(again!)).toEqual(storedOf(first[0]!))
    expect(storedOf(partial!)).toEqual(storedOf(first[1]!).slice(1))
    expect(calls).toEqual([6])
    transformer.forget(3)
    await transformer.transform([work])
    expect(calls).toEqual([6, 3])
  })

  test('at most once more after a crash; an event that was begun a second time and has no result passes untouched', async () => {
    const file = path()
    const works = [batch(0), batch(1)]
    // The process before: nothing is written.
    const before = await counted(file)
    before.transformer.started(0)
    await before.transformer.transform(works)

    const second = await counted(file)
    second.transformer.started(6)
    const results = await second.transformer.transform(works)

    const third = await counted(file)
    third.transformer.started(6)
    expect((await third.transformer.transform(works)).map(storedOf)).toEqual(results.map(storedOf))
    expect(third.calls).toEqual([])
    third.transformer.forget(6)

    const hung = await counted(file, () => {
      throw new Error('the process ended')
    })
    hung.transformer.started(9)
    await expect(hung.transformer.transform([batch(2)])).rejects.toThrow('the process ended')
    const last = await counted(file)
    last.transformer.started(9)
    const [untouched] = await last.transformer.transform([batch(2)])
    expect(storedOf(untouched!).map(({ name, properties }) => [name, properties.untouched])).toEqual([
      ['e21', true],
      ['e22', true],
      ['e23', true],
    ])
    expect(last.calls).toEqual([])
  })

  test('not while the project has no transformations', async () => {
    const { transformations, calls } = transformationsOf((event) => event, [], false)
    const transformer = new Transformer({ projectId: 7, transformations, file: null })
    const work = batch(0)
    expect(transformer.isOn()).toBe(false)
    expect(await transformer.transform([work])).toEqual([work])
    expect(calls).toEqual([])
  })

  test('dropped events and duplicates do not pass, and are not stored', async () => {
    const seen: unknown[] = []
    const work = workOf([
      { event: 'a', distinct_id: 'u' },
      { event: '$performance_event', distinct_id: 'u' },
      { event: 'b', distinct_id: 'u' },
      { event: 'c', distinct_id: 'u' },
    ])
    if (work.content.kind === 'event') work.content.duplicates = new Set([2])
    const [result] = await transformed([work], (event) => {
      seen.push(event.event)
      return event.event === 'c' ? null : event
    })
    expect(seen).toEqual(['a', 'c'])
    expect(storedOf(result!).map(({ name }) => name)).toEqual(['a'])
  })
})
