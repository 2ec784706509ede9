import { parseArgs } from 'node:util'
import { type Explanation, explanationOf, explanations } from './explanations.ts'
import { compareFunctions } from './functions.ts'

// npm run test:differential:functions -- --runs 2500 --seed 1 --only '^split' --explained

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2500' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    /** Shows the explained differences too. */
    explained: { type: 'boolean', default: false },
    /** Writes each call to stderr before it is asked: the last one is the one that does not come back. */
    trace: { type: 'boolean', default: false },
  },
})
/** An answer may be an array of millions. */
const mostShown = 400
const { found, refused, compared } = await compareFunctions(
  Number(values.runs),
  Number(values.seed),
  values.only === undefined ? undefined : new RegExp(values.only),
  values.trace ? (call) => process.stderr.write(`${call}\n`) : undefined,
)
const counts = new Map<Explanation, number>()
let unexplained = 0
for (const difference of found.sort((a, b) => a.name.localeCompare(b.name))) {
  const { expression, timezone, duckdb, clickhouse } = difference
  const why = explanationOf(difference)
  if (why) counts.set(why, (counts.get(why) ?? 0) + 1)
  else unexplained++
  if (why && !values.explained) continue
  console.log(
    `${expression}  [${timezone}]\n  DuckDB      ${duckdb.slice(0, mostShown)}\n  ClickHouse  ${clickhouse.slice(0, mostShown)}${why ? `\n  because     ${why.reason}` : ''}`,
  )
}
for (const one of explanations) {
  const count = counts.get(one)
  if (count) console.log(`${String(count).padStart(4)} × ${one.reason}`)
}
/** Shorter runs leave too many kinds of difference out; what is rare may be missing from one of this length, too. */
const longRun = 10_000
if (values.only === undefined && compared >= longRun)
  for (const one of explanations.filter((one) => !counts.has(one))) console.log(`not met in this run: ${one.reason}`)
console.log(
  `${compared} expressions, seed ${values.seed}, ${refused} refused by both, ${found.length} differ, ${unexplained} of them without an explanation`,
)
process.exit(unexplained ? 1 : 0)
