import type { Call } from '../../statements/nodes.ts'
import { SqlError } from '../../statements/sql-error.ts'
import type { TypeName } from '../../types/pg-types.ts'
import { decided, shown } from '../coerce.ts'
import type { Context } from '../context.ts'
import { anyNullable } from '../operators.ts'
import type { Typed } from '../typed.ts'

/** A call with its arguments, as a value. */
export interface Called {
  readonly args: readonly Typed[]
  readonly call: Call
  readonly context: Context
  /** FILTER and OVER, to be written behind an aggregate. */
  readonly tail: string
  /** ORDER BY inside the parentheses. */
  readonly order: string
}
export type FunctionRow = (called: Called) => Typed
export type FunctionRows = Readonly<Record<string, FunctionRow>>

const wrongArguments = ({ name, at }: Call, args: readonly Typed[]): SqlError =>
  new SqlError('42883', `function ${name} with ${args.length} arguments does not exist`, {
    offset: at,
    hint: 'No function matches the given name and argument types.',
  })

export const needs = ({ args, call }: Called, least: number, most = least): void => {
  if (args.length < least || args.length > most) throw wrongArguments(call, args)
}

/** A plain function: arguments of these types, the last one again for all that follow. */
export const plain =
  (
    sql: (args: readonly string[]) => string,
    types: readonly TypeName[],
    returns: TypeName,
    [least, most] = [types.length, types.length],
  ): FunctionRow =>
  (called) => {
    needs(called, least!, most)
    const args = called.args.map((arg, i) => {
      const wanted = types[Math.min(i, types.length - 1)]!
      const value = decided(arg, wanted, called.context)
      return wanted === 'text' ? { ...value, sql: shown(value, called.context) } : value
    })
    return { sql: sql(args.map((arg) => arg.sql)), type: returns, nullable: anyNullable(args), at: called.call.at }
  }

export const constantText = ({ constant, at }: Typed, what: string): string => {
  if (typeof constant !== 'string') throw new SqlError('0A000', `${what} must be a constant`, { offset: at })
  return constant
}
