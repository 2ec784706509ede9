import type { Chart, FlowEdge } from '../chart.ts'
import { numberText } from '../format.ts'
import { element, type Markup } from '../markup.ts'
import { type Area, box, type Drawn, fitted, label } from '../sheet.ts'
import { filled, lined } from '../style.ts'

type Flow = Extract<Chart, { kind: 'flow' }>

export interface FlowNode {
  readonly id: string
  readonly name: string
  /** The step of the path, from 1. */
  readonly step: number
  readonly value: number
  readonly top: number
  readonly height: number
}
export interface FlowBand {
  readonly from: FlowNode
  readonly to: FlowNode
  readonly fromTop: number
  readonly toTop: number
  readonly thickness: number
  readonly row: number
}

/** `2_/home` is the item /home at step 2. */
const itemOf = (id: string): { step: number; name: string } => {
  const [, step = '1', name = id] = /^(\d{1,3})_([\s\S]*)$/.exec(id) ?? []
  return { step: Math.max(1, Number(step)), name: name || '(none)' }
}

const smallest = 3
const gap = 20

/** Nodes in a column per step, the largest first; the bands between them as thick as they are many. */
export function flowGeometry(
  edges: readonly FlowEdge[],
  height: number,
): { readonly nodes: readonly FlowNode[]; readonly bands: readonly FlowBand[]; readonly height: number } {
  const values = new Map<string, { in: number; out: number }>()
  const add = (id: string, side: 'in' | 'out', value: number) => {
    const known = values.get(id) ?? { in: 0, out: 0 }
    known[side] += value
    values.set(id, known)
  }
  for (const { from, to, value } of edges) {
    add(from, 'out', value)
    add(to, 'in', value)
  }
  const all = [...values].map(([id, both]) => ({ id, ...itemOf(id), value: Math.max(both.in, both.out) }))
  const steps = [...new Set(all.map(({ step }) => step))].sort((a, b) => a - b)
  const columns = steps.map((step) => all.filter((node) => node.step === step).sort((a, b) => b.value - a.value))
  const room = Math.min(...columns.map((column) => (height - gap * column.length) / column.reduce((sum, { value }) => sum + value, 0)))
  const scale = Number.isFinite(room) && room > 0 ? room : 0
  const thickness = (value: number) => Math.max(smallest, value * scale)
  const nodes = new Map<string, FlowNode>()
  let deepest = 0
  for (const column of columns) {
    let top = gap
    for (const node of column) {
      const tall = thickness(node.value)
      nodes.set(node.id, { ...node, top, height: tall })
      top += tall + gap
    }
    deepest = Math.max(deepest, top)
  }
  const used = new Map<string, number>()
  const take = (key: string, amount: number) => {
    const at = used.get(key) ?? 0
    used.set(key, at + amount)
    return at
  }
  const bands = edges.map(({ from, to, value, row }) => {
    const [a, b] = [nodes.get(from)!, nodes.get(to)!]
    const thick = Math.min(a.height, b.height, Math.max(1, value * scale))
    return { from: a, to: b, fromTop: a.top + take(`out ${from}`, thick), toTop: b.top + take(`in ${to}`, thick), thickness: thick, row }
  })
  return { nodes: [...nodes.values()], bands, height: deepest }
}

const nodeWidth = 8

/** The nodes that lie on a path through a node, and the edges between them. */
export function throughNode(
  edges: readonly FlowEdge[],
  id: string,
): { readonly nodes: ReadonlySet<string>; readonly edges: readonly number[] } {
  const reached = (side: 'from' | 'to', other: 'from' | 'to') => {
    const found = new Set([id])
    // A path never comes back to a step: its edges lead from each step to the next one.
    for (const one of found) for (const edge of edges) if (edge[side] === one) found.add(edge[other])
    return found
  }
  const [after, before] = [reached('from', 'to'), reached('to', 'from')]
  const lies = ({ from, to }: FlowEdge) => (after.has(from) && after.has(to)) || (before.has(from) && before.has(to))
  return { nodes: new Set([...after, ...before]), edges: edges.flatMap((edge, i) => (lies(edge) ? [i] : [])) }
}

/** How the drawing names an edge, and a node. */
export const edgeMark = (index: number): string => `edge ${index}`
export const nodeMark = (index: number): string => `node ${index}`
/** The nodes in the order of the drawing. */
export const nodeIds = (edges: readonly FlowEdge[]): readonly string[] => [...new Set(edges.flatMap(({ from, to }) => [from, to]))]
/** What a click on a node picks, by one of its edges: those who came to it, or those who began there. */
export const picks = { edge: 0, target: 1, source: 2 } as const

export function drawFlow({ edges }: Flow, { left, top, right, bottom }: Area): Drawn {
  const { nodes, bands, height } = flowGeometry(edges, bottom - top)
  const steps = [...new Set(nodes.map(({ step }) => step))].sort((a, b) => a - b)
  const width = (right - left) / Math.max(1, steps.length)
  const x = ({ step }: FlowNode) => left + steps.indexOf(step) * width
  const curves = bands.map(({ from, to, fromTop, toTop, thickness, row }, i): Markup => {
    const [x1, x2] = [x(from) + nodeWidth, x(to)]
    const [y1, y2] = [top + fromTop + thickness / 2, top + toTop + thickness / 2]
    const middle = (x1 + x2) / 2
    const point = (...numbers: readonly number[]) => numbers.map((number) => Math.round(number * 10) / 10).join(' ')
    const d = `M${point(x1, y1)}C${point(middle, y1)} ${point(middle, y2)} ${point(x2, y2)}`
    const mark = { 'data-pick': `${row} ${picks.edge}`, 'data-mark': edgeMark(i), 'data-series': edgeMark(i) }
    return element('path', { d, fill: 'none', class: lined(0), opacity: 0.3, 'stroke-width': thickness, ...mark })
  })
  const ids = nodeIds(edges)
  const blocks = nodes.flatMap((node): Markup[] => {
    const at = x(node)
    const y = top + node.top
    const into = edges.find(({ to }) => to === node.id)
    const pick = into ? `${into.row} ${picks.target}` : `${edges.find(({ from }) => from === node.id)!.row} ${picks.source}`
    const mark = { 'data-pick': pick, 'data-mark': nodeMark(ids.indexOf(node.id)), 'data-series': nodeMark(ids.indexOf(node.id)) }
    return [
      box({ left: at, right: at + nodeWidth, top: y, bottom: y + node.height }, { class: filled(0), rx: 1, ...mark }),
      label(fitted(`${numberText(node.value)} ${node.name}`, width - 8, 11), at, y - 5, { size: 11 }),
    ]
  })
  return { nodes: [...curves, ...blocks], height }
}
