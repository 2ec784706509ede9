import { longestKey, numbersOf } from '../catalog/property-counts.ts'
import type { Action, CohortInfo, ProjectSettings, QueryEnv } from '../queries/kind.ts'
import { propertyKey, type StoreFacts } from '../storage/duckdb/facts.ts'

/** What queries may know of a project, from what its store says. */
export function queryEnv(project: ProjectSettings, now: Date, facts: StoreFacts): QueryEnv {
  return {
    now,
    project,
    action(idOrName) {
      for (const [id, definition] of facts.actions) {
        if (typeof idOrName === 'number' && id !== idOrName) continue
        const action = { ...(JSON.parse(definition) as Omit<Action, 'id'>), id }
        if (id === idOrName || action.name === idOrName) return action
      }
      return undefined
    },
    cohort(idOrName) {
      for (const [id, definition] of facts.cohorts) {
        if (typeof idOrName === 'number' && id !== idOrName) continue
        const { name, is_static } = JSON.parse(definition) as { name: string; is_static?: boolean }
        if (id === idOrName || name === idOrName) return { id, name, isStatic: is_static === true } satisfies CohortInfo
      }
      return undefined
    },
    propertyType: (scope, name) => facts.propertyKeys.get(propertyKey(scope, name))?.type ?? null,
    propertyNumbers(scope, name) {
      const known = facts.propertyKeys.get(propertyKey(scope, name))
      if (known) return numbersOf(known.counts)
      return name.length > longestKey || facts.fullScopes.has(scope) ? 'marked' : 'none'
    },
    groupTypes: facts.groupTypes,
    lastPersonNo: facts.lastPersonNo,
  }
}
