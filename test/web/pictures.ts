import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import buildPrograms from '../harness/programs.ts'
import { openWeb, settled } from './browser.ts'
import { pagePaths } from './page-paths.ts'

// npm run web:pictures: every page of the demo project, light and dark, wide and narrow, into .tmp/pictures; those of the README into docs/pictures.

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, '.tmp/pictures')
const steps = ['$pageview', 'product added', 'checkout started', 'purchase']
const funnel = {
  kind: 'FunnelsQuery',
  series: steps.map((event) => ({ kind: 'EventsNode', event, name: event })),
  dateRange: { date_from: '-30d' },
  funnelsFilter: { funnelWindowInterval: 14, funnelWindowIntervalUnit: 'day' },
}
const pages: Readonly<Record<string, string>> = {
  home: 'home',
  live: 'live',
  insights: 'insights',
  trends: 'insights/new?kind=trends',
  funnel: `insights/new?${new URLSearchParams({ q: JSON.stringify(funnel) })}`,
  retention: 'insights/new?kind=retention',
  paths: 'insights/new?kind=paths',
  stickiness: 'insights/new?kind=stickiness',
  lifecycle: 'insights/new?kind=lifecycle',
  dashboards: 'dashboards',
  sql: 'sql',
  web: 'web',
  people: 'people',
  groups: 'people/groups/0',
  cohorts: 'cohorts',
  'new-cohort': 'cohorts/new',
  flags: 'flags',
  'new-flag': 'flags/new',
  data: 'data',
  properties: 'data/properties',
  actions: 'data/actions',
  warnings: 'data/warnings',
  import: 'import',
  annotations: 'data/annotations',
  pipelines: 'pipelines',
  exports: 'pipelines/exports',
  settings: 'settings',
  docs: 'docs/trends',
  'api-reference': 'docs/api',
  ...Object.fromEntries(
    pagePaths
      .filter((path) => /^(settings|pipelines\/exports)\//.test(path) && path !== 'settings/project')
      .map((path) => [path.replaceAll('/', '-'), path]),
  ),
}
const isWorking = "[...document.querySelectorAll('main .working')].some((one) => one.getBoundingClientRect().top <= innerHeight)"
const sizes = { wide: { width: 1280, height: 860 }, narrow: { width: 360, height: 740 } } as const

await buildPrograms()
const web = await openWeb()
await Promise.all([mkdir(folder, { recursive: true }), mkdir(join(root, 'docs/pictures'), { recursive: true })])
// In a zone where it is evening: charts of days do not end with one that has just begun.
const ahead = ((20 - new Date().getUTCHours() + 36) % 24) - 12
await web.api('PATCH', `/api/projects/${web.demo}/`, {
  timezone: ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`,
})
const at = (path: string) => `${web.facts.url}/#/project/${web.demo}/${path}`
const { results } = await web.api<{ results: { id: number }[] }>('GET', `/api/projects/${web.demo}/dashboards/`)
const { results: people } = await web.api<{ results: { uuid: string }[] }>('GET', `/api/projects/${web.demo}/persons/?limit=1`)
const all = { ...pages, dashboard: `dashboards/${results[0]!.id}`, person: `people/${people[0]!.uuid}` }

for (const [size, viewport] of Object.entries(sizes))
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await web.signedIn(viewport)
    await page.emulateMedia({ colorScheme })
    for (const [name, path] of Object.entries(all)) {
      await page.goto(at(path))
      await page.getByRole('heading', { level: 1 }).waitFor()
      if (name === 'sql') await page.getByRole('button', { name: /^Run(?! in)/ }).click()
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(1500) // tiles begin when they come into view
      await settled(page)
      // Tiles below the window are not computed. (The content security policy of the page refuses waitForFunction.)
      while (await page.evaluate(isWorking)) await page.waitForTimeout(100)
      await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) })
      const isOfReadme = size === 'wide' && colorScheme === 'light' && ['dashboard', 'funnel', 'sql', 'web'].includes(name)
      if (isOfReadme) await page.screenshot({ path: join(root, 'docs/pictures', `${name}.png`) })
    }
    await page.context().close()
  }
await web.close()
console.log(`${Object.keys(all).length * 4} pictures in ${folder}`)
