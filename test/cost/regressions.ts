import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { random } from '../../bench/random.ts'
import { type Made, probesNamed } from './families.ts'
import type { Finding, Probe } from './probe.ts'

// What was found once, as small as it was found: it runs before anything else.

const folder = join(import.meta.dirname, 'regressions')

export interface Regression {
  readonly probe: string
  /** The largest of the three sizes that are measured: the others are a half and a quarter of it. */
  readonly size: number
  /** What was wrong. */
  readonly was: string
}

export const regressions = (): Regression[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Regression)

export const sizesOfRegression = ({ size }: Pick<Regression, 'size'>): number[] => [
  ...new Set([Math.max(1, Math.floor(size / 4)), Math.max(1, Math.floor(size / 2)), size]),
]

export function regressionProbe({ probe }: Regression, template: Made): Probe {
  for (const found of probesNamed(probe, random(1), template)) if (found.name === probe) return found
  throw new Error(`There is no probe ${probe}, which test/cost/regressions names.`)
}

const slug = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 80)

export function saveRegression({ probe, size, what }: Finding): void {
  const regression: Regression = { probe, size, was: what }
  writeFileSync(join(folder, `${slug(probe)}.json`), `${JSON.stringify(regression, null, 2)}\n`)
}
