import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import type { Figures } from './figures.ts'
import { pageReport } from './report.ts'

const begin = '<!-- product benchmark: written by npm run bench -- product --write -->'
const end = '<!-- end of the product benchmark -->'
const chartFile = 'product-benchmark.svg'
/** The figures of the run that the pages show; the table of README.md is made of them as well. */
export const shownFigures = join(import.meta.dirname, '../figures/product.json')

/** The page with the text between its markers exchanged. */
export function withReport(page: string, report: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/benchmarks.md must contain "${begin}" and after it "${end}".`)
  return `${page.slice(0, from + begin.length)}\n\n${report}\n\n${page.slice(to)}`
}

/** Puts the tables into docs/benchmarks.md and the chart beside it. */
export function writePage(figures: Figures, docs: string): readonly string[] {
  const [page, chart] = [join(docs, 'benchmarks.md'), join(docs, chartFile)]
  writeFileSync(chart, chartOf(figures))
  writeFileSync(page, withReport(readFileSync(page, 'utf8'), pageReport(figures, chartFile)))
  writeFileSync(shownFigures, `${JSON.stringify(figures, null, 2)}\n`)
  return [page, chart, shownFigures]
}
