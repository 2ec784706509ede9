import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ProjectLists } from '../src/core/lists/project-lists.ts'
import { answerQuery } from '../src/engine/execution/answer.ts'
import type { QueryProject } from '../src/engine/execution/query-context.ts'
import { listFiles } from '../src/engine/storage/files/list-files.ts'
import { inOwnProcess, type Measured, machine, rounded } from './measure.ts'
import { fillBenchStore, openBenchProject } from './store.ts'

// How long does the first answer take after a project is opened, with and without the files of `core/`, and how much memory do the lists take with ten
// columns, and the process with an engine that has 400 MB? Each in a process of its own.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '5000000' },
    runs: { type: 'string', default: '1' },
    directory: { type: 'string' },
    measure: { type: 'string' },
  },
})
const count = Number(values.events)
const dateRange = { date_from: '2026-01-02', date_to: '2026-03-31' }
const node = (parts: object = {}) => ({ kind: 'EventsNode', event: '$pageview', ...parts })
const trend = (parts: object, ...series: object[]) => ({ kind: 'TrendsQuery', series, dateRange, modifiers: { road: 'core' }, ...parts })
const by = (breakdown: string) => trend({ breakdownFilter: { breakdown, breakdown_type: 'event' } }, node())
const first = trend({}, node({ math: 'dau' }))
const byStatement = { ...first, modifiers: { road: 'sql' } }
/** Each needs a column of its own. */
const tenColumns = [
  ...['country', 'plan', '$browser', '$os', '$current_url'].map(by),
  ...['amount', 'items', '$screen_width'].map((math_property) => trend({}, node({ math: 'sum', math_property }))),
  trend({ properties: [{ key: 'plan', value: 'pro', type: 'event' }] }, node()),
  trend({ properties: [{ key: 'amount', value: 50, operator: 'gt', type: 'event' }] }, node()),
]

if (values.measure) {
  console.log(JSON.stringify(await measure(values.measure, values.directory!)))
} else {
  const store = await fillBenchStore(count)
  const program = import.meta.filename
  const measuredBy = (what: string) => inOwnProcess(program, ['--measure', what, '--directory', store.directory, '--events', String(count)])
  const { answer: expected } = await measuredBy('by a statement')
  for (const what of ['from the store', 'from files', 'with ten columns']) {
    const { seconds, peakMb, answer, figures } = await measuredBy(what)
    if (answer !== expected) throw new Error(`${what}: the lists answer ${answer}, the statement ${expected}`)
    console.log(
      JSON.stringify({
        bench: 'lists',
        what: `first answer, ${what}`,
        events: count,
        ms: rounded(seconds * 1000),
        answer,
        peakMb,
        ...figures,
        ...machine(),
      }),
    )
  }
  store.remove()
}

async function measure(what: string, directory: string): Promise<Measured> {
  const [memoryLimit, listMemory] = what === 'with ten columns' ? ['400MB', '700MB'] : ['4GB', undefined]
  const { project, lists, source, close } = await openBenchProject(directory, 'UTC', memoryLimit, listMemory)
  const path = join(directory, 'core', 'lists')
  const kept = new ProjectLists(lists, { files: listFiles(path), fingerprint: source.fingerprint })
  const ours: QueryProject = { ...project, fold: async (seq, columns, loop) => (await kept.use(source, seq, columns, loop)) !== null }
  const begun = performance.now()
  const { results } = (await answerQuery(what === 'by a statement' ? byStatement : first, ours)) as { results: [{ data: number[] }] }
  const seconds = (performance.now() - begun) / 1000
  const figures: Record<string, number> = {}
  if (what === 'with ten columns') {
    for (const query of tenColumns) await answerQuery(query, ours)
    figures.listMb = rounded(lists.taken / 2 ** 20)
  }
  figures.rssMb = rounded(process.memoryUsage().rss / 2 ** 20)
  const before = performance.now()
  await kept.close()
  if (what === 'from the store') {
    figures.saveMs = rounded(performance.now() - before)
    figures.fileMb = rounded((await stat(path)).size / 2 ** 20)
  }
  await close()
  return {
    seconds,
    peakMb: rounded(process.resourceUsage().maxRSS / 1024),
    answer: results[0].data.reduce((sum, n) => sum + n, 0),
    figures,
  }
}
