import { isNullable, scalar } from '../../types/types.ts'
import type { Arg, FunctionRow, SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'

const returns: FunctionRow['returns'] = (args) => scalar('Bool', args.some(isNullable))

/** A constant that decides the result is placed first: ClickHouse does not evaluate what follows. */
const decidingFirst = (args: readonly Arg[], decides: boolean): readonly string[] => {
  const isDeciding = (arg: Arg) => arg.constant !== undefined && arg.constant !== null && Boolean(arg.constant) === decides
  return [...args.filter(isDeciding), ...args.filter((arg) => !isDeciding(arg))].map((arg) => arg.sql)
}
const joined =
  (operator: string, decides: boolean): SqlCell =>
  (args) =>
    `(${decidingFirst(args, decides).join(` ${operator} `)})`
const called =
  (name: string, decides: boolean): SqlCell =>
  (args) =>
    `${name}(${decidingFirst(args, decides).join(', ')})`

/** Any number except 0 is true. NULL is neither true nor false, but a false argument decides `and`, a true one `or`. */
export const logicalFunctions = scalars({
  and: {
    args: [2, null],
    returns,
    summary: 'True if all arguments are true.',
    duckdb: joined('AND', false),
    clickhouse: called('and', false),
    cases: [
      ['and(1, 1, 1)', 1],
      ['and(1, 0)', 0],
      ['and(null, 0)', 0],
      ['and(null, 1)', null],
      ['and(2, 3)', 1],
    ],
  },
  or: {
    args: [2, null],
    returns,
    summary: 'True if at least one argument is true.',
    duckdb: joined('OR', true),
    clickhouse: called('or', true),
    cases: [
      ['or(0, 0, 1)', 1],
      ['or(null, 1)', 1],
      ['or(null, 0)', null],
      ['or(0, 0.5)', 1],
    ],
  },
  xor: {
    args: [2, null],
    returns,
    summary: 'True if an odd number of arguments is true.',
    duckdb: (args) => args.map((arg) => `CAST(${arg.sql} AS BOOLEAN)`).reduce((left, right) => `(${left} <> ${right})`),
    clickhouse: (args) => `xor(${args.map((arg) => arg.sql).join(', ')})`,
    cases: [
      ['xor(1, 0)', 1],
      ['xor(1, 1, 1)', 1],
      ['xor(1, 1)', 0],
      ['xor(null, 1)', null],
    ],
  },
  not: {
    args: 1,
    caseInsensitive: true,
    returns,
    summary: 'Negation; NULL stays NULL.',
    duckdb: ([x]) => `(NOT ${x!.sql})`,
    clickhouse: ([x]) => `not(${x!.sql})`,
    cases: [
      ['not(1)', 0],
      ['not(0)', 1],
      ['not(null)', null],
      ['NOT(1 = 2)', 1],
    ],
  },
})
