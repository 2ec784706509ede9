import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type LocalWaymark, open } from '../src/engine.ts'
import type { LocalProject } from '../src/project.ts'
import { runPlugin } from '../test/harness/plugin-rows.ts'
import { makeEvents } from './events.ts'
import { inOwnProcess, machine, measured, median, rounded } from './measure.ts'

// How long do small captures and queries of a project take while the plugins of another project attack the server? Each attack runs beside the same stream
// of events as a plugin that does nothing.

const { values } = parseArgs({
  options: {
    events: { type: 'string' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '12' },
    measure: { type: 'string' },
    processes: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const stored = 20_000
/** A plugin that attacks is switched off after three times, so there are many. */
const plugins = 30

const attacks: Readonly<Record<string, string>> = {
  nothing: '',
  'an endless loop': 'for (;;) {}',
  'a memory bomb': 'const all = []; for (;;) all.push(new Array(10000).fill(all.length))',
  'a regular expression': "/^(a+)+$/.test('a'.repeat(60) + '!')",
  'endless calls': "for (;;) await fetch('http://10.0.0.1/').catch(() => 0)",
}
const forms: Readonly<Record<string, (attack: string) => string>> = {
  transformation: (attack) => `export async function processEvent(event) { ${attack}\n return event }`,
  delivery: (attack) => `export async function onEvent(event) { ${attack}\n }`,
}

const percentile = (times: readonly number[], share: number) =>
  rounded([...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0)

async function attackedBy(code: string, waymark: LocalWaymark, victim: LocalProject): Promise<Record<string, number>> {
  const attacker = await waymark.createProject({ name: 'Attacker' })
  for (let n = 0; n < plugins; n++) await runPlugin(waymark, attacker.id, code, { order: n })
  const live = makeEvents(1000, 1000, 77)
  const captures: number[] = []
  const queries: number[] = []
  const until = performance.now() + seconds * 1000
  const timed = async (into: number[], work: () => Promise<unknown>) => {
    const begin = performance.now()
    await work()
    into.push(performance.now() - begin)
  }
  const streams = [
    async (i: number) => attacker.ingest({ batch: [live[i % live.length]!] }),
    async (i: number) => timed(captures, () => victim.ingest({ batch: [live[i % live.length]!] })),
    async () => {
      const query = { kind: 'SqlLikeQuery', query: 'select event, count() from events group by event order by 2 desc limit 5' } as const
      await timed(queries, () => victim.query(query, { refresh: 'force_blocking' }))
    },
  ]
  await Promise.all(
    streams.map(async (work) => {
      for (let i = 0; performance.now() < until; i++) {
        await work(i)
        await setTimeout(20)
      }
    }),
  )
  // What is left of the attack must not keep the server from closing.
  await waymark.accounts.context.store.write((tables) => tables.plugin_configs.update({ project_id: attacker.id }, { enabled: false }))
  await waymark.plugins.host.changed([attacker.id])
  return {
    capture_p50: percentile(captures, 0.5),
    capture_p95: percentile(captures, 0.95),
    query_p50: percentile(queries, 0.5),
    query_p95: percentile(queries, 0.95),
  }
}

async function measure(code: string, isolate: boolean): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'waymark-bench-'))
  try {
    const waymark = await open({ dataDir, isolate })
    const victim = await waymark.createProject({ name: 'Victim' })
    for (let i = 0; i < stored / 1000; i++) await victim.ingest({ batch: makeEvents(1000, 1000, i + 1) })
    await victim.query({ kind: 'SqlLikeQuery', query: 'select count() from events' })
    await measured(async () => ({ answer: 1, figures: await attackedBy(code, waymark, victim) }))
    await waymark.close()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function compare(): Promise<void> {
  for (const processes of values.processes ? [values.processes] : ['one', 'two'])
    for (const [form, write] of Object.entries(forms)) {
      const usual: Record<string, number> = {}
      for (const [attack, body] of Object.entries(attacks)) {
        const runs: Readonly<Record<string, number>>[] = []
        for (let run = 0; run < Number(values.runs); run++) {
          const args = ['--measure', write(body), '--processes', processes, '--seconds', String(seconds)]
          runs.push((await inOwnProcess(import.meta.filename, args)).figures!)
        }
        const figures = Object.fromEntries(Object.keys(runs[0]!).map((name) => [name, rounded(median(runs.map((one) => one[name]!)))]))
        if (attack === 'nothing') Object.assign(usual, figures)
        const ratios = Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value / usual[name]!)]))
        console.log(JSON.stringify({ bench: 'attacks', processes, form, attack, ms: figures, ratio: ratios, machine: machine() }))
      }
    }
}

if (values.measure !== undefined) await measure(values.measure, values.processes === 'two')
else await compare()
