import { QueryError } from '../errors/errors.ts'
import { columnName } from '../language/ast/column-name.ts'
import { identities } from '../language/ast/identity.ts'
import { PlanningBudget } from '../language/ast/planning-budget.ts'
import { printName } from '../language/ast/words.ts'
import { parseQuery } from '../language/parser/parse.ts'
import { resolve } from '../language/resolver/resolve.ts'
import { outputColumns } from '../language/resolver/typed.ts'
import type { SqlType } from '../language/types/types.ts'
import { own } from '../lib/own.ts'
import type { QueryContext } from './kind.ts'

/** The columns of a view or an attached table; none if its statement fails, and null if there is neither. */
export function viewColumns(name: string, env: QueryContext): readonly { readonly name: string; readonly type: SqlType }[] | null {
  const attached = own(env.project.attached?.tables ?? {}, name)
  if (attached) return attached.columns
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
