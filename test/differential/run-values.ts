import { parseArgs } from 'node:util'
import { compareValues } from './argument-values.ts'
import { reasonOf } from './value-differences.ts'

// npm run test:differential:values -- --share 0.1 --seed 1 --only '^split' --explained

const { values } = parseArgs({
  options: {
    /** Of all calls. All of them take hours. */
    share: { type: 'string', default: '0.1' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    /** Shows the explained differences too. */
    explained: { type: 'boolean', default: false },
  },
})
const share = Number(values.share)
if (!(share > 0 && share <= 1)) {
  console.error(`--share is the part of all calls that is compared, above 0 and at most 1, not ${values.share}`)
  process.exit(1)
}
const mostShown = 400
const outcome = await compareValues(share, Number(values.seed), values.only === undefined ? undefined : new RegExp(values.only))
const counts = new Map<string, number>()
let unexplained = 0
for (const difference of outcome.found) {
  const why = reasonOf(difference)
  if (why) counts.set(why, (counts.get(why) ?? 0) + 1)
  else unexplained++
  if (why && !values.explained) continue
  const { statement, argument, type, form, duckdb, clickhouse } = difference
  console.log(
    `${statement}  [argument ${argument}, ${type}, ${form}]\n  DuckDB      ${duckdb.slice(0, mostShown)}\n  ClickHouse  ${clickhouse.slice(0, mostShown)}${why ? `\n  because     ${why}` : ''}`,
  )
}
for (const [reason, count] of counts) console.log(`${String(count).padStart(4)} × ${reason}`)
console.log(
  `${outcome.compared} calls, seed ${values.seed}, ${outcome.refusedByBoth} refused by both, ${outcome.refusedByClickHouse} by ClickHouse only, ` +
    `${outcome.found.length} differ, ${unexplained} of them without an explanation`,
)
if (outcome.compared === 0) console.log('Nothing was compared: choose a larger --share, or an --only that names of functions match.')
process.exit(unexplained || outcome.compared === 0 ? 1 : 0)
