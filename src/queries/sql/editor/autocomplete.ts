import { PlanningBudget } from '../../../language/ast/planning-budget.ts'
import { printFunctionName, printName, printPart, reservedWords } from '../../../language/ast/words.ts'
import { type CatalogField, type CatalogTable, type PropertyScope, tables } from '../../../language/catalog/tables.ts'
import { families, registry } from '../../../language/functions/registry.ts'
import { isAnswered } from '../../../language/functions/row.ts'
import { signature } from '../../../language/functions/signature.ts'
import { shownTypeName } from '../../../language/types/types.ts'
import { own } from '../../../lib/own.ts'
import type { QueryContext, QueryKind } from '../../kind.ts'
import { viewColumns } from '../../view-columns.ts'
import { autocompleteSchema, type HogQLAutocompleteQuery } from './schema.ts'
import { sourceTable } from './source-query.ts'
import { type Cursor, StatementText, type TextSelect, type TextSource } from './text-scope.ts'

export interface AutocompleteItem {
  readonly label: string
  readonly insertText: string
  readonly kind: 'Variable' | 'Folder' | 'Function' | 'Keyword' | 'Constant'
  /** The type of a field, the number of arguments of a function. */
  readonly detail: string | null
  readonly documentation: string | null
}

export interface HogQLAutocompleteAnswer {
  readonly suggestions: readonly AutocompleteItem[]
  /** There are more: ask again when the word is longer. */
  readonly incomplete_list: boolean
}

/** Of each kind of names. */
const mostNames = 220
const mostLevels = 20

export const hogQlAutocomplete: QueryKind<'HogQLAutocomplete', typeof autocompleteSchema, HogQLAutocompleteAnswer> = {
  kind: 'HogQLAutocomplete',
  schema: autocompleteSchema,
  // biome-ignore lint/correctness/useYield: it reads nothing
  *run(query, env) {
    const budget = new PlanningBudget(env.checkpoint)
    budget.spend('text', query.query.length)
    const start = Math.min(query.startPosition, query.endPosition, query.query.length)
    const word = query.query.slice(start, Math.min(Math.max(query.startPosition, query.endPosition), query.query.length))
    const text = new StatementText(query.query)
    budget.spend('tokens', text.tokens.length)
    const wanted = word.replace(/^[`"']/, '').toLowerCase()
    return listed(new Completion(text, query, wanted, env).groups(text.at(start)), wanted)
  },
}

/** Names that begin with the word come first. */
function listed(groups: readonly Iterable<AutocompleteItem>[], word: string): HogQLAutocompleteAnswer {
  const suggestions: AutocompleteItem[] = []
  let isIncomplete = false
  for (const group of groups) {
    const beginning: AutocompleteItem[] = []
    const containing: AutocompleteItem[] = []
    for (const item of group) {
      const at = item.label.toLowerCase().indexOf(word)
      if (at === 0) beginning.push(item)
      else if (at > 0) containing.push(item)
    }
    const fitting = [...beginning, ...containing]
    if (fitting.length > mostNames) isIncomplete = true
    suggestions.push(...fitting.slice(0, mostNames))
  }
  return { suggestions, incomplete_list: isIncomplete }
}

const item = (label: string, kind: AutocompleteItem['kind'], more: Partial<AutocompleteItem> = {}): AutocompleteItem => ({
  label,
  insertText: label,
  kind,
  detail: null,
  documentation: null,
  ...more,
})

/** Names that no statement can write begin with @. */
const isWritable = (name: string) => !name.startsWith('@')

const functionItems: AutocompleteItem[] = []
function allFunctions(): readonly AutocompleteItem[] {
  if (functionItems.length === 0)
    // Aggregates first: most statements count something.
    for (const [name, row] of new Map([...Object.entries(families.Aggregates!), ...registry])) {
      if (!isAnswered(row)) continue
      const detail = `${signature(row)} ${row.args[0] === 1 && row.args[1] === 1 ? 'argument' : 'arguments'}`
      functionItems.push(item(name, 'Function', { insertText: `${printFunctionName(name)}()`, detail, documentation: row.summary }))
    }
  return functionItems
}

const phrases = [
  'group by',
  'order by',
  'limit',
  'offset',
  'left join',
  'inner join',
  'union all',
  'asc',
  'desc',
  'over',
  'partition by',
  'interval',
]
const keywords = [...reservedWords.filter((word) => word !== 'group' && word !== 'order'), ...phrases].map((word) => {
  const label = word.toUpperCase()
  return item(label, 'Keyword')
})

/** A column, or something with columns of its own. */
type Reached =
  | { readonly kind: 'table'; readonly name: string; readonly table: CatalogTable }
  | { readonly kind: 'properties'; readonly scope: PropertyScope }
  | { readonly kind: 'columns'; readonly columns: ReadonlyMap<string, CatalogField | null> }

class Completion {
  /** By where their statement begins, so that one that is named often is read once. */
  private readonly columnsAt = new Map<number, Reached>()

  constructor(
    private readonly text: StatementText,
    private readonly query: HogQLAutocompleteQuery,
    private readonly word: string,
    private readonly env: QueryContext,
  ) {}

  groups(cursor: Cursor): readonly Iterable<AutocompleteItem>[] {
    switch (cursor.place) {
      case 'nothing':
      case 'alias':
        return []
      case 'text':
        return cursor.comparedWith.at(-1) === 'event' ? [this.eventNames()] : []
      case 'table':
        return [this.tableItems(cursor)]
      case 'placeholder':
        return [this.placeholders(cursor.chain)]
      case 'expression':
        return cursor.chain.length > 0 ? [this.behind(cursor)] : [...this.names(cursor), keywords, allFunctions()]
    }
  }

  /** A project can have many thousands of names: only those that may be shown become items. */
  private *fitting(names: Iterable<string>): Generator<string> {
    let count = 0
    for (const name of names) {
      if (this.word === '' && count++ > mostNames) return
      if (name.toLowerCase().includes(this.word)) yield name
    }
  }

  private *eventNames(): Generator<AutocompleteItem> {
    for (const name of this.fitting(this.env.knownEvents?.() ?? []))
      yield item(name, 'Constant', { insertText: name.replaceAll("'", "''") })
  }

  private *tableItems({ ctes }: Cursor): Generator<AutocompleteItem> {
    for (const name of ctes.keys()) yield item(name, 'Folder', { insertText: printName(name), detail: 'WITH' })
    for (const [name, { internal }] of Object.entries(tables))
      if (!internal && isWritable(name)) yield item(name, 'Folder', { detail: 'Table' })
    for (const name of this.env.viewNames ?? []) yield item(name, 'Folder', { insertText: printName(name), detail: 'View' })
    for (const name of Object.keys(this.env.project.attached?.tables ?? {})) yield item(name, 'Folder', { detail: 'Attached table' })
  }

  private *placeholders([first]: readonly string[]): Generator<AutocompleteItem> {
    if (first === 'variables') {
      for (const { code_name: name } of Object.values(this.query.variables ?? {})) yield item(name, 'Constant')
    } else if (first === undefined) {
      yield item('filters', 'Constant', { documentation: 'The filters of the request as a condition.' })
      yield item('variables', 'Constant')
      for (const name of Object.keys(this.query.globals ?? {})) yield item(name, 'Constant')
    }
  }

  /** Columns, then names of sources and of columns that the statement makes. */
  private *names(cursor: Cursor): Generator<Iterable<AutocompleteItem>> {
    const select = cursor.select
    const sources = this.sourcesOf(select)
    for (const source of sources) {
      const reached = this.columnsOf(source, cursor.ctes, 0)
      if (reached) yield this.itemsOf(reached)
    }
    yield (select?.aliases ?? []).map((name) => item(name, 'Variable', { insertText: printName(name), detail: 'Alias' }))
    const named = sources.map(nameOf).filter((name) => name !== null)
    yield named.map((name) => item(name, 'Folder', { insertText: printName(name), detail: 'Table' }))
    const readsEvents = sources.some((source) => source.kind === 'table' && source.chain[0] === 'events')
    yield readsEvents
      ? (this.env.groupTypes ?? []).map(({ name, index }) =>
          item(name, 'Folder', { insertText: printName(name), detail: `group_${index}` }),
        )
      : []
  }

  /** An expression alone reads the table of its query. */
  private sourcesOf(select: TextSelect | null): readonly TextSource[] {
    if (select && select.sources.length > 0) return select.sources
    if (this.query.language !== 'hogQLExpr') return []
    return [{ kind: 'table', chain: [sourceTable(this.query.sourceQuery)], alias: null }]
  }

  private columnsOf(source: TextSource, ctes: Cursor['ctes'], level: number): Reached | null {
    if (level > mostLevels) return null
    if (source.kind === 'query') return this.columnsIn(source.query, ctes, level)
    const name = source.chain.join('.')
    const cte = ctes.get(name)
    if (cte) return this.columnsIn(cte, ctes, level)
    const table = own(tables, name)
    if (table) return { kind: 'table', name, table }
    const columns = viewColumns(name, this.env)
    return columns && { kind: 'columns', columns: new Map(columns.map((one) => [one.name, { kind: 'column', type: one.type }])) }
  }

  private columnsIn(range: { readonly from: number; readonly to: number }, ctes: Cursor['ctes'], level: number): Reached {
    const known = this.columnsAt.get(range.from)
    if (known) return known
    const select = this.text.selectIn(range)
    const columns = new Map<string, CatalogField | null>()
    this.columnsAt.set(range.from, { kind: 'columns', columns })
    const visible = new Map([...ctes, ...select.ctes])
    for (const column of select.columns) {
      if (typeof column === 'string') {
        columns.set(column, null)
        continue
      }
      for (const source of select.sources) {
        if (column.starOf !== null && nameOf(source) !== column.starOf) continue
        const inner = this.columnsOf(source, visible, level + 1)
        if (inner?.kind === 'columns') for (const [name, field] of inner.columns) columns.set(name, field)
        if (inner?.kind === 'table')
          for (const [name, field] of Object.entries(inner.table.fields))
            if (isWritable(name) && field.kind === 'column' && !field.hidden) columns.set(name, field)
      }
    }
    return { kind: 'columns', columns }
  }

  private *behind(cursor: Cursor): Generator<AutocompleteItem> {
    const reached = this.follow(cursor)
    if (reached) yield* this.itemsOf(reached, true)
  }

  /** What a chain of names leads to. */
  private follow({ chain, select, ctes }: Cursor): Reached | null {
    const sources = this.sourcesOf(select)
    const [first, ...rest] = chain as [string, ...string[]]
    const named = sources.find((source) => nameOf(source) === first)
    if (named) return this.along(this.columnsOf(named, ctes, 0), rest)
    for (const source of sources) {
      const found = this.along(this.columnsOf(source, ctes, 0), [first, ...rest])
      if (found) return found
    }
    return null
  }

  private along(from: Reached | null, chain: readonly string[]): Reached | null {
    let reached = from
    for (let i = 0; i < chain.length && i < mostLevels; i++) {
      if (!reached || reached.kind === 'properties') return null
      reached = this.step(reached, chain[i]!)
    }
    return reached
  }

  private step(from: Exclude<Reached, { kind: 'properties' }>, name: string): Reached | null {
    const fields = from.kind === 'table' ? from.table.fields : Object.fromEntries(from.columns)
    const group = (this.env.groupTypes ?? []).find((type) => type.name === name)
    const field = own(fields, name) ?? (group && own(fields, `group_${group.index}`))
    if (!field) return null
    switch (field.kind) {
      case 'lazy':
        return { kind: 'table', name: field.table, table: tables[field.table]! }
      case 'chain':
        return this.along(from, field.chain)
      case 'column':
        return field.properties ? { kind: 'properties', scope: field.properties } : null
    }
  }

  private *itemsOf(reached: Reached, isPart = false): Generator<AutocompleteItem> {
    const print = isPart ? printPart : printName
    if (reached.kind === 'properties') {
      for (const name of this.fitting(this.env.knownProperties?.(reached.scope) ?? []))
        yield item(name, 'Variable', { insertText: printPart(name), detail: this.propertyType(reached.scope, name) })
      return
    }
    const fields = reached.kind === 'table' ? Object.entries(reached.table.fields) : reached.columns
    for (const [name, field] of fields)
      if (isWritable(name))
        yield item(name, field?.kind === 'lazy' ? 'Folder' : 'Variable', { insertText: print(name), detail: this.typeOf(field) })
  }

  private typeOf(field: CatalogField | null): string | null {
    if (field === null) return null
    if (field.kind === 'column') return shownTypeName(field.type, this.env.project.timezone)
    return field.kind === 'lazy' ? 'Table' : 'Expression'
  }

  private propertyType(scope: PropertyScope, name: string): string {
    return this.env.propertyType(scope, name) ?? (this.env.propertyNumbers?.(scope, name) === 'all' ? 'Numeric' : 'String')
  }
}

const nameOf = (source: TextSource): string | null => source.alias ?? (source.kind === 'table' ? source.chain.at(-1)! : null)
