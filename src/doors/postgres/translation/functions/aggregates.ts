import { SqlError } from '../../statements/sql-error.ts'
import { isNumber, isScalar, isWhole, type TypeName, titleOf } from '../../types/pg-types.ts'
import { decided, shown } from '../coerce.ts'
import type { Typed } from '../typed.ts'
import { type Called, type FunctionRow, type FunctionRows, needs } from './row.ts'

// Aggregates and window functions. Of no rows an aggregate of PostgreSQL is NULL, so what is never NULL goes in as something that may be.

/** What may be NULL there may not be so here: a quotient of constants. */
const open = ({ sql }: Typed): string => `toNullable(${sql})`

const numeric = ({ call, args, context }: Called): Typed => {
  const x = decided(args[0]!, 'float8', context)
  if (!isNumber(x.type) && x.type !== 'other' && x.type !== 'interval')
    throw new SqlError('42883', `function ${call.name}(${titleOf(x.type)}) does not exist`, {
      offset: call.at,
      hint: 'No function matches the given name and argument types. You might need to add explicit type casts.',
    })
  return x
}

const aggregate =
  (name: string, returns: (type: TypeName) => TypeName): FunctionRow =>
  (called) => {
    needs(called, 1)
    const x = numeric(called)
    const distinct = called.call.distinct ? 'distinct ' : ''
    return { sql: `${name}(${distinct}${open(x)})${called.tail}`, type: returns(x.type), nullable: true, at: called.call.at }
  }
/** Of one row a sample has no deviation. */
const ofSample =
  (name: string): FunctionRow =>
  (called) => {
    const found = aggregate(name, floating)(called)
    const x = numeric(called)
    return { ...found, sql: `if(count(${x.sql})${called.tail} > 1, ${found.sql}, NULL)` }
  }
const floating = (type: TypeName): TypeName =>
  type === 'float8' || type === 'float4' ? 'float8' : type === 'interval' ? 'interval' : 'numeric'

const count: FunctionRow = (called) => {
  const { call, tail, args } = called
  const known = { type: 'int8' as const, nullable: false, at: call.at }
  if (call.star) return { ...known, sql: `count()${tail}` }
  needs(called, 1, 10)
  const values = args.map((arg) => decided(arg, 'text', called.context).sql)
  const inside = values.length === 1 ? values[0]! : `tuple(${values.join(', ')})`
  return { ...known, sql: `count(${call.distinct ? 'distinct ' : ''}${inside})${tail}` }
}

const extreme =
  (name: 'min' | 'max'): FunctionRow =>
  (called) => {
    needs(called, 1)
    const x = decided(called.args[0]!, 'text', called.context)
    const sql = `${name}(${open(x)})${called.tail}`
    return { sql, type: x.type, nullable: true, at: called.call.at, ...(x.isDay && { isDay: true }) }
  }

const every =
  (name: 'min' | 'max'): FunctionRow =>
  (called) => {
    needs(called, 1)
    const x = decided(called.args[0]!, 'bool', called.context)
    const found = `${name}(multiIf(${x.sql}, 1, not ${x.sql}, 0, NULL))${called.tail}`
    return { sql: `multiIf(${found} = 1, true, ${found} = 0, false, NULL)`, type: 'bool', nullable: true, at: called.call.at }
  }

const stringAgg: FunctionRow = (called) => {
  needs(called, 2)
  const { call, args, context, tail, order } = called
  const [x, by] = args.map((arg) => decided(arg, 'text', context)) as [Typed, Typed]
  const text = shown(x, context)
  if (!call.distinct)
    return {
      sql: `if(count(${text})${tail} = 0, NULL, string_agg(${text}, ${by.sql}${order})${tail})`,
      type: 'text',
      nullable: true,
      at: call.at,
    }
  const sql = `nullIf(arrayStringConcat(arraySort(groupUniqArray(${text})${tail}), ${by.sql}), '')`
  return { sql, type: 'text', nullable: true, at: call.at }
}

const arrayAgg: FunctionRow = (called) => {
  needs(called, 1)
  const x = decided(called.args[0]!, 'text', called.context)
  const name = called.call.distinct ? 'groupUniqArray' : 'array_agg'
  return {
    sql: `${name}(${x.sql}${name === 'array_agg' ? called.order : ''})${called.tail}`,
    type: isScalar(x.type) ? `${x.type}[]` : 'text[]',
    nullable: true,
    at: called.call.at,
  }
}

const percentile =
  (name: 'quantile' | 'quantileExactLow'): FunctionRow =>
  (called) => {
    needs(called, 1)
    const at = Number(called.args[0]!.sql)
    if (!(at >= 0 && at <= 1))
      throw new SqlError('22003', `percentile value ${called.args[0]!.sql} is not between 0 and 1`, { offset: called.call.at })
    const sql = `${name}(${at})(${called.order.replace(/^ order by /, '').replace(/ nulls (?:first|last)$/, '')})${called.tail}`
    return { sql, type: 'float8', nullable: true, at: called.call.at }
  }

const rank =
  (name: string): FunctionRow =>
  ({ call, tail }) => ({ sql: `${name}()${tail}`, type: 'int8', nullable: false, at: call.at })

/** The value of another row of the window. */
const neighbour =
  (name: string, most = 1): FunctionRow =>
  (called) => {
    needs(called, 1, most)
    const [x, by, otherwise] = called.args.map((arg, i) => decided(arg, i === 1 ? 'int4' : called.args[0]!.type, called.context))
    const args = [x!.sql, ...(by ? [by.sql] : []), ...(otherwise ? [otherwise.sql] : [])]
    return { sql: `${name}(${args.join(', ')})${called.tail}`, type: x!.type, nullable: true, at: called.call.at }
  }

export const aggregateFunctions: FunctionRows = {
  count,
  sum: aggregate('sum', (type) => (type === 'int4' || type === 'int2' ? 'int8' : isWhole(type) ? 'numeric' : type)),
  avg: aggregate('avg', floating),
  min: extreme('min'),
  max: extreme('max'),
  stddev: ofSample('stddevSamp'),
  stddev_samp: ofSample('stddevSamp'),
  stddev_pop: aggregate('stddevPop', floating),
  variance: ofSample('varSamp'),
  var_samp: ofSample('varSamp'),
  var_pop: aggregate('varPop', floating),
  bool_and: every('min'),
  every: every('min'),
  bool_or: every('max'),
  string_agg: stringAgg,
  array_agg: arrayAgg,
  percentile_cont: percentile('quantile'),
  percentile_disc: percentile('quantileExactLow'),
  row_number: rank('row_number'),
  rank: rank('rank'),
  dense_rank: rank('dense_rank'),
  lag: neighbour('lag', 3),
  lead: neighbour('lead', 3),
  first_value: neighbour('first_value'),
  last_value: neighbour('last_value'),
}
