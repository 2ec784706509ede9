import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import type { LocalProject } from '../../../src/project.ts'
import { ask, drawing, type Explained, happen, resultsOf, shapesOf } from './shapes.ts'

// Lists that do not fit into memory: the same answers from files, while events, merges and deletions arrive, after a restart and after damage.

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'waymark-pages-'))
  folders.push(folder)
  return folder
}

const clock = () => new Date('2026-03-10T12:00:00Z')
/** The lists of 6,000 events take more than 0.7 of it. */
const listMemory = 112_000

async function fill(project: LocalProject): Promise<void> {
  const draw = drawing(99)
  for (let part = 0; part < 6; part++) {
    const batch = Array.from({ length: 1000 }, (_, i) => ({
      uuid: `00000000-0000-4000-8000-9${String(part * 1000 + i).padStart(11, '0')}`,
      event: ['visit', 'sign up', 'buy', 'other'][draw(4)]!,
      distinct_id: `somebody-${draw(90)}`,
      timestamp: new Date(Date.UTC(2026, 2, 1 + draw(9), draw(24), draw(60))).toISOString(),
      properties: {
        plan: ['free', 'pro', 'team'][draw(3)]!,
        amount: draw(100) / 4,
        ...(draw(3) ? { $groups: { company: `company ${draw(5)}` } } : {}),
        ...(draw(9) ? {} : { $set: { vip: draw(2) === 1, age: 20 + draw(40) } }),
      },
    }))
    await project.ingest({ batch } as never)
  }
}

const isFromFiles = ({ explain }: Explained) => (explain as readonly { readonly files?: true }[]).some(({ files }) => files)

async function world(dataDir: string, memory: number) {
  const waymark = await open({ dataDir, clock, threads: 2, listMemory: memory })
  const [known] = await waymark.projects()
  if (known) return { waymark, project: await waymark.project(known.id), shapes: shapesOf({ cohort: 1, action: 1 }) }
  const project = await waymark.createProject()
  await happen(project, 0)
  await fill(project)
  await project.createCohort({ name: 'Some', is_static: true, distinct_ids: ['known-0', 'known-2', 'somebody-4', 'somebody-50'] })
  await project.createAction({ name: 'Bought', steps: [{ event: 'buy' }, { event: 'sign up' }] })
  return { waymark, project, shapes: shapesOf({ cohort: 1, action: 1 }) }
}

const isLoading = ({ explain }: Explained) =>
  (explain as readonly { readonly reason?: string }[]).some(({ reason }) => reason === 'the lists of events are being loaded')

/** Statements answer while one column after the other is loaded; what did not fit is not tried again for a while. */
const mostAsked = 40

async function loaded(project: LocalProject, query: object): Promise<Explained> {
  let answer = await ask(project, query)
  for (let asked = 1; isLoading(answer) && asked < mostAsked; asked++) answer = await ask(project, query)
  return answer
}

/** Each shape twice: the second time reads what was kept. Returns how many read files. */
async function compare(project: LocalProject, stated: LocalProject, shapes: Readonly<Record<string, object>>): Promise<number> {
  let fromFiles = 0
  for (const [name, query] of Object.entries(shapes)) {
    const answers = [await ask(project, query), await loaded(project, query)]
    const expected = resultsOf(await ask(stated, query))
    for (const answer of answers) expect([name, resultsOf(answer)]).toEqual([name, expected])
    if (answers.some(isFromFiles)) fromFiles++
  }
  return fromFiles
}

test('lists in files answer as statements do, whatever happens to their events', async () => {
  const folder = await newFolder()
  const stated = await world(':memory:', 0)
  let paged = await world(folder, listMemory)
  try {
    const first = await compare(paged.project, stated.project, paged.shapes)
    expect(first).toBeGreaterThan(100)
    await happen(paged.project, 1)
    await happen(stated.project, 1)
    expect(await compare(paged.project, stated.project, paged.shapes)).toBeGreaterThan(100)
    await paged.waymark.close()
    paged = await world(folder, listMemory)
    expect(await compare(paged.project, stated.project, paged.shapes)).toBeGreaterThan(100)
  } finally {
    await paged.waymark.close()
    await stated.waymark.close()
  }
}, 240_000)
