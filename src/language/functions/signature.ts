import type { Arity, FunctionRow } from './row.ts'

const arity = ([least, most]: Arity): string =>
  most === null ? `${least} or more` : least === most ? String(least) : `${least} to ${most}`

/** The number of arguments, behind the number of parameters. */
export const signature = (row: FunctionRow): string => (row.params ? `(${arity(row.params)})(${arity(row.args)})` : arity(row.args))
