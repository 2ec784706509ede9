import { columnName } from '../ast/column-name.ts'
import { identities } from '../ast/identity.ts'
import { PlanningBudget } from '../ast/planning-budget.ts'
import { printName } from '../ast/words.ts'
import { QueryError } from '../errors/errors.ts'
import { parseQuery } from '../parser/parse.ts'
import { resolve } from '../resolver/resolve.ts'
import { outputColumns } from '../resolver/typed.ts'
import type { SqlType } from '../types/types.ts'
import type { QueryContext } from './kind.ts'

/** The columns of a view; none if its statement fails, and null if there is no such view. */
export function viewColumns(name: string, env: QueryContext): readonly { readonly name: string; readonly type: SqlType }[] | null {
  if (!env.viewNames?.includes(name)) return null
  const budget = new PlanningBudget(env.checkpoint)
  try {
    const typed = resolve(parseQuery(`select * from ${printName(name)}`, budget), env, columnName, { budget, idOf: identities() })
    return outputColumns(typed).map((column) => ({ name: column.name, type: column.type }))
  } catch (error) {
    if (error instanceof QueryError && error.code !== 'query-timeout' && error.code !== 'query-cancelled') return []
    throw error
  }
}
