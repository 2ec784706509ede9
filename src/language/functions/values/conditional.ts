import { part } from '../makes.ts'
import { commonType } from '../results.ts'
import type { SqlCell } from '../row.ts'
import { scalars } from '../scalars.ts'

/** Conditions are the arguments at even indexes, except the last argument. */
const caseWhen: SqlCell = (args) => {
  const branches = args.slice(0, -1).flatMap((arg, i) => (i % 2 === 0 ? [`WHEN ${arg.sql} THEN ${args[i + 1]!.sql}`] : []))
  return `CASE ${branches.join(' ')} ELSE ${args.at(-1)!.sql} END`
}

export const conditionalFunctions = scalars({
  if: {
    args: 3,
    takes: ['boolean', 'alike'],
    caseInsensitive: true,
    returns: ([, yes, no]) => commonType([yes!, no!]),
    makes: part,
    summary: 'The second argument if the first is true, else the third; NULL counts as false.',
    duckdb: caseWhen,
    cases: [
      ["if(1 = 1, 'yes', 'no')", 'yes'],
      ['if(null, 1, 2)', 2],
      ["if(0, 'a', null)", null],
      ['if(1, 1, 300)', 1],
      ["if(1 = 1, ['a'], [])", ['a']],
      ["if(1 = 2, [(1, 'a')], [])", []],
      ["select if(count() > 5, groupArray('a'), []) from numbers(2)", []],
    ],
  },
  multiIf: {
    args: [3, null],
    takes: (args) => args.map((_, i) => (i % 2 === 0 && i < args.length - 1 ? 'boolean' : 'alike')),
    returns: (args) => commonType(args.filter((_, i) => i % 2 === 1 || i === args.length - 1)),
    makes: part,
    summary: 'The value after the first true condition, else the last argument.',
    duckdb: caseWhen,
    cases: [
      ["multiIf(1 = 2, 'a', 2 = 2, 'b', 'c')", 'b'],
      ['multiIf(0, 1, null, 2, 3.5)', 3.5],
      ['multiIf(0, 1, 2)', 2],
      ["multiIf(1 = 2, ['a'], 2 = 2, ['b'], [])", ['b']],
      ['select case when number = 0 then [1.5] else [] end from numbers(1)', [1.5]],
    ],
  },
})
