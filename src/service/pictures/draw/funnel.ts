import type { Chart, FunnelGroup, FunnelStep } from '../chart.ts'
import { durationText, numberText, plainNumbers } from '../format.ts'
import { element, type Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, hatchOf, label, legend, line, textWidth } from '../sheet.ts'
import { filled } from '../style.ts'

type Funnel = Extract<Chart, { kind: 'funnel' }>

export interface StepShares {
  /** Of those of the first step. */
  readonly share: number
  /** Of those of the step before. */
  readonly kept: number
  readonly lost: number
}

export function stepShares(steps: readonly FunnelStep[]): readonly StepShares[] {
  const first = steps[0]?.count ?? 0
  return steps.map(({ count }, i) => {
    const before = i === 0 ? count : steps[i - 1]!.count
    return { share: first > 0 ? count / first : 0, kept: before > 0 ? count / before : 0, lost: Math.max(0, before - count) }
  })
}

const percent = (share: number) => `${numberText(share * 100, { ...plainNumbers, decimals: 1 })}%`

const dot = ' · '
/** Where there is room, steps are drawn larger, up to this. */
const mostLarger = 1.7
const [nameHeight, barHeight, barGap, stepGap] = [24, 18, 5, 6]

/** The share of the width for the texts beside the bars. */
const mostOfText = 0.6

/** What is said beside a bar. Where there is little room the last parts are left out. */
const partsOf = ({ count, time }: FunnelStep, index: number, { share, kept, lost }: StepShares): readonly string[] => [
  `${numberText(count)} (${percent(share)})`,
  ...(index === 0 ? [] : [`−${numberText(lost)} (${percent(1 - kept)})`]),
  ...(index === 0 || time === null ? [] : [durationText(time)]),
]

const longestOf = (groups: Funnel['groups']): readonly FunnelStep[] => [...groups].sort((a, b) => b.steps.length - a.steps.length)[0]!.steps

/** The room of the texts at the axis, and of those below a step. */
const axisWidth = 44
const captionLine = 16
const captionTop = 20
/** Of the shares above the bars. */
const shareSize = 11
const shareHeight = 20
/** Less, and the steps are drawn below each other. */
const least = { step: 88, bar: 12, height: 110 }
const most = { bar: 64, onlyBar: 112, gap: 6 }
/** What a bar is drawn as, and found by. */
const barOf = ({ color, isPrevious, row }: FunnelGroup, group: number, step: number) => ({
  class: filled(color),
  opacity: isPrevious ? 0.5 : null,
  'data-pick': `${row} ${step}`,
  'data-mark': `${group} ${step}`,
  'data-series': row,
})
/** Of what dropped off: nobody before the first step. */
const lostPick = ({ row }: FunnelGroup, step: number): string | undefined => (step === 0 ? undefined : `${row} ${step} 1`)
const lostBar = (of: FunnelGroup, group: number, step: number) => ({
  class: 'track',
  'data-pick': lostPick(of, step) ?? null,
  'data-mark': `${group} ${step}`,
})

interface Places {
  readonly stepWidth: number
  readonly bar: number
  readonly gap: number
  readonly plot: Area
}

/** Where bars side by side stand. Null: there is no room for them. */
function placesOf({ groups }: Funnel, { left, top, right, bottom }: Area): Places | null {
  const steps = longestOf(groups).length
  const lines = groups.length === 1 ? 3 : 0
  const plot = { left: left + axisWidth, top: top + shareHeight, right, bottom: bottom - captionTop - lines * captionLine }
  const stepWidth = (plot.right - plot.left) / steps
  const gap = Math.min(most.gap, stepWidth / groups.length / 6)
  const bar = Math.min(groups.length === 1 ? most.onlyBar : most.bar, (stepWidth - 28) / groups.length - gap)
  return stepWidth < least.step || bar < least.bar || plot.bottom - plot.top < least.height ? null : { stepWidth, bar, gap, plot }
}

const plainPercent = (share: number) => `${numberText(share * 100, { ...plainNumbers, decimals: share < 0.1 ? 1 : 0 })}%`

/** The bars of a step stand side by side, from the bottom to the share that came through; what dropped off is hatched above it. */
function drawColumns({ groups }: Funnel, { stepWidth, bar, gap, plot }: Places, names: Drawn, top: number): Drawn {
  const nodes: Markup[] = [...names.nodes]
  const height = plot.bottom - plot.top
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const y = Math.round(plot.bottom - share * height)
    nodes.push(line(plot.left, y, plot.right, y))
    nodes.push(label(`${share * 100}%`, plot.left - 8, y + 4, { anchor: 'end', className: 'faint' }))
  }
  const ofGroups = groups.map(({ steps }) => stepShares(steps))
  for (const i of longestOf(groups).keys())
    for (const [g, group] of groups.entries()) {
      const share = ofGroups[g]![i]?.share
      if (share === undefined) continue
      const x = plot.left + i * stepWidth + g * (bar + gap)
      const y = plot.bottom - Math.min(1, share) * height
      nodes.push(box({ left: x, right: x + bar, top: plot.top, bottom: plot.bottom }, { ...lostBar(group, g, i), opacity: 0.45, rx: 3 }))
      const lost = hatchOf({ left: x, right: x + bar, top: plot.top, bottom: y })
      if (share < 1 && lost !== '') nodes.push(element('path', { ...lostBar(group, g, i), d: lost, class: 'rule', 'stroke-width': 1 }))
      nodes.push(box({ left: x, right: x + bar, top: y, bottom: plot.bottom }, { ...barOf(group, g, i), rx: 3 }))
      const text = plainPercent(share)
      if (textWidth(text, shareSize) > bar + gap) continue
      nodes.push(label(text, x + bar / 2, y - 6, { anchor: 'middle', size: shareSize, isBold: true }))
    }
  const shares = groups.length === 1 ? ofGroups[0]! : []
  for (const [i, step] of longestOf(groups).entries()) {
    const x = plot.left + i * stepWidth
    const room = stepWidth - 10
    nodes.push(label(fitted(`${i + 1}. ${step.name}`, room), x, plot.bottom + captionTop - 2, { isBold: true }))
    const of = shares[i]
    if (!of) continue
    const kept = `${percent(of.kept)} went on`
    const lines = [
      `${numberText(step.count)}${i === 0 || step.time === null ? '' : `${dot}${durationText(step.time)}`}`,
      ...(i === 0 ? [] : [textWidth(kept) > room ? `→ ${percent(of.kept)}` : kept, `−${numberText(of.lost)} (${percent(1 - of.kept)})`]),
    ]
    for (const [at, text] of lines.entries()) {
      const pick = at === lines.length - 1 ? lostPick(groups[0]!, i) : undefined
      const options = { className: 'faint', ...(pick !== undefined && { pick }) }
      nodes.push(label(fitted(text, room), x, plot.bottom + captionTop - 2 + (at + 1) * captionLine, options))
    }
  }
  return { nodes, height: plot.bottom + captionTop + (groups.length === 1 ? 3 : 0) * captionLine - top }
}

/** Beside the period before. */
export const currentName = 'Current'

/** Bars side by side where there is room, else below each other. */
export function drawFunnel(chart: Funnel, area: Area): Drawn {
  const { groups } = chart
  const names =
    groups.length > 1 || groups[0]?.label
      ? legend(
          groups.map((one) => ({ ...one, label: one.label ?? currentName })),
          area,
          chart.isNamedApart,
        )
      : { nodes: [], height: 0 }
  const places = placesOf(chart, { ...area, top: area.top + names.height })
  return places ? drawColumns(chart, places, names, area.top) : drawRows(chart, area, names)
}

/** A block per step, in it a bar per group; each says how many came through and how many dropped off. */
function drawRows({ groups }: Funnel, { left, top, right, bottom }: Area, names: Drawn): Drawn {
  const shares = groups.map(({ steps }) => stepShares(steps))
  const longest = longestOf(groups)
  const nodes: Markup[] = [...names.nodes]
  const told = groups.map(({ steps }, g) => steps.map((step, i) => partsOf(step, i, shares[g]![i]!)))
  const texts = Math.min((right - left) * mostOfText, Math.max(...told.flat().map((parts) => textWidth(parts.join(dot)))) + 20)
  const bars = groups.reduce((sum, { steps }) => sum + steps.length, 0)
  const needed = longest.length * (nameHeight + stepGap) + bars * (barHeight + barGap)
  const larger = Math.max(1, Math.min(mostLarger, (bottom - top - names.height) / needed))
  const thick = Math.round(barHeight * larger)
  let y = top + names.height
  for (const [i, { name }] of longest.entries()) {
    nodes.push(label(fitted(`${i + 1}. ${name}`, right - left), left, y + 16, { isBold: true }))
    y += nameHeight
    for (const [g, group] of groups.entries()) {
      const step = group.steps[i]
      if (!step) continue
      const { share } = shares[g]![i]!
      const end = right - texts
      nodes.push(box({ left, right: end, top: y, bottom: y + thick }, { ...lostBar(group, g, i), rx: 2 }))
      nodes.push(
        box({ left, right: left + (end - left) * Math.min(1, share), top: y, bottom: y + thick }, { ...barOf(group, g, i), rx: 2 }),
      )
      const parts = [...told[g]![i]!]
      while (parts.length > 1 && textWidth(parts.join(dot)) > texts - 10) parts.pop()
      nodes.push(label(fitted(parts.join(dot), texts - 10), end + 10, y + Math.round(thick / 2) + 5, { className: 'faint' }))
      y += thick + barGap
    }
    y += Math.round(stepGap * larger ** 3)
  }
  return { nodes, height: y - top }
}
