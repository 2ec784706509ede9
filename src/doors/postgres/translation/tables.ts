import type { TypeName } from '../types/pg-types.ts'

// The tables that a project offers. The language reads them by `source`, a column by its expression.

export interface TableColumn {
  readonly name: string
  readonly type: TypeName
  readonly nullable: boolean
  /** The expression in the language, for a table with this name in FROM. */
  readonly sql: (table: string) => string
  /** Its values are JSON, whose keys can be read. */
  readonly isJson?: true
  readonly comment?: string
}

export interface ProjectTable {
  readonly name: string
  readonly kind: 'table' | 'view'
  readonly columns: readonly TableColumn[]
  /** The table of the language. */
  readonly source: string
  /** Rows of the table that belong to it. */
  readonly condition: ((table: string) => string) | null
  readonly comment?: string
}

export type ProjectTables = ReadonlyMap<string, ProjectTable>
