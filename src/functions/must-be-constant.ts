import { QueryError } from '../errors/errors.ts'
import type { Arg } from './row.ts'

/** Refuses an argument that a cell reads when the statement is compiled, where only its rows know the value. */
export function mustBeConstant(arg: Arg | undefined, what: string): void {
  if (arg && arg.constant === undefined) throw new QueryError('invalid-query', { message: `${what} must be a constant.` })
}
