import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { duckdbType } from '../../../src/language/functions/cells/duckdb-types.ts'
import { parseType } from '../../../src/language/types/parse.ts'
import { type ScalarName, scalar, typeName } from '../../../src/language/types/types.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

// A value of each type is the same value whichever way it was made: cast, read, put into an array, a tuple or a map, taken out again, joined with
// plain literals, bound, answered.

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

/** Types that values are never cast to: of NULL, of what the store holds, of what an engine alone counts with. */
type Named = Exclude<ScalarName, 'Nothing' | 'Interval' | 'Property' | 'Dynamic' | 'Decimal'> | 'Decimal(20, 4)'
/** A literal that becomes a value of the type by itself where one stands beside another, and how an answer shows it. */
const values: Readonly<Record<Named, readonly [literal: string, shown: unknown]>> = {
  Bool: ['true', 1],
  UInt8: ['200', 200],
  UInt16: ['60000', 60000],
  UInt32: ['4000000000', 4000000000],
  UInt64: ['18446744073709551615', '18446744073709551615'],
  UInt128: ['170141183460469231731687303715884105727', '170141183460469231731687303715884105727'],
  UInt256: ['170141183460469231731687303715884105727', '170141183460469231731687303715884105727'],
  Int8: ['-100', -100],
  Int16: ['-30000', -30000],
  Int32: ['-2000000000', -2000000000],
  Int64: ['-9223372036854775807', '-9223372036854775807'],
  Int128: ['-170141183460469231731687303715884105727', '-170141183460469231731687303715884105727'],
  Int256: ['-170141183460469231731687303715884105727', '-170141183460469231731687303715884105727'],
  Float32: ['0.1', 0.1],
  Float64: ['0.1', 0.1],
  'Decimal(20, 4)': ['1.5', 1.5],
  String: ["'a'", 'a'],
  UUID: ["toUUID('018e27d3-2c14-7000-8000-000000000001')", '018e27d3-2c14-7000-8000-000000000001'],
  IPv4: ["'10.0.0.1'", '10.0.0.1'],
  IPv6: ["'2001:db8::1'", '2001:db8::1'],
  Date: ["toDate('2024-02-29')", '2024-02-29'],
  DateTime: ["toDateTime('2024-02-29 12:00:00')", '2024-02-29T12:00:00Z'],
  DateTime64: ["toDateTime('2024-02-29 12:00:00')", '2024-02-29T12:00:00Z'],
  JSON: [`'{"a":1}'`, '{"a":1}'],
}

const ways: Readonly<Record<string, (literal: string, type: string) => string>> = {
  'a literal': (literal) => literal,
  'a cast': (literal, type) => `cast(${literal} as ${type})`,
  'a cast of its name': (literal, type) => `accurateCastOrNull(${literal}, '${type}')`,
  'a column': (literal, type) => `select x from (select cast(${literal} as ${type}) as x)`,
  'an item': (literal, type) => `cast([${literal}] as Array(${type}))[1]`,
  'an item of an item': (literal, type) => `cast([[${literal}]] as Array(Array(${type})))[1][1]`,
  'an item behind an empty array': (literal, type) => `arrayConcat(cast([] as Array(${type})), [${literal}])[1]`,
  'an item in front of a literal': (literal, type) => `arrayConcat(cast([${literal}] as Array(${type})), [${literal}])[1]`,
  'a literal behind an item': (literal, type) => `arrayConcat(cast([${literal}] as Array(${type})), [${literal}])[2]`,
  'an item in front of one cast by the name': (literal, type) =>
    `arrayConcat(cast([${literal}] as Array(${type})), [accurateCastOrNull(${literal}, '${type}')])[2]`,
  'an item pushed behind others': (literal, type) => `arrayPushBack(cast([${literal}] as Array(${type})), ${literal})[2]`,
  'an element': (literal, type) => `cast((${literal}, 'a') as Tuple(${type}, String)).1`,
  'an element of an item in front of a literal': (literal, type) =>
    `arrayConcat([cast((${literal}, 'a') as Tuple(${type}, String))], [(${literal}, 'b')])[1].1`,
  'an element of a literal behind an item': (literal, type) =>
    `arrayConcat([cast((${literal}, 'a') as Tuple(${type}, String))], [(${literal}, 'b')])[2].1`,
  'an element beside that of a cast by the name': (literal, type) =>
    `arrayConcat([cast((${literal}, 'a') as Tuple(${type}, String))], [accurateCastOrNull((${literal}, 'a'), 'Tuple(${type}, String)')])[2].1`,
  'a value of a map': (literal, type) => `cast(map('k', ${literal}) as Map(String, ${type}))['k']`,
  'what a branch gives': (literal, type) => `if(1 = 1, cast([${literal}] as Array(${type})), [${literal}])[1]`,
  'the largest of a group': (literal, type) => `select max(x) from (select cast([${literal}] as Array(${type}))[1] as x)`,
  'an item of a group': (literal, type) => `select groupArray(x)[1] from (select cast([${literal}] as Array(${type}))[1] as x)`,
}

describe.each(Object.entries(values))('%s', (type, [literal, shown]) => {
  test.each(Object.entries(ways))('as %s', async (_, way) => {
    expect(await project.value(way(literal, type))).toEqual(shown)
  })
  test('an item equals the literal', async () => {
    expect(await project.value(`has(cast([${literal}] as Array(${type})), ${literal})`)).toBe(1)
  })
})

const isNumber = (type: string) => /Int|Float|Decimal/.test(type)
test.each(Object.keys(values).filter(isNumber))('items of type %s joined with literals are added up', async (type) => {
  expect(await project.value(`arraySum(arrayConcat(cast([1] as Array(${type})), [2]))`)).toBe(3)
  expect(await project.value(`arrayMax(arrayConcat(cast([1] as Array(${type})), [accurateCastOrNull(2, '${type}')]))`)).toBe(2)
})

test.each(Object.keys(values).filter((type) => isNumber(type) && type !== 'UInt8' && type !== 'Int8' && !type.startsWith('Float')))(
  'a value of type %s keeps its size beside a small number with a sign',
  async (type) => {
    const small = 'cast([-1] as Array(Int8))[1]'
    const large = `cast([${values[type as Named][0]}] as Array(${type}))[1]`
    expect(await project.value(`[${large}, ${small}]`)).toEqual([values[type as Named][1], -1])
  },
)

test('every default is a value of its type', async () => {
  for (const type of Object.keys(values)) {
    const value = await project.value(`defaultValueOfTypeName('Array(${type})')`)
    expect([type, value]).toEqual([type, []])
  }
})

test('a type of the engine is the same however it is nested', () => {
  for (const name of Object.keys(values)) {
    const type = parseType(name)!
    expect(typeName(type)).toContain(name.split('(')[0])
    expect(duckdbType({ kind: 'array', item: type })).toBe(`${duckdbType(type)}[]`)
    expect(duckdbType({ kind: 'tuple', items: [type, scalar('String')] })).toBe(`STRUCT("v1" ${duckdbType(type)}, "v2" VARCHAR)`)
    expect(duckdbType({ kind: 'map', key: scalar('String'), value: type })).toBe(`MAP(VARCHAR, ${duckdbType(type)})`)
  }
})
