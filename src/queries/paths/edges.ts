import type { Table } from 'apache-arrow'
import { listsAsk, type QueryContext, type QueryRun } from '../kind.ts'
import { doubles, texts } from '../vectors.ts'
import { listedPaths } from './listed.ts'
import type { CountedEdge, PathsPlan } from './plan.ts'
import { pathEdges } from './statement.ts'

/** The heaviest edges in order, one more than the answer shows. */
export function* edgesOf(plan: PathsPlan, env: QueryContext): QueryRun<readonly CountedEdge[]> {
  const label = plan.period === 'current' ? 'paths' : 'paths, previous period'
  let found: readonly CountedEdge[] | null = null
  const listed = listedPaths(plan, env, (edges) => {
    found = edges
  })
  yield listsAsk(label, listed)
  return found ?? readEdges((yield { kind: 'statement', query: pathEdges(plan, env), label }) as Table)
}

function readEdges(table: Table): CountedEdge[] {
  const [source, target] = [texts(table, 'source_key'), texts(table, 'target_key')]
  const [paths, took] = [doubles(table, 'paths'), doubles(table, 'took_all')]
  return source.map((text, row) => ({ source: text!, target: target[row]!, paths: paths[row]!, took: took[row]! }))
}
