import type { ComponentType } from 'preact'
import type { PageProps } from '../lib/page.ts'
import { alertSections, dataSections, pipelineSections, type Section, settingsSections } from '../lib/sections.ts'
import type { IconName } from '../ui/icon.tsx'

export interface PageEntry {
  /** Its icon has the same name. */
  readonly name: string & IconName
  readonly title: string
  /** The letter that opens it after `g`. */
  readonly key: string
  /** Its parts, each at `<name>/<part>`. */
  readonly sections?: readonly Section[]
  load(): Promise<ComponentType<PageProps>>
}

/** Every page of a project, in the order of the navigation. Each is loaded when it is opened. */
export const pages: readonly PageEntry[] = [
  { name: 'live', title: 'Live', key: 'l', load: async () => (await import('./live.tsx')).Live },
  { name: 'insights', title: 'Insights', key: 'i', load: async () => (await import('./insights.tsx')).Insights },
  { name: 'dashboards', title: 'Dashboards', key: 'd', load: async () => (await import('./dashboards.tsx')).Dashboards },
  { name: 'alerts', title: 'Alerts', key: 'n', sections: alertSections, load: async () => (await import('./alerts.tsx')).Alerts },
  { name: 'sql', title: 'SQL', key: 's', load: async () => (await import('./sql.tsx')).Sql },
  { name: 'web', title: 'Web', key: 'w', load: async () => (await import('./web.tsx')).Web },
  { name: 'people', title: 'People', key: 'p', load: async () => (await import('./people.tsx')).People },
  { name: 'cohorts', title: 'Cohorts', key: 'c', load: async () => (await import('./cohorts.tsx')).Cohorts },
  { name: 'data', title: 'Data', key: 'a', sections: dataSections, load: async () => (await import('./data.tsx')).Data },
  {
    name: 'pipelines',
    title: 'Pipelines',
    key: 'e',
    sections: pipelineSections,
    load: async () => (await import('./pipelines.tsx')).Pipelines,
  },
  {
    name: 'settings',
    title: 'Settings',
    key: ',',
    sections: settingsSections,
    load: async () => (await import('./settings.tsx')).Settings,
  },
]
