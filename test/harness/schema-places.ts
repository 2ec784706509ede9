import type { z } from 'zod'

// Every place of a schema, each with a way to write a body that is right but for what stands there.

export interface Place {
  readonly path: readonly (string | number)[]
  readonly schema: z.ZodType
  readonly isRequired: boolean
  /** The names of the fields, where it is an object. */
  readonly fields: readonly string[]
  /** The values, where there are few. */
  readonly values: readonly string[]
  body(value: unknown): unknown
}

/** As `value` of a body: the field is left out. */
export const left = Symbol('left out')

type Def = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly out?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly entries?: Readonly<Record<string, string>>
  readonly values?: readonly unknown[]
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly getter?: () => z.ZodType
  readonly catchall?: z.ZodType
}
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def

/** Without what makes it optional, or reads it from another form. */
function plain(schema: z.ZodType): z.ZodType {
  const def = defOf(schema)
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return plain(def.innerType!)
  if (def.type === 'pipe') return plain(defOf(def.in!).type === 'transform' ? def.out! : def.in!)
  return def.type === 'lazy' ? plain(def.getter!()) : schema
}

const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success

/** The least that it takes: items of a list, or the number itself. */
const leastOf = (schema: z.ZodType): number => {
  const { checks = [] } = schema._zod.def as unknown as { checks?: readonly z.core.$ZodCheck[] }
  const bounds = checks.map(({ _zod }) => _zod.def as { minimum?: number; length?: number; value?: unknown; check: string })
  const least = bounds.map(({ check, minimum, length, value }) => minimum ?? length ?? (check === 'greater_than' ? Number(value) : 0))
  return Math.max(1, ...least)
}

/** A value that fits. */
export function sample(given: z.ZodType): unknown {
  const schema = plain(given)
  const def = defOf(schema)
  switch (def.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape!)
          .filter(([, field]) => !isOptional(field))
          .map(([name, field]) => [name, sample(field)]),
      )
    case 'array':
      return Array.from({ length: leastOf(schema) }, () => sample(def.element!))
    case 'union':
      return sample(def.options![0]!)
    case 'enum':
      return Object.values(def.entries!)[0]
    case 'literal':
      return def.values![0]
    case 'number':
      return leastOf(schema)
    case 'boolean':
      return true
    case 'record':
      return {}
    default:
      return 'a'
  }
}

export function* placesOf(
  given: z.ZodType,
  body: Place['body'] = (value) => value,
  path: Place['path'] = [],
  { depth = 0, isOption = false } = {},
): Generator<Place> {
  const schema = plain(given)
  const def = defOf(schema)
  const values = def.type === 'enum' ? Object.values(def.entries!) : []
  const fields = def.type === 'object' ? Object.keys(def.shape!) : []
  yield { path, schema, isRequired: !isOption && !isOptional(given), fields, values, body }
  if (depth > 6) return
  if (def.type === 'object') {
    const base = sample(schema) as object
    for (const [name, field] of Object.entries(def.shape!)) {
      const put = (value: unknown) => {
        const { [name as never]: _, ...rest } = base
        return body(value === left ? rest : { ...rest, [name]: value })
      }
      yield* placesOf(field, put, [...path, name], { depth: depth + 1 })
    }
  }
  if (def.type === 'array') {
    const others = Array.from({ length: leastOf(schema) - 1 }, () => sample(def.element!))
    yield* placesOf(def.element!, (value) => body([value, ...others]), [...path, 0], { depth: depth + 1 })
  }
  if (def.type === 'union') for (const option of def.options!) yield* placesOf(option, body, path, { depth: depth + 1, isOption: true })
}

/** Words of the library that checks, not ours. */
export const foreignWords =
  /Invalid (input|option|string|key)|expected (one of|string|number|int|array|object|boolean|record|nonoptional)|, received|Too (big|small)|Unrecognized key|[<>]=/

/** What no field takes, or only by chance. */
export const oddValues: readonly unknown[] = [null, true, -1.5, 'zzz', [], [[]], {}, { zzz: 1 }]

export const misspelled = (name: string): string => (name.length > 3 ? `${name.slice(0, -2)}${name.slice(-1)}` : `${name}${name.slice(-1)}`)
