import { setTimeout } from 'node:timers/promises'
import type { OpenOptions, Project, Query, Waymark } from 'waymark'
import { version } from '../../../src/lib/version.ts'
import type { Contender, EventFiles, Resources } from '../contender.ts'
import { arrivingEvents, type DataSet, productEvents } from '../generator.ts'
import { askedPerson, rowLimit } from '../question.ts'
import { inNumbers, type PersonNumbers } from './person-numbers.ts'

export interface WaymarkSetup {
  readonly name: string
  readonly layout: string
  /** Beside the directory, the threads and the memory limit. */
  readonly options: Partial<OpenOptions>
}

const eventsPerBatch = 1000
const batchesAtOnce = 8
const lookEveryMs = 100
const mostFailures = 3
const projectName = 'Benchmark'
const now = new Date('2026-04-01T12:00:00Z')

/** The library is loaded by the process that measures it, and not by who only lists the contenders. */
async function openIn({ directory, threads, memory }: Resources, options: WaymarkSetup['options']): Promise<Waymark> {
  const { open } = await import('waymark')
  return open({ dataDir: directory, threads, memoryLimit: memory, clock: () => now, ...options })
}

/** Each answer is computed: one that is kept would be no measurement. */
const rows = { defaultRows: rowLimit, mostRows: rowLimit }
const answerOf = (project: Project, query: Query) => project.query(query as never, { refresh: 'force_blocking', rows })

interface Explained {
  readonly explain: readonly { readonly reason?: string }[]
}

/** Statements answer while the lists of a query are loaded. Asking takes time from the loading, so it has as much before it is asked again. */
async function listsLoaded(project: Project, query: Query): Promise<void> {
  let failures = 0
  const isLoading = async () => {
    try {
      const { explain } = (await answerOf(project, { ...query, explain: true } as Query)) as unknown as Explained
      return explain.some(({ reason }) => reason?.endsWith('being loaded'))
    } catch {
      return ++failures < mostFailures // the statement may be stopped that answers meanwhile
    }
  }
  for (let begun = performance.now(); await isLoading(); begun = performance.now())
    await setTimeout(Math.max(lookEveryMs, performance.now() - begun))
}

const statement = async (project: Project, query: string) =>
  ((await answerOf(project, { kind: 'SqlLikeQuery', query })) as unknown as { results: unknown }).results
const numbersOfPersons = (project: Project) =>
  statement(project, 'select toString(person_id) as id, any(distinct_id) from events group by id') as Promise<PersonNumbers>

/** As a program sends them that embeds the library: several batches at once, each of which is durable when it is acknowledged. */
async function load({ data }: EventFiles, project: Project, onProgress: (events: number) => void): Promise<void> {
  const events = productEvents(data)
  let sent = 0
  const send = async () => {
    for (let size = batch(events); size.length > 0; size = batch(events)) {
      await project.ingest({ batch: size })
      sent += size.length
      onProgress(sent)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, send))
  await statement(project, 'select count() from events') // answers when all of them are applied
}

const batch = (events: ReturnType<typeof productEvents>) => {
  const taken = []
  while (taken.length < eventsPerBatch) {
    const { value, done } = events.next()
    if (done) break
    taken.push(value.event)
  }
  return taken
}

const feedsPerSecond = 10

/** Events of people who are known and of new ones, a few times a second, until it is called. Each changes its person. */
function feed(project: Project, data: DataSet, perSecond: number): () => Promise<void> {
  const events = arrivingEvents(data)
  let isOver = false
  const work = async () => {
    while (!isOver) {
      const begun = performance.now()
      const batch = Array.from({ length: Math.round(perSecond / feedsPerSecond) }, () => events.next().value!)
      await project.ingest({ batch })
      await setTimeout(Math.max(0, 1000 / feedsPerSecond - (performance.now() - begun)))
    }
  }
  const working = work()
  return () => {
    isOver = true
    return working
  }
}

/** The library in this process, by its public functions alone. */
export const waymark = ({ name, layout, options }: WaymarkSetup): Contender => ({
  name,
  layout,
  makesEvents: true,
  async load(events, resources, onProgress) {
    const directory = await openIn(resources, options)
    await load(events, await directory.createProject({ name: projectName, timezone: 'UTC' }), onProgress)
    await directory.close()
  },
  async open(data, resources) {
    const directory = await openIn(resources, options)
    const project = await directory.project(projectName)
    const askedId = async () => {
      const [[uuid]] = (await statement(project, `select person_id from events where distinct_id = 'user-${askedPerson}' limit 1`)) as [
        [string],
      ]
      return uuid
    }
    return {
      version: `Waymark ${version}`,
      async prepare(question) {
        const query = question.waymark.query(question.isOfPerson ? await askedId() : '')
        return {
          ask: () => answerOf(project, query),
          settle: () => listsLoaded(project, query),
          rows: (answer) => inNumbers(question.waymark.rows(answer as never), question, () => numbersOfPersons(project)),
        }
      },
      feed: (perSecond) => feed(project, data, perSecond),
      close: () => directory.close(),
    }
  },
})
