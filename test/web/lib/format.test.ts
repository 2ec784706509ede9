import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changeOf, counted, dateText, inPercent, numberText, shareText } from '../../../src/web/lib/format.ts'

// All pages write numbers, shares and times alike: by the functions of one file.

const root = join(import.meta.dirname, '../../../src/web')
/** With the reason why they are not text for people, or not of a page. */
const besides: Readonly<Record<string, string>> = {
  'lib/format.ts': 'the file itself',
  'charts/spark-points.ts': 'coordinates of a line',
  'lib/zones.ts': 'names of time zones',
}
const ownFormats =
  /\.toFixed\(|\.toPrecision\(|\.toLocale(?:Date|Time)?String\(|new Intl\.(?:NumberFormat|DateTimeFormat)\(|Intl\.DateTimeFormat\(\)|Math\.round\([^)]*\) \/ 10\)\}? ?%/

const sources = async () => (await readdir(root, { recursive: true })).filter((name) => /\.tsx?$/.test(name) && !(name in besides)).sort()

test('no page formats by itself', async () => {
  const found = []
  for (const name of await sources())
    for (const [i, line] of (await readFile(join(root, name), 'utf8')).split('\n').entries())
      if (ownFormats.test(line)) found.push(`${name}:${i + 1} ${line.trim()}`)
  expect(found, 'use numberText, shareText, durationText, dateText of lib/format.ts').toEqual([])
})

test('a time in a cell of a list has the exact one for the pointer', async () => {
  const found = []
  for (const name of await sources()) {
    const text = await readFile(join(root, name), 'utf8')
    // A cell that says how long ago, and has no title.
    for (const [cell] of text.matchAll(/<td(?![^>]*title)[^>]*>\s*\{[^<]*?agoText\(/g)) found.push(`${name}: ${cell.replace(/\s+/g, ' ')}`)
  }
  expect(found, 'use Ago of ui/ago.tsx').toEqual([])
})

test.each([
  [shareText(0.125), '12.5%'],
  [shareText(0.5), '50%'],
  [shareText(1 / 3), '33.3%'],
  [shareText(0), '0%'],
  [shareText(0 / 0), '–'],
  [shareText(null), '–'],
  [changeOf(106.1, 100), '6.1%'],
  [changeOf(97, 100), '3%'],
  [changeOf(1_250, 100), '1,150%'],
  [String(inPercent(0.07)), '7'],
  [String(inPercent(0.29)), '29'],
  [counted(1, 'row'), '1 row'],
  [counted(1200, 'person', 'people'), '1,200 people'],
  [numberText(1234567.891), '1,234,567.89'],
  [dateText('2026-01-05T23:30:00Z', 'dayOfYear'), '5 Jan 2026'],
  [dateText('2026-01-05T23:30:00Z', 'dayOfYear', 'Europe/Berlin'), '6 Jan 2026'],
  [dateText('2026-01-05T23:30:00Z', 'exact', 'Europe/Berlin'), '2026-01-06 00:30:00'],
  [dateText('2026-01-05T03:30:00Z', 'hour', 'UTC'), '03'],
])('%s is %s', (text, expected) => {
  expect(text).toBe(expected)
})
