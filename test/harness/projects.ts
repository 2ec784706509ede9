import type { ReferenceEvent } from '../reference/trends.ts'
import { openTestProject, type TestProject } from './duckdb.ts'
import { fillStore, type StoreContent } from './store.ts'

/** Test projects by zone and first day of the week, filled anew for each use. */
export function projectPool(now: Date) {
  const projects = new Map<string, TestProject>()
  return {
    async filled(
      { zone, weekStartDay }: { readonly zone: string; readonly weekStartDay: 0 | 1 },
      events: readonly ReferenceEvent[],
      more: StoreContent = {},
    ): Promise<TestProject> {
      const key = `${zone} ${weekStartDay}`
      let project = projects.get(key)
      if (!project) {
        project = await openTestProject({ timezone: zone, weekStartDay, now })
        projects.set(key, project)
      }
      await fillStore(project, { ...more, events: events.map((e) => ({ ...e, groups: [e.group] })), isFresh: true })
      return project
    },
    async close(): Promise<void> {
      for (const project of projects.values()) await project.close()
    },
  }
}
