import type { CatalogEngines } from '../catalog/catalog-engine.ts'
import { isOfCatalog } from '../catalog/spelling.ts'
import type { Token } from '../statements/lexer.ts'
import { parseQuery } from '../statements/queries.ts'
import { SqlError } from '../statements/sql-error.ts'
import { Context } from '../translation/context.ts'
import { translate } from '../translation/selects.ts'
import type { ProjectTables } from '../translation/tables.ts'
import { type TypeName, typeOfLanguage } from '../types/pg-types.ts'
import { Answer, groupsOfArrow, groupsOfChunks, type ResultColumn } from './answers.ts'
import type { Api, Found } from './project.ts'

// A question from its text to its rows: either to the catalog of the connection, or to the project.

export interface Asker {
  readonly api: Api
  readonly project: Found
  readonly user: string
  readonly zone: string
  readonly settings: readonly (readonly [string, string])[]
  readonly pid: number
  tables(): Promise<ProjectTables>
  readonly catalogs: CatalogEngines
}

export interface Question {
  readonly isOfCatalog: boolean
  readonly tokens: readonly Token[]
  readonly types: (TypeName | undefined)[]
  /** Null: not known before it is asked. */
  columns: readonly ResultColumn[] | null
}

export interface Asked {
  readonly answer: Answer
  readonly notices: readonly string[]
}

const contextOf = (
  asker: Asker,
  tables: ProjectTables,
  types: (TypeName | undefined)[],
  values: readonly (string | null)[] | null,
): Context =>
  new Context({
    tables,
    parameters: { types, values },
    zone: asker.zone,
    projectZone: asker.project.timezone,
    now: new Date(),
    database: asker.project.name,
    user: asker.user,
  })

const known = (types: readonly (TypeName | undefined)[]): TypeName[] => Array.from(types, (type) => type ?? 'text')

/** The columns of the answer, and the types of parameters. */
export async function prepareQuestion(
  tokens: readonly Token[],
  types: (TypeName | undefined)[],
  asker: Asker,
  signal: AbortSignal,
): Promise<Question> {
  const tables = await asker.tables()
  if (isOfCatalog(tokens, tables)) {
    for (const token of tokens) if (token.kind === 'param') types[Number(token.text) - 1] ??= 'text'
    const { columns } = await asker.catalogs.ask(asker, tokens, { values: null, types: known(types), signal })
    return { isOfCatalog: true, tokens, types: known(types), columns }
  }
  const query = parseQuery(tokens)
  const bound = translate(query, contextOf(asker, tables, types, null))
  const columns = bound.columns.map(({ name, type }) => ({ name, type }))
  if (!columns.some(({ type }) => type === 'other')) return { isOfCatalog: false, tokens, types: known(types), columns }
  return { isOfCatalog: false, tokens, types: known(types), columns: await described({ sql: bound.sql, tokens }, columns, asker, signal) }
}

/** With the types that the engine names. */
async function described(
  { sql, tokens }: { readonly sql: string; readonly tokens: readonly Token[] },
  columns: readonly ResultColumn[],
  asker: Asker,
  signal: AbortSignal,
): Promise<ResultColumn[]> {
  const query = { kind: 'SqlLikeQuery', query: `describe (${sql})` }
  const { results } = await asker.api.ask(asker.project.id, query, signal).catch((error: unknown) => {
    throw withPlace(error, tokens)
  })
  return columns.map((column, i) =>
    column.type === 'other' ? { ...column, type: typeOfLanguage(String(results[i]?.[1] ?? 'String')).type } : column,
  )
}

export async function ask(question: Question, values: readonly (string | null)[], asker: Asker, signal: AbortSignal): Promise<Asked> {
  if (question.isOfCatalog) {
    await asker.api.mustStillBeKnown()
    const { columns, rows } = await asker.catalogs.ask(asker, question.tokens, { values, types: known(question.types), signal })
    return { answer: new Answer(columns, groupsOfChunks(rows), asker.zone), notices: [] }
  }
  const tables = await asker.tables()
  const { sql, columns } = translate(parseQuery(question.tokens), contextOf(asker, tables, [...question.types], values))
  if (question.columns && question.columns.length !== columns.length) throw new SqlError('0A000', 'cached plan must not change result type')
  const shown = question.columns ?? columns.map(({ name, type }) => ({ name, type }))
  const { batches, notices } = await asker.api.rows(asker.project.id, sql, signal).catch((error: unknown) => {
    throw withPlace(error, question.tokens)
  })
  return { answer: new Answer(shown, groupsOfArrow(batches, shown, asker.zone), asker.zone), notices }
}

/** Where an error of the language names something of the statement. */
function withPlace(error: unknown, tokens: readonly Token[]): unknown {
  if (!(error instanceof SqlError) || error.more.offset !== undefined) return error
  const named = /'([A-Za-z_]\w*)\(/.exec(error.message) ?? /[Ff]unction '(\w+)'/.exec(error.message)
  const name = named?.[1]?.toLowerCase()
  const token = name === undefined ? undefined : tokens.find(({ kind, text }) => kind === 'word' && text === name)
  return token ? new SqlError(error.state, error.message, { ...error.more, offset: token.start }) : error
}
