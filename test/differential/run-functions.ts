import { parseArgs } from 'node:util'
import { compareFunctions } from './functions.ts'

// npm run test:differential:functions -- --runs 2000 --seed 1 --only '^split'
// To be read, not to pass: a refusal by one engine is often a stricter check of it, and known differences are found again.

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' }, only: { type: 'string' } },
})
const { found, refused, compared } = await compareFunctions(
  Number(values.runs),
  Number(values.seed),
  values.only === undefined ? undefined : new RegExp(values.only),
)
for (const { expression, timezone, duckdb, clickhouse } of found.sort((a, b) => a.name.localeCompare(b.name)))
  console.log(`${expression}  [${timezone}]\n  DuckDB      ${duckdb}\n  ClickHouse  ${clickhouse}`)
console.log(`${compared} expressions, seed ${values.seed}, ${refused} refused by both, ${found.length} differ`)
process.exit(0)
