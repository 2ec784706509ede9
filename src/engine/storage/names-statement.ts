import type { NameOrder, NameSearch, NamesAsked } from '../../language/catalog/known-names.ts'

// The statements that find one page of names, for both engines: they differ in the names of functions.

export interface NamesEngine {
  literal(text: string): string
  /** Capitals or not. */
  contains(text: string, part: string): string
  startsWith(text: string, part: string): string
  /** The text behind its first characters. */
  from(text: string, skipped: number): string
  /** SHA-1 of bytes, given as hexadecimal digits, and a text: as lower-case hexadecimal digits. */
  sha1(bytes: string, text: string): string
  /** A table with the columns key and least. */
  values(rows: readonly string[]): string
  /** A time as microseconds; 0 for none. */
  micros(column: string): string
}

/** One of the tables with names. */
export interface NamesTable {
  /** With its condition, if other projects have rows there. */
  readonly from: string
  /** What is read of each. */
  readonly columns: string
  readonly count: string
  readonly hasScopes: boolean
}

export interface NamesStatements {
  readonly page: string
  readonly count: string
}

/** Of the 32 hexadecimal digits of a UUIDv5, the 30 that are those of the hash. */
const keyOf = (id: string): string => {
  const digits = id.replaceAll('-', '').toLowerCase()
  return digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17, 32)
}

export function namesStatements(asked: NamesAsked, { from, columns, count, hasScopes }: NamesTable, engine: NamesEngine): NamesStatements {
  const { literal } = engine
  const { ids, onlyIds, withoutIds, verified, removed = [], order, limit, offset } = asked
  const isIn = (value: string, texts: readonly string[]) =>
    texts.length === 0 ? '(1 = 0)' : `${value} IN (${texts.map(literal).join(', ')})`
  const not = (condition: string) => `NOT (${condition})`
  const byId = (value: readonly string[]) => isIn('id_key', value.map(keyOf))
  const isVerified = byId(verified ?? [])
  const hasVerified = order.some(({ by }) => by === 'verified')
  const needsKey = onlyIds !== undefined || withoutIds !== undefined || removed.length > 0 || hasVerified

  const conditions: string[] = []
  const add = (condition: string | false | undefined) => {
    if (condition) conditions.push(condition)
  }
  add(asked.scopes && isIn('scope', asked.scopes))
  add(asked.names && isIn('name', asked.names))
  add(asked.without && not(isIn('name', asked.without)))
  add(asked.begins && `(${['1 = 0', ...asked.begins.map((one) => engine.startsWith('name', literal(one)))].join(' OR ')})`)
  for (const one of asked.beginsNot ?? []) add(not(engine.startsWith('name', literal(one))))
  if (asked.isNumerical !== undefined) {
    const numerical = `coalesce(property_type, '') = 'Numeric' OR (property_type IS NULL AND ${count} > 0 AND count_numeric = ${count})`
    add(asked.isNumerical ? `(${numerical})` : not(numerical))
  }
  add(asked.search && searched(asked.search, engine, isIn))
  add(onlyIds && byId(onlyIds))
  add(withoutIds && not(byId(withoutIds)))

  const hashed = `${literal(ids.prefix)}${hasScopes ? " || scope || ':'" : ''} || name`
  const digits = engine.sha1(ids.namespace.replaceAll('-', ''), hashed)
  const key = `substring(sha1_digits, 1, 12) || substring(sha1_digits, 14, 3) || substring(sha1_digits, 18, 15)`
  const keyed = needsKey
    ? `(SELECT *, ${key} AS id_key FROM (SELECT *, ${digits} AS sha1_digits FROM ${from}) AS hashed_names) AS known_names`
    : `(SELECT * FROM ${from}) AS known_names`
  const rows = removed.map((one) => `(${literal(keyOf(one.id))}, ${Math.floor(one.count) + 1})`)
  const joined =
    rows.length > 0 ? `${keyed} LEFT JOIN ${engine.values(rows)} AS removed_names ON removed_names.key = known_names.id_key` : keyed
  if (rows.length > 0) add(`${count} >= coalesce(removed_names.least, 0)`)

  const orders: Readonly<Record<NameOrder, string>> = {
    name: 'name',
    count,
    created_at: engine.micros('first_seen'),
    last_seen_at: engine.micros('last_seen'),
    verified: isVerified,
  }
  const ordered = [
    ...(asked.first && asked.first.length > 0 ? [`${isIn('name', asked.first)} DESC`] : []),
    ...order.map(({ by, isDescending }) => `${orders[by]}${isDescending ? ' DESC' : ''}`),
    'name',
    ...(hasScopes ? [`${count} DESC`, 'scope'] : []),
  ]
  const found = `FROM ${joined}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`
  return {
    page: `SELECT ${columns} ${found} ORDER BY ${ordered.join(', ')} LIMIT ${limit} OFFSET ${offset}`,
    count: `SELECT count(*) ${found}`,
  }
}

function searched(
  { words, labelled, prefixes }: NameSearch,
  { contains, startsWith, from, literal }: NamesEngine,
  isIn: (value: string, texts: readonly string[]) => string,
): string {
  const all = (text: string) => `(${words.map((word) => contains(text, literal(word))).join(' AND ')})`
  const ofPrefixes = prefixes.map(({ prefix, label, except }) => {
    const text = `${literal(label)} || ${from('name', prefix.length)}`
    return `(${startsWith('name', literal(prefix))} AND NOT (${isIn('name', except)}) AND ${all(`(${text})`)})`
  })
  return `(${[all('name'), isIn('name', labelled), ...ofPrefixes].join(' OR ')})`
}
