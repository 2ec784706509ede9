import { parseArgs } from 'node:util'
import { openDifferential } from './engines.ts'

// npm run test:differential -- --runs 3000 --seed 1

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '3000' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
})
const differential = await openDifferential()
const started = performance.now()
const outcome = await differential.run(Number(values.runs), Number(values.seed))
await differential.close()

for (const { statement, timezone, duckdb, clickhouse, naive, sql } of outcome.differences.slice(0, 20))
  console.log(
    `\n${statement}\n  zone        ${timezone}\n  DuckDB      ${duckdb}\n  ClickHouse  ${clickhouse}\n  naive       ${naive}\n  ${sql}`,
  )
console.log(
  `\n${[...outcome.axes]
    .sort((a, b) => a[0].localeCompare(b[0]))
    .map(([axis, count]) => `${axis} ${count}`)
    .join('\n')}`,
)
console.log(
  `\nnot answered by the naive interpreter:\n${[...outcome.unanswered]
    .sort((a, b) => b[1] - a[1])
    .map(([why, count]) => `${why} ${count}`)
    .join('\n')}`,
)
console.log(
  `\n${outcome.runs} statements, seed ${values.seed}, ${outcome.rows} rows, ${outcome.axes.size} axis values, ${outcome.pairs} pairs of them, ` +
    `${outcome.answered} answered by the naive interpreter, ${outcome.refusedByBoth} refused by both, ${outcome.differences.length} differences, ${Math.round((performance.now() - started) / 1000)} s`,
)
process.exitCode = outcome.differences.length ? 1 : 0
