import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../src/engine.ts'
import { WaymarkError } from '../src/errors/errors.ts'
import type { LocalProject } from '../src/project.ts'
import { assertGenerated } from './harness/assert-generated.ts'

// Whatever comes in is a clear error or a warning, never a crash, and the next good event is taken as if nothing had been.

let waymark: LocalWaymark
let project: LocalProject
let sent = 0
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:', memoryLimit: '512MB', clock: () => new Date('2026-01-05T10:00:00Z') })
  project = await waymark.createProject()
})
afterAll(() => waymark.close())

const good = () => ({ event: 'good', distinct_id: 'u1', properties: { number: ++sent } })
const mustGoOn = async () => expect(await project.ingest({ batch: [good()] })).toMatchObject({ accepted: 1, dropped: 0, warnings: [] })
const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = { deeper: value }
  return value
}

const refused: readonly [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 7],
  ['text', 'event'],
  ['an object without events', {}],
  ['a batch that is no array', { batch: 'x' }],
  ['a batch that is null', { batch: null }],
  ['an event that is null', { batch: [good(), null] }],
  ['an event that is a number', { batch: [7] }],
  ['an event that is an array', { batch: [[]] }],
  ['an event without a name', { batch: [{ distinct_id: 'u' }] }],
  ['an event whose name is empty', { batch: [{ event: '', distinct_id: 'u' }] }],
  ['an event without a distinct id', { batch: [{ event: 'a' }] }],
  ['an event whose distinct id is empty', { batch: [{ event: 'a', distinct_id: '' }] }],
  ['properties that are a list', { batch: [{ event: 'a', distinct_id: 'u', properties: [1] }] }],
  ['properties that are text', { batch: [{ event: 'a', distinct_id: 'u', properties: 'x' }] }],
  ['a value that refers to itself', { batch: [{ event: 'a', distinct_id: 'u', properties: circular() }] }],
  ['a big integer, which JSON does not have', { batch: [{ event: 'a', distinct_id: 'u', properties: { n: 1n } }] }],
  [
    'a value whose toJSON throws',
    {
      batch: [
        {
          event: 'a',
          distinct_id: 'u',
          properties: {
            toJSON: () => {
              throw new Error('no')
            },
          },
        },
      ],
    },
  ],
]
function circular(): unknown {
  const value: Record<string, unknown> = {}
  value.self = value
  return value
}

describe('is refused whole, by a WaymarkError that says what is wrong', () => {
  test.each(refused)('%s', async (_, body) => {
    const failure = await project.take(body).then(
      (answer) => answer,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(WaymarkError)
    expect((failure as WaymarkError).status).toBe(400)
    expect((failure as WaymarkError).detail.length).toBeGreaterThan(10)
    await mustGoOn()
  })
})

const withProperties = (properties: unknown) => ({ batch: [{ event: 'odd', distinct_id: 'odd', properties }] })
const withTime = (timestamp: unknown) => ({ batch: [{ event: 'odd', distinct_id: 'odd', timestamp, properties: {} }] })
const taken: readonly [string, unknown][] = [
  ['200 levels of nesting', withProperties(nested(200))],
  ['5,000 levels of nesting', withProperties(nested(5000))],
  ['a string of 10 MB', withProperties({ text: 'x'.repeat(10_000_000) })],
  ['a distinct id of 10 MB', { batch: [{ event: 'odd', distinct_id: 'x'.repeat(10_000_000), properties: {} }] }],
  ['a name of 10 MB', { batch: [{ event: 'x'.repeat(10_000_000), distinct_id: 'odd', properties: {} }] }],
  ['lone surrogates in values and keys', withProperties({ '\ud800': '\udfff', a: '\ud83d', $set: { b: '\udc00' } })],
  ['a lone surrogate for a distinct id', { batch: [{ event: '\ud800', distinct_id: '\udfff', properties: {} }] }],
  ['NUL characters', withProperties({ a: 'a\u0000b', 'k\u0000': 1 })],
  [
    'keys of Object itself',
    withProperties(JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2, "hasOwnProperty": 3, "toString": 4}')),
  ],
  ['100,000 distinct keys', withProperties(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key ${i}`, i])))],
  ['numbers that JSON does not have', withProperties({ a: Number.NaN, b: Number.POSITIVE_INFINITY, c: 1e308, d: -0 })],
  ['functions, symbols and undefined', withProperties({ a: () => 1, b: Symbol('x'), c: undefined })],
  ['the year 0', withTime('0000-01-01T00:00:00Z')],
  ['the year -5', withTime('-000005-01-01T00:00:00Z')],
  ['the year 275760', withTime('+275760-09-13T00:00:00Z')],
  ['a year behind every date', withTime('+999999-01-01T00:00:00Z')],
  ['a time that is no time', withTime('not a time')],
  ['a time that is an object', withTime({ year: 2026 })],
  ['an invalid Date', withTime(new Date(Number.NaN))],
  ['a sent_at that is no time', { batch: [good()], sent_at: 'yesterday' }],
  ['an offset that is text', { batch: [{ ...good(), offset: 'x' }] }],
  ['a uuid that is none', { batch: [{ ...good(), uuid: 'not a uuid' }] }],
  ['$set that is text', withProperties({ $set: 'x', $set_once: 7, $unset: 'y', $groups: 'z' })],
  ['$groups with odd keys', withProperties({ $groups: { '': '', company: null, team: { a: 1 } } })],
  [
    'an identify without the other id',
    { batch: [{ event: '$identify', distinct_id: 'odd', properties: { $anon_distinct_id: { a: 1 } } }] },
  ],
]

describe('is taken, dropped with a warning, or refused, and never kept by halves', () => {
  test.each(taken)(
    '%s',
    async (_, body) => {
      const events = (body as { batch: unknown[] }).batch.length
      try {
        const answer = await project.take(body)
        expect(answer.accepted + answer.dropped).toBe(events)
        if (answer.dropped > 0) expect(answer.warnings.length).toBeGreaterThan(0)
      } catch (error) {
        expect(error).toBeInstanceOf(WaymarkError)
      }
      await mustGoOn()
    },
    20_000,
  )

  test('anything at all', async () => {
    const anyEvent = fc.record(
      {
        event: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
        distinct_id: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
        timestamp: fc.oneof(fc.string(), fc.date({ noInvalidDate: false }), fc.anything()),
        properties: fc.oneof(fc.dictionary(fc.string(), fc.anything()), fc.anything()),
        uuid: fc.oneof(fc.uuid(), fc.anything()),
        offset: fc.anything(),
        $set: fc.anything(),
      },
      { requiredKeys: [] },
    )
    const body = fc.oneof(
      fc.anything(),
      fc.record({ batch: fc.array(anyEvent, { maxLength: 4 }), sent_at: fc.anything(), historical_migration: fc.anything() }),
    )
    await assertGenerated(
      fc.asyncProperty(body, async (value) => {
        const failure = await project.take(value).then(
          () => null,
          (error: unknown) => error,
        )
        if (failure) expect(failure).toBeInstanceOf(WaymarkError)
      }),
      { numRuns: 300 },
    )
    await mustGoOn()
  })
})

const badImports: readonly [string, (p: LocalProject) => Promise<unknown>][] = [
  ['persons that are no array', (p) => p.importPersons({} as never)],
  ['a person that is null', (p) => p.importPersons([null] as never)],
  ['a person without ids', (p) => p.importPersons([{ properties: {} }] as never)],
  ['ids that are no array', (p) => p.importPersons([{ distinct_ids: 'u1' }] as never)],
  ['a created_at that is no time', (p) => p.importPersons([{ distinct_ids: ['x'], created_at: 'soon' }])],
  ['groups that are no array', (p) => p.importGroups('x' as never)],
  ['a group without a type', (p) => p.importGroups([{ group_key: 'a' }] as never)],
  ['a group of type number 5', (p) => p.importGroups([{ group_type: 'a', group_type_index: 5, group_key: 'a' }])],
  ['types that are no array', (p) => p.definePropertyTypes(null as never)],
  ['a type that is none', (p) => p.definePropertyTypes([{ type: 'event', name: 'a', property_type: 'Colour' }] as never)],
]
test.each(badImports)('an import of %s is refused', async (_, act) => {
  await expect(act(project)).rejects.toBeInstanceOf(WaymarkError)
  await mustGoOn()
})

test.each([undefined, null, 7, 'select 1', {}, { kind: 7 }, { kind: 'constructor' }, { kind: 'NoSuchQuery' }])(
  'a query that is %j is refused',
  async (query) => {
    await expect(project.answer(query)).rejects.toBeInstanceOf(WaymarkError)
  },
)

test.each([[{ timezone: 'Mars/Olympus' }], [{ week_start_day: 3 }], [{ name: [] }]])('a project with %j is refused', async (settings) => {
  await expect(waymark.createProject(settings as never)).rejects.toBeInstanceOf(WaymarkError)
})

test('after closing nothing is taken and nothing answered', async () => {
  await waymark.close()
  await expect(project.ingest({ batch: [good()] })).rejects.toMatchObject({ code: 'closed' })
  await expect(project.query({ kind: 'SqlLikeQuery', query: 'select 1' })).rejects.toMatchObject({ code: 'closed' })
})
