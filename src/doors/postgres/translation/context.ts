import { SqlError } from '../statements/sql-error.ts'
import type { TypeName } from '../types/pg-types.ts'
import type { ProjectTables } from './tables.ts'

/** What the caller knows of the parameters: types that it has declared, and values once there are any. */
export interface Parameters {
  readonly types: (TypeName | undefined)[]
  readonly values: readonly (string | null)[] | null
}

/** What one translation knows and counts. */
export class Context {
  private count = 0
  readonly tables: ProjectTables
  readonly parameters: Parameters
  /** The zone of the session, in which times are shown, truncated and read. */
  readonly zone: string
  readonly projectZone: string
  readonly now: Date
  readonly database: string
  readonly user: string

  constructor(given: Pick<Context, 'tables' | 'parameters' | 'zone' | 'projectZone' | 'now' | 'database' | 'user'>) {
    this.tables = given.tables
    this.parameters = given.parameters
    this.zone = given.zone
    this.projectZone = given.projectZone
    this.now = given.now
    this.database = given.database
    this.user = given.user
  }

  /** A name that no other has. */
  fresh(letter: 'c' | 't' | 'x'): string {
    return `${letter}${++this.count}`
  }

  /** The type of a parameter, which its first place decides if the caller has not. */
  decide(index: number, type: TypeName): TypeName {
    const { types } = this.parameters
    types[index] ??= type === 'other' || type === 'unknown' ? 'text' : type
    return types[index]!
  }

  valueOf(index: number, at: number): string | null | undefined {
    const { values } = this.parameters
    if (values === null) return undefined
    if (index >= values.length) throw new SqlError('42P02', `there is no parameter $${index + 1}`, { offset: at })
    return values[index]
  }
}
