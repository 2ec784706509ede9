import { Field, Int32, List, Map_, makeData, RecordBatch, Schema, Struct, Utf8 } from 'apache-arrow'
import { describe, expect, test } from 'vitest'
import { readError, writeError } from '../../src/engine/isolation/wire-error.ts'
import { batchShaper } from '../../src/engine/storage/clickhouse/arrow.ts'
import { connectionError } from '../../src/engine/storage/clickhouse/connection-errors.ts'
import { engineError } from '../../src/engine/storage/clickhouse/engine-errors.ts'
import { InternalError, WaymarkError } from '../../src/errors/errors.ts'
import { faultText, isFault } from '../../src/errors/faults.ts'
import { DestinationError } from '../../src/service/exports/destinations/destination.ts'
import { failureOf } from '../../src/service/exports/running/failure.ts'

// Faults of this program are never told as those of a server, a destination or a plugin.

function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

const faults: readonly (readonly [string, () => unknown])[] = [
  ['a property of undefined', () => (undefined as unknown as { type: string }).type],
  ['a call of what is no function', () => (5 as unknown as () => void)()],
  ['a name that does not exist', () => (globalThis as { missing?: () => void }).missing!()],
  ['an array of an impossible length', () => new Array(-1)],
  ['a wrong argument of a function of Node', () => Buffer.from(5 as unknown as string)],
]
const outside: readonly (readonly [string, unknown])[] = [
  ['a refused connection', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['a fetch without an answer', Object.assign(new TypeError('fetch failed', { cause: new Error('ECONNRESET') }))],
  ['a body that ended early', new TypeError('terminated')],
  ['an address that is none', thrown(() => new URL('nowhere'))],
  ['words without a code', new Error('The answer is truncated')],
  ['text that is no JSON', thrown(() => JSON.parse('{'))],
]

describe.each(faults)('%s', (_, work) => {
  const fault = thrown(work)

  test('is a fault, also from another process', () => {
    expect(isFault(fault)).toBe(true)
    expect(isFault(readError(writeError(fault)))).toBe(true)
    expect(readError(writeError(fault))).toBeInstanceOf(InternalError)
  })

  test('is not told as an error of ClickHouse', () => {
    for (const told of [connectionError(fault), engineError(fault, 'SELECT 1')]) expect(told).toBeInstanceOf(InternalError)
    expect((connectionError(fault) as Error).cause).toBe(fault)
  })

  test('is not told as an error of a destination, and its text is for the log', () => {
    expect(failureOf(fault)).toEqual({ message: faultText, isRetryable: true })
    expect(failureOf(readError(writeError(fault)))).toEqual({ message: faultText, isRetryable: true })
  })
})

test.each(outside)('%s is no fault', (_, error) => {
  expect(isFault(error)).toBe(false)
  expect(isFault(readError(writeError(error)))).toBe(false)
  expect(connectionError(error)).toMatchObject({ code: 'engine-unreachable' })
})

test('what a destination or the engine says of itself stays', () => {
  expect(failureOf(new DestinationError('No such bucket.', { isRetryable: false }))).toEqual({
    message: 'No such bucket.',
    isRetryable: false,
  })
  const busy = new WaymarkError('busy', { what: 'queries' })
  expect(connectionError(busy)).toBe(busy)
  expect(isFault(new InternalError('no rows', { cause: new Error('closed') }))).toBe(false)
})

test('an answer of ClickHouse without rows has columns of lists, maps and structs', () => {
  const entries = new Struct([new Field('key', new Utf8()), new Field('value', new Int32(), true)])
  const types = {
    list: new List(new Field('item', new Int32(), true)),
    lists: new List(new Field('item', new List(new Field('item', new Utf8(), true)), true)),
    map: new Map_(new Field('entries', entries as never)),
    struct: new Struct([new Field('a', new Utf8(), true), new Field('b', new List(new Field('item', new Utf8(), true)), true)]),
  }
  const fields = Object.entries(types).map(([name, type]) => new Field(name, type as never, true))
  // As the reader makes the batch of a stream that has none.
  const empty = new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), nullCount: 0, children: fields.map(({ type }) => makeData({ type } as never)) } as never) as never,
  )
  const columns = ['Array(Int32)', 'Array(Array(String))', 'Map(String, Int32)', 'Tuple(a String, b Array(String))'].map((typeName, i) => ({
    name: fields[i]!.name,
    typeName,
  }))
  const shaped = batchShaper(columns as never, false)(empty)
  expect(shaped.numRows).toBe(0)
  expect(shaped.schema.fields.map(({ type }) => String(type))).toEqual([
    'List<Int32>',
    'List<List<Utf8>>',
    'Map<{key:Utf8, value:Int32}>',
    'Struct<{a:Utf8, b:List<Utf8>}>',
  ])
})
