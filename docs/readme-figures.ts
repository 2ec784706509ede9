import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KeptLine, keptLines } from '../bench/figures/kept-lines.ts'
import type { machine } from '../bench/measure.ts'
import type { ContenderKey } from '../bench/product/contenders.ts'
import type { Figures } from '../bench/product/figures.ts'
import { shownFigures } from '../bench/product/write-page.ts'

// The table of README.md, made of the lines that the benches printed. `npm run docs` writes it.

const begin = '<!-- figures: written by npm run docs from bench/figures -->'
const end = '<!-- end of the figures -->'

const number = (value: number) => value.toLocaleString('en')
const milliseconds = (value: number) => `${value < 10 ? value.toFixed(1) : number(Math.round(value))} ms`
const on = ({ cpu, cores, memory_gb }: ReturnType<typeof machine>) =>
  `${cores} ${cores === 1 ? 'core' : 'cores'} of ${cpu
    .replace(/\((R|TM)\)|CPU|Processor/g, '')
    .replace(/\s+/g, ' ')
    .trim()}, ${memory_gb} GiB`

/** Questions of the product benchmark by their names in it, and what README.md calls them. */
const questions: Readonly<Record<string, string>> = {
  'count per day': 'count per day',
  'unique persons per day': 'unique persons per day',
  'weekly active persons': 'weekly active persons of 90 days',
  'SQL group by': 'SQL: group by',
  'latest 100 events': 'latest 100 events',
  'funnel of 5 steps': 'funnel of 5 steps',
  'retention, 12 weeks': 'retention of 12 weeks',
  'paths of 5 steps': 'paths of 5 steps',
}

const timeOf = ({ contenders, questions: asked }: Figures, key: ContenderKey, question: string): number => {
  const outcome = contenders.find((one) => one.key === key)?.outcomes[asked.indexOf(question)]
  if (typeof outcome !== 'object') throw new Error(`${shownFigures} has no time of ${key} for "${question}".`)
  return outcome.median
}

const lineOf = (lines: readonly KeptLine[], fields: Readonly<Record<string, unknown>>): KeptLine => {
  const found = lines.find(({ line }) => Object.entries(fields).every(([name, value]) => line[name] === value))
  if (!found)
    throw new Error(
      `bench/figures/lines.jsonl has no line with ${JSON.stringify(fields)}: measure it with npm run bench -- --only ${fields.bench} --keep`,
    )
  return found
}

export function readmeFigures(figures: Figures, lines: readonly KeptLine[]): string {
  const times = Object.entries(questions).map(
    ([question, name]) =>
      `| ${name} | ${milliseconds(timeOf(figures, 'waymark-core', question))} | ${milliseconds(timeOf(figures, 'clickhouse-best', question))} |`,
  )
  return [
    `| ${number(figures.events)} events at rest, asked before; ${figures.threads} threads each | Waymark | ClickHouse, best layout |`,
    '|---|---:|---:|',
    ...times,
    '',
    `Medians; ${on(figures.machine)}, ${figures.date}.`,
    ...serverFigures(lines),
  ].join('\n')
}

/** Nothing until the server was measured: npm run bench -- --only capture --keep, the same with -- --shape web, and --only idle --keep. */
function serverFigures(lines: readonly KeptLine[]): readonly string[] {
  if (lines.length === 0) return []
  const captured = (shape: string) => lineOf(lines, { bench: 'capture', shape, processes: 2, part: 'batches of 500 from 8 connections' })
  const [plain, web] = [captured('plain'), captured('web')]
  const idle = lineOf(lines, { bench: 'idle', part: 'two processes' })
  const ingested = ({ line }: KeptLine, what: string) =>
    `| ${what}, ${number(Number(line.events))} of ${number(Number(line.people))} persons, \`fsync\` before every acknowledgement | ${number(Number(line.events_per_second))} events/s (first tenth ${number(Number(line.first_tenth))}, last ${number(Number(line.last_tenth))}) |`
  return [
    '',
    '| the server, both processes | |',
    '|---|---:|',
    ingested(plain, 'plain events over HTTP'),
    ingested(web, 'page views over HTTP that change their person'),
    `| memory, ${String(idle.line.state)} | ${number(Number(idle.line.resident_mb))} MB |`,
    '',
    `${on(web.line.machine)}, ${web.date}, with the clients on the same machine.`,
  ]
}

/** README.md with the table between its markers exchanged. */
export function withReadmeFigures(
  page: string,
  figures = JSON.parse(readFileSync(shownFigures, 'utf8')) as Figures,
  lines = keptLines(),
): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`README.md must contain "${begin}" and after it "${end}".`)
  return `${page.slice(0, from + begin.length)}\n\n${readmeFigures(figures, lines)}\n\n${page.slice(to)}`
}

export const readmeFile = join(import.meta.dirname, '../README.md')
