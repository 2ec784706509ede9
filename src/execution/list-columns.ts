import type { Table } from 'apache-arrow'
import { alias, and, call, field, literal, or, select, table } from '../ast/build.ts'
import type { Expr, Query } from '../ast/nodes.ts'
import type { ColumnPart, ColumnSource, ColumnSpec } from '../core/ports.ts'
import type { ListColumnAsk, ListsAsk } from '../queries/kind.ts'
import { codesOf, doubles, integers, TextCodes } from '../queries/vectors.ts'
import { walk } from '../resolver/typed-walk.ts'
import type { Compiled } from './compile.ts'
import type { TakePart } from './ports.ts'

// Columns for the lists of the core, as statements of the language.

interface Runner {
  compile(query: Query): Promise<Compiled>
  /** Passes the rows part by part. */
  run(query: Query, take: TakePart): Promise<void>
}

/** Text: why one of the columns cannot be kept. */
export async function columnSource(
  asks: readonly ListColumnAsk[],
  actors: ListsAsk['actors'] | null,
  { compile, run }: Runner,
): Promise<ColumnSource | string> {
  const bySpec = new Map<ColumnSpec, ListColumnAsk>()
  for (const ask of asks) {
    if (ask.of === 'person') {
      await compile(personQuery([ask]))
      bySpec.set({ ...ask, key: '' }, ask)
      continue
    }
    const compiled = await compile(eventQuery([ask], 0, 0))
    if (!readsOnlyEvents(compiled)) return 'a condition or a value depends on more than the event and the person'
    const { sql, params } = compiled.printed
    bySpec.set({ ...ask, key: JSON.stringify([ask.type, sql, params.map(String)]) }, ask)
  }
  const specs = [...bySpec.keys()]
  return {
    columns: specs,
    actors: actors ? { column: specs[actors.column]!, except: actors.except } : null,
    ofEvents(wanted, after, last, take) {
      const asked = wanted.map((spec) => bySpec.get(spec)!)
      return run(eventQuery(asked, after, last), (part) => take(...partsOf(part, asked)))
    },
    ofPersons(spec, take) {
      const asked = [bySpec.get(spec)!]
      return run(personQuery(asked), (part) => take(...partsOf(part, asked)))
    },
  }
}

const columnsOf = (key: string, asks: readonly ListColumnAsk[]) => [
  alias(call('toFloat', field(key)), 'at'),
  ...asks.map((ask, i) => alias(valueExpr(ask), `value_${i}`)),
]

function eventQuery(asks: readonly ListColumnAsk[], after: number, last: number): Query {
  const record = field('@log_seq')
  const where = and(call('greater', record, literal(after)), call('lessOrEquals', record, literal(last)))
  return select({ columns: columnsOf('@log_seq', asks), from: table('events'), where })
}

/** Persons who do not meet a condition are left out: most do not. */
function personQuery(asks: readonly ListColumnAsk[]): Query {
  const where = asks.every(({ type }) => type === 'flags') ? or(...asks.map(({ expr }) => expr)) : null
  return select({ columns: columnsOf('@person_no', asks), from: table('@people'), where })
}

const valueExpr = ({ type, expr }: ListColumnAsk): Expr =>
  type === 'flags' ? call('if', expr, literal(1), literal(0)) : type === 'numbers' ? call('toFloat', expr) : expr

/** Such a value does not change after the event is stored. */
function readsOnlyEvents({ planned }: Compiled): boolean {
  let sources = 0
  let isStable = true
  walk(planned, {
    source(source) {
      sources++
      isStable &&= source.kind === 'scan' && source.table === 'events' && !source.reads.some(({ field }) => field === '@person_no')
    },
    expr(expr) {
      if (expr.kind === 'call' && expr.row.isVolatile) isStable = false
    },
  })
  return isStable && sources === 1
}

const partsOf = (part: Table, asks: readonly ListColumnAsk[]): [keys: Float64Array, parts: ColumnPart[]] => [
  doubles(part, 'at'),
  asks.map(({ type }, i) => partOf(part, `value_${i}`, type)),
]

function partOf(part: Table, name: string, type: ListColumnAsk['type']): ColumnPart {
  if (type === 'flags') return { values: integers(part, name) }
  if (type === 'codes') {
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
