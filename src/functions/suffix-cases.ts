import type { AggregateRow } from './aggregate.ts'
import type { Case } from './row.ts'

// Cases of the aggregates that suffixes make, so that none is without one: from the cases of the plain aggregate where the suffix keeps the
// value, and from a small model where it changes what is aggregated.

type Numbers = readonly number[]
const sum = (values: Numbers): number => values.reduce((a, b) => a + b, 0)
const sorted = (values: Numbers): Numbers => [...values].sort((a, b) => a - b)
const middle = (values: Numbers): number => {
  const at = (values.length - 1) / 2
  const inOrder = sorted(values)
  return (inOrder[Math.floor(at)]! + inOrder[Math.ceil(at)]!) / 2
}
const different = (values: Numbers): number => new Set(values).size

const models: Readonly<Record<string, (values: Numbers) => number>> = {
  sum,
  avg: (values) => sum(values) / values.length,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
  countDistinct: different,
  uniq: different,
  uniqExact: different,
  median: middle,
  quantile: middle,
  any: (values) => values[0]!,
}

const rows: Numbers = [1, 2, 2, 4]
const source = `from (select arrayJoin([${rows.join(', ')}]) as x)`
const params: Readonly<Record<string, string>> = { quantile: '(0.5)' }

function modelled(base: string, chain: readonly string[]): Case | null {
  const model = models[base]
  if (!model) return null
  const [first, ...others] = chain
  const isFiltered = chain.includes('If')
  const kept = isFiltered ? rows.filter((x) => x > 1) : rows
  const call = (...args: string[]): string =>
    `${base}${chain.join('')}${params[base] ?? ''}(${[...args, ...(isFiltered ? ['x > 1'] : [])].join(', ')})`
  const isState = (suffixes: readonly string[]): boolean => suffixes.some((o) => o === 'State' || o === 'Merge')
  /** One state of all rows, read back: no condition changes it. */
  const merged = (shape: string, arg: string): string => {
    const suffix = chain.includes('State') ? `${shape}Merge` : chain.join('')
    const condition = suffix.endsWith('If') ? ', 1 = 1' : ''
    return `select ${base}${suffix}${params[base] ?? ''}(s${condition}) from (select ${base}${shape}State${params[base] ?? ''}(${arg}) as s ${source})`
  }
  const times = kept.map((x) => x * 10)
  switch (first) {
    case 'Array':
      return [`select ${call('[x, x * 10]')} ${source}`, model([...kept, ...times])]
    case 'ForEach':
      if (isState(others)) return [merged('ForEach', '[x, x * 10]'), [model(rows), model(rows.map((x) => x * 10))]]
      return [`select ${call('[x, x * 10]')} ${source}`, [model(kept), model(times)]]
    case 'Map':
      if (isState(others)) return base === 'avg' || base === 'uniq' ? [merged('Map', "map('a', x)"), { a: model(rows) }] : null
      return [`select ${call("map('a', x, 'b', x * 10)")} ${source}`, { a: model(kept), b: model(times) }]
    case 'ArgMin':
      return [`select ${call('x', '-x')} ${source}`, model([Math.max(...kept)])]
    case 'ArgMax':
      return [`select ${call('x', '-x')} ${source}`, model(kept.filter((x) => x === Math.min(...kept)))]
    case 'Distinct':
      return [`select ${call('x')} ${source}`, model([...new Set(kept)])]
    case 'State':
    case 'Merge': {
      // A state with OrNull or OrDefault is read back by the merge with the same suffix, but ClickHouse drops OrNull in front of If.
      const or = others.find((o) => o !== 'If') ?? ''
      const partner = or === 'OrNull' && isFiltered ? '' : or
      const [inState, inMerge] = first === 'State' ? [isFiltered, false] : [false, isFiltered]
      const state = `${base}State${first === 'State' ? or : partner}${inState ? 'If' : ''}${params[base] ?? ''}(x${inState ? ', x > 1' : ''})`
      const merge = `${base}Merge${first === 'Merge' ? or : partner}${inMerge ? 'If' : ''}${params[base] ?? ''}(s${inMerge ? ', 1 = 1' : ''})`
      return [`select ${merge} from (select ${state} as s ${source})`, model(inState ? kept : rows)]
    }
    default:
      return null
  }
}

/** The plain aggregate's first case with the suffixed name, and a condition that always holds. */
function derived(base: string, chain: readonly string[], row: AggregateRow): Case | null {
  if (!chain.every((suffix) => suffix === 'If' || suffix === 'OrNull' || suffix === 'OrDefault')) return null
  const [plain] = row.cases
  const start = `select ${base}(`
  if (!plain?.[0].startsWith(start)) return null
  const close = closing(plain[0], start.length)
  // After parameters comes a second list.
  const end = plain[0][close + 1] === '(' ? closing(plain[0], close + 2) : close
  const before = plain[0].slice(start.length - 1, end)
  const condition = chain.includes('If') ? `${before.endsWith('(') ? '' : ', '}1 = 1` : ''
  return [
    `select ${base}${chain.join('')}${before}${condition}${plain[0].slice(end)}`,
    plain[1],
    ...(plain[2] ? ([plain[2]] as const) : []),
  ] as Case
}
function closing(text: string, from: number): number {
  let depth = 1
  for (let i = from; i < text.length; i++) {
    if (text[i] === '(') depth++
    if (text[i] === ')' && --depth === 0) return i
  }
  return text.length
}

const always = (name: string): string => (name.endsWith('If') ? ', 1 = 1' : '')

/** `argMinState(x, -x)`, read back. */
function edges(base: string, chain: readonly string[]): Case | null {
  if ((base !== 'argMin' && base !== 'argMax') || chain.includes('OrNull') || chain.includes('OrDefault')) return null
  const [state, merge] = ['State', 'Merge'].map((s) => `${base}${s}${chain[0] === s && chain[1] === 'If' ? 'If' : ''}`)
  const text = `select ${merge}(s${always(merge!)}) from (select ${state}(x, -x${always(state!)}) as s ${source})`
  return [text, base === 'argMin' ? Math.max(...rows) : Math.min(...rows)]
}

/** States of aggregates that have no model here, read back; those that nothing reads are counted. */
function readBack(base: string, chain: readonly string[]): Case | null {
  const name = base + chain.join('')
  if (base === 'quantiles') {
    const [state, merge] = ['State', 'Merge'].map((s) => `quantiles${s}${chain[0] === s && chain[1] === 'If' ? 'If' : ''}`) as [
      string,
      string,
    ]
    const inner = `select ${state}(0.25, 0.5)(x${always(state)}) as s ${source}`
    return [`select ${merge}(0.25, 0.5)(s${always(merge)}) from (${inner})`, [1.75, 2]]
  }
  if (!name.includes('Map')) return null
  const maps = "map('a', x)"
  if (base === 'sumMap') {
    const merge = chain[0] === 'Merge' ? name : 'sumMapMerge'
    return [`select ${merge}(s${always(merge)}) from (select sumMapState(${maps}) as s ${source})`, { a: sum(rows) }]
  }
  return name.endsWith('State') ? [`select count(s) from (select ${name}(${maps}) as s ${source})`, 1] : null
}

/** `groupArraySampleIf(2)(x, …)`: how many values, not which. */
const sampled = (base: string, chain: readonly string[]): Case | null =>
  base === 'groupArraySample' ? [`select length(${base}${chain.join('')}(2)(x, x > 1)) ${source}`, 2] : null

/** `bitmapToArray(groupBitmapState(x))`: the plain aggregate stands inside of another call. */
function wrapped(base: string, chain: readonly string[], row: AggregateRow): Case | null {
  const [plain] = row.cases
  return chain.join() === 'If' && plain?.[0].includes(`(${base}(x))`)
    ? [plain[0].replace(`${base}(x)`, `${base}If(x, 1 = 1)`), plain[1]]
    : null
}

const distinctItems = (base: string, chain: readonly string[]): Case | null =>
  base === 'groupArray' && chain[0] === 'Distinct'
    ? [
        `select ${base}${chain.join('')}(x${chain.length > 1 ? ', x > 1' : ''}) ${source}`,
        chain.length > 1 ? [2, 4] : [1, 2, 4],
        { unordered: true },
      ]
    : null

export function suffixCases(base: string, chain: readonly string[], row: AggregateRow): readonly Case[] {
  for (const from of [derived, modelled, edges, readBack, sampled, distinctItems, wrapped]) {
    const found = from(base, chain, row)
    if (found) return [found]
  }
  return []
}
