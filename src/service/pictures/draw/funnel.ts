import type { Chart, FunnelStep } from '../chart.ts'
import { durationText, numberText, plainNumbers } from '../format.ts'
import type { Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, label, legend, textWidth } from '../sheet.ts'
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

/** A block per step, in it a bar per group; each says how many came through and how many dropped off. */
export function drawFunnel({ groups }: Funnel, { left, top, right, bottom }: Area): Drawn {
  const names =
    groups.length > 1 || groups[0]?.label
      ? legend(
          groups.map((one) => ({ ...one, label: one.label ?? 'Current' })),
          left,
          top,
          right - left,
        )
      : { nodes: [], height: 0 }
  const shares = groups.map(({ steps }) => stepShares(steps))
  const longest = [...groups].sort((a, b) => b.steps.length - a.steps.length)[0]!.steps
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
    for (const [g, { steps, color, isPrevious }] of groups.entries()) {
      const step = steps[i]
      if (!step) continue
      const { share } = shares[g]![i]!
      const end = right - texts
      nodes.push(box({ left, right: end, top: y, bottom: y + thick }, { class: 'track', rx: 2 }))
      nodes.push(
        box(
          { left, right: left + (end - left) * Math.min(1, share), top: y, bottom: y + thick },
          { class: filled(color), rx: 2, opacity: isPrevious ? 0.5 : null, 'data-pick': `${g} ${i}` },
        ),
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
