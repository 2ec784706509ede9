import { QueryError } from '../../../errors/errors.ts'
import { isFloat, isNamed, isNullable, isTime, nullable, type SqlType, scalar } from '../../types/types.ts'
import { asNumber, defaultOf } from '../cells/duckdb-values.ts'
import { commonType } from '../results.ts'
import type { Arg } from '../row.ts'
import { type ScalarSpec, scalars } from '../scalars.ts'

// Values of previous and following rows without OVER, in the order of the rows: from a subquery with ORDER BY.

const whole = 'OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)'
const shifts = {
  duckdb: { before: 'lag', behind: 'lead', over: 'OVER ()' },
  clickhouse: { before: 'lagInFrame', behind: 'leadInFrame', over: whole },
} as const

const shifted = (engine: keyof typeof shifts, x: string, offset: number, outside: string): string => {
  const { before, behind, over } = shifts[engine]
  return `${offset < 0 ? before : behind}(${x}, ${Math.abs(offset)}, ${outside}) ${over}`
}

function offsetOf({ constant }: Arg): number {
  const offset = typeof constant === 'bigint' ? Number(constant) : constant
  if (typeof offset === 'number' && Number.isSafeInteger(offset)) return offset
  throw new QueryError('wrong-type', { message: "'neighbor' takes its offset as a constant whole number", expected: 'a whole number' })
}

const numeric = (x: SqlType): SqlType => {
  const type = scalar(isFloat(x) ? 'Float64' : 'Int64')
  return isNullable(x) ? nullable(type) : type
}

const neighbor: ScalarSpec = {
  seesRows: true,
  args: [2, 3],
  takes: ['alike', 'integer', 'alike'],
  returns: ([x, , other]) => (other ? commonType([x!, other]) : x!),
  summary:
    'The value that many rows later, or earlier with a negative number; the default of the type or the third argument where there is none.',
  duckdb: ([x, by, other], context) => shifted('duckdb', x!.sql, offsetOf(by!), other?.sql ?? defaultOf(context.type)),
  clickhouse: ([x, by, other]) => {
    const offset = offsetOf(by!)
    if (other) return shifted('clickhouse', x!.sql, offset, other.sql)
    return `${offset < 0 ? 'lagInFrame' : 'leadInFrame'}(${x!.sql}, ${Math.abs(offset)}) ${whole}`
  },
  cases: [
    ['select groupArray(v) from (select neighbor(number, 1) as v from numbers(3))', [1, 2, 0]],
    ['select groupArray(v) from (select neighbor(number, -1, 9) as v from numbers(3))', [9, 0, 1]],
    [
      'select groupArray(v) from (select neighbor(x, 2) as v from (select toString(number) as x from numbers(3) order by number))',
      ['2', '', ''],
    ],
  ],
}

const runningDifference: ScalarSpec = {
  seesRows: true,
  args: 1,
  takes: 'number',
  alsoTakes: 'times',
  returns: ([x]) => numeric(x!),
  summary: 'The difference from the previous row; of times in seconds, of dates in days; 0 in the first row.',
  duckdb: ([x], context) => {
    const number = isNamed(x!.type, 'Date')
      ? `date_diff('day', DATE '1970-01-01', ${x!.sql})`
      : isTime(x!.type)
        ? `floor(epoch(${x!.sql}))`
        : asNumber(x!)
    const value = `CAST(${number} AS ${isFloat(context.type) ? 'DOUBLE' : 'BIGINT'})`
    return `(${value} - ${shifted('duckdb', value, -1, value)})`
  },
  clickhouse: ([x], context) => {
    const value = `${isFloat(context.type) ? 'toFloat64' : 'toInt64'}(${x!.sql})`
    return `(${value} - ${shifted('clickhouse', value, -1, value)})`
  },
  cases: [
    ['select groupArray(v) from (select runningDifference(x) as v from (select arrayJoin([1, 4, 2]) as x))', [0, 3, -2]],
    ['select groupArray(v) from (select runningDifference(x) as v from (select arrayJoin([1.5, 4]) as x))', [0, 2.5]],
    ['select groupArray(v) from (select runningDifference(x) as v from (select toDateTime(arrayJoin([100, 160])) as x))', [0, 60]],
    ['select groupArray(v) from (select runningDifference(x) as v from (select toDate(arrayJoin([86400, 259200])) as x))', [0, 2]],
  ],
}

export const neighbourFunctions = scalars({ neighbor, runningDifference })
