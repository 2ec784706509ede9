import { rmSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { random } from '../../bench/random.ts'
import { bundle } from './bundle.ts'
import { startCalls } from './calls.ts'
import { examine, type Subject } from './examine.ts'
import { families, probesNamed } from './families.ts'
import type { Finding, Probe } from './probe.ts'
import { regressionProbe, regressions, saveRegression, sizesOfRegression } from './regressions.ts'
import { described, row } from './report.ts'
import { startServer } from './server.ts'
import { makeTemplate } from './template.ts'
import { scaled, slowness } from './yardstick.ts'

// npm run test:cost -- --minutes 20 [--seed N] [--only NAME] [--report FILE.json] [--save] [--fresh] [--verbose] [--one-process]
// --save keeps what is found among what runs first; --fresh leaves that out. --one-process: the server without an
// engine of its own.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    report: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    save: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    'one-process': { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const until = performance.now() + Number(values.minutes) * 60_000
const begun = performance.now()

// Whatever ends this ends what it started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const built = await bundle()
process.once('exit', built.remove)
const template = await makeTemplate()
process.once('exit', () => rmSync(template.dataDir, { recursive: true, force: true }))
const server = await startServer(built.serve, template, values['one-process'])
const calls = startCalls(built.worker)
const slow = slowness()
const subject: Subject = {
  measure: async (input, size, budget) =>
    scaled(await (input.to === 'server' ? server.measure(input, size, budget) : calls.measure(input, size, budget)), slow),
  renew: (input) => (input.to === 'server' ? server.renew() : calls.renew()),
}

interface Turn {
  readonly probe: Probe
  readonly sizes?: readonly number[]
  took(ms: number): void
}
const free = { took: () => {} }

/** The family that had the least of its share comes next. */
function* inShares(): Generator<Turn> {
  const open = families.map(({ name, share, probes }) => ({ name, share, ms: 0, left: probes(random(seed), template)[Symbol.iterator]() }))
  const seen = new Set<string>()
  while (open.length > 0) {
    const family = open.reduce((a, b) => (b.ms / b.share < a.ms / a.share ? b : a))
    const { value: probe, done } = family.left.next()
    if (done) open.splice(open.indexOf(family), 1)
    else if (!seen.has(probe.name)) {
      seen.add(probe.name)
      const took = (ms: number) => {
        family.ms += ms
      }
      yield { probe, took }
    }
  }
}
function* turns(): Generator<Turn> {
  const { only } = values
  if (only !== undefined) {
    for (const probe of probesNamed(only, random(seed), template)) yield { probe, ...free }
    return
  }
  // These all run, however little time there is.
  if (!values.fresh)
    for (const one of regressions()) yield { probe: regressionProbe(one, template), sizes: sizesOfRegression(one), ...free }
  yield* inShares()
}

const findings: Finding[] = []
const counts = { passed: 0, failed: 0, refused: 0 }
for (const { probe, sizes, took } of turns()) {
  const start = performance.now()
  if (start > until && !sizes) break
  const examined = () =>
    examine(probe, subject, sizes).catch((error: unknown) => {
      console.log(`\nFAILED ${probe.name}\n  ${error instanceof Error ? error.stack : error}`)
    })
  let outcome = await examined()
  // What a busy machine made is not found again by a new process.
  if (outcome?.finding) {
    const first = outcome.finding
    await subject.renew(probe.make(probe.from))
    outcome = await examined()
    if (outcome?.finding === null) console.log(`\nNOT FOUND AGAIN  ${described(first)}`)
  }
  took(performance.now() - start)
  if (outcome && !outcome.isTaken) counts.refused++
  if (outcome && !outcome.finding) counts.passed++
  else counts.failed++
  if (outcome?.finding) {
    findings.push(outcome.finding)
    console.log(`\nFOUND  ${described(outcome.finding)}`)
    if (values.save) saveRegression(outcome.finding)
  }
  if (values.verbose && outcome) {
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    console.log(`${outcome.finding ? 'found' : 'ok   '} ${seconds} s  ${probe.name}\n${outcome.figures.map(row).join('\n')}`)
  }
  if (values.report) writeFileSync(values.report, `${JSON.stringify({ seed, ...counts, starts: server.starts, findings }, null, 1)}\n`)
}
await server.close()
calls.close()
const minutes = ((performance.now() - begun) / 60_000).toFixed(1)
console.log(
  `\nseed ${seed}, ${minutes} minutes, a machine ${slow.toFixed(2)} times as slow as that of the budgets, ${server.starts} servers, ${counts.refused} probes were refused at their smallest, ${values['one-process'] ? 'one process' : 'two processes'} each`,
)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed > 0 ? 1 : 0
