import { afterAll, beforeAll, expect, test } from 'vitest'
import { QueryError } from '../../../src/errors/errors.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// Whole numbers of each type beside each other one: what comes out is what BigInt says, or it is refused. Nothing is rounded on the way.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

const [most64, most128] = [2n ** 63n - 1n, 2n ** 127n - 1n]
/** The edges of each type, and what doubles round away. DuckDB holds 127 bits of the wide ones. */
const types: Readonly<Record<string, readonly bigint[]>> = {
  UInt8: [0n, 7n, 255n],
  Int32: [-2147483648n, 9n],
  UInt64: [0n, 9007199254740993n, most64, 18446744073709551615n],
  Int64: [-most64 - 1n, -3n, 9007199254740993n, most64],
  UInt128: [5n, 18446744073709551617n, most128],
  Int128: [-most128, -7n, 18446744073709551617n, most128],
  Int256: [-most128, -7n, 18446744073709551617n, most128],
}

test.each([
  ["CAST([1, 255], 'Array(UInt8)')", [1, 255]],
  ["CAST([1, null], 'Array(Nullable(UInt8))')", [1, null]],
  ["CAST([], 'Array(UInt128)')", []],
  ["CAST([[1.9], []], 'Array(Array(UInt64))')", [[1], []]],
  ["CAST((1, 'a'), 'Tuple(n UInt128, t String)').n", 1],
  ["CAST(map('a', 7), 'Map(String, UInt256)')", { a: 7 }],
  ["CAST(['1', '2'], 'Array(UInt16)')", [1, 2]],
])('a cast of parts: %s', async (expression, value) => {
  expect(await project.rows(`select ${expression}`)).toEqual([[value]])
})

test.each([
  ["CAST([1, -1], 'Array(UInt128)')", "'-1' is not UInt128"],
  ["CAST([1, 256], 'Array(UInt8)')", "'256' is not UInt8"],
  ["CAST([[1], [-1]], 'Array(Array(UInt64))')", "'-1' is not UInt64"],
  ["CAST((-1, 'a'), 'Tuple(UInt128, String)')", "'-1' is not UInt128"],
  ["CAST(map('a', -1), 'Map(String, UInt256)')", "'-1' is not UInt256"],
  ["CAST(['x'], 'Array(UInt8)')", "'x' is not UInt8"],
])('a part that does not fit is refused: %s', async (expression, message) => {
  const refusal = await project.rows(`select ${expression}`).catch((error: unknown) => error)
  expect(refusal).toMatchObject({ message: expect.stringContaining(message) })
})

const flag = (is: boolean) => (is ? 1n : 0n)
const arithmetic: Readonly<Record<string, (a: bigint, b: bigint) => bigint | null>> = {
  'a + b': (a, b) => a + b,
  'a - b': (a, b) => a - b,
  'a * b': (a, b) => a * b,
  'intDiv(a, b)': (a, b) => (b === 0n ? null : a / b),
  'a % b': (a, b) => (b === 0n ? null : a % b),
}
const comparisons: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
  'if(a = b, 1, 0)': (a, b) => flag(a === b),
  'if(a != b, 1, 0)': (a, b) => flag(a !== b),
  'if(a < b, 1, 0)': (a, b) => flag(a < b),
  'if(a >= b, 1, 0)': (a, b) => flag(a >= b),
  'if(a in (b, 1), 1, 0)': (a, b) => flag(a === b || a === 1n),
  'if(a not in (b), 1, 0)': (a, b) => flag(a !== b),
  'if(has([a], b), 1, 0)': (a, b) => flag(a === b),
  'if(a in [b], 1, 0)': (a, b) => flag(a === b),
  'greatest(a, b)': (a, b) => (a > b ? a : b),
  'least(a, b)': (a, b) => (a < b ? a : b),
  'if(1 = 1, a, b)': (a) => a,
  'coalesce(nullif(b, b), a)': (a) => a,
  '[b, a][2]': (a) => a,
  'arraySum([b, a])': (a, b) => a + b,
  'if(a between b and b, 1, 0)': (a, b) => flag(a === b),
  'if(a in (select b), 1, 0)': (a, b) => flag(a === b),
}

const expressions = { ...arithmetic, ...comparisons }
type Pair = readonly [a: bigint, b: bigint]
const asked = (types: readonly [string, string], pairs: readonly Pair[], expressions: readonly string[]) =>
  `select ${expressions.map((one) => `toString(${one})`).join(', ')} from (${pairs
    .map(([a, b], i) => `select ${i} as i, cast(${a} as ${types[0]}) as a, cast(${b} as ${types[1]}) as b`)
    .join(' union all ')}) order by i`

const fits = (bits: 64 | 128, ...values: readonly bigint[]) => {
  const most = bits === 64 ? most64 : most128
  return values.every((value) => value <= most && value >= -most - 1n)
}
const isWide = (type: string) => Number(/\d+/.exec(type)![0]) > 64

const rowsOf = (statement: string): Promise<readonly (readonly unknown[])[] | QueryError> =>
  project.rows(statement).catch((error: unknown) => {
    if (error instanceof QueryError) return error
    throw error
  })

test.each(Object.keys(types))('%s beside every whole number', async (type) => {
  const wrong: string[] = []
  for (const [other, values] of Object.entries(types)) {
    const both = [type, other] as const
    const bits = both.some(isWide) ? 128 : 64
    const pairs = types[type]!.flatMap((a) => values.map((b): Pair => [a, b]))
    /** Pairs by the expressions that must be answered. What is beyond an engine's numbers is answered rightly, or refused. */
    const sure = new Map<string, Pair[]>()
    for (const pair of pairs) {
      const names = Object.entries(expressions).flatMap(([name, of]) => {
        const value = of(...pair)
        return value !== null && fits(bits, ...pair, value) ? [name] : []
      })
      if (names.length > 0) sure.set(names.join('|'), [...(sure.get(names.join('|')) ?? []), pair])
      for (const [name, of] of Object.entries(expressions)) {
        if (names.includes(name)) continue
        const found = await rowsOf(asked(both, [pair], [name]))
        if (!(found instanceof QueryError) && found[0]![0] !== String(of(...pair)))
          wrong.push(`${name}: ${type} ${pair[0]}, ${other} ${pair[1]}: ${found[0]![0]}`)
      }
    }
    for (const [joined, pairs] of sure) {
      const names = joined.split('|')
      const found = await rowsOf(asked(both, pairs, names))
      if (found instanceof QueryError) wrong.push(`${type}, ${other}: ${found.message}: ${asked(both, pairs, names)}`)
      else
        for (const [i, pair] of pairs.entries())
          for (const [j, name] of names.entries()) {
            const value = String(expressions[name]!(...pair))
            if (found[i]![j] !== value) wrong.push(`${name}: ${type} ${pair[0]}, ${other} ${pair[1]}: ${found[i]![j]}`)
          }
    }
  }
  expect(wrong).toEqual([])
})

test('a sum and a mean beyond 127 bits are refused, or as near as a float is', async () => {
  const rows = `(select arrayJoin([cast(${most128} as Int128), cast(${most128} as Int128)]) as x)`
  expect(await rowsOf(`select sum(x) from ${rows}`)).toBeInstanceOf(QueryError)
  expect(await rowsOf(`select avg(x) from ${rows}`)).toEqual([[2 ** 127]])
})
test('what is none of a type is refused where it is cast', async () => {
  for (const call of [
    '_toUInt128(-1)',
    'cast(-1 as UInt8)',
    'cast(300 as UInt8)',
    "cast('a' as UInt16)",
    `cast('${2n ** 128n}' as UInt256)`,
    'cast(-1 as UInt128)',
  ])
    expect(await rowsOf(`select ${call}`), call).toMatchObject({ code: 'engine-refused', span: { start: 7, end: 7 + call.length } })
  expect(await rowsOf(`select ${2n ** 127n}`)).toMatchObject({ code: 'unsupported-syntax', span: { start: 7 } })
})
test('numbers of JSON keep all of their digits', async () => {
  expect(await project.value(`JSONExtract('{"a":1234567890123456789}', 'a', 'Int64')`)).toBe('1234567890123456789')
})

const aggregates: Readonly<Record<string, (values: readonly bigint[]) => bigint>> = {
  'sum(x)': (values) => values.reduce((a, b) => a + b),
  'min(x)': (values) => values.reduce((a, b) => (a < b ? a : b)),
  'max(x)': (values) => values.reduce((a, b) => (a > b ? a : b)),
  'arraySum(groupArray(x))': (values) => values.reduce((a, b) => a + b),
  'sumIf(x, 1 = 1)': (values) => values.reduce((a, b) => a + b),
  'any(s)': (values) => values.reduce((a, b) => a + b),
  "sumMap(map('k', x))['k']": (values) => values.reduce((a, b) => a + b),
  "arrayReduce('sum', groupArray(x))": (values) => values.reduce((a, b) => a + b),
  "mapAdd(map('k', min(x)), map('k', max(x)))['k']": (values) =>
    values.reduce((a, b) => (a < b ? a : b)) + values.reduce((a, b) => (a > b ? a : b)),
}
test.each(Object.entries(types))('%s in groups', async (type, values) => {
  const wrong: string[] = []
  for (const [name, of] of Object.entries(aggregates)) {
    const rows = values.map((value) => `select cast(${value} as ${type}) as x`).join(' union all ')
    const found = await rowsOf(`select toString(${name}), avg(x) from (select x, sum(x) over () as s from (${rows}))`)
    const value = of(values)
    // Numbers are added up in any order.
    const most = values.reduce((a, b) => a + (b < 0n ? -b : b), 0n)
    const mustAnswer = fits(isWide(type) ? 128 : 64, most)
    if (found instanceof QueryError ? mustAnswer : found[0]![0] !== String(value))
      wrong.push(`${name}: ${value}: ${found instanceof QueryError ? found.message : found[0]![0]}`)
    if (!(found instanceof QueryError)) {
      const mean = Number(values.reduce((a, b) => a + b)) / values.length
      expect(Math.abs(Number(found[0]![1]) - mean)).toBeLessThanOrEqual(Math.abs(mean) * 1e-12)
    }
  }
  expect(wrong).toEqual([])
})
