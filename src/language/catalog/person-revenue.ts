import { alias, call, equals, field, groupBy, literal, select, table } from '../ast/build.ts'
import type { Expr, Query } from '../ast/nodes.ts'

// What each person has paid, in the currency of the project: a table that is made of events when a statement reads it. An event has revenue if its property `$revenue` is a number.

/** Amounts are rounded to this part of a unit and added as whole numbers: the sum is the same in whichever order an engine adds them. */
const parts = 10_000

const property = (name: string): Expr => field('properties', name)

/** An event without a currency is in that of the project. */
const currencyOf = (baseCurrency: string): Expr => {
  const own = call('ifNull', call('toString', property('$currency')), literal(''))
  return call('if', equals(own, literal('')), literal(baseCurrency), own)
}

/** `fields`: those of the table that are read. */
export function personRevenueQuery(fields: readonly string[], baseCurrency: string): Query {
  const amount = call(
    'convertCurrency',
    currencyOf(baseCurrency),
    literal(baseCurrency),
    call('toFloat', property('$revenue')),
    call('toDate', field('timestamp')),
  )
  const inParts = call('toInt', call('floor', call('plus', call('multiply', amount, literal(parts)), literal(0.5))))
  const columns: Readonly<Record<string, Expr>> = {
    '@person_no': field('@person_no'),
    revenue: call('divide', call('sum', inParts), literal(parts)),
  }
  return select({
    columns: fields.map((name) => alias(columns[name]!, name)),
    from: table('events', '@revenue_events'),
    where: call('isNotNull', call('toFloat', property('$revenue'))),
    groupBy: groupBy(field('@person_no')),
  })
}
