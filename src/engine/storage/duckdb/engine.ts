import type { StoreFacts } from '../../../language/catalog/store-facts.ts'
import { duckdb } from '../../../language/dialects/duckdb/dialect.ts'
import type { Engine } from '../../execution/ports.ts'
import { answerBytes } from './budget.ts'
import { cohortMembers } from './cohort-members.ts'
import { digestOf } from './digest.ts'
import { openEventWriter } from './event-writer.ts'
import { countRows, readFacts } from './facts.ts'
import type { Instance } from './instance.ts'
import { findEvents, findProperties, readEvents, readProperties } from './known-names.ts'
import { listSource } from './list-source.ts'
import { parquetFile } from './parquet-file.ts'
import { countImportedEvents, countRemovedEvents, readHistory } from './persons/person-history.ts'
import { statementRunner } from './run.ts'

/** The engine for a project whose store is attached to the instance under that name. */
export function duckdbEngine(instance: Instance, database: string): Engine {
  const { memoryLimit, threads } = instance
  let known: { readonly facts: StoreFacts; readonly commits: number } | undefined
  /** The groups that were committed since. Nobody else writes what the facts say: the files belong to this process. */
  let commits = 0
  return {
    dialect: duckdb,
    limits: { memoryLimit, threads, answerBytes: answerBytes(memoryLimit) },
    async facts() {
      const before = commits
      if (known?.commits !== before) {
        const facts = await instance.look((connection) => readFacts(connection, database, known?.facts))
        known = { facts, commits: before }
      }
      return known.facts
    },
    events: () => instance.look((connection) => readEvents(connection, database)),
    properties: () => instance.look((connection) => readProperties(connection, database)),
    eventNames: (asked) => instance.look((connection) => findEvents(connection, database, asked)),
    propertyNames: (asked) => instance.look((connection) => findProperties(connection, database, asked)),
    importedEvents: (id) => instance.look((connection) => countImportedEvents(connection, database, id)),
    removedEvents: () => instance.look((connection) => countRemovedEvents(connection, database)),
    personHistory: (asked) => instance.look((connection) => readHistory(connection, database, asked)),
    count: () => instance.look((connection) => countRows(connection, database)),
    digest: () => digestOf(instance, database),
    statements: (turns) => {
      const statements = statementRunner(instance, turns)
      return instance.isInMemory ? statements : { ...statements, parquet: parquetFile(instance.dataDir, statements) }
    },
    members: (turns) => cohortMembers(instance, database, turns),
    openWriter: () =>
      openEventWriter(instance, database, () => {
        commits++
        instance.committed(database)
        instance.checkpointLargest().catch(() => undefined) // its own checkpoint comes later
      }),
    lists: { source: (statements) => listSource(database, statements), memory: instance.listMemory },
  }
}
