import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Fold, Matching } from '../src/core/folds/fold.ts'
import { listView } from '../src/core/folds/fold.ts'
import { funnelFold } from '../src/core/folds/funnel.ts'
import type { ListedFunnel } from '../src/core/folds/listed-funnel.ts'
import { type Series, seriesFold } from '../src/core/folds/series/fold.ts'
import { ThreadPool } from '../src/core/folds/thread-pool.ts'
import { type VisitsParams, visitBits, visitsFold } from '../src/core/folds/visits.ts'
import { EventLists } from '../src/core/lists/event-lists.ts'
import type { ColumnSource, ListSource, ReadSpec } from '../src/core/lists/ports.ts'
import { type Listed, ProjectLists } from '../src/core/lists/project-lists.ts'
import { listFiles } from '../src/engine/storage/files/list-files.ts'
import { MemoryShare } from '../src/lib/memory/memory-share.ts'
import { inOwnProcess, type Measured, machine, median, rounded } from './measure.ts'

// Does the time of a question grow with the number of events alone, also where memory ends? The lists of 1, 10, 100 … million events, made by a generator instead of
// a store, with a budget that holds all of them and with one that holds a third: the others are read from files. Then again while a thousand events a second arrive, a
// tenth of them late. Web analytics, by sessions of seven events, is measured with a budget that holds the ids of sessions besides, and the lists not quite.
// `--events` is the largest number, in millions; `--sessions` measures web analytics instead.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100' },
    runs: { type: 'string', default: '5' },
    measure: { type: 'string' },
    memory: { type: 'string' },
    sessions: { type: 'boolean', default: false },
  },
})
const million = 1_000_000
const day = 86_400e6
const days = 90
const names = 8
const eventsOfPerson = 50
/** So long that it has seven events. */
const sessionDays = 13
const arrivingPerSecond = 1000
/** Answers between which events arrive for as long as they take, but at least for this long. */
const leastSeconds = 0.1
const noColumns: ColumnSource = {
  columns: [],
  ofEvents: async () => undefined,
  ofPersons: async () => undefined,
  ofKeys: async () => undefined,
}

/** Of the bytes of all lists. Lists in files take more than 0.7 of the memory. */
const budgets = [
  { what: 'in memory', share: 1.6 },
  { what: 'memory for a third', share: 1 / 3 },
  { what: 'sessions, in memory', share: 3 },
  { what: 'sessions, from files', share: 1.3 },
]

if (values.measure)
  console.log(JSON.stringify(await (values.sessions ? measureSessions : measure)(Number(values.measure), Number(values.memory))))
else
  for (let events = million; events <= Number(values.events) * million; events *= 10)
    for (const { what, share } of budgets) {
      if (what.startsWith('sessions') !== values.sessions) continue
      const all = EventLists.bytesOf(events, events / eventsOfPerson)
      const args = [
        '--measure',
        String(events),
        '--memory',
        String(Math.round(all * share)),
        '--runs',
        values.runs,
        ...(values.sessions ? ['--sessions'] : []),
      ]
      const { figures, peakMb } = await inOwnProcess(import.meta.filename, args)
      console.log(JSON.stringify({ bench: 'size', what, events, ...figures, peakMb, ...machine() }))
    }

type Generated = ListSource & { readonly arrive: (more: number) => number; readonly sessions: ColumnSource['ofEvents'] }

/** Events in order of time, each of a person who is drawn. `arrive`: further ones on the last day, some of them late. `sessions`: their ids. */
function generated(events: number): Generated {
  let all = events
  const persons = events / eventsOfPerson
  const mixed = (seq: number) => {
    let x = Math.imul(seq ^ (seq >>> 15), 0x2c1b3c6d)
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39)
    return (x ^ (x >>> 15)) >>> 0
  }
  const personOf = (seq: number) => mixed(seq) % persons
  const timeOf = (seq: number) => {
    const lateDays = seq > events ? (seq % 10 === 0 ? 1 : 0) + (seq - events) / 1e9 : 0
    return Math.floor(Math.min(1, seq / events) * days * day - lateDays * day)
  }
  const sessionOf = (seq: number) => {
    const [who, part] = [personOf(seq).toString(16).padStart(12, '0'), Math.floor(timeOf(seq) / (sessionDays * day)) % 16]
    return `01960d3c-5e3${part.toString(16)}-7000-8000-${who}`
  }
  const step = 1 << 16
  return {
    async sessions(_, after, last, take) {
      for (let from = after; from < last; from += step) {
        const length = Math.min(step, last - from)
        const texts = Array.from({ length }, (_, i) => sessionOf(from + i + 1))
        await take(
          Float64Array.from(texts, (_, i) => from + i + 1),
          [{ values: Int32Array.from(texts.keys()), texts }],
        )
      }
    },
    async counts() {
      const counts = new Int32Array(persons)
      for (let seq = 1; seq <= events; seq++) counts[personOf(seq)]!++
      return { person: Int32Array.from(counts, (_, i) => i), events: counts }
    },
    async events(after, last, take) {
      for (let from = after; from < last; from += step) {
        const length = Math.min(step, last - from)
        const batch = {
          person: new Int32Array(length),
          time: new Float64Array(length),
          event: new Int32Array(length),
          seq: new Float64Array(length),
        }
        for (let i = 0; i < length; i++) {
          const seq = from + i + 1
          batch.person[i] = personOf(seq)
          batch.time[i] = timeOf(seq)
          batch.event[i] = mixed(seq * 7 + 3) % names
          batch.seq[i] = seq
        }
        take(batch)
      }
    },
    arrive: (more) => (all += more),
    state: async () => ({ seq: all, events: all, mergesMark: '', changedSeq: 0 }),
    marks: async () => ({ mergesMark: '', changedSeq: 0 }),
    fingerprint: async () => '',
    merges: async () => new Map(),
  }
}

async function measure(events: number, memory: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-size-'))
  const threads = new ThreadPool()
  try {
    const lists = new ProjectLists(new MemoryShare(memory), { files: listFiles(join(folder, 'lists')), pagesIn: join(folder, 'pages') })
    const source = generated(events)
    const figures: Record<string, number> = {}
    let upTo = events
    const asked = async <P, R>(fold: Fold<P, R>, params: P) => {
      const begun = performance.now()
      const answer = await lists.use(source, upTo, noColumns, (listed) =>
        threads.run(fold, listView(listed), params, new AbortController().signal),
      )
      if (!answer) throw new Error('The lists do not answer')
      return performance.now() - begun
    }
    const matching = (...masks: number[]): Matching => ({
      from: 0,
      to: days * day,
      scope: null,
      bits: { byEvent: Int32Array.from(masks), others: 0, flags: [] },
      further: null,
      takesAll: false,
    })
    const edges = Float64Array.from({ length: days + 1 }, (_, i) => i * day)
    const series = (kind: 'events' | 'persons'): Series => ({ matching: matching(1), edges, splits: [], value: { kind } })
    const funnel: ListedFunnel = {
      matching: matching(1, 2, 4),
      firstTimes: null,
      funnel: { order: 'ordered', steps: 3, window: 7 * day, optional: 0, attribution: { type: 'first_touch' } },
      periods: null,
      splits: [],
      withTimes: false,
    }
    figures.makeMs = rounded(await asked(seriesFold, series('events')))
    const medianOf = async <P, R>(fold: Fold<P, R>, params: P) => {
      const times: number[] = []
      for (let run = 0; run < Number(values.runs); run++) times.push(await asked(fold, params))
      return rounded(median(times))
    }
    figures.countMs = await medianOf(seriesFold, series('events'))
    figures.uniqueMs = await medianOf(seriesFold, series('persons'))
    figures.funnelMs = await medianOf(funnelFold, funnel)
    const whileArriving = async <P, R>(fold: Fold<P, R>, params: P) => {
      const times: number[] = []
      for (let run = 0; run < Number(values.runs); run++) {
        const seconds = Math.max(leastSeconds, (times.at(-1) ?? 0) / 1000)
        upTo = source.arrive(Math.round(seconds * arrivingPerSecond))
        times.push(await asked(fold, params))
      }
      return rounded(median(times))
    }
    upTo = source.arrive(60 * arrivingPerSecond)
    figures.minuteMs = rounded(await asked(seriesFold, series('events')))
    figures.liveCountMs = await whileArriving(seriesFold, series('events'))
    figures.liveUniqueMs = await whileArriving(seriesFold, series('persons'))
    figures.liveFunnelMs = await whileArriving(funnelFold, funnel)
    const before = performance.now()
    await lists.close()
    figures.saveMs = rounded(performance.now() - before)
    return { seconds: 0, peakMb: rounded(process.resourceUsage().maxRSS / 1024), answer: 0, figures }
  } finally {
    await threads.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The web overview of a month, over sessions that begin in it. */
async function measureSessions(events: number, memory: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-size-'))
  const threads = new ThreadPool()
  const lists = new ProjectLists(new MemoryShare(memory), { files: listFiles(join(folder, 'lists')), pagesIn: join(folder, 'pages') })
  const source = generated(events)
  const column: ReadSpec = { key: 'sessions', type: 'ids', of: 'event' }
  const wanted: ColumnSource = { ...noColumns, columns: [column], actors: { column, except: '', isOwned: true }, ofEvents: source.sessions }
  let upTo = events
  let isInFiles = false
  const asked = async () => {
    const begun = performance.now()
    const answer = await lists.use(source, upTo, wanted, (listed) => {
      isInFiles = Boolean(listed.pages)
      return threads.run(visitsFold, listView(listed), overviewOf(listed), new AbortController().signal)
    })
    if (!answer?.answer?.sessions[0]) throw new Error('The lists do not answer')
    return performance.now() - begun
  }
  const medianOf = async (before: () => void) => {
    const times: number[] = []
    for (let run = 0; run < Number(values.runs); run++) {
      before()
      times.push(await asked())
    }
    return rounded(median(times))
  }
  try {
    const figures: Record<string, number> = { makeMs: rounded(await asked()), overviewMs: await medianOf(() => undefined) }
    figures.liveOverviewMs = await medianOf(() => {
      upTo = source.arrive(arrivingPerSecond)
    })
    figures.filesUsed = isInFiles ? 1 : 0
    return { seconds: 0, peakMb: rounded(process.resourceUsage().maxRSS / 1024), answer: 0, figures }
  } finally {
    await lists.close()
    await threads.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function overviewOf({ columns, owners, lists }: Listed): VisitsParams {
  const { ofSession, counted, action } = visitBits
  const [first, last] = [40 * day, 71 * day]
  return {
    bits: { byEvent: Int32Array.of(ofSession | counted | action, ofSession | action), others: ofSession, flags: [] },
    sessions: columns[0]!.values,
    owners: owners!,
    near: Float64Array.of(first - day, last + day),
    periods: Float64Array.of(first, last),
    bounceSeconds: 10,
    persons: lists.persons,
  }
}
