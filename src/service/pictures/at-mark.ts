import type { Chart, FlowEdge } from './chart.ts'
import { edgeMark, nodeIds, nodeMark, throughNode } from './draw/flow.ts'
import { currentName, stepShares } from './draw/funnel.ts'
import { pieTexts } from './draw/pie.ts'
import { durationText, numberText, percentages } from './format.ts'

// What there is to say about one shape of a drawing: `data-mark`.

export interface MarkWords {
  readonly title: string
  readonly lines: readonly (readonly [name: string, text: string])[]
}

const percent = (share: number) => numberText(share * 100, { ...percentages, decimals: 1 })

function ofStep({ groups }: Extract<Chart, { kind: 'funnel' }>, mark: string): MarkWords | null {
  const [g, i] = mark.split(' ').map(Number) as [number, number]
  const group = groups[g]
  const step = group?.steps[i]
  if (!group || !step) return null
  const { share, kept, lost } = stepShares(group.steps)[i]!
  const before = group.steps[i - 1]
  return {
    title: `${i + 1}. ${step.name}${groups.length > 1 ? `, ${group.label ?? currentName}` : ''}`,
    lines: [
      ['People', numberText(step.count)],
      ...(before
        ? ([
            ['Of the first step', percent(share)],
            ['Of the step before', percent(kept)],
            ['Dropped off', `${numberText(lost)} (${percent(1 - kept)})`],
            ...(step.time === null ? [] : [['Median time', durationText(step.time)] as const]),
          ] as const)
        : []),
    ],
  }
}

/** `2_/home`: what is at a step of a path. */
const nameOf = (id: string) => id.replace(/^\d{1,3}_/, '') || '(none)'
const sum = (edges: readonly FlowEdge[]) => edges.reduce((all, { value }) => all + value, 0)

function ofFlow(edges: readonly FlowEdge[], mark: string): MarkWords | null {
  const [kind, index] = mark.split(' ') as [string, string]
  const edge = kind === 'edge' ? edges[Number(index)] : undefined
  if (edge) {
    const all = sum(edges.filter(({ from }) => from === edge.from))
    return {
      title: `${nameOf(edge.from)} → ${nameOf(edge.to)}`,
      lines: [
        ['Paths', numberText(edge.value)],
        [`Of those after ${nameOf(edge.from)}`, percent(edge.value / all)],
        ...(edge.previous === null ? [] : [['Previous period', numberText(edge.previous)] as const]),
      ],
    }
  }
  const id = kind === 'node' ? nodeIds(edges)[Number(index)] : undefined
  if (id === undefined) return null
  const [into, on] = [edges.filter(({ to }) => to === id), edges.filter(({ from }) => from === id)]
  const [came, went] = [sum(into), sum(on)]
  return {
    title: nameOf(id),
    lines: [
      ...(into.length > 0 ? [['Came here', numberText(came)] as const] : []),
      ['Went on', into.length > 0 && came > 0 ? `${numberText(went)} (${percent(went / came)})` : numberText(went)],
    ],
  }
}

/** Null: nothing beside what is drawn there. */
export function atMark(chart: Chart, mark: string): MarkWords | null {
  switch (chart.kind) {
    case 'pie': {
      const item = chart.items[Number(mark)]
      return item ? { title: item.label, lines: [['', pieTexts(chart)[Number(mark)]!]] } : null
    }
    case 'totals': {
      const item = chart.items[Number(mark)]
      if (!item) return null
      const all = chart.items.filter(({ isPrevious }) => isPrevious === item.isPrevious)
      const total = all.reduce((sum, { value }) => sum + value, 0)
      const isPart = all.length > 1 && total > 0 && all.every(({ value }) => value >= 0)
      return {
        title: item.label,
        lines: [['', numberText(item.value, chart.format)], ...(isPart ? [['Of those shown', percent(item.value / total)] as const] : [])],
      }
    }
    case 'funnel':
      return ofStep(chart, mark)
    case 'flow':
      return ofFlow(chart.edges, mark)
    case 'grid': {
      const [r, c] = mark.split(' ').map(Number) as [number, number]
      const row = chart.rows[r]
      const cell = row?.cells[c]
      return row && cell ? { title: `${row.label}, ${chart.columns[c]}`, lines: [[row.note, cell.text]] } : null
    }
    default:
      return null
  }
}

/** The shapes that stand out while the pointer is over a mark: all of them on a path through a node. Null: all alike. */
export function litBy(chart: Chart, mark: string): ReadonlySet<string> | null {
  if (chart.kind !== 'flow') return null
  const [kind, index] = mark.split(' ') as [string, string]
  const ids = nodeIds(chart.edges)
  if (kind === 'edge') {
    const edge = chart.edges[Number(index)]
    return edge ? new Set([mark, nodeMark(ids.indexOf(edge.from)), nodeMark(ids.indexOf(edge.to))]) : null
  }
  const id = ids[Number(index)]
  if (id === undefined) return null
  const { nodes, edges } = throughNode(chart.edges, id)
  return new Set([...[...nodes].map((node) => nodeMark(ids.indexOf(node))), ...edges.map(edgeMark)])
}
