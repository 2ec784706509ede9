// The types that answers have, by PostgreSQL's names and numbers.

export interface PgType {
  readonly oid: number
  /** Bytes of a value; -1: it varies. */
  readonly size: number
  /** The oid of arrays of it. */
  readonly array: number
  /** PostgreSQL's letter for its kind: N, S, D, B, U, T, A. */
  readonly category: string
  /** As `format_type` and information_schema name it. */
  readonly title: string
}

export const pgTypes = {
  bool: { oid: 16, size: 1, array: 1000, category: 'B', title: 'boolean' },
  bytea: { oid: 17, size: -1, array: 1001, category: 'U', title: 'bytea' },
  name: { oid: 19, size: 64, array: 1003, category: 'S', title: 'name' },
  int8: { oid: 20, size: 8, array: 1016, category: 'N', title: 'bigint' },
  int2: { oid: 21, size: 2, array: 1005, category: 'N', title: 'smallint' },
  int4: { oid: 23, size: 4, array: 1007, category: 'N', title: 'integer' },
  text: { oid: 25, size: -1, array: 1009, category: 'S', title: 'text' },
  oid: { oid: 26, size: 4, array: 1028, category: 'N', title: 'oid' },
  json: { oid: 114, size: -1, array: 199, category: 'U', title: 'json' },
  float4: { oid: 700, size: 4, array: 1021, category: 'N', title: 'real' },
  float8: { oid: 701, size: 8, array: 1022, category: 'N', title: 'double precision' },
  varchar: { oid: 1043, size: -1, array: 1015, category: 'S', title: 'character varying' },
  date: { oid: 1082, size: 4, array: 1182, category: 'D', title: 'date' },
  timestamp: { oid: 1114, size: 8, array: 1115, category: 'D', title: 'timestamp without time zone' },
  timestamptz: { oid: 1184, size: 8, array: 1185, category: 'D', title: 'timestamp with time zone' },
  interval: { oid: 1186, size: 16, array: 1187, category: 'T', title: 'interval' },
  numeric: { oid: 1700, size: -1, array: 1231, category: 'N', title: 'numeric' },
  uuid: { oid: 2950, size: 16, array: 2951, category: 'U', title: 'uuid' },
  jsonb: { oid: 3802, size: -1, array: 3807, category: 'U', title: 'jsonb' },
} as const satisfies Readonly<Record<string, PgType>>

export type Scalar = keyof typeof pgTypes
/** `unknown`: a text constant whose type its place decides. `other`: what only the engine knows. */
export type TypeName = Scalar | `${Scalar}[]` | 'unknown' | 'other'

const byOid = new Map<number, TypeName>()
for (const [name, { oid, array }] of Object.entries(pgTypes) as [Scalar, PgType][]) {
  byOid.set(oid, name)
  byOid.set(array, `${name}[]`)
}
/** Undefined: 0, `unknown`, or a type that has no name here. */
export const typeOfOid = (oid: number): TypeName | undefined => byOid.get(oid)

export const isScalar = (name: string): name is Scalar => Object.hasOwn(pgTypes, name)
export const itemOf = (name: TypeName): Scalar | null => (name.endsWith('[]') ? (name.slice(0, -2) as Scalar) : null)

export const oidOf = (name: TypeName): number => {
  const item = itemOf(name)
  if (item) return pgTypes[item].array
  return isScalar(name) ? pgTypes[name].oid : pgTypes.text.oid
}
export const sizeOf = (name: TypeName): number => (isScalar(name) ? pgTypes[name].size : -1)
export const titleOf = (name: TypeName): string => {
  const item = itemOf(name)
  if (item) return `${pgTypes[item].title}[]`
  return isScalar(name) ? pgTypes[name].title : 'text'
}

const whole: readonly TypeName[] = ['int2', 'int4', 'int8']
const numbers: readonly TypeName[] = [...whole, 'numeric', 'float4', 'float8']
const texts: readonly TypeName[] = ['text', 'varchar', 'name', 'unknown']
export const isWhole = (type: TypeName): boolean => whole.includes(type)
export const isNumber = (type: TypeName): boolean => numbers.includes(type)
export const isText = (type: TypeName): boolean => texts.includes(type)
export const isTime = (type: TypeName): boolean => type === 'timestamp' || type === 'timestamptz'
export const isDay = (type: TypeName): boolean => type === 'date' || isTime(type)

/** The type that can have the values of both. */
export function common(a: TypeName, b: TypeName): TypeName {
  if (a === b) return a
  if (a === 'unknown') return b
  if (b === 'unknown') return a
  if (a === 'other' || b === 'other') return 'other'
  if (isNumber(a) && isNumber(b)) return numbers[Math.max(numbers.indexOf(a), numbers.indexOf(b))]!
  if (isDay(a) && isDay(b)) return a === 'timestamptz' || b === 'timestamptz' ? 'timestamptz' : 'timestamp'
  return 'text'
}

/** The type of a column of the language by its name there, such as `Nullable(DateTime64(6, 'UTC'))`. */
export function typeOfLanguage(given: string): { readonly type: TypeName; readonly nullable: boolean } {
  const nullable = /^Nullable\(/.test(given)
  const name = given.replace(/^Nullable\(([\s\S]*)\)$/, '$1')
  const item = /^Array\(([\s\S]*)\)$/.exec(name)?.[1]
  if (item !== undefined) {
    const { type } = typeOfLanguage(item)
    return { type: isScalar(type) ? `${type}[]` : 'json', nullable }
  }
  const found: readonly (readonly [RegExp, TypeName])[] = [
    [/^Bool/, 'bool'],
    [/^U?Int(?:8|16)$/, 'int4'],
    [/^Int32$/, 'int4'],
    [/^U?Int(?:32|64)$/, 'int8'],
    [/^U?Int|^Decimal/, 'numeric'],
    [/^Float/, 'float8'],
    [/^DateTime/, 'timestamptz'],
    [/^Date/, 'date'],
    [/^UUID/, 'uuid'],
    [/^(?:Tuple|Map)/, 'json'],
  ]
  return { type: found.find(([pattern]) => pattern.test(name))?.[1] ?? 'text', nullable }
}
