import { RecordBatch, Table } from 'apache-arrow'
import { alias, from, literal, select, star } from '../../language/ast/build.ts'
import type { Query, SetQuery } from '../../language/ast/nodes.ts'
import { limited, type RowLimits } from './limits.ts'

// In a UNION ALL without a limit of its own, each query is limited as if it were alone: by its own LIMIT, or to a hundred rows.
// Each row has one more column with its branch, to see whose rows were cut.

export interface LimitedUnion {
  readonly query: Query
  /** The row limit of the answer. */
  readonly rows: number
  /** The rows that the answer shows. Pages come in order. */
  cut(page: Table): Table
  /** Were rows left out of the pages so far? */
  hasMore(): boolean
}

const branchColumn = '@branch'

export function limitedUnion(statement: Query, limits: RowLimits): LimitedUnion | null {
  if (!isPlainUnion(statement)) return null
  const most: number[] = []
  const branch = (query: Query): Query => {
    if (query !== statement && query.with.length === 0 && isPlainUnion(query))
      return { ...query, left: branch(query.left), right: branch(query.right) }
    const { query: asked, rows } = limited(query, limits)
    most.push(rows)
    return { ...select({ columns: [star(), alias(literal(most.length - 1), branchColumn)], from: from(asked) }), span: query.span }
  }
  const query: SetQuery = { ...statement, left: branch(statement.left), right: branch(statement.right) }
  const rows = Math.min(
    most.reduce((a, b) => a + b, 0),
    limits.mostRows,
  )
  const seen = most.map(() => 0)
  let left = rows
  let hasMore = false
  return {
    query,
    rows,
    hasMore: () => hasMore,
    cut(page) {
      const columns = Array.from({ length: page.numCols - 1 }, (_, i) => i)
      const branches = page.getChildAt(page.numCols - 1)!
      const shown: Table[] = []
      let start = 0
      const show = (end: number) => {
        if (end > start) shown.push(page.slice(start, end))
        start = end + 1
      }
      for (let row = 0; row < page.numRows; row++) {
        const at = Number(branches.get(row))
        seen[at]!++
        if (seen[at]! <= most[at]! && left > 0) left--
        else {
          hasMore = true
          show(row)
        }
      }
      show(page.numRows)
      const [first = page.slice(0, 0), ...others] = shown
      const whole = others.length ? first.concat(...others) : first
      return (whole.batches.length ? whole : new Table(page.schema, [new RecordBatch(page.schema)])).selectAt(columns)
    },
  }
}

const isPlainUnion = (query: Query): query is SetQuery =>
  query.kind === 'set' && query.op === 'union' && query.all && query.orderBy.length === 0 && query.limit === null
