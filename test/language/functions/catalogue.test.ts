import { expect, test } from 'vitest'
import { registry } from '../../../src/language/functions/registry.ts'
import catalogue from './catalogue.json' with { type: 'json' }

// The names and arities that statements written for the reference system rely on.

type Entry = readonly [
  name: string,
  least: number | null,
  most: number | null,
  more?: { params?: readonly [number, number | null]; caseInsensitive?: true; kind?: string },
]
const entries = catalogue as unknown as readonly Entry[]

/** Where we differ, and why. */
const differences: Readonly<Record<string, string>> = {
  avgMapIf: 'one map and a condition: an average over arrays of keys and values exists on neither engine',
  avgMapState: 'one map',
  countMapIf: 'a map (or nothing) and a condition',
  countDistinctIf: 'a value and a condition: with a condition alone there is nothing to count',
  countMerge: 'none, as for all of its suffixed forms',
  groupUniqArray: 'how many at most may be a parameter, as on ClickHouse',
  groupUniqArrayIf: 'how many at most may be a parameter, as on ClickHouse',
  toStartOfWeek: 'the zone may be named, as on ClickHouse',
  toLastDayOfWeek: 'the zone may be named, as on ClickHouse',
  ...Object.fromEntries(
    ['sumMap', 'sumMapIf', 'minMap', 'minMapIf', 'maxMap', 'maxMapIf'].map((name) => [name, 'several arrays of values, as on ClickHouse']),
  ),
  ifNotFinite: 'with what to put instead, as on ClickHouse',
  md5: 'a digest of one text is no aggregate',
  percentile_cont: 'the share is a parameter or, as in PostgreSQL, the argument',
  percentile_disc: 'the share is a parameter or, as in PostgreSQL, the argument',
  quantiles: 'the levels are parameters, over one argument',
  quantilesIf: 'any number of levels',
  uniqState: 'any number of columns, as for uniq',
  uniqStateIf: 'any number of columns, as for uniq',
  uniqExactMerge: 'one state',
  windowFunnel: 'the window is a parameter',
}
/** A map, or arrays of keys and of values: also with these suffixes. */
const isMapWithSuffix = (name: string) => /^(min|max|sum)Map(OrNull|OrDefault)(If)?$/.test(name)

test('every name has a row', () => {
  const missing = entries.map(([name]) => name).filter((name) => !registry.has(name))
  expect(missing).toEqual([])
})

test('rows take the arguments and parameters that the catalogue says, but for the listed ones', () => {
  const wrong: string[] = []
  const unexpected = new Set(Object.keys(differences))
  for (const [name, least, most, more = {}] of entries) {
    const row = registry.get(name)
    if (!row || least === null || isMapWithSuffix(name)) continue
    const ours = JSON.stringify([row.args, row.params ?? null, row.caseInsensitive ?? false, row.kind])
    const theirs = JSON.stringify([[least, most], more.params ?? null, more.caseInsensitive ?? false, more.kind ?? 'scalar'])
    if (ours === theirs) continue
    if (name in differences) unexpected.delete(name)
    else wrong.push(`${name}: ${ours} instead of ${theirs}`)
  }
  expect(wrong).toEqual([])
  expect([...unexpected]).toEqual([])
})
