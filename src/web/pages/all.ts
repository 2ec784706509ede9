import type { ComponentType } from 'preact'
import { docSections } from '../docs/doc-list.ts'
import type { PageProps } from '../lib/page.ts'
import { alertSections, dataSections, pipelineSections, type Section, settingsSections } from '../lib/sections.ts'
import type { IconName } from '../ui/icon.tsx'

export type PageGroup = 'now' | 'questions' | 'people and data' | 'more'

export interface PageEntry {
  /** Where the navigation has it. */
  readonly group: PageGroup
  /** Its icon has the same name. */
  readonly name: string & IconName
  readonly title: string
  /** By which the palette finds it too, and which it shows. */
  readonly about?: string
  /** The letter that opens it after `g`. */
  readonly key: string
  /** Its parts, each at `<name>/<part>`. */
  readonly sections?: readonly Section[]
  /** Whether the address may have these parts behind the name. A part that names a record or a section may still be unknown to the page. */
  takes(rest: readonly string[]): boolean
  load(): Promise<ComponentType<PageProps>>
}

const alone = (rest: readonly string[]) => rest.length === 0
const withOne = (rest: readonly string[]) => rest.length <= 1
/** Groups have a type and a key. */
const ofPeople = ([which, ...rest]: readonly string[]) => rest.length <= (which === 'groups' ? 2 : 0)
const isNumber = (part: string | undefined) => part !== undefined && /^[1-9]\d*$/.test(part)
/** A config of a plugin, or `install` and a plugin, have numbers. */
function ofPipelines([tab, which, ...rest]: readonly string[]): boolean {
  if (tab !== 'plugins' || which === undefined) return rest.length === 0
  return which === 'install' ? rest.length === 1 && isNumber(rest[0]) : rest.length === 0 && isNumber(which)
}

/** Every page of a project, in the order of the navigation. Each is loaded when it is opened. */
export const pages: readonly PageEntry[] = [
  { group: 'now', name: 'home', title: 'Home', key: 'h', takes: alone, load: async () => (await import('./home.tsx')).Home },
  { group: 'now', name: 'live', title: 'Live', key: 'l', takes: alone, load: async () => (await import('./live.tsx')).Live },
  { group: 'now', name: 'web', title: 'Web', key: 'w', takes: alone, load: async () => (await import('./web.tsx')).Web },
  {
    group: 'questions',
    name: 'insights',
    title: 'Insights',
    key: 'i',
    takes: withOne,
    load: async () => (await import('./insights.tsx')).Insights,
  },
  {
    group: 'questions',
    name: 'dashboards',
    title: 'Dashboards',
    key: 'd',
    takes: withOne,
    load: async () => (await import('./dashboards.tsx')).Dashboards,
  },
  { group: 'questions', name: 'sql', title: 'SQL', key: 's', takes: alone, load: async () => (await import('./sql.tsx')).Sql },
  {
    group: 'questions',
    name: 'alerts',
    title: 'Alerts',
    key: 'n',
    sections: alertSections,
    takes: withOne,
    load: async () => (await import('./alerts.tsx')).Alerts,
  },
  {
    group: 'people and data',
    name: 'people',
    title: 'People',
    key: 'p',
    takes: ofPeople,
    load: async () => (await import('./people.tsx')).People,
  },
  {
    group: 'people and data',
    name: 'cohorts',
    title: 'Cohorts',
    key: 'c',
    takes: withOne,
    load: async () => (await import('./cohorts.tsx')).Cohorts,
  },
  {
    group: 'people and data',
    name: 'flags',
    title: 'Feature flags',
    key: 'f',
    takes: withOne,
    load: async () => (await import('./flags.tsx')).Flags,
  },
  {
    group: 'people and data',
    name: 'data',
    title: 'Events and properties',
    key: 'a',
    sections: dataSections,
    takes: withOne,
    load: async () => (await import('./data.tsx')).Data,
  },
  {
    group: 'people and data',
    name: 'import',
    title: 'Import',
    about: 'upload a file: CSV, JSON lines, an export of another product',
    key: 'm',
    takes: alone,
    load: async () => (await import('./import.tsx')).ImportPage,
  },
  {
    group: 'more',
    name: 'pipelines',
    title: 'Pipelines',
    key: 'e',
    sections: pipelineSections,
    takes: ofPipelines,
    load: async () => (await import('./pipelines.tsx')).Pipelines,
  },
  {
    group: 'more',
    name: 'settings',
    title: 'Settings',
    key: ',',
    sections: settingsSections,
    takes: withOne,
    load: async () => (await import('./settings.tsx')).Settings,
  },
  {
    group: 'more',
    name: 'docs',
    title: 'Documentation',
    key: 'o',
    sections: docSections,
    takes: withOne,
    load: async () => (await import('./docs.tsx')).Docs,
  },
]
