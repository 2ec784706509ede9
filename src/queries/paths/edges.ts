import type { Table } from 'apache-arrow'
import { doubles, texts } from '../answers/vectors.ts'
import { along, type QueryContext, type QueryRun } from '../kind.ts'
import { foldedSteps } from './in-engine.ts'
import { listedPaths } from './listed.ts'
import type { CountedEdge, PathsPlan } from './plan.ts'
import { pathEdges, windowedSteps } from './statement.ts'

/** The heaviest edges in order, one more than the answer shows. */
export const edgesOf = (plan: PathsPlan, env: QueryContext): QueryRun<readonly CountedEdge[]> =>
  along<readonly CountedEdge[]>({
    label: plan.period === 'current' ? 'paths' : 'paths, previous period',
    lists: () => listedPaths(plan, env),
    engine: () => ({ query: pathEdges(plan, foldedSteps(plan)), read: readEdges }),
    statement: () => ({ query: pathEdges(plan, windowedSteps(plan)), read: readEdges }),
  })

function readEdges(table: Table): CountedEdge[] {
  const [source, target] = [texts(table, 'source_key'), texts(table, 'target_key')]
  const [paths, took] = [doubles(table, 'paths'), doubles(table, 'took_all')]
  return source.map((text, row) => ({ source: text!, target: target[row]!, paths: paths[row]!, took: took[row]! }))
}
