import { expect, test } from 'vitest'
import { z } from 'zod'
import { routes } from '../../src/doors/http/routes.ts'
import { withinJson } from '../../src/limits/bounds.ts'
import { type FieldLimitName, fieldLimits } from '../../src/limits/limits.ts'
import { anyJson, check, jsonList, jsonObject, listOf, text, time, uuid } from '../../src/service/accounts/fields.ts'

// Every text, list and free value that a request can send has a largest size, which comes from the table of limits.

interface Def {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly catchall?: z.ZodType
  readonly valueType?: z.ZodType
  readonly getter?: () => z.ZodType
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly maximum?: number; readonly params?: { readonly limit?: string } } }
  }[]
}
const defOf = (schema: z.ZodType) => schema._zod.def as unknown as Def
const checksOf = (schema: z.ZodType) => (defOf(schema).checks ?? []).map((one) => one._zod.def)

const mostOf = (unit: string) => Math.max(...Object.values(fieldLimits).map((one) => (one.unit === unit ? one.most : 0)))
const longest = Math.max(mostOf('characters'), mostOf('characters as JSON'))
const isJsonBounded = (schema: z.ZodType) =>
  checksOf(schema).some(({ params }) => params?.limit !== undefined && params.limit in fieldLimits)
const isLengthBounded = (schema: z.ZodType, most: number) =>
  checksOf(schema).some(({ check, maximum }) => check === 'max_length' && maximum !== undefined && maximum <= most)

const advice: Readonly<Record<string, string>> = {
  string: '`text()` of service/accounts/fields.ts, or `.max(tokenLength)` for what is only looked up',
  array: '`listOf(item)` or `jsonList()` of service/accounts/fields.ts',
  record: '`jsonObject()` of service/accounts/fields.ts, or `withinJson(schema, LIMIT)` of limits/bounds.ts',
  object: '`z.object` without further keys, or `withinJson(schema, LIMIT)` of limits/bounds.ts',
  unknown: '`anyJson()` of service/accounts/fields.ts, or `withinJson(schema, LIMIT)` of limits/bounds.ts',
}
const missing = (path: string, type: string) =>
  `${path} (${type}) has no largest size. Use ${advice[type] ?? advice.unknown}. LIMIT is a row of \`fieldLimits\` in src/limits/limits.ts: ${Object.keys(fieldLimits).join(', ')}; add one if none fits.`

/** Places without a bound. What is bounded as a whole needs none inside. */
function* unbounded(schema: z.ZodType, path: string, depth = 0): Generator<string> {
  const def = defOf(schema)
  if (isJsonBounded(schema)) return
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      yield* unbounded(def.innerType!, path, depth)
      return
    case 'pipe':
      yield* unbounded(defOf(def.in!).type === 'transform' ? def.out! : def.in!, path, depth)
      return
    case 'lazy':
      if (depth < 8) yield* unbounded(def.getter!(), path, depth + 1)
      return
    case 'union':
      for (const option of def.options!) yield* unbounded(option, path, depth)
      return
    case 'object':
      for (const [name, field] of Object.entries(def.shape!)) yield* unbounded(field, `${path}.${name}`, depth + 1)
      if (def.catchall && defOf(def.catchall).type !== 'never') yield missing(path, 'object')
      return
    case 'array':
      if (!isLengthBounded(schema, mostOf('items'))) yield missing(path, 'array')
      yield* unbounded(def.element!, `${path}[]`, depth + 1)
      return
    case 'string':
      if (!isLengthBounded(schema, longest)) yield missing(path, 'string')
      return
    case 'number':
    case 'int':
    case 'boolean':
    case 'enum':
    case 'literal':
    case 'null':
    case 'undefined':
    case 'never':
    case 'date':
      return
    default:
      yield missing(path, def.type)
  }
}

test('every field of every request has a largest size', () => {
  const rows = routes.flatMap((route) => [...route.rows.values()])
  const found = rows.flatMap((row) => (row.body ? [...unbounded(row.body, row.name)] : []))
  expect(found).toEqual([])
})

test('the walk finds what has none, wherever it stands', () => {
  const cases: readonly [z.ZodType, string[]][] = [
    [z.object({ a: z.string().nullish() }), ['x.a (string)']],
    [z.object({ a: z.array(z.string().max(5)) }), ['x.a (array)']],
    [z.object({ a: listOf(z.object({ b: z.unknown() })) }), ['x.a[].b (unknown)']],
    [z.object({ a: z.record(z.string(), z.string().max(5)).optional() }), ['x.a (record)']],
    [z.looseObject({ a: text() }), ['x (object)']],
    [z.union([z.boolean(), z.string()]), ['x (string)']],
    [z.object({ a: z.preprocess((value) => value, z.string()) }), ['x.a (string)']],
    [z.object({ a: z.string().max(longest + 1) }), ['x.a (string)']],
    [z.object({ a: text(), b: listOf(text({ max: 3 })), c: anyJson(), d: jsonObject(), e: jsonList(), f: uuid(), g: time() }), []],
    [
      z.object({
        a: withinJson(z.looseObject({ b: z.string() }), 'json')
          .nullish()
          .meta({ description: 'b' }),
      }),
      [],
    ],
  ]
  for (const [schema, wanted] of cases) expect([...unbounded(schema, 'x')].map((one) => one.slice(0, one.indexOf(')') + 1))).toEqual(wanted)
})

const repeated = (length: number) => 'x'.repeat(length)
test.each<[FieldLimitName, z.ZodType, (length: number) => unknown]>([
  ['text', text(), repeated],
  ['message', text({ size: 'message' }), repeated],
  ['text', text({ max: 10 ** 9 }), repeated],
  ['list', listOf(z.int()), (length) => Array.from({ length }, () => 1)],
  ['json', anyJson(), (length) => repeated(length - 2)],
  ['json', jsonObject(), (length) => ({ a: repeated(length - 8) })],
  ['config', jsonObject('config'), (length) => ({ a: repeated(length - 8) })],
  ['json', jsonList(), (length) => [repeated(length - 4)]],
])('%s: taken at its largest size, refused above', (limit, schema, make) => {
  const { most } = fieldLimits[limit]
  expect(schema.safeParse(make(most)).success).toBe(true)
  const read = () => check(z.object({ field: schema }), { field: make(most + 1) })
  expect(read).toThrow(new RegExp(`^Ensure this field has no more than ${most} (characters|items)`))
})
