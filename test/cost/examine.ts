import { type Budget, budgets, diskAllowance, growth } from './budgets.ts'
import { exponentOf, least, looksSteep, type Point } from './growth.ts'
import type { Figures, Finding, Input, Probe } from './probe.ts'

// One probe from its smallest size to its largest: every size against the budgets, every step against the one before. What looks wrong is measured
// again, several times, before it counts.

export interface Subject {
  measure(input: Input, size: number, budget: Budget): Promise<Figures>
  renew(input: Input): Promise<void>
}

export interface Outcome {
  readonly finding: Finding | null
  /** The server took the smallest input: what is refused at once tests little. */
  readonly isTaken: boolean
  readonly figures: readonly Figures[]
}

const usualStep = 4
/** Sizes from the smallest to the largest, both included. */
export function sizesOf({ from, most, step = usualStep }: Pick<Probe, 'from' | 'most' | 'step'>): number[] {
  const sizes: number[] = []
  for (let size = from; size < most; size *= step) sizes.push(size)
  return [...sizes, most]
}

interface Measure {
  readonly name: string
  readonly floor: number
  of(figures: Figures): number
}
const measuresOf = (to: Input['to']): readonly Measure[] => [
  { name: 'processor time', floor: growth.floorMs[to], of: (one) => one.cpuMs },
  { name: 'memory', floor: growth.floorMb, of: (one) => one.residentMb },
]

/** The first budget that is passed, in words. */
export function passed(figures: Figures, budget: Budget): string | null {
  const { holdMs, othersMs, cpuMs, residentMb, diskBytes, bytes, end } = figures
  if (end !== null) return end
  if (holdMs > budget.holdMs) return `holds the event loop for ${Math.round(holdMs)} ms, over ${budget.holdMs}`
  if (budget.othersMs !== null && othersMs > budget.othersMs)
    return `makes a small request of another project wait for ${Math.round(othersMs)} ms, over ${budget.othersMs}`
  if (cpuMs > budget.cpuSeconds * 1000) return `takes ${Math.round(cpuMs / 100) / 10} s of processor time, over ${budget.cpuSeconds}`
  if (residentMb > budget.residentMb) return `takes ${residentMb} MB of memory, over ${budget.residentMb}`
  const times = Math.round((diskBytes - diskAllowance) / bytes)
  return times > budget.disk ? `writes ${times} times its bytes to disk, over ${budget.disk}` : null
}

/** `known`: sizes of what was found before, which is not made smaller again. */
export async function examine(probe: Probe, subject: Subject, known?: readonly number[]): Promise<Outcome> {
  const sizes = known ?? sizesOf(probe)
  const budget = budgets[probe.door]
  let make = probe.make
  const at = (size: number) => subject.measure(make(size), size, budget)
  const scanned: Figures[] = []
  const outcome = (finding: Finding | null): Outcome => ({ finding, isTaken: scanned[0]?.status === 200, figures: scanned })
  const finding = (what: string, figures: readonly Figures[]): Finding => ({
    probe: probe.name,
    what,
    size: figures.at(-1)!.size,
    figures,
    sample: sampleOf(make(figures[0]!.size)),
  })

  for (const size of sizes) {
    let figures = await at(size)
    for (const other of size === sizes[0] ? (probe.others ?? []) : []) {
      if (figures.status !== 400) break
      make = other
      figures = await at(size)
    }
    const before = scanned.at(-1)
    scanned.push(figures)
    if (!before && isFailure(figures)) {
      await subject.renew(make(size))
      const again = await at(size)
      if (isFailure(again)) return outcome(finding(`is answered with ${again.status} when it is smallest`, [again]))
    }
    if (before && probe.grows === 'input' && figures.end === null)
      for (const measure of measuresOf(probe.door === 'call' ? 'call' : 'server')) {
        const pair = [before, figures].map((one): Point => [one.bytes, measure.of(one)]) as [Point, Point]
        if (!looksSteep(pair, measure.floor, growth.exponent)) continue
        const steep = await steepness(scanned, size, measure, at)
        if (steep)
          return outcome(finding(`grows with the power ${steep.exponent.toFixed(1)} of its size in ${measure.name}`, steep.figures))
      }
    if (passed(figures, budget) === null) continue
    const sure = [figures]
    while (sure.length < repeatsFor(figures) && passed(cheapest(sure), budget) !== null) {
      if (figures.residentMb > budget.residentMb) await subject.renew(make(size))
      sure.push(await at(size))
    }
    const over = cheapest(sure)
    if (passed(over, budget) === null) continue
    const smallest = known ? over : await smallestOver(over, before, budget, at)
    const smaller = [Math.floor(smallest.size / 4), Math.floor(smallest.size / 2)].filter((one) => one > 0)
    const all: Figures[] = []
    for (const one of smaller) all.push(scanned.find(({ size }) => size === one) ?? (await at(one)))
    return outcome(finding(passed(smallest, budget)!, [...all, smallest]))
  }
  return outcome(null)
}

/** What is small has to be answered, or refused as wrong: a server that lacks time or memory for it has no room for a larger one either. */
const isFailure = ({ status, end }: Figures) => end === null && status >= 500

/** What took long, or ended the process, is hardly noise, and is measured once more; the rest several times. */
const repeatsFor = ({ cpuMs, end }: Figures) => (end !== null || cpuMs > sureMs ? 2 : growth.repeats)
const sureMs = 2_000

const cheapest = (all: readonly Figures[]): Figures => ({
  ...all[0]!,
  cpuMs: Math.min(...all.map((one) => one.cpuMs)),
  holdMs: Math.min(...all.map((one) => one.holdMs)),
  othersMs: Math.min(...all.map((one) => one.othersMs)),
  residentMb: Math.min(...all.map((one) => one.residentMb)),
  diskBytes: Math.min(...all.map((one) => one.diskBytes)),
  end: all.some((one) => one.end === null) ? null : all[0]!.end,
})

/** n, 2n and 4n, again while it may be noise: the least of each counts, and every round has to be out of proportion. */
async function steepness(scanned: readonly Figures[], size: number, measure: Measure, at: (size: number) => Promise<Figures>) {
  const sizes = [Math.max(1, Math.floor(size / 4)), Math.max(2, Math.floor(size / 2)), size]
  const rounds = sizes.map((one) => scanned.filter((figures) => figures.size === one))
  for (let round = 1; ; round++) {
    for (const [i, one] of sizes.entries()) while (rounds[i]!.length < round) rounds[i]!.push(await at(one))
    const figures = rounds.map((all) => least(all, measure.of))
    const points = figures.map((one): Point => [one.bytes, measure.of(one)]) as [Point, Point, Point]
    const exponent = exponentOf(points, measure.floor)
    if (exponent === null || exponent <= growth.exponent) return null
    if (round === growth.repeats) return { exponent, figures }
  }
}

const halvings = 3
/** Longer than this nobody looks for a smaller input. */
const searchMs = 20_000
/** Between a size that was within the budget and one that is not. */
async function smallestOver(over: Figures, within: Figures | undefined, budget: Budget, at: (size: number) => Promise<Figures>) {
  let [low, high] = [within, over]
  const until = performance.now() + searchMs
  for (let i = 0; low && i < halvings && high.size > low.size + 1 && performance.now() < until; i++) {
    const figures = await at(Math.floor((low.size + high.size) / 2))
    if (passed(figures, budget) === null) low = figures
    else high = figures
  }
  return high
}

const longestSample = 400
const sampleOf = (input: Input): string => {
  const text =
    input.to === 'call'
      ? `${input.call} ${typeof input.given === 'string' ? input.given : JSON.stringify(input.given)}`
      : `${input.method} ${input.path} ${Object.entries(input.headers)
          .map(([name, value]) => `${name}: ${value.slice(0, 60)}`)
          .join(', ')} ${typeof input.body === 'string' ? input.body : input.body ? `${input.body.length} bytes` : ''}`
  // One line, whatever it holds.
  const line = JSON.stringify(text.slice(0, longestSample)).slice(1, -1)
  return text.length > longestSample ? `${line}… (${text.length} characters)` : line
}
