import { type BitFlag, columnView, type EventBits, type PlacedColumn } from '../../core/folds/fold.ts'
import type { Make } from '../../core/lists/columns.ts'
import type { ListColumn } from '../../core/lists/list-column.ts'
import type { Listed } from '../../core/lists/project-lists.ts'
import { and, field, or } from '../../language/ast/build.ts'
import { identities } from '../../language/ast/identity.ts'
import type { Expr } from '../../language/ast/nodes.ts'
import type { FoldAsk, ListColumnAsk, QueryContext } from '../kind.ts'
import { byOwner, junctionOf, type Linked, overTable, ownerOf, personChain } from './column-owners.ts'
import { both, type EventNames, eventMasks, namesWithin } from './event-masks.ts'

// The columns that a fold over the lists of the core needs besides times and names: conditions, texts and numbers, of events or of persons.

/** Index of a column, once it is read. */
export interface AskedColumn {
  readonly index: number
  readonly of: 'event' | 'person'
}

/** Collects the columns of a fold. Each belongs to what its expression reads: the event, its person, its group, its session. */
export class AskedColumns {
  readonly asks: ListColumnAsk[] = []
  private readonly hasPersons: boolean
  private readonly idOf = identities()
  private readonly known = new Map<string, AskedColumn>()

  /** Without persons as actors, their values are spread over the events. */
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

  /** A text of which only matters which events have the same one. */
  ids(text: Expr): AskedColumn {
    return this.ask('ids', text)
  }

  numbers(number: Expr): AskedColumn {
    return this.ask('numbers', number)
  }

  /** The index of a column of numbers by actor: of persons, or of groups that the expression reads. */
  numbersOfActors(number: Expr): number {
    const owner = ownerOf(number)
    return typeof owner === 'string' ? this.numbers(number).index : this.keyed('numbers', number, owner).values
  }

  /** Whether the text of a column is one of these, or none of them. */
  among({ index, of }: AskedColumn, texts: readonly string[], isNot = false): AskedColumn {
    return this.made('flags', { from: 'texts', column: index, texts, isNot }, of)
  }

  /** The text of the range that a number is in. */
  ranges({ index, of }: AskedColumn, edges: readonly number[], texts: readonly string[], none: string): AskedColumn {
    return this.made('codes', { from: 'ranges', column: index, edges, texts, none }, of)
  }

  private ask(type: ListColumn['type'], expr: Expr): AskedColumn {
    const key = `${type} ${this.idOf(expr)}`
    const known = this.known.get(key)
    if (known) return known
    const asked = this.asked(type, expr)
    this.known.set(key, asked)
    return asked
  }

  private asked(type: ListColumn['type'], expr: Expr): AskedColumn {
    const owner = ownerOf(expr)
    if (owner === 'event') return this.add({ type, of: 'event', expr }, 'event')
    if (owner === 'person') return this.ofPerson(type, expr)
    if (owner === 'several') return this.combined(type, expr)
    const { values, keys } = this.keyed(type, expr, owner)
    return this.made(type, { from: 'keys', column: values, keys })
  }

  private keyed(
    type: ListColumn['type'],
    expr: Expr,
    { link, table, chainOf }: Linked,
  ): { readonly values: number; readonly keys: number } {
    const keys = this.codes(link).index
    return { values: this.add({ type, of: 'key', table, keys, expr: overTable(expr, chainOf) }, 'event').index, keys }
  }

  private ofPerson(type: ListColumn['type'], expr: Expr): AskedColumn {
    const values = this.add({ type, of: 'person', expr: overTable(expr, personChain) }, 'person')
    return this.hasPersons ? values : this.made(type, { from: 'persons', column: values.index })
  }

  /** Conditions of several owners, joined by AND, OR and NOT, are joined here. Anything else is asked of the events, whose columns cannot have it. */
  private combined(type: ListColumn['type'], expr: Expr): AskedColumn {
    const junction = type === 'flags' ? junctionOf(expr) : null
    if (!junction) return this.add({ type, of: 'event', expr }, 'event')
    const columns = byOwner(junction.parts).map((parts) => this.ofEvents(junction.joined(parts)).index)
    return this.made(type, { from: junction.from, columns })
  }

  private ofEvents(condition: Expr): AskedColumn {
    const column = this.flag(condition)
    return column.of === 'event' ? column : this.made('flags', { from: 'persons', column: column.index })
  }

  private made(type: ListColumn['type'], make: Make, of: AskedColumn['of'] = 'event'): AskedColumn {
    return this.add({ type, of: 'made', make }, of)
  }

  private add(ask: ListColumnAsk, of: AskedColumn['of']): AskedColumn {
    return { index: this.asks.push(ask) - 1, of }
  }
}

const maxBits = 32

/** Groups of a type as the actors of a fold: an event without one belongs to none. */
export const groupActors = (group: number, columns: AskedColumns): NonNullable<FoldAsk['actors']> => ({
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

/** The bits of events that meet a condition. */
export interface ConditionBits {
  readonly condition: Expr
  readonly bits: number
}

/** What is known of an event by its name, and columns for the rest of each condition. A bit holds where any of its conditions does. */
export function askedBits(parts: readonly ConditionBits[], columns: AskedColumns, env: QueryContext): AskedBits {
  const named: { readonly names: EventNames; readonly bits: number }[] = []
  const bitsOf = new Map<AskedColumn, number>()
  for (const { condition, bits } of oneConditionPerBit(parts)) {
    const { names, rest } = split(condition)
    named.push({ names, bits })
    for (const one of rest) {
      const column = columns.flag(one)
      bitsOf.set(column, (bitsOf.get(column) ?? 0) | bits)
    }
  }
  return { ...eventMasks(named, env), flags: [...bitsOf].map(([column, bits]) => ({ ...column, bits })) }
}

/** `x` for bits 0 and 1 and `y` for bits 1 and 2 become `x` for bit 0, `x or y` for bit 1 and `y` for bit 2: a bit is cleared by each column that it depends on. */
function oneConditionPerBit(parts: readonly ConditionBits[]): readonly ConditionBits[] {
  const joined = new Map<string, { readonly conditions: readonly Expr[]; bits: number }>()
  for (let bit = 0; bit < maxBits; bit++) {
    const sharing = [...parts.entries()].filter(([, { bits }]) => (bits & (1 << bit)) !== 0)
    if (sharing.length === 0) continue
    const key = sharing.map(([index]) => index).join()
    const known = joined.get(key)
    if (known) known.bits |= 1 << bit
    else joined.set(key, { conditions: sharing.map(([, { condition }]) => condition), bits: 1 << bit })
  }
  return [...joined.values()].map(({ conditions, bits }) => ({ condition: or(...conditions), bits }))
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

/** The names that a condition allows, and what else it demands: of the event, of the person, of its group. */
function split(condition: Expr): { readonly names: EventNames; readonly rest: readonly Expr[] } {
  let names: EventNames = 'all'
  const rest: Expr[] = []
  for (const part of conjuncts(condition)) {
    const { among, isAll } = namesWithin(part)
    names = both(names, among)
    if (!isAll) rest.push(part)
  }
  return { names, rest: byOwner(rest).map((parts) => and(...parts)) }
}

const conjuncts = (condition: Expr): readonly Expr[] =>
  condition.kind === 'call' && condition.name === 'and' ? condition.args.flatMap(conjuncts) : [condition]
