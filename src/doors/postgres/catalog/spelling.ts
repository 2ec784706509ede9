import type { Token } from '../statements/lexer.ts'
import type { ProjectTables } from '../translation/tables.ts'

export const isOfCatalog = (_tokens: readonly Token[], _tables: ProjectTables): boolean => false
