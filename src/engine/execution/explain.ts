import type { Query } from '../../language/ast/nodes.ts'
import { print } from '../../language/ast/print.ts'
import type { TypedQuery } from '../../language/resolver/typed.ts'
import { typeName } from '../../language/types/types.ts'
import type { Compiled } from './compile.ts'

/** A statement on its way to an engine. */
export interface Explainable {
  readonly label: string
  readonly query: Query
  readonly compiled: Compiled
}

/** The same as plain data: the statement, its tree, the plan after all passes, and the SQL and parameters for the engine. */
export const explain = ({ label, query, compiled: { planned, printed } }: Explainable): object => ({
  label,
  statement: print(query),
  ast: plain(query),
  plan: plain(planned),
  sql: withoutPaths(printed),
  params: printed.params,
})

/** Where the operator has the files of attached tables is not for everybody who asks. */
const withoutPaths = ({ sql, attached = [] }: Compiled['printed']): string =>
  attached.reduce((text, { name, files }) => files.reduce((shown, file) => shown.replaceAll(file.replaceAll("'", "''"), name), text), sql)

/** Omits function rows and positions from a plan, and shows types by name. */
function plain(tree: Query | TypedQuery): unknown {
  return JSON.parse(
    JSON.stringify(tree, (key, value: unknown) => {
      if (key === 'row' || key === 'span' || key === 'files') return undefined
      if (key === 'type' && typeof value === 'object' && value !== null) return typeName(value as Parameters<typeof typeName>[0])
      return typeof value === 'bigint' ? value.toString() : value
    }),
  )
}
