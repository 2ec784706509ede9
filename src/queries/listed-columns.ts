import { and, field } from '../ast/build.ts'
import { identities } from '../ast/identity.ts'
import type { Expr } from '../ast/nodes.ts'
import { rewrite, walk } from '../ast/walk.ts'
import type { ListColumn } from '../core/list-column.ts'
import type { Listed } from '../core/project-lists.ts'
import { type BitFlag, columnView, type EventBits, type PlacedColumn } from '../folds/fold.ts'
import { both, type EventNames, eventMasks, namesOf } from './event-masks.ts'
import type { ListColumnAsk, ListsAsk, QueryContext } from './kind.ts'

// The columns that a fold over the lists of the core needs besides times and names: conditions, texts and numbers, of events or of persons.

/** Index of a column, once it is read. */
export interface AskedColumn {
  readonly index: number
  readonly of: 'event' | 'person'
}

/** Collects the columns of a fold. An expression that only reads the person is a column of persons. */
export class AskedColumns {
  readonly asks: ListColumnAsk[] = []
  private readonly hasPersons: boolean
  private readonly idOf = identities()
  private readonly known = new Map<string, AskedColumn>()

  /** Without persons as actors, nothing is a column of persons. */
  constructor({ hasPersons = true } = {}) {
    this.hasPersons = hasPersons
  }

  flag(condition: Expr): AskedColumn {
    return this.ask('flags', condition)
  }

  /** `text` is never null. */
  codes(text: Expr): AskedColumn {
    return this.ask('codes', text)
  }

  numbers(number: Expr): AskedColumn {
    return this.ask('numbers', number)
  }

  private ask(type: ListColumn['type'], expr: Expr): AskedColumn {
    const key = `${type} ${this.idOf(expr)}`
    const known = this.known.get(key)
    if (known) return known
    const ofPerson = this.hasPersons ? asPerson(expr) : null
    const of = ofPerson ? 'person' : 'event'
    const asked: AskedColumn = { index: this.asks.push({ type, of, expr: ofPerson ?? expr }) - 1, of }
    this.known.set(key, asked)
    return asked
  }
}

/** Groups of a type as the actors of a fold: an event without one belongs to none. */
export const groupActors = (group: number, columns: AskedColumns): NonNullable<ListsAsk['actors']> => ({
  column: columns.codes(field(`$group_${group}`)).index,
  except: '',
})

/** Conditions as bits, whose columns are not read yet. */
export interface AskedBits {
  readonly byEvent: Int32Array
  readonly others: number
  readonly flags: readonly (AskedColumn & { readonly bits: number })[]
  /** Names that were asked for. */
  readonly names: readonly string[]
}

/** What is known of an event by its name, and columns for the rest of each condition. */
export function askedBits(
  parts: readonly { readonly condition: Expr; readonly bits: number }[],
  columns: AskedColumns,
  env: QueryContext,
): AskedBits {
  const named: { readonly names: EventNames; readonly bits: number }[] = []
  const bitsOf = new Map<AskedColumn, number>()
  for (const { condition, bits } of parts) {
    const { names, rest } = split(condition)
    named.push({ names, bits })
    for (const one of rest) {
      const column = columns.flag(one)
      bitsOf.set(column, (bitsOf.get(column) ?? 0) | bits)
    }
  }
  return { ...eventMasks(named, env), flags: [...bitsOf].map(([column, bits]) => ({ ...column, bits })) }
}

export const bitsOf = ({ byEvent, others, flags }: AskedBits, { columns }: Pick<Listed, 'columns'>): EventBits => ({
  byEvent,
  others,
  flags: flags.map((flag): BitFlag => ({ bits: flag.bits, ...placed(flag, { columns }) })),
})

export const placed = ({ index, of }: AskedColumn, { columns }: Pick<Listed, 'columns'>): PlacedColumn => ({
  of,
  column: columnView(columns[index]!),
})

/** The texts of a combination of codes. */
export function combinationTexts(combination: number, texts: readonly (readonly string[])[]): readonly string[] {
  let rest = combination
  const parts = texts.toReversed().map((all) => {
    const text = all[rest % all.length]!
    rest = Math.floor(rest / all.length)
    return text
  })
  return parts.reverse()
}

/** The names that a condition allows, and what else it demands: of the event, of the person. */
function split(condition: Expr): { readonly names: EventNames; readonly rest: readonly Expr[] } {
  let names: EventNames = 'all'
  const rest: Expr[] = []
  for (const part of conjuncts(condition)) {
    const found = namesOf(part)
    if (found === null) rest.push(part)
    else names = both(names, found)
  }
  const ofPersons = rest.filter((part) => asPerson(part) !== null)
  const ofEvents = rest.filter((part) => !ofPersons.includes(part))
  return { names, rest: [ofPersons, ofEvents].filter((parts) => parts.length > 0).map((parts) => and(...parts)) }
}

const conjuncts = (condition: Expr): readonly Expr[] =>
  condition.kind === 'call' && condition.name === 'and' ? condition.args.flatMap(conjuncts) : [condition]

/** The same expression over the table of persons; null if it reads anything else. */
function asPerson(expr: Expr): Expr | null {
  let reads = 0
  let isOfPerson = true
  walk(expr, (node) => {
    if (node.kind === 'in' && node.cohort) isOfPerson = false
    if (node.kind === 'subquery') return false
    if (node.kind !== 'field') return true
    reads++
    if (!personChain(node.chain)) isOfPerson = false
    return true
  })
  if (!isOfPerson || reads === 0) return null
  return rewriteOutside(expr)
}

const personChain = (chain: readonly string[]): readonly string[] | null => {
  if (chain[0] === 'person' && chain.length > 1) return chain.slice(1)
  if (chain.length !== 1) return null
  return chain[0] === '@person_no' ? chain : chain[0] === 'person_id' ? ['id'] : null
}

/** Leaves subqueries as they are. */
function rewriteOutside(expr: Expr): Expr {
  if (expr.kind === 'in' && expr.set.kind === 'subquery') return { ...expr, expr: rewriteOutside(expr.expr) }
  return rewrite(expr, (node) => (node.kind === 'field' ? { ...node, chain: personChain(node.chain)! } : node))
}
