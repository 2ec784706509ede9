import type { AccountStore } from '../accounts/records.ts'
import type { Rows, Where } from '../accounts/store.ts'

interface DueRow {
  readonly project_id: number
  readonly due_at: Date
}

/** Projects that may have more than `most` rows which are due, without hiding those of the others. */
const mostRounds = 10

/**
 * The rows that are due, the oldest first, and when the next one is. Reads at most so many at a time; if one project has them all, those of the others are read
 * too: a project with many does not keep the others waiting. `without`: columns that are not wanted.
 */
export async function dueRows<R extends DueRow>(
  { projects }: Pick<AccountStore['read'], 'projects'>,
  table: Rows<R>,
  where: Where<R>,
  now: Date,
  most: number,
  without: readonly (keyof R & string)[] = [],
): Promise<{ readonly rows: readonly R[]; readonly next: number }> {
  const orderBy = [{ column: 'due_at' as keyof R & string }]
  const after = new Date(now.getTime() + 1)
  const within = (range: { readonly from?: Date; readonly to?: Date }) => ({ due_at: range }) as { [C in keyof R]?: typeof range }
  const read = (more: object) => table.find({ ...where, ...more }, { between: within({ to: after }), orderBy, limit: most, without })
  const rows = [...(await read({}))]
  let found: readonly R[] = rows
  for (let round = 1; found.length === most && round < mostRounds; round++) {
    const seen = new Set(rows.map(({ project_id }) => project_id))
    const others = (await projects.find({})).flatMap(({ id }) => (seen.has(id) ? [] : [id]))
    found = others.length > 0 ? await read({ project_id: others }) : []
    rows.push(...found)
  }
  const [next] = await table.find(where, { between: within({ from: after }), orderBy, limit: 1, without })
  return { rows, next: next ? next.due_at.getTime() : Number.POSITIVE_INFINITY }
}
