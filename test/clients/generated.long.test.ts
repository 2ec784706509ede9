import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Served, startServe } from './served.ts'

// A client that @hey-api/openapi-ts makes of /openapi.json: it compiles under the strictest rules, and its functions call a server.

const modules = join(import.meta.dirname, 'node_modules')
const isThere = existsSync(join(modules, '@hey-api/openapi-ts'))
if (!isThere) console.warn('\n  SKIPPED: the client that is made of openapi.json. `npm run setup:clients` installs its maker.\n')
const run = promisify(execFile)

let served: Served
let folder: string
beforeAll(async () => {
  if (!isThere) return
  served = await startServe()
  const place = join(import.meta.dirname, '../../.tmp')
  await mkdir(place, { recursive: true })
  folder = await mkdtemp(join(place, 'client-'))
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${served.url}/openapi.json`)).text())
  await symlink(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
  await run(process.execPath, [join(modules, '@hey-api/openapi-ts/bin/run.js'), '-i', 'openapi.json', '-o', 'client', '--silent'], {
    cwd: folder,
    maxBuffer: 1 << 24,
  })
}, 120_000)
afterAll(async () => {
  if (!isThere) return
  await rm(folder, { recursive: true, force: true })
  await served.stop()
})

test.skipIf(!isThere)('it compiles, and ten of its functions do what they say', { timeout: 180_000 }, async () => {
  const program = join(folder, 'use.ts')
  await writeFile(program, use)
  const options = [
    '--noEmit',
    '--strict',
    '--noUncheckedIndexedAccess',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--target',
    'es2023',
  ]
  const compiled = await run(
    process.execPath,
    [
      join(import.meta.dirname, '../../node_modules/typescript/bin/tsc'),
      ...options,
      '--lib',
      'es2023,dom,dom.iterable',
      '--types',
      'node',
      '--allowImportingTsExtensions',
      '--skipLibCheck',
      'use.ts',
    ],
    {
      cwd: folder,
      maxBuffer: 1 << 24,
    },
  ).catch((error: { stdout: string }) => error)
  expect(compiled.stdout).toBe('')
  const { stdout } = await run(process.execPath, ['--import', 'tsx', 'use.ts'], {
    cwd: folder,
    env: { ...process.env, SERVER: served.url, KEY: served.personalKey, PROJECT: String(served.projectId) },
  })
  expect(JSON.parse(stdout)).toEqual({
    project: served.projectId,
    action: 'Sign-up',
    actions: 1,
    changed: 'Signed up',
    cohort: 'Pro',
    insight: 'Per day',
    answer: [{ count: 0 }],
    dashboard: 'Board',
    removed: 204,
    refused: 404,
  })
})

const use = `
import { client } from './client/client.gen.ts'
import {
  actionsCreate, actionsList, actionsUpdate, cohortsCreate, cohortsRemove, dashboardsCreate, insightsCreate, insightsRetrieve, projectsRetrieve, queryCreate,
} from './client/sdk.gen.ts'

client.setConfig({ baseUrl: process.env.SERVER!, auth: () => process.env.KEY! })
const path = { project_id: process.env.PROJECT! }
const project = await projectsRetrieve({ path: { id: path.project_id } })
const action = await actionsCreate({ path, body: { name: 'Sign-up', steps: [{ event: 'signup' }] } })
const actions = await actionsList({ path })
const id = String(action.data!.id)
const changed = await actionsUpdate({ path: { ...path, id }, body: { name: 'Signed up' } })
const cohort = await cohortsCreate({
  path,
  body: { name: 'Pro', filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'plan', value: ['pro'] }] } } },
})
const source = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'signup' }] } as const
const insight = await insightsCreate({ path, body: { name: 'Per day', query: { kind: 'InsightVizNode', source } } })
const found = await insightsRetrieve({ path: { ...path, id: String(insight.data!.id) } })
const dashboard = await dashboardsCreate({ path, body: { name: 'Board' } })
const asked = await queryCreate({ path, body: { query: { ...source, series: [...source.series] } } })
const answered = asked.data as { results: { count: number }[] }
const removed = await cohortsRemove({ path: { ...path, id: String(cohort.data!.id) } })
const refused = await actionsUpdate({ path: { ...path, id: '999999' }, body: { name: 'x' } })
console.log(JSON.stringify({
  project: project.data!.id,
  action: action.data!.name,
  actions: actions.data!.results.length,
  changed: changed.data!.name,
  cohort: cohort.data!.name,
  insight: found.data!.name,
  answer: answered.results.map(({ count }) => ({ count })),
  dashboard: dashboard.data!.name,
  removed: removed.response!.status,
  refused: refused.response!.status,
}))
`
