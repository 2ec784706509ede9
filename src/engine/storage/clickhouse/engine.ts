import { InternalError } from '../../../errors/errors.ts'
import type { StoreFacts } from '../../../language/catalog/store-facts.ts'
import { clickhouse } from '../../../language/dialects/clickhouse/dialect.ts'
import type { Engine, EngineLimits } from '../../execution/ports.ts'
import type { Settings } from './client.ts'
import { cohortMembers } from './cohort-members.ts'
import { openEventWriter } from './event-writer.ts'
import { countRows, readFacts } from './facts.ts'
import { findEvents, findProperties, readEvents, readProperties } from './known-names.ts'
import { countImportedEvents, countRemovedEvents, readHistory } from './person-history.ts'
import type { ProjectStore } from './project-store.ts'
import { statementRunner } from './run.ts'

export interface EngineOptions {
  readonly limits: EngineLimits
  /** Server settings for all query statements. */
  readonly settings: Settings
}

/**
 * The engine for a project on a server. Facts are looked up again only when something has changed since. `appliedSeq`: what is known to be applied, where other processes
 * write, too; default: only this one does.
 */
export function clickHouseEngine(store: ProjectStore, { limits, settings }: EngineOptions, appliedSeq?: () => number): Engine {
  let known: { readonly facts: StoreFacts; readonly at: number } | undefined
  const isCurrent = ({ facts, at }: NonNullable<typeof known>) =>
    appliedSeq ? facts.appliedSeq === String(appliedSeq()) : at === store.changes
  return {
    dialect: clickhouse,
    limits,
    async facts() {
      if (known && isCurrent(known)) return known.facts
      const at = store.changes
      known = { facts: await readFacts(store, known?.facts), at }
      return known.facts
    },
    events: () => store.alone(() => readEvents(store)),
    properties: () => store.alone(() => readProperties(store)),
    eventNames: (asked) => store.alone(() => findEvents(store, asked)),
    propertyNames: (asked) => store.alone(() => findProperties(store, asked)),
    importedEvents: (id) => store.alone(() => countImportedEvents(store, id)),
    removedEvents: () => store.alone(() => countRemovedEvents(store)),
    personHistory: (asked) => store.alone(() => readHistory(store, asked)),
    count: () => countRows(store),
    digest: () => Promise.reject(new InternalError('Stores on a server are not compared')),
    statements: (turns) => statementRunner(store, turns, settings),
    members: (turns) => cohortMembers(store, turns),
    openWriter: async () => openEventWriter(store),
  }
}
