import type { Table } from 'apache-arrow'
import type { ColumnPart, ColumnSource, ColumnSpec, ReadSpec } from '../../core/lists/ports.ts'
import { alias, and, call, equals, field, from, isIn, join, literal, or, select, table } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'
import { walk } from '../../language/resolver/typed-walk.ts'
import { codesOf, doubles, integers, TextCodes } from '../../queries/answers/vectors.ts'
import type { FoldAsk, KeyColumnAsk, ListColumnAsk, ReadColumnAsk } from '../../queries/kind.ts'
import { type Refusal, refuse } from '../../queries/refusals.ts'
import { manyRecords, readCoded } from './coded-columns.ts'
import type { Compiled } from './compile.ts'
import type { TakePart } from './ports.ts'
import { type TokenValue, tokenValue } from './token-values.ts'

// Columns for the lists of the core, as statements of the language.

interface Runner {
  compile(query: Query): Promise<Compiled>
  /** Passes the rows part by part. */
  run(query: Query, take: TakePart): Promise<void>
}

export async function columnSource(
  asks: readonly ListColumnAsk[],
  actors: FoldAsk['actors'] | null,
  { compile, run }: Runner,
): Promise<ColumnSource | Refusal> {
  const bySpec = new Map<ColumnSpec, ListColumnAsk>()
  const keyOf = ({ printed: { sql, params } }: Compiled, type: string) => JSON.stringify([type, sql, params.map(String)])
  for (const ask of asks) {
    if (ask.of === 'made') bySpec.set({ ...ask }, ask)
    else if (ask.of === 'person') {
      const compiled = await compile(personQuery([ask], 0))
      if (readsAttached(compiled)) return refuse('attached-table')
      bySpec.set({ ...ask, of: 'person', key: readsOnly('@people', compiled) ? keyOf(compiled, ask.type) : '' }, ask)
    } else if (ask.of === 'key') {
      const compiled = await compile(keyQuery(ask, null))
      if (readsAttached(compiled)) return refuse('attached-table')
      if (!isStable(compiled)) return refuse('not-stable')
      bySpec.set({ ...ask, isOfEvents: ask.table.isOfEvents, key: keyOf(compiled, ask.type) }, ask)
    } else {
      const compiled = await compile(eventQuery([ask], 0, 0))
      if (readsAttached(compiled)) return refuse('attached-table')
      if (!readsOnly('events', compiled)) return refuse(isStable(compiled) ? 'several-owners' : 'not-stable')
      const depends = dependsOn(compiled)
      const plain = depends.properties?.length === 1 && !depends.isOfName ? plainValue(compiled, ask.type) : undefined
      bySpec.set({ ...ask, of: 'event', key: keyOf(compiled, ask.type), ...depends, plain }, ask)
    }
  }
  const specs = [...bySpec.keys()]
  const askOf = <A extends ListColumnAsk>(spec: ColumnSpec) => bySpec.get(spec) as A
  return {
    columns: specs,
    actors: actors ? { ...actors, column: specs[actors.column] as ReadSpec } : null,
    async ofEvents(wanted, after, last, take) {
      const asked = wanted.map((spec) => askOf<ReadColumnAsk>(spec))
      const plain = eventQuery(asked, after, last)
      if (last - after < manyRecords || !asked.some(({ type }) => type === 'codes'))
        return run(plain, (part) => take(...partsOf(part, asked)))
      const other = (part: Table, i: number) => partOf(part, `value_${i}`, asked[i]!.type)
      return readCoded({ plain, asks: asked, after, last, run, other }, take)
    },
    ofPersons(spec, after, take) {
      const asked = [askOf<ReadColumnAsk>(spec)]
      return run(personQuery(asked, after), (part) => take(...partsOf(part, asked)))
    },
    ofKeys(spec, asked, take) {
      const ask = askOf<KeyColumnAsk>(spec)
      return run(keyQuery(ask, asked), (part) =>
        take(new Float64Array(0), [partOf(part, 'at', 'codes'), partOf(part, 'value_0', ask.type)]),
      )
    },
  }
}

const columnsOf = (key: string, asks: readonly ReadColumnAsk[]) => [
  alias(call('toFloat', field(key)), 'at'),
  ...asks.map((ask, i) => alias(valueExpr(ask), `value_${i}`)),
]

function eventQuery(asks: readonly ReadColumnAsk[], after: number, last: number): Query {
  const record = field('@log_seq')
  const where = and(call('greater', record, literal(after)), call('lessOrEquals', record, literal(last)))
  return select({ columns: columnsOf('@log_seq', asks), from: table('events'), where })
}

/** Of all, persons who do not meet a condition are left out: most do not. */
function personQuery(asks: readonly ReadColumnAsk[], after: number): Query {
  const isOfAll = after === 0
  const meetsAny = asks.every(({ type }) => type === 'flags') ? or(...asks.map(({ expr }) => expr)) : null
  const where = isOfAll ? meetsAny : call('greater', field('@changed_seq'), literal(after))
  return select({ columns: columnsOf('@person_no', asks), from: table('@people'), where })
}

/** Of all rows of the table, of some, or of a missing row: a join finds none. */
function keyQuery(ask: KeyColumnAsk, asked: readonly string[] | 'absent' | null): Query {
  const { name, key } = ask.table
  const value = alias(valueExpr(ask), 'value_0')
  if (asked !== 'absent') {
    const where = asked && isIn(field(key), asked.map(literal))
    return select({ columns: [alias(field(key), 'at'), value], from: table(name), where })
  }
  const nothing = from(select({ columns: [alias(literal(''), '@absent')] }), '@nothing')
  const isAbsent = and(equals(field(key), field('@absent')), equals(field(key), literal('')))
  return select({ columns: [alias(field('@absent'), 'at'), value], from: join(nothing, table(name), isAbsent, 'left') })
}

const valueExpr = ({ type, expr }: Pick<ReadColumnAsk, 'type' | 'expr'>): Expr =>
  type === 'flags' ? call('if', expr, literal(1), literal(0)) : type === 'numbers' ? call('toFloat', expr) : expr

/** Tables beside the events change without a record of the log. */
const readsAttached = ({ printed }: Compiled): boolean => printed.attached !== undefined

/** Such a value does not change after the event is stored, or until the row of the person is changed. */
function readsOnly(table: 'events' | '@people', compiled: Compiled): boolean {
  let sources = 0
  let isOfTable = true
  walk(compiled.planned, {
    source(source) {
      sources++
      isOfTable &&= source.kind === 'scan' && source.table === table
      if (table === 'events' && source.kind === 'scan') isOfTable &&= !source.reads.some(({ field: name }) => name === '@person_no')
    },
  })
  return isOfTable && sources === 1 && isStable(compiled)
}

/** What the value of an event depends on: some properties, and perhaps its name. Without `properties`: on more. */
function dependsOn({ planned }: Compiled): { readonly properties?: readonly string[]; readonly isOfName?: boolean } {
  const keys = new Set<string>()
  let [isOfName, isOfMore] = [false, false]
  walk(planned, {
    source(source) {
      if (source.kind !== 'scan') return
      for (const { field: name, json } of source.reads) {
        const key = json?.path[0]
        if (name === 'properties' && typeof key === 'string') keys.add(key)
        else if (name === 'event') isOfName = true
        else if (name !== '@log_seq') isOfMore = true
      }
    },
  })
  return isOfMore || (keys.size === 0 && !isOfName) ? {} : { properties: [...keys].sort(), isOfName }
}

/** How the value is made of that property as it is written. */
function plainValue({ planned }: Compiled, type: ListColumnAsk['type']): TokenValue | undefined {
  if (planned.kind !== 'select' || planned.from?.kind !== 'scan') return undefined
  return tokenValue(planned.columns[1]!.expr, planned.from.reads, type)
}

function isStable({ planned }: Compiled): boolean {
  let found = true
  walk(planned, {
    expr(expr) {
      if (expr.kind === 'call' && expr.row.isVolatile) found = false
    },
  })
  return found
}

const partsOf = (part: Table, asks: readonly ReadColumnAsk[]): [keys: Float64Array, parts: ColumnPart[]] => [
  doubles(part, 'at'),
  asks.map(({ type }, i) => partOf(part, `value_${i}`, type)),
]

function partOf(part: Table, name: string, type: ListColumnAsk['type']): ColumnPart {
  if (type === 'flags') return { values: integers(part, name) }
  if (type === 'codes' || type === 'ids') {
    const codes = new TextCodes()
    return { values: codesOf(part, name, codes), texts: codes.values }
  }
  return { values: numbersOf(part, name) }
}

/** NaN where there is none. */
function numbersOf(part: Table, name: string): Float64Array {
  const vector = part.getChild(name)!
  const values = doubles(part, name)
  if (vector.nullCount === 0) return values
  const numbers = values.slice()
  let at = 0
  for (const chunk of vector.data) {
    if (chunk.nullCount > 0) for (let i = 0; i < chunk.length; i++) if (!chunk.getValid(i)) numbers[at + i] = Number.NaN
    at += chunk.length
  }
  return numbers
}
