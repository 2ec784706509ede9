import type { ComponentType } from 'preact'
import type { PageProps } from '../lib/page.ts'

export interface PageEntry {
  readonly name: string
  readonly title: string
  /** The letter that opens it after `g`. */
  readonly key: string
  load(): Promise<ComponentType<PageProps>>
}

/** Every page of a project, in the order of the navigation. Each is loaded when it is opened. */
export const pages: readonly PageEntry[] = [
  { name: 'live', title: 'Live', key: 'l', load: async () => (await import('./live.tsx')).Live },
  { name: 'insights', title: 'Insights', key: 'i', load: async () => (await import('./insights.tsx')).Insights },
  { name: 'dashboards', title: 'Dashboards', key: 'd', load: async () => (await import('./dashboards.tsx')).Dashboards },
  { name: 'sql', title: 'SQL', key: 's', load: async () => (await import('./sql.tsx')).Sql },
]
