import { compileFor, type QueryProject, runStatement, statementOf } from './answer.ts'
import type { DefinitionStore } from './definitions/store.ts'
import type { Pipeline } from './ingestion/pipeline.ts'
import { tableRows } from './queries/rows.ts'
import { cohortMembers } from './storage/duckdb/cohort-members.ts'
import type { Instance } from './storage/duckdb/instance.ts'

interface Parts {
  readonly instance: Instance
  readonly database: string
  readonly pipeline: Pick<Pipeline, 'writeRecords'>
  readonly clock: () => Date
  /** The project as its queries see it, with everything acknowledged. */
  queries(): Promise<QueryProject>
}

/** The store of a project as the services of actions and cohorts see it. */
export function definitionStore({ instance, database, pipeline, clock, queries }: Parts): DefinitionStore {
  const members = cohortMembers(instance, database)
  return {
    clock,
    definitions: async (table) => (await (await queries()).facts())[table],
    write: (records) => pipeline.writeRecords(records),
    async env() {
      const project = await queries()
      return project.env(await project.facts())
    },
    async texts(query) {
      const project = await queries()
      return tableRows(await runStatement(query, project), project.settings.timezone).map((row) => String(row[0]))
    },
    appliedSeq: async () => (await (await queries()).facts()).appliedSeq,
    membersMark: (cohort) => members.mark(cohort),
    async refreshMembers(cohort, query, mark) {
      const project = await queries()
      const facts = await project.facts()
      const { printed } = compileFor(query, project, facts, project.env(facts))
      await members.refresh(cohort, statementOf(printed, project.settings.timezone), mark)
    },
    clearMembers: (cohort) => members.clear(cohort),
    countMembers: (cohort) => members.count(cohort),
  }
}
