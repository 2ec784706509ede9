import { noSpan } from '../src/errors/span.ts'
import { alias, call, field, from, literal, select, star } from '../src/language/ast/build.ts'
import type { Call, Expr, Node, Query, Select } from '../src/language/ast/nodes.ts'
import { rewrite, walk } from '../src/language/ast/walk.ts'
import { parseExpr, parseQuery } from '../src/language/parser/parse.ts'
import { casesOf } from '../test/language/functions/cases-of.ts'

// A function's own cases over many rows: columns in place of constants, and groups of many rows in place of the few of a case.

/** A function over many rows, and what takes the same rows without it. */
export interface FunctionQuestion {
  readonly label: string
  readonly asked: (rows: number) => Query
  readonly without: (rows: number) => Query
}

const rowsPerGroup = 300
const rowNumber = field('number')
const group = field('g')

const isValue = (node: Expr): boolean => node.kind === 'literal' && node.value !== null
/** Each of the items in its turn: a vector of one constant would be worked out once. */
const inTurn = (array: Expr, length: number): Expr =>
  call('arrayElement', array, call('plus', literal(1), call('modulo', rowNumber, literal(length))))
const varying = (value: Expr): Expr => inTurn(call('array', value, value), 2)
const numbers = (rows: number) => (parseQuery(`select 1 from numbers(${rows})`) as Select).from!

/** A call of constants: with each argument that can be a column as one, or with all of them first. */
function ofCall(text: string, allColumns: boolean): FunctionQuestion[] {
  const expr = parseExpr(text)
  if (expr.kind !== 'call') return []
  const places = expr.args.flatMap((arg, i) =>
    isValue(arg) || ((arg.kind === 'call' || arg.kind === 'array' || arg.kind === 'tuple') && childrenAreValues(arg)) ? [i] : [],
  )
  const chosen = allColumns ? [places, places.slice(0, 1)] : places.map((place) => [place])
  return chosen.flatMap((columns) => {
    if (columns.length === 0) return []
    const source = (rows: number) =>
      from(select({ columns: columns.map((i) => alias(varying(expr.args[i]!), `c${i}`)), from: numbers(rows) }))
    const args = expr.args.map((arg, i) => (columns.includes(i) ? field(`c${i}`) : arg))
    return [
      {
        label: text,
        asked: (rows) => select({ columns: [alias({ ...expr, args }, 'v')], from: source(rows) }),
        without: (rows) => select({ columns: columns.map((i) => field(`c${i}`)), from: source(rows) }),
      },
    ]
  })
}

function childrenAreValues(node: Expr): boolean {
  let values = 0
  let others = 0
  walk(node, (below) => {
    if (below.kind === 'literal') values++
    else if (below.kind === 'field' || below.kind === 'lambda' || below.kind === 'subquery') others++
  })
  return values > 0 && others === 0
}

/** A statement over the rows of an array, or over numbers: over as many rows, in groups. */
function ofStatement(text: string): FunctionQuestion[] {
  const query = parseQuery(text)
  if (query.kind !== 'select' || !query.from) return []
  const window = selectWithWindow(query)
  const core = window ?? query
  const asked = (rows: number) => widened(core, rows)
  const wide = asked(1)
  if (wide === core) return []
  return [
    {
      label: text,
      asked,
      without: (rows) => {
        const whole = asked(rows)
        return { ...whole, columns: window ? [star()] : [alias(call('count'), 'n')], orderBy: [], having: null }
      },
    },
  ]
}

function selectWithWindow(query: Select): Select | null {
  let found: Select | null = null
  walk(query, (node) => {
    if (node.kind === 'select' && node.columns.some(hasWindow)) found = { ...node, orderBy: [] }
  })
  return found
}

function hasWindow(expr: Expr): boolean {
  let found = false
  walk(expr, (node) => {
    if (node.kind === 'call' && node.over !== null) found = true
    return node.kind !== 'subquery'
  })
  return found
}

function widened(query: Select, rows: number): Select {
  const groups = Math.max(1, Math.round(rows / rowsPerGroup))
  const grouped = alias(call('modulo', rowNumber, literal(groups)), 'g')
  const sources = new WeakSet<object>()
  const mark = <N extends Node>(node: N): N => {
    sources.add(node)
    return node
  }
  return rewrite(query, (node) => {
    if (node.kind === 'table' && node.args && node.chain[0] === 'numbers')
      return mark(from(select({ columns: [alias(call('intDiv', rowNumber, literal(groups)), 'number'), grouped], from: numbers(rows) })))
    if (node.kind === 'querySource' && node.query.kind === 'select' && !node.query.from) {
      const columns = node.query.columns.map((column) => {
        const joined = column.kind === 'alias' && column.expr.kind === 'call' && column.expr.name === 'arrayJoin' ? column.expr : null
        return joined?.args[0]?.kind === 'array'
          ? alias(inTurn(joined.args[0], joined.args[0].items.length), (column as { name: string }).name)
          : null
      })
      if (columns.some((column) => column !== null))
        return mark({
          ...node,
          query: { ...node.query, columns: [...columns.filter((column) => column !== null), grouped], from: numbers(rows) },
        })
    }
    if (node.kind === 'call' && node.over?.kind === 'window')
      return { ...node, over: { ...node.over, partitionBy: [...node.over.partitionBy, group] } } satisfies Call
    if (node.kind === 'select' && node.from && sources.has(node.from) && !node.groupBy && !node.columns.some(hasWindow))
      return { ...node, groupBy: { kind: 'groupBy', mode: 'plain', items: [group], sets: [], withTotals: false, span: noSpan } }
    return node
  })
}

export const questionsOf = (name: string, allColumns: boolean): FunctionQuestion[] =>
  casesOf(name).flatMap(([text]) => (/^\s*(select|with)\b/i.test(text) ? ofStatement(text) : ofCall(text, allColumns)))
