import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { manyProjects } from './many-projects.ts'

// `npm run build && npm run test:projects -- --small 2000 --large 20 --events 1000000 --seconds 600`: a built server with many more projects than its memory
// holds at a time. Nothing may be refused or lost, and 99 of 100 requests are answered within three seconds. `--sources` needs no build.

const { values } = parseArgs({
  options: {
    small: { type: 'string', default: '300' },
    large: { type: 'string', default: '3' },
    events: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '60' },
    rate: { type: 'string', default: '4' },
    memory: { type: 'string', default: '512MB' },
    seed: { type: 'string', default: '1' },
    sources: { type: 'boolean', default: false },
  },
})

const inPackage = (path: string) => join(import.meta.dirname, '../..', path)

const result = await manyProjects({
  small: Number(values.small),
  large: Number(values.large),
  smallEvents: 20,
  largeEvents: Number(values.events),
  seconds: Number(values.seconds),
  rate: Number(values.rate),
  memory: values.memory,
  seed: Number(values.seed),
  program: values.sources ? ['--import', 'tsx', inPackage('src/doors/cli/main.ts')] : [inPackage('dist/cli.js')],
  log: console.log,
})
console.log(JSON.stringify(result, null, 1))
const slowest = Math.max(result.captures.p99, result.queries.p99)
if (result.refused.length > 0 || result.lost.length > 0 || slowest > 3_000) process.exitCode = 1
