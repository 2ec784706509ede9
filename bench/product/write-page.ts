import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Figures } from './figures.ts'
import { pageReport } from './report.ts'

interface Place {
  readonly begin: string
  readonly end: string
  readonly chart: string
  /** The figures of the run that the page shows, in bench/figures. */
  readonly figures: string
}
const usual: Place = {
  begin: '<!-- product benchmark: written by npm run bench -- product --write -->',
  end: '<!-- end of the product benchmark -->',
  chart: 'product-benchmark.svg',
  figures: 'product.json',
}
const large: Place = {
  begin: '<!-- a hundred million events: written by npm run bench -- product --write -->',
  end: '<!-- end of the hundred million events -->',
  chart: 'product-benchmark-large.svg',
  figures: 'hundred-million.json',
}
const largeFrom = 50_000_000
const figuresIn = ({ figures }: Place) => join(import.meta.dirname, '../figures', figures)
export const shownFigures = figuresIn(usual)
/** The table of README.md is made of them. */
export const largeFigures = figuresIn(large)
/** Longer answers are compared when they are measured, and not kept; of the usual size none is, as it is measured in minutes. */
const mostOfAnswer = 50_000

const kept = (figures: Figures, most: number): Figures => ({
  ...figures,
  contenders: figures.contenders.map(({ answers, ...one }) => ({
    ...one,
    ...(answers && most > 0 && { answers: answers.map((rows) => (JSON.stringify(rows).length > most ? null : rows)) }),
  })),
})

/** The page with the text between its markers exchanged. */
export function withReport(page: string, report: string, { begin, end }: Pick<Place, 'begin' | 'end'> = usual): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md must contain "${begin}" and after it "${end}".`)
  return `${page.slice(0, from + begin.length)}\n\n${report}\n\n${page.slice(to)}`
}

/** Puts the tables into docs/benchmarks.md and the chart beside it. */
export function writePage(figures: Figures, docs: string): readonly string[] {
  const place = figures.events >= largeFrom ? large : usual
  const [page, chart, file] = [join(docs, 'benchmarks.md'), join(docs, place.chart), figuresIn(place)]
  writeFileSync(chart, chartOf(figures))
  writeFileSync(page, withReport(readFileSync(page, 'utf8'), pageReport(figures, place.chart), place))
  writeFileSync(file, `${JSON.stringify(kept(figures, place === large ? mostOfAnswer : 0), null, 2)}\n`)
  return [page, chart, file]
}
