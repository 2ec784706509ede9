import { basename } from 'node:path'
import { QueryError } from '../../../../errors/errors.ts'
import type { AttachedTable } from '../../../../language/catalog/attached.ts'
import { excerpt } from '../../../../lib/text/excerpt.ts'

/** The reason in DuckDB's message, without the folders of the operator. */
export function reasonWithoutPaths(message: string, files: readonly string[]): string {
  const [line = ''] = message.split('\n')
  const said = files.reduce((text, file) => text.replaceAll(file, basename(file)), line)
  return excerpt(said.replace(/^(?:[A-Z][A-Za-z]* )+Error: /, ''), 300)
}

/** An error that names a file of an attached table is about this table, not about the statement. */
export function attachedFailure(error: unknown, attached: readonly Pick<AttachedTable, 'name' | 'files'>[] = []): QueryError | null {
  const message = error instanceof Error ? error.message : String(error)
  const table = attached.find(({ files }) => files.some((file) => message.includes(file)))
  if (!table) return null
  const reason = reasonWithoutPaths(message, table.files)
  return new QueryError('attached-unreadable', { name: table.name, reason }, null, { cause: error })
}
