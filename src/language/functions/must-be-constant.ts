import { QueryError } from '../../errors/errors.ts'
import type { Arg } from './row.ts'

/** Rejects an argument that a cell needs at compile time but whose value only the rows know. */
export function mustBeConstant(arg: Arg | undefined, what: string): void {
  if (arg && arg.constant === undefined) throw new QueryError('invalid-query', { message: `${what} must be a constant.` })
}
