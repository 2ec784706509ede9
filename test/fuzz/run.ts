import { parseArgs } from 'node:util'
import { fuzz } from './check.ts'

// npm run test:fuzz:statements -- --statements 20000 --seed 1

const { values } = parseArgs({
  options: { statements: { type: 'string', default: '20000' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
})
const count = Number(values.statements)
const { findings, refused, run, answered } = await fuzz(count, Number(values.seed), count)
for (const { statement, what } of findings.slice(0, 40)) console.log(`\n${statement.slice(0, 1000)}\n  ${what}`)
const codes = [...refused].sort((a, b) => b[1] - a[1]).map(([code, times]) => `${code} ${times}`)
console.log(
  `\n${codes.join('\n')}\n\n${count} statements, seed ${values.seed}, ${run} run, ${answered} answered, ${findings.length} findings`,
)
process.exitCode = findings.length ? 1 : 0
