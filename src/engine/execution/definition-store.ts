import { createHash } from 'node:crypto'
import { QueryError } from '../../errors/errors.ts'
import { field, from, limit, select } from '../../language/ast/build.ts'
import type { Query } from '../../language/ast/nodes.ts'
import type { ActorsResponse } from '../../queries/actors/index.ts'
import { tableRows } from '../../queries/answers/rows.ts'
import { hogQl, sqlLike, sqlStatement } from '../../queries/sql/index.ts'
import { check } from '../definitions/records.ts'
import type { DefinitionStore } from '../definitions/store.ts'
import { answerQuery } from './answer.ts'
import type { CohortMembers, Statement } from './ports.ts'
import { type QueryProject, queryContext } from './query-context.ts'
import { compileFor, inWords, runStatement, statementFor, statementOf } from './statements.ts'

interface Parts {
  readonly members: CohortMembers
  readonly write: DefinitionStore['write']
  readonly clock: () => Date
  readonly alone?: DefinitionStore['alone']
  /** The project as its queries see it, after everything acknowledged is applied. */
  queries(): Promise<QueryProject>
}

const idsFrom = (offset: number) => ({ select: ['id'], orderBy: ['id'], limit: 10_000, offset })

/** Members are followed by the log, which does not say when a table beside the events changes. */
function ofEventsAlone(statement: Statement): Statement {
  const [table] = statement.attached ?? []
  if (!table) return statement
  throw new QueryError('unsupported-syntax', { what: `properties of the attached table ${table.name} in the conditions of a cohort` })
}

/** The store of a project as the services of actions and cohorts see it. */
export function definitionStore({ members, write, clock, alone, queries }: Parts): DefinitionStore {
  const texts: DefinitionStore['texts'] = async (query) => {
    const project = await queries()
    return tableRows(await runStatement(query, project), project.settings.timezone).flatMap(([value]) =>
      value === null ? [] : [String(value)],
    )
  }
  const env: DefinitionStore['env'] = async () => {
    const project = await queries()
    return queryContext(project, await project.facts())
  }
  const statement = async (query: Query) => ofEventsAlone(await statementFor(query, await queries()))
  const inItsWords = async <T>(query: Query, run: (project: QueryProject, statement: Statement) => Promise<T>): Promise<T> => {
    const project = await queries()
    const context = queryContext(project, await project.facts())
    const compiled = await compileFor(query, project, context)
    return run(project, ofEventsAlone(statementOf(compiled.printed, context.project.timezone))).catch((error: unknown) => {
      throw inWords(error, compiled, {}, query)
    })
  }
  return {
    clock,
    alone,
    definitions: async (table) => (await (await queries()).facts())[table],
    write,
    env,
    texts,
    async actors(query) {
      const statement = [sqlLike, hogQl].find(({ kind }) => kind === query.kind)
      if (statement) return texts(sqlStatement(check(statement.schema, query), await env()))
      const ids: string[] = []
      for (let isMore = true; isMore; ) {
        const page = { ...(query.kind === 'ActorsQuery' ? query : { kind: 'ActorsQuery', source: query }), ...idsFrom(ids.length) }
        const { results, hasMore } = (await answerQuery(page, await queries())) as ActorsResponse
        for (const [id] of results) ids.push(String(id))
        isMore = hasMore && results.length > 0
      }
      return ids
    },
    // Without rows: engines refuse some values, such as a regular expression, only in a statement that is run.
    async mustCompile(query) {
      const none = select({ columns: [field('person')], from: from(query, 'members'), limit: limit(0) })
      await inItsWords(none, (project, statement) => project.run(statement))
    },
    appliedSeq: async () => (await (await queries()).facts()).appliedSeq,
    membersMark: (cohort) => members.mark(cohort),
    async fingerprint(query) {
      const { sql, params } = await statement(query)
      return createHash('sha256')
        .update(JSON.stringify([sql, params]))
        .digest('hex')
        .slice(0, 24)
    },
    async refreshMembers({ changed, all, ...refresh }) {
      const partly =
        changed &&
        (await inItsWords(changed.members, (_, statement) => members.refresh({ ...refresh, members: statement, among: changed })))
      if (partly) return { ...partly, isWhole: false }
      const whole = await inItsWords(all, (_, statement) => members.refresh({ ...refresh, members: statement, among: null }))
      return { ...whole!, isWhole: true }
    },
    clearMembers: (cohort) => members.clear(cohort),
    membersMadeAt: (cohorts) => members.madeAt(cohorts),
    countMembers: (cohorts) => members.count(cohorts),
  }
}
