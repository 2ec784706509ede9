import type { AttachedTable } from '../../language/catalog/attached.ts'
import type { AnswerWarning } from '../../queries/query-types.ts'
import type { Compiled } from './compile.ts'

/** The tables beside the events that statements read, by their names. */
export function attachedIn(compiled: readonly Pick<Compiled, 'printed'>[]): readonly AttachedTable[] {
  const found = new Map(compiled.flatMap(({ printed }) => printed.attached ?? []).map((table) => [table.name, table]))
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** How old an answer is where it is not of the events alone. */
export const agesOf = (compiled: readonly Pick<Compiled, 'printed'>[]) =>
  attachedIn(compiled).map(({ name, asOf }) => ({ table: name, as_of: asOf }))

export const oldCopies = (tables: readonly AttachedTable[]): readonly AnswerWarning[] =>
  tables.flatMap(({ name, asOf, overdue }): AnswerWarning[] => {
    if (overdue === undefined) return []
    const message = `The copy of ${name} is from ${asOf}: it could not be made again. ${overdue}`
    return [{ code: 'old-copy', table: name, as_of: asOf, message }]
  })
