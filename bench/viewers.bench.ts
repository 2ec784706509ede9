import { parseArgs } from 'node:util'
import { answerQuery } from '../src/engine/execution/answer.ts'
import { machine, median, rounded } from './measure.ts'
import { fillBenchStore, openBenchProject } from './store.ts'

// What does a chart of a viewer cost, who sees an eighth of the events, beside the same chart with the same filter for somebody who may see all? The second one is asked by a statement, and
// from the lists in memory. All three answers are compared first.

const { values } = parseArgs({ options: { events: { type: 'string', default: '5000000' }, runs: { type: 'string', default: '7' } } })
const count = Number(values.events)
const runs = Number(values.runs)

const store = await fillBenchStore(count)
const { project, close } = await openBenchProject(store.directory, 'UTC')

const dateRange = { date_from: '2026-01-02', date_to: '2026-03-31' }
const node = (event: string, parts: object = {}) => ({ kind: 'EventsNode', event, ...parts })
const questions: readonly { readonly what: string; readonly query: Readonly<Record<string, unknown>> }[] = [
  { what: 'events per day', query: { kind: 'TrendsQuery', series: [node('$pageview')], dateRange } },
  { what: 'unique persons per day', query: { kind: 'TrendsQuery', series: [node('$pageview', { math: 'dau' })], dateRange } },
  {
    what: 'the last week',
    query: { kind: 'TrendsQuery', series: [node('$pageview')], dateRange: { date_from: '2026-03-25', date_to: '2026-03-31' } },
  },
  {
    what: 'breakdown',
    query: { kind: 'TrendsQuery', series: [node('purchase')], breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' }, dateRange },
  },
  {
    what: 'funnel of 3 steps',
    query: { kind: 'FunnelsQuery', series: [node('$pageview'), node('signed up'), node('purchase')], dateRange },
  },
]
// One is a column of the store, the other is read from the JSON of each event.
const filters = [
  { of: 'a property with a column', key: 'country', value: 'DE' },
  { of: 'a property of the JSON', key: '$browser', value: 'Safari' },
] as const

for (const { of, key, value } of filters) {
  const filter = [{ type: 'event', key, value: [value], operator: 'exact' }]
  for (const { what, query } of questions) {
    const road = (name: 'sql' | 'core') => ({ ...query, properties: filter, modifiers: { road: name } })
    const forms = { viewer: { kind: 'ViewerQuery', filter, source: query }, statement: road('sql'), lists: road('core') }
    const ask = async (form: keyof typeof forms) => ((await answerQuery(forms[form], project)) as { results: unknown }).results
    const bare = (results: unknown) =>
      JSON.stringify(results, (name, one) =>
        ['filter', 'action', 'average_conversion_time', 'median_conversion_time'].includes(name) ? undefined : one,
      )
    const answers = [bare(await ask('viewer')), bare(await ask('statement')), bare(await ask('lists'))]
    if (new Set(answers).size > 1) throw new Error(`${what}: the answers differ: ${answers.map((one) => one.slice(0, 300)).join('\n')}`)
    const times: Record<keyof typeof forms, number[]> = { viewer: [], statement: [], lists: [] }
    for (let run = 0; run < runs; run++)
      for (const form of ['viewer', 'statement', 'lists'] as const) {
        const begun = performance.now()
        await ask(form)
        times[form].push(performance.now() - begun)
      }
    const [viewer, statement, lists] = [median(times.viewer), median(times.statement), median(times.lists)]
    console.log(
      JSON.stringify({
        bench: 'viewers',
        what: `${what}, ${of}`,
        events: count,
        ms: rounded(viewer),
        statementMs: rounded(statement),
        ratio: rounded(viewer / statement),
        listsMs: rounded(lists),
        ...machine(),
      }),
    )
  }
}
await close()
store.remove()
process.exit()
