import { reserved } from '../statements/expressions.ts'
import type { Token } from '../statements/lexer.ts'
import { readOnly, SqlError, syntaxError } from '../statements/sql-error.ts'
import { arrayItems } from '../translation/coerce.ts'
import type { ProjectTables } from '../translation/tables.ts'
import { catalogColumns } from './catalog-tables.ts'
import { catalogMacros } from './macros.ts'

// Statements about the catalog in the spelling of the engine that answers them.

const schemas: Readonly<Record<string, string>> = { pg_catalog: 'pgc', information_schema: 'isc' }
/** Functions about the session, which a statement on events may call as well. */
const ofSession: ReadonlySet<string> = new Set([
  'current_database',
  'current_schema',
  'current_user',
  'session_user',
  'current_role',
  'current_catalog',
  'age',
  'cardinality',
  'format',
])
/** What tells of the engine or reaches out of it. */
const refused =
  /^(?:duckdb_|pragma_|read_|sniff_|parquet_|sqlite_|json_execute|getenv|getvariable|glob$|query$|query_table$|which_secret|from_substrait|arrow_scan|seq_scan|pandas_scan|iceberg_|delta_|postgres_|mysql_|test_all_types|summary$|checkpoint|force_checkpoint|icu_|sql_auto_complete)/i

const isName = ({ kind }: Token): boolean => kind === 'word' || kind === 'quoted'
const isMark = (token: Token | undefined, text: string): boolean => token?.kind === 'mark' && token.text === text
const isCalled = (tokens: readonly Token[], i: number): boolean => isMark(tokens[i + 1], '(')

/** Names that stand where FROM and JOIN name tables. */
function tablesIn(tokens: readonly Token[]): string[] {
  const names: string[] = []
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'word' || (token.text !== 'from' && token.text !== 'join')) continue
    let at = i + 1
    while (tokens[at]?.text === 'only' || tokens[at]?.text === 'lateral') at++
    if (tokens[at] && isName(tokens[at]!) && isMark(tokens[at + 1], '.') && tokens[at]!.text === 'public') at += 2
    const found = tokens[at]
    if (found && isName(found) && !isMark(tokens[at + 1], '.') && !isMark(tokens[at + 1], '(')) names.push(found.text)
  }
  return names
}

/** `select 1`, `select 'x' as y`: what clients send to see whether somebody is there. */
function isPing(tokens: readonly Token[]): boolean {
  const [first, second, third, fourth, ...more] = tokens
  if (first?.text !== 'select' || more.length > 0 || !second || (second.kind !== 'number' && second.kind !== 'string')) return false
  return third === undefined || (third.text === 'as' ? fourth !== undefined && isName(fourth) : fourth === undefined && isName(third))
}

export function isOfCatalog(tokens: readonly Token[], tables: ProjectTables): boolean {
  if (isPing(tokens)) return true
  const names = tablesIn(tokens)
  if (names.some((name) => tables.has(name) && !Object.hasOwn(catalogColumns, name))) return false
  if (names.some((name) => Object.hasOwn(catalogColumns, name))) return true
  return tokens.some((token, i) => {
    if (!isName(token)) return false
    if (Object.hasOwn(schemas, token.text) && isMark(tokens[i + 1], '.')) return true
    if (token.kind === 'word' && names.length === 0 && !isMark(tokens[i - 1], '.') && ofSession.has(token.text))
      return token.text.startsWith('current_') || token.text === 'session_user'
    return isCalled(tokens, i) && Object.hasOwn(catalogMacros, token.text) && !ofSession.has(token.text)
  })
}

const text = (value: string): string => `'${value.replaceAll("'", "''").replaceAll('\0', '')}'`
const name = (value: string): string => `"${value.replaceAll('"', '""')}"`

const typeNames: Readonly<Record<string, string>> = {
  regclass: 'VARCHAR',
  regtype: 'VARCHAR',
  regproc: 'VARCHAR',
  regprocedure: 'VARCHAR',
  regnamespace: 'VARCHAR',
  regrole: 'VARCHAR',
  oid: 'UINTEGER',
  name: 'VARCHAR',
  char: 'VARCHAR',
  bpchar: 'VARCHAR',
  xid: 'BIGINT',
  int2vector: 'SMALLINT[]',
  oidvector: 'UINTEGER[]',
  sql_identifier: 'VARCHAR',
  character_data: 'VARCHAR',
  cardinal_number: 'INTEGER',
  yes_or_no: 'VARCHAR',
  aclitem: 'VARCHAR',
  anyarray: 'VARCHAR',
  pg_node_tree: 'VARCHAR',
  information_schema: 'VARCHAR',
  citext: 'VARCHAR',
  json: 'VARCHAR',
  jsonb: 'VARCHAR',
}

export interface Spelled {
  readonly oids: ReadonlyMap<string, number>
  /** Null: they are not known yet. */
  readonly values: readonly (string | null)[] | null
  readonly isNumber: (param: number) => boolean
}

class Speller {
  private readonly tokens: readonly Token[]
  private readonly about: Spelled
  private at = 0
  private readonly parts: string[] = []
  private readonly rowAliases = new Set<number>()
  private readonly skipped = new Set<number>()
  private readonly renamed = new Map<number, string>()

  constructor(tokens: readonly Token[], about: Spelled) {
    this.tokens = tokens
    this.about = about
  }

  private ahead(by: number): Token | undefined {
    return this.tokens[this.at + by]
  }

  all(): string {
    while (this.at < this.tokens.length) this.next()
    return this.parts.join(' ')
  }

  private take(by: number, ...parts: string[]): true {
    this.at += by
    this.parts.push(...parts)
    return true
  }

  private next(): true {
    const token = this.tokens[this.at]!
    if (this.skipped.has(this.at)) return this.take(1)
    const renamed = this.renamed.get(this.at)
    if (renamed !== undefined) return this.take(1, renamed)
    switch (token.kind) {
      case 'string':
        return this.string(token)
      case 'param':
        return this.take(1, this.param(Number(token.text)))
      case 'operator':
        return this.operator(token.text, 1)
      case 'quoted':
        if (Object.hasOwn(schemas, token.text) && isMark(this.ahead(1), '.')) return this.ofSchema(schemas[token.text]!)
        return this.take(1, name(mayName(token)))
      case 'word':
        return this.word(token)
      case 'mark':
        if (token.text === '::') return this.cast()
        return this.take(1, token.text)
      default:
        return this.take(1, token.text)
    }
  }

  private param(index: number): string {
    const { values, isNumber } = this.about
    if (values === null) return isNumber(index - 1) ? '0' : "''"
    if (index > values.length) throw new SqlError('42P02', `there is no parameter $${index}`)
    const value = values[index - 1]!
    if (value === null) return 'NULL'
    return isNumber(index - 1) && /^-?\d{1,30}$/.test(value) ? value : text(value)
  }

  private string({ text: value }: Token): true {
    const isArray = isMark(this.ahead(-1), '(') && ['any', 'all', 'some'].includes(this.ahead(-2)?.text ?? '') && value.startsWith('{')
    if (isArray)
      return this.take(
        1,
        `[${arrayItems(value)
          .map((item) => (item === null ? 'NULL' : text(item)))
          .join(', ')}]`,
      )
    const type = this.typeAhead(1)
    if (type?.name === 'regclass') return this.take(1 + type.length, this.oidOf(value))
    if (type?.name === 'regtype' || type?.name === 'regnamespace')
      return this.take(
        1 + type.length,
        `(SELECT oid FROM pgc.${type.name === 'regtype' ? 'pg_type WHERE typname' : 'pg_namespace WHERE nspname'} = ${text(value)})`,
      )
    return this.take(1, text(value))
  }

  /** `::pg_catalog.regclass` */
  private typeAhead(by: number): { name: string; length: number } | null {
    if (!isMark(this.ahead(by), '::')) return null
    const isLong = this.ahead(by + 1)?.text === 'pg_catalog' && isMark(this.ahead(by + 2), '.')
    const found = this.ahead(by + (isLong ? 3 : 1))
    return found ? { name: found.text, length: isLong ? 4 : 2 } : null
  }

  private oidOf(written: string): string {
    const bare = written
      .replace(/^(?:"?public"?|pg_catalog)\./, '')
      .replace(/^"(.*)"$/s, '$1')
      .replaceAll('""', '"')
    const known: Readonly<Record<string, number>> = {
      pg_class: 1259,
      pg_namespace: 2615,
      pg_proc: 1255,
      pg_type: 1247,
      pg_database: 1262,
      pg_constraint: 2606,
      pg_trigger: 2620,
      pg_attrdef: 2604,
      pg_authid: 1260,
      pg_rewrite: 2618,
      pg_extension: 3079,
    }
    const oid = this.about.oids.get(bare) ?? known[bare] ?? (/^\d+$/.test(bare) ? Number(bare) : undefined)
    if (oid === undefined) throw new SqlError('42P01', `relation "${bare}" does not exist`)
    return `CAST(${oid} AS UINTEGER)`
  }

  private cast(): true {
    const type = this.typeAhead(0)
    if (!type) throw syntaxError('syntax error at end of input', this.tokens[this.at]!.start)
    const isInformation = type.name === 'information_schema' && isMark(this.ahead(2), '.')
    const named = isInformation ? this.ahead(3)!.text : type.name
    return this.take(isInformation ? 4 : type.length, '::', typeNames[named] ?? (/^[a-z_0-9]+$/.test(named) ? named : 'VARCHAR'))
  }

  private ofSchema(schema: string): true {
    const found = this.ahead(2)
    if (!found) return this.take(2)
    if (isMark(this.ahead(3), '(')) {
      this.at += 2
      return this.call(found)
    }
    return this.take(3, `${schema}.${name(mayName(found))}`)
  }

  private call(token: Token): true {
    mayName(token)
    const { text: called } = token
    this.aliasOfRows(called)
    if (called === 'current_database' || called === 'current_catalog') return this.take(3, 'pgc.wm_current_database()')
    return this.take(1, Object.hasOwn(catalogMacros, called) ? `pgc.wm_${called}` : token.kind === 'quoted' ? name(called) : called)
  }

  /** How far the end of the parentheses is that open next. */
  private closing(): number {
    let depth = 0
    for (let by = 1; this.ahead(by); by++) {
      if (isMark(this.ahead(by), '(')) depth++
      if (isMark(this.ahead(by), ')') && --depth === 0) return by
    }
    throw syntaxError('syntax error at end of input', this.tokens.at(-1)!.end)
  }

  /** `CAST(x AS regclass)` */
  private castCall(): true {
    const by = this.closing()
    const type = this.ahead(by - 1)!
    const isLong = isMark(this.ahead(by - 2), '.')
    const before = this.ahead(by - (isLong ? 4 : 2))
    if (before?.text !== 'as') return this.take(1, 'cast')
    if (type.text === 'regclass' || type.text === 'regtype') {
      for (let at = this.at + by - (isLong ? 4 : 2); at < this.at + by; at++) this.skipped.add(at)
      return this.take(1, `pgc.wm_to_${type.text}`)
    }
    if (isLong) for (const gone of [3, 2]) this.skipped.add(this.at + by - gone)
    if (Object.hasOwn(typeNames, type.text)) this.renamed.set(this.at + by - 1, typeNames[type.text]!)
    return this.take(1, 'cast')
  }

  /** `generate_series(0, 3) s`: in PostgreSQL `s` is the number, too. */
  private aliasOfRows(called: string): void {
    const before = isMark(this.ahead(-1), '.') ? -3 : -1
    const isSource = ['from', 'join', ',', 'lateral'].includes(this.ahead(before)?.text ?? '')
    if (!isSource || !['generate_series', 'unnest', 'generate_subscripts', 'string_to_table'].includes(called)) return
    const by = this.closing()
    const at = this.at + by + (this.ahead(by + 1)?.text === 'as' ? 2 : 1)
    const alias = this.tokens[at]
    if (alias && isName(alias) && !reserved.has(alias.text) && !isMark(this.tokens[at + 1], '(')) this.rowAliases.add(at)
  }

  private word(token: Token): true {
    const { text: word } = token
    if (this.rowAliases.has(this.at)) return this.take(1, `${word}(${word})`)
    const isField = isMark(this.ahead(-1), '.')
    if (Object.hasOwn(schemas, word) && isMark(this.ahead(1), '.')) return this.ofSchema(schemas[word]!)
    if (isMark(this.ahead(1), '(') && !isField) {
      if (word === 'operator') return this.namedOperator()
      if (word === 'cast') return this.castCall()
      return this.call(token)
    }
    if (!isField && ['current_user', 'session_user', 'current_role', 'user'].includes(word)) return this.take(1, 'pgc.wm_current_user()')
    if (!isField && word === 'current_catalog') return this.take(1, 'pgc.wm_current_database()')
    if (!isField && word === 'current_schema') return this.take(1, "'public'")
    if (word === 'collate') return this.collation()
    if (!isField && Object.hasOwn(catalogColumns, word) && ['from', 'join', ','].includes(this.ahead(-1)?.text ?? ''))
      return this.take(1, `pgc.${word}`)
    return this.take(1, mayName(token))
  }

  private namedOperator(): true {
    let by = 2
    while (this.ahead(by) && !isMark(this.ahead(by), ')')) by++
    return this.operator(this.ahead(by - 1)?.text ?? '', by + 1)
  }

  private collation(): true {
    this.at += 2
    while (isMark(this.ahead(0), '.')) this.at += 2
    return true
  }

  /** Patterns match anywhere in a text. */
  private operator(op: string, length: number): true {
    const match = /^(!?)~(\*?)$/.exec(op)
    if (!match) return this.take(length, { '~~*': 'ILIKE', '!~~*': 'NOT ILIKE' }[op] ?? op)
    const pattern = this.ahead(length)
    const found =
      pattern?.kind === 'string' ? pattern.text : pattern?.kind === 'param' ? (this.about.values?.[Number(pattern.text) - 1] ?? '') : null
    if (found === null)
      throw new SqlError('0A000', 'a pattern that is not constant is not supported', { offset: this.tokens[this.at]!.start })
    return this.take(length + 1, `${match[1] ? 'NOT ' : ''}SIMILAR TO ${text(`(?s${match[2] ? 'i' : ''}).*(?:${found}).*`)}`)
  }
}

/** The name, unless it is of what is closed. */
function mayName({ text: found, start }: Token): string {
  if (refused.test(found)) throw new SqlError('42501', `permission denied for ${found}`, { offset: start })
  return found
}

export function spelled(tokens: readonly Token[], about: Spelled): string {
  const [first] = tokens
  if (first && !isMark(first, '(') && !['select', 'with', 'values', 'table'].includes(first.text))
    throw syntaxError(`syntax error at or near "${first.text}"`, first.start)
  const writes = tokens.find(
    ({ kind, text: word }, i) =>
      kind === 'word' &&
      ['insert', 'update', 'delete', 'into', 'copy', 'attach', 'install', 'load', 'pragma'].includes(word) &&
      isMark(tokens[i - 1], '('),
  )
  if (writes) throw readOnly(writes.text.toUpperCase(), writes.start)
  return new Speller(tokens, about).all()
}
