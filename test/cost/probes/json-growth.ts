import { fill } from './shapes.ts'

// A value that fits a JSON schema, and the same value with one of its places grown to any size. Nothing here knows what the schema is of.

export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly additionalProperties?: Schema | boolean
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

type Path = readonly (string | number)[]

export interface Place {
  readonly path: Path
  readonly schema: Schema
}

const typeOf = ({ type }: Schema): string | undefined => (typeof type === 'string' ? type : type?.find((one) => one !== 'null'))

const formats: Readonly<Record<string, string>> = {
  email: 'a@example.com',
  uuid: '00000000-0000-4000-8000-000000000001',
  'date-time': '2024-01-01T00:00:00Z',
  date: '2024-01-01',
  uri: 'https://example.com/',
}

const mostLevels = 6

/** The first choice that is something. References are to the parts of `root`. */
function chosen(schema: Schema, root: Schema): Schema {
  const ref = schema.$ref
  if (ref !== undefined) {
    const parts = ref.replace(/^#\/?/, '').split('/').filter(Boolean)
    const target = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], root) as Schema | undefined
    return target ? chosen(target, root) : {}
  }
  const choices = schema.anyOf ?? schema.oneOf
  const some = choices?.find((one) => one.type !== 'null')
  return some ? chosen(some, root) : schema
}

/** The smallest value that fits, with every property that has to be there. */
export function exampleOf(given: Schema, root: Schema = given, level = 0): unknown {
  const schema = chosen(given, root)
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  switch (typeOf(schema)) {
    case 'string':
      return formats[schema.format ?? ''] ?? 'a'
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1)
    case 'boolean':
      return false
    case 'array':
      return level < mostLevels && schema.items ? [exampleOf(schema.items, root, level + 1)] : []
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([name]) => schema.required?.includes(name))
          .map(([name, one]) => [name, level < mostLevels ? exampleOf(one, root, level + 1) : null]),
      )
    default:
      return {}
  }
}

/** Every place of a schema that can be grown: the whole, each property, what lists hold. */
export function placesOf(given: Schema, root: Schema = given, path: Path = []): Place[] {
  const schema = chosen(given, root)
  const inner = [
    ...Object.entries(schema.properties ?? {}).map(([name, one]): [string | number, Schema] => [name, one]),
    ...(schema.items ? [[0, schema.items] as [number, Schema]] : []),
  ]
  return [{ path, schema }, ...(path.length < mostLevels ? inner.flatMap(([key, one]) => placesOf(one, root, [...path, key])) : [])]
}

/** The value with another one at that place; what is on the way there is made. */
export function withValue(value: unknown, path: Path, put: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return put
  if (typeof key === 'number') return [withValue(Array.isArray(value) ? value[0] : undefined, rest, put)]
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
  return { ...object, [key]: withValue(object[key], rest, put) }
}

const count = (bytes: number, each: number) => Math.max(1, Math.floor(bytes / each))
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}

/** What JSON can be made of here; the server refuses far less. */
const mostNested = 1_500

interface Growth {
  readonly fits: (type: string | undefined) => boolean
  /** A value of about so many bytes in JSON. `like` is one that fits the place. */
  readonly grow: (bytes: number, like: unknown) => unknown
}
const always = () => true
const ofObjects = (type: string | undefined) => type === 'object' || type === undefined
const ofLists = (type: string | undefined) => type === 'array'
const text = (piece: string): Growth => ({ fits: always, grow: (bytes) => fill(piece, bytes) })

/** Ways to be large, whatever the schema says of the place. */
export const growths: Readonly<Record<string, Growth>> = {
  'a long text': text('abcdefghij '),
  'a text of blanks': { fits: always, grow: (bytes) => `${fill(' ', bytes)}x` },
  'a text of dots and ats': text('a.@'),
  'a text of quotes': text('"\\\''),
  'a text of brackets': text('(['),
  'a long number in text': text('1234567890'),
  'items like the one': {
    fits: (type) => ofLists(type) || type === undefined,
    grow: (bytes, like) => {
      const [item = 'a'] = Array.isArray(like) ? like : []
      return times(count(bytes, JSON.stringify(item).length + 1), () => item)
    },
  },
  'items of a text each': { fits: ofLists, grow: (bytes) => times(count(bytes, 8), (i) => `a${i}`) },
  'items that are numbers': { fits: ofLists, grow: (bytes) => times(count(bytes, 6), (i) => i) },
  'empty items': { fits: ofLists, grow: (bytes) => times(count(bytes, 3), () => ({})) },
  'many fields': {
    fits: ofObjects,
    grow: (bytes, like) => ({
      ...(typeof like === 'object' ? like : {}),
      ...Object.fromEntries(times(count(bytes, 10), (i) => [`f${i}`, i])),
    }),
  },
  'a long name of a field': {
    fits: ofObjects,
    grow: (bytes, like) => ({ ...(typeof like === 'object' ? like : {}), [fill('abc', bytes)]: 1 }),
  },
  'lists in lists': { fits: always, grow: (bytes) => nested(Math.min(count(bytes, 2), mostNested), (inner) => [inner]) },
  'objects in objects': { fits: always, grow: (bytes) => nested(Math.min(count(bytes, 6), mostNested), (inner) => ({ a: inner })) },
}

export const growthsOf = ({ schema }: Place): string[] => Object.keys(growths).filter((name) => growths[name]!.fits(typeOf(schema)))
