// The naive funnel: loops over an array of events, written from the rules (docs/funnels.md), not from the fold.

export interface NaiveEvent {
  readonly time: number
  /** Steps it matches, from 0. */
  readonly steps: readonly number[]
  /** Steps an attempt must stand at to be excluded by it. */
  readonly excludes?: readonly number[]
  readonly value?: string
}

export interface NaiveFunnel {
  readonly order: 'ordered' | 'strict' | 'unordered'
  readonly steps: number
  readonly window: number
  readonly optional?: readonly number[]
  /** Attempts begin only at such times. */
  readonly enters?: (time: number) => boolean
}

interface Attempt {
  /** Events by step that this attempt has used. */
  readonly used: readonly { readonly step: number; readonly event: NaiveEvent }[]
  isExcluded: boolean
}

export interface NaiveOutcome {
  readonly depth: number
  /** Time of each reached step, by step (ordered) or in order (unordered). */
  readonly times: readonly number[]
  /** The step of each of these times; unordered: its place. */
  readonly steps: readonly number[]
}

const begun = (attempt: Attempt) => attempt.used[0]!.event.time

/** Null: in no step at all. `valueStep` and `value`: at that step only events with the value count. */
export function naiveFunnel(
  events: readonly NaiveEvent[],
  funnel: NaiveFunnel,
  attributed?: { step: number; value: string },
): NaiveOutcome | null {
  // Of one instant: what excludes an unordered run, then what can serve fewer steps. Arrival says nothing.
  const served = (event: NaiveEvent) =>
    event.steps.filter((step) => step < funnel.steps && (isUnordered || attributed?.step !== step || event.value === attributed.value))
  const isUnordered = funnel.order === 'unordered'
  const sum = (steps: readonly number[]) => steps.reduce((total, step) => total + 2 ** step, 0)
  const excludes = (event: NaiveEvent) => (event.excludes?.length ? 0 : 1)
  const begins = (event: NaiveEvent) => (isUnordered && attributed && event.value !== attributed.value ? 1 : 0)
  const keys = (event: NaiveEvent) => [event.time, excludes(event), begins(event), served(event).length, sum(served(event))]
  const sorted = [...events].sort((a, b) => {
    const [x, y] = [keys(a), keys(b)]
    return x.map((key, i) => key - y[i]!).find((difference) => difference !== 0) ?? 0
  })
  return funnel.order === 'unordered' ? unordered(sorted, funnel, attributed) : ordered(sorted, funnel, attributed)
}

function ordered(events: readonly NaiveEvent[], funnel: NaiveFunnel, attributed?: { step: number; value: string }): NaiveOutcome | null {
  const at: (Attempt | null)[] = Array.from({ length: funnel.steps }, () => null)
  let best: { depth: number; attempt: Attempt; isExcluded: boolean } | null = null

  const reach = (event: NaiveEvent, step: number, isMixed: boolean) => {
    if (step >= funnel.steps) return
    if (attributed && step === attributed.step && event.value !== attributed.value) return
    let moved: Attempt
    if (step === 0) {
      if (funnel.enters && !funnel.enters(event.time)) return
      moved = { used: [{ step, event }], isExcluded: false }
    } else {
      let before = step - 1
      const isInTime = (attempt: Attempt | null | undefined) => attempt && event.time - begun(attempt) <= funnel.window
      while (before >= 0 && !isInTime(at[before]) && funnel.optional?.includes(before)) before--
      const attempt = at[before]
      if (!attempt || !isInTime(attempt)) return
      if (isMixed && attempt.used.some((u) => u.event === event)) return
      moved = { used: [...attempt.used, { step, event }], isExcluded: attempt.isExcluded }
    }
    const there = at[step]
    if (there && begun(there) === begun(moved)) return
    if (!moved.isExcluded) at[step] = moved
    if (!best || step + 1 > best.depth || (step + 1 === best.depth && best.isExcluded))
      best = { depth: step + 1, attempt: moved, isExcluded: moved.isExcluded }
  }

  for (let i = 0; i < events.length; ) {
    const instant = events.filter((e, k) => k >= i && e.time === events[i]!.time)
    i += instant.length
    const shape = (e: NaiveEvent) => JSON.stringify([[...e.steps].sort(), [...(e.excludes ?? [])].sort()])
    if (instant.some((e) => shape(e) !== shape(instant[0]!))) {
      const pairs = instant.flatMap((event) => event.steps.map((step) => ({ event, step }))).sort((a, b) => a.step - b.step)
      for (const { event, step } of pairs) reach(event, step, true)
    } else {
      for (const event of instant) {
        for (const step of event.excludes ?? []) {
          const attempt = at[step]
          if (!attempt || event.time - begun(attempt) > funnel.window) continue
          const further = at[step + 1]
          if (further && begun(further) === begun(attempt)) continue
          attempt.isExcluded = true
          const current = best as { depth: number; attempt: Attempt; isExcluded: boolean } | null
          if (current && current.depth === step + 1 && event.time - begun(current.attempt) <= funnel.window) current.isExcluded = true
        }
        for (const step of [...event.steps].sort((a, b) => b - a)) reach(event, step, false)
        if (funnel.order === 'strict') for (let step = 0; step < funnel.steps; step++) if (!event.steps.includes(step)) at[step] = null
      }
    }
    const current = best as { depth: number; isExcluded: boolean } | null
    if (current && current.depth === funnel.steps && !current.isExcluded) break
  }
  const found = best as { depth: number; attempt: Attempt; isExcluded: boolean } | null
  if (!found || found.isExcluded) return null
  const { used } = found.attempt
  return { depth: found.depth, times: used.map((u) => u.event.time), steps: used.map((u) => u.step) }
}

function unordered(events: readonly NaiveEvent[], funnel: NaiveFunnel, attributed?: { step: number; value: string }): NaiveOutcome | null {
  let window: { step: number; event: NaiveEvent }[] = []
  let best: NaiveOutcome | null = null
  const steps = () => new Set(window.map((w) => w.step)).size
  const record = (depth: number) => {
    if (depth === 0 || (best && depth <= best.depth)) return
    const firsts = new Map<number, number>()
    for (const { step, event } of window) if (!firsts.has(step)) firsts.set(step, event.time)
    const times = [...firsts.values()].sort((a, b) => a - b).slice(0, depth)
    best = { depth, times, steps: times.map((_, place) => place) }
  }
  for (const event of events) {
    while (window.length && event.time - window[0]!.event.time > funnel.window) {
      record(steps())
      window.shift()
    }
    if (funnel.enters && !funnel.enters(window[0]?.event.time ?? event.time)) continue
    if (event.excludes?.length) {
      record(Math.min(1, steps()))
      window = []
      continue
    }
    if (attributed && window.length === 0 && event.value !== attributed.value) continue
    const latest = (step: number) => Math.max(Number.NEGATIVE_INFINITY, ...window.filter((w) => w.step === step).map((w) => w.event.time))
    const [step] = [...event.steps].sort((a, b) => latest(a) - latest(b) || a - b)
    if (step === undefined) continue
    window.push({ step, event })
    if (steps() === funnel.steps) {
      record(funnel.steps)
      return best
    }
  }
  record(steps())
  return best
}
