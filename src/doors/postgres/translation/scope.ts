import { nearestSpellings } from '../../../lib/text/spelling.ts'
import { SqlError } from '../statements/sql-error.ts'
import type { Column, Relation } from './typed.ts'

/** A query that WITH has named. */
export interface NamedQuery {
  readonly id: string
  readonly columns: readonly Column[]
}

/** The names that an expression can use. */
export class Scope {
  readonly relations: Relation[] = []
  /** Named windows, as they are written in the statement. */
  readonly windows = new Set<string>()
  readonly outer: Scope | null
  private named: ReadonlyMap<string, NamedQuery>
  private ownNamed: Map<string, NamedQuery> | null = null

  constructor(outer: Scope | null, queries: ReadonlyMap<string, NamedQuery>) {
    this.outer = outer
    this.named = queries
  }

  /** What WITH has named, here or outside. */
  get queries(): ReadonlyMap<string, NamedQuery> {
    return this.named
  }

  /** Most queries name none, and share those from outside. */
  nameQuery(name: string, query: NamedQuery): void {
    this.ownNamed ??= new Map(this.named)
    this.named = this.ownNamed.set(name, query)
  }

  private static use(relation: Relation, column: Column): Column {
    relation.used.add(column)
    return column
  }

  /** A column by its name alone; undefined: there is none. */
  bare(name: string, at: number): Column | undefined {
    const found = this.relations.flatMap((relation) =>
      relation.columns.filter((column) => column.name === name && !relation.merged.has(name)).map((column) => [relation, column] as const),
    )
    if (found.length > 1) throw new SqlError('42702', `column reference "${name}" is ambiguous`, { offset: at })
    if (found[0]) return Scope.use(...found[0])
    return this.outer?.bare(name, at)
  }

  /** As `bare`, without what is outside and without an error. */
  bareIfAny(name: string): Column | undefined {
    return this.relations.flatMap(({ columns }) => columns).find((column) => column.name === name)
  }

  relation(name: string): Relation | undefined {
    return this.relations.find((one) => one.name === name) ?? this.outer?.relation(name)
  }

  /** A column of a table in FROM; undefined: there is no such table. */
  of(table: string, name: string, at: number): Column | undefined {
    const relation = this.relation(table)
    if (!relation) return undefined
    const column = relation.columns.find((one) => one.name === name)
    if (!column) throw this.unknown(`${table}.${name}`, name, at)
    return Scope.use(relation, column)
  }

  /** All columns that `*` shows. */
  all(table: string | null, at: number): Column[] {
    const shown = table === null ? this.relations : this.relations.filter(({ name }) => name === table)
    if (shown.length === 0)
      throw table === null
        ? new SqlError('42601', 'SELECT * with no tables specified is not valid', { offset: at })
        : new SqlError('42P01', `missing FROM-clause entry for table "${table}"`, { offset: at })
    return shown.flatMap((relation) =>
      relation.columns
        .filter(({ name, hidden }) => !hidden && (table !== null || !relation.merged.has(name)))
        .map((column) => Scope.use(relation, column)),
    )
  }

  unknown(written: string, name: string, at: number): SqlError {
    const names = this.relations.flatMap((relation) => relation.columns.map((column) => column.name))
    const [likely] = nearestSpellings(name, names, 1)
    return new SqlError('42703', `column ${written.includes('.') ? written : `"${written}"`} does not exist`, {
      offset: at,
      hint: likely === undefined ? undefined : `Perhaps you meant to reference the column "${likely}".`,
    })
  }
}
