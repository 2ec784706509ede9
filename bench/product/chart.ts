import type { Figures } from './figures.ts'
import { ratioOf } from './report.ts'

// Bars as multiples of the yardstick's time, on a logarithmic scale, because they reach from a twentieth to a hundred times.

const colors = ['#1d4aff', '#f9bd2b', '#b0741e', '#2f7d4f', '#8a8f98', '#c2306a', '#5b2ea6']
const row = { label: 250, bar: 11, gap: 12, width: 620 }
const top = 76
const margin = 90

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const shown = (ratio: number) => `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}x`

/** Powers of ten from the smallest ratio to the largest, at least from a tenth to ten. */
const decades = (ratios: readonly number[]): readonly number[] => {
  const low = Math.min(-1, Math.floor(Math.log10(Math.min(1, ...ratios))))
  const high = Math.max(1, Math.ceil(Math.log10(Math.max(1, ...ratios))))
  return Array.from({ length: high - low + 1 }, (_, i) => low + i)
}

/** An SVG image: a group of bars per question, one for each contender with a time. */
export function chartOf(figures: Figures): string {
  const { questions, contenders, events } = figures
  const ratios = questions.map((_, i) => contenders.map(({ outcomes }) => ratioOf(figures, i, outcomes[i]!)))
  const powers = decades(ratios.flat().filter((ratio) => ratio !== null))
  const x = (ratio: number) => row.label + (row.width * (Math.log10(ratio) - powers[0]!)) / (powers.length - 1)
  const groupHeight = contenders.length * row.bar + row.gap
  const height = top + questions.length * groupHeight + 30
  const width = row.label + row.width + margin

  const legend = contenders.map(
    ({ name }, i) =>
      `<rect x="${row.label + (i % 3) * 235}" y="${34 + Math.floor(i / 3) * 16}" width="10" height="10" fill="${colors[i % colors.length]}"/>` +
      `<text x="${row.label + 15 + (i % 3) * 235}" y="${43 + Math.floor(i / 3) * 16}">${escaped(name)}</text>`,
  )
  const grid = powers.map((power) => {
    const at = x(10 ** power).toFixed(1)
    return `<line x1="${at}" x2="${at}" y1="${top}" y2="${height - 24}" stroke="${power === 0 ? '#333' : '#ddd'}"/><text x="${at}" y="${height - 8}" text-anchor="middle">${10 ** power}x</text>`
  })
  const bars = questions.flatMap((question, i) => {
    const y = top + i * groupHeight + row.gap / 2
    return [
      `<text x="${row.label - 10}" y="${y + groupHeight / 2}" text-anchor="end">${escaped(question)}</text>`,
      ...ratios[i]!.flatMap((ratio, of) => {
        if (ratio === null) return []
        const [from, to] = ratio < 1 ? [x(ratio), x(1)] : [x(1), x(ratio)]
        const at = y + of * row.bar
        return [
          `<rect x="${from.toFixed(1)}" y="${at}" width="${Math.max(1.5, to - from).toFixed(1)}" height="${row.bar - 2}" fill="${colors[of % colors.length]}"/>`,
          `<text x="${(Math.max(to, x(1)) + 5).toFixed(1)}" y="${at + 8}" font-size="9" fill="#555">${shown(ratio)}</text>`,
        ]
      }),
    ]
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#222">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="22" font-size="15">Time of each question, ${events.toLocaleString('en-US')} events, as a multiple of ClickHouse with its best layout (shorter to the left is faster)</text>`,
    ...legend,
    ...grid,
    ...bars,
    '</svg>',
    '',
  ].join('\n')
}
