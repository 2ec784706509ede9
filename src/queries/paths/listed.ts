import type { EdgeColumns } from '../../core/folds/edge-counts.ts'
import { nodesPerStep, type PathsParams, pathsFold } from '../../core/folds/paths.ts'
import { compareCodePoints } from '../../lib/text/compare-code-points.ts'
import { type ListedFold, listFold, type QueryContext } from '../kind.ts'
import { AskedColumns, askedBits, bitsOf, groupActors, placed } from '../lists/listed-columns.ts'
import { type Refusal, refuse } from '../refusals.ts'
import { inSample } from '../scope.ts'
import { allOf } from '../series/series-condition.ts'
import { type CountedEdge, filterOf, type PathsPlan } from './plan.ts'
import { skippedItem } from './visits.ts'

/** Paths over the lists of the core. */
export function listedPaths(plan: PathsPlan, env: QueryContext): ListedFold<readonly CountedEdge[]> | Refusal {
  const { query, range, group, spans, start, end } = plan
  if (spans && !spans.rows) return refuse('funnel-in-engine')
  const columns = new AskedColumns({ hasPersons: group === null })
  const bits = askedBits([{ condition: allOf(plan.events, inSample(query.samplingFactor)), bits: 1 }], columns, env)
  const item = columns.codes(plan.item)
  const actors = group === null ? null : groupActors(group, columns)
  return {
    names: bits.names,
    columns: columns.asks,
    actors,
    fold: listFold<PathsParams, EdgeColumns | null, readonly CountedEdge[]>({
      fold: pathsFold,
      params(listed) {
        const { texts } = listed.columns[item.index]!
        const excluded = new Set(plan.excluded)
        const isExcluded = Uint8Array.from(texts, (text) => (excluded.has(text) ? 1 : 0))
        const codeOf = (text: string | null) => (text === null ? null : texts.indexOf(text))
        const numberOf = actors ? numbersIn(listed.columns[actors.column]!.texts) : Number
        return {
          matching: { from: range.firstEvent, to: range.to, scope: null, bits: bitsOf(bits, listed), further: null, takesAll: false },
          item: placed(item, listed),
          isExcluded,
          gap: plan.gap,
          start: codeOf(start),
          end: codeOf(end),
          steps: plan.steps,
          spans: spans && spansOf(spans.rows!, numberOf, (listed.order?.actors ?? listed.lists.persons) + 1),
        }
      },
      *take(edges, listed, params) {
        if (!edges) return refuse('many-texts')
        return yield* heaviest(edges, plan, listed.columns[item.index]!.texts, nodesPerStep(params))
      },
    }),
  }
}

function numbersIn(texts: readonly string[]): (text: number | string) => number {
  const codes = new Map(texts.map((text, code) => [text, code]))
  return (text) => codes.get(String(text)) ?? -1
}

/** Actors without a span have none: it ends before it begins. */
function spansOf(rows: NonNullable<NonNullable<PathsPlan['spans']>['rows']>, numberOf: (actor: number | string) => number, size: number) {
  const [from, to] = [new Float64Array(size).fill(1), new Float64Array(size)]
  for (const row of rows) {
    const number = numberOf(row.actor)
    if (number < 0 || number >= size) continue
    from[number] = row.from
    to[number] = row.to
  }
  return { from, to }
}

const edgesBetweenPauses = 1 << 15

/** The heaviest edges in order, one more than are shown. Texts are only made of edges that may be among them. */
function* heaviest(
  { source, target, count, took }: EdgeColumns,
  plan: PathsPlan,
  texts: readonly string[],
  perStep: number,
): Generator<void, CountedEdge[], void> {
  const { minEdgeWeight, maxEdgeWeight } = filterOf(plan.query)
  const [least, most] = [minEdgeWeight || 0, maxEdgeWeight || Number.POSITIVE_INFINITY]
  const weights = count.filter((paths) => paths >= least && paths <= most).sort()
  const shown = plan.edges + 1
  const lightest = Math.max(least, weights[Math.max(0, weights.length - shown)] ?? 0)
  const textOf = (code: number) => texts[code] ?? skippedItem
  let edges: CountedEdge[] = []
  const best = () => edges.sort(byWeight).slice(0, shown)
  for (let i = 0; i < count.length; i++) {
    if (i % edgesBetweenPauses === edgesBetweenPauses - 1) yield
    if (count[i]! < lightest || count[i]! > most) continue
    const step = Math.floor(source[i]! / perStep) + 1
    edges.push({
      source: `${step}_${textOf(source[i]! % perStep)}`,
      target: `${step + 1}_${textOf(target[i]!)}`,
      paths: count[i]!,
      took: took[i]!,
    })
    if (edges.length > 2 * shown + 1000) edges = best()
  }
  return best()
}

const byWeight = (a: CountedEdge, b: CountedEdge): number =>
  b.paths - a.paths || compareCodePoints(a.source, b.source) || compareCodePoints(a.target, b.target)
