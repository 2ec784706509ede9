import { type ContenderKey, yardstick } from './contenders.ts'
import { arrivingPerSecond, type ContenderFigures, type Figures, type Outcome } from './figures.ts'

// Figures as tables: cells first, so that the terminal and the page show the same.

export type Table = readonly (readonly string[])[]

const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))
const thousands = (value: number) => Math.round(value).toLocaleString('en-US')
const ms = (value: number) => (value >= 1000 ? `${thousands(value)} ms` : `${digits(value)} ms`)

/** Engines say more than a cell of a table holds: `failed: Query memory limit exceeded`. */
const shortened = (outcome: string): string => (outcome.length > 60 ? outcome.split(': ').slice(0, 2).join(': ').slice(0, 60) : outcome)

const yardstickOf = ({ contenders }: Figures): ContenderFigures | undefined => contenders.find(({ key }) => key === yardstick)

/** How many times as long as the yardstick takes. */
export const ratioOf = (figures: Figures, question: number, outcome: Outcome): number | null => {
  const other = yardstickOf(figures)?.outcomes[question]
  return typeof outcome === 'string' || other === undefined || typeof other === 'string' ? null : outcome.median / other.median
}

const cellOf = (figures: Figures, { key }: { key: ContenderKey }, question: number, outcome: Outcome): string => {
  if (typeof outcome === 'string') return shortened(outcome)
  const ratio = key === yardstick ? null : ratioOf(figures, question, outcome)
  return `${ms(outcome.median)} (${digits(outcome.min)}..${digits(outcome.max)})${ratio === null ? '' : ` ${digits(ratio)}x`}`
}

/** Medians in milliseconds with the smallest and the largest time, and the ratio to the yardstick. */
export const questionTable = (figures: Figures): Table => [
  ['question', ...figures.contenders.map(({ name }) => name)],
  ...figures.questions.map((question, i) => [
    question,
    ...figures.contenders.map((contender) => cellOf(figures, contender, i, contender.outcomes[i]!)),
  ]),
]

const resources: readonly (readonly [what: string, cell: (figures: ContenderFigures) => string])[] = [
  ['events loaded per second', ({ eventsPerSecond }) => thousands(eventsPerSecond)],
  ['peak memory while loading', ({ loadPeakMb }) => `${thousands(loadPeakMb)} MB`],
  ['on disk', ({ diskMb }) => `${thousands(diskMb)} MB`],
  ['first answer after opening', ({ firstAnswerMs }) => (firstAnswerMs === null ? 'failed' : ms(firstAnswerMs))],
  ['peak memory while answering', ({ queryPeakMb }) => `${thousands(queryPeakMb)} MB`],
]
export const resourceTable = ({ contenders }: Figures): Table => [
  ['', ...contenders.map(({ name }) => name)],
  ...resources.map(([what, cell]) => [what, ...contenders.map(cell)]),
]

const conditionNames = { first: 'first time asked', opened: 'right after opening', live: 'while events arrive' } as const

/** The same questions under other conditions, beside the yardstick under the same condition; while events arrive, beside the yardstick at rest. Null: an earlier run has not measured it. */
export function conditionsTable(figures: Figures): Table | null {
  const measured = figures.contenders.filter(({ key, conditions }) => key !== yardstick && conditions)
  const other = yardstickOf(figures)
  const columns = measured.flatMap((contender) =>
    (['first', 'opened', 'live'] as const).flatMap((condition) => {
      const outcomes = contender.conditions![condition]
      return outcomes
        ? [{ contender, condition, outcomes, beside: condition === 'live' ? other?.outcomes : other?.conditions?.[condition] }]
        : []
    }),
  )
  if (columns.length === 0) return null
  const cell = (outcome: Outcome, beside: Outcome | undefined) => {
    if (typeof outcome === 'string') return shortened(outcome)
    const ratio = beside === undefined || typeof beside === 'string' ? '' : ` ${digits(outcome.median / beside.median)}x`
    return `${ms(outcome.median)}${ratio}`
  }
  return [
    ['question', ...columns.map(({ contender, condition }) => `${contender.name}, ${conditionNames[condition]}`)],
    ...figures.questions.map((question, i) => [question, ...columns.map(({ outcomes, beside }) => cell(outcomes[i]!, beside?.[i]))]),
  ]
}

/** In columns, for a terminal. */
export function aligned(table: Table): string {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')).join('\n')
}

const markdown = ([head, ...rows]: Table): string =>
  [head!, head!.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const conditions = ({ events, persons, seed, threads, memory }: Figures) =>
  `${thousands(events)} events of ${thousands(persons)} persons (seed ${seed}), ${threads} threads and ${memory} for each engine`

const notesOf = ({ contenders, missing }: Figures): readonly string[] => [
  ...contenders.map(({ name, layout }) => `${name}: ${layout}.`),
  ...missing.map(({ name, reason }) => `${name} did not take part: ${reason}`),
]

const tablesOf = (figures: Figures, shown: (table: Table) => string): readonly string[] => {
  const table = conditionsTable(figures)
  if (!table) return []
  const about = `Under other conditions, with the ratio to ${yardstickOf(figures)?.name ?? 'ClickHouse'} under the same one: for the first time; as the first question of a new process, from opening to the rows; while ${thousands(arrivingPerSecond)} events a second arrive, beside the other one at rest.`
  return [about, shown(table)]
}

export const terminalReport = (figures: Figures): string =>
  [
    `${conditions(figures)}. Medians with the smallest and the largest time; x: times as long as ${yardstickOf(figures)?.name ?? 'ClickHouse, which did not take part'}.`,
    aligned(questionTable(figures)),
    ...tablesOf(figures, aligned),
    aligned(resourceTable(figures)),
    notesOf(figures).join('\n'),
  ].join('\n\n')

/** What --write puts between the markers of docs/benchmarks.md. */
export const pageReport = (figures: Figures, chart: string): string => {
  const { machine, contenders, command, date } = figures
  const software = [...new Set([...contenders.map(({ version }) => version), `Node ${machine.node}`])]
  return [
    `\`${command}\` on ${date}: ${conditions(figures)}. ${machine.cpu}, ${machine.cores} cores, ${machine.memory_gb} GiB; ${software.join(', ')}.`,
    `![Times of each question as multiples of those of ClickHouse](${chart})`,
    'Medians with the smallest and the largest time; `x`: times as long as ClickHouse with its best layout takes.',
    markdown(questionTable(figures)),
    ...tablesOf(figures, markdown),
    markdown(resourceTable(figures)),
    notesOf(figures)
      .map((note) => `- ${note}`)
      .join('\n'),
  ].join('\n\n')
}
