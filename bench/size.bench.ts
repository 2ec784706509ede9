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
import { EventLists } from '../src/core/lists/event-lists.ts'
import type { ColumnSource, ListSource } from '../src/core/lists/ports.ts'
import { ProjectLists } from '../src/core/lists/project-lists.ts'
import { listFiles } from '../src/engine/storage/files/list-files.ts'
import { MemoryShare } from '../src/lib/memory/memory-share.ts'
import { inOwnProcess, type Measured, machine, median, rounded } from './measure.ts'

// Does the time of a question grow with the number of events alone, also where memory ends? The lists of 1, 10, 100 … million events, made by a generator instead of
// a store, with a budget that holds all of them and with one that holds a third: the others are read from files. Then again while a thousand events a second arrive, a
// tenth of them late. `--events` is the largest number, in millions.

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100' },
    runs: { type: 'string', default: '5' },
    measure: { type: 'string' },
    memory: { type: 'string' },
  },
})
const million = 1_000_000
const day = 86_400e6
const days = 90
const names = 8
const eventsOfPerson = 50
const noColumns: ColumnSource = {
  columns: [],
  ofEvents: async () => undefined,
  ofPersons: async () => undefined,
  ofKeys: async () => undefined,
}

if (values.measure) console.log(JSON.stringify(await measure(Number(values.measure), Number(values.memory))))
else
  for (let events = million; events <= Number(values.events) * million; events *= 10)
    for (const share of [1.6, 1 / 3]) {
      const all = EventLists.bytesOf(events, events / eventsOfPerson)
      const args = ['--measure', String(events), '--memory', String(Math.round(all * share)), '--runs', values.runs]
      const { figures, peakMb } = await inOwnProcess(import.meta.filename, args)
      const what = share > 1 ? 'in memory' : 'memory for a third'
      console.log(JSON.stringify({ bench: 'size', what, events, ...figures, peakMb, ...machine() }))
    }

const arrivingPerSecond = 1000
/** Answers between which events arrive for as long as they take, but at least for this long. */
const leastSeconds = 0.1

/** Events in order of time, each of a person who is drawn. `arrive`: further ones on the last day, some of them late. */
function generated(events: number): ListSource & { readonly arrive: (more: number) => number } {
  let all = events
  const persons = events / eventsOfPerson
  const mixed = (seq: number) => {
    let x = Math.imul(seq ^ (seq >>> 15), 0x2c1b3c6d)
    x = Math.imul(x ^ (x >>> 12), 0x297a2d39)
    return (x ^ (x >>> 15)) >>> 0
  }
  const personOf = (seq: number) => mixed(seq) % persons
  return {
    async counts() {
      const counts = new Int32Array(persons)
      for (let seq = 1; seq <= events; seq++) counts[personOf(seq)]!++
      return { person: Int32Array.from(counts, (_, i) => i), events: counts }
    },
    async events(after, last, take) {
      const step = 1 << 16
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
          const lateDays = seq > events ? (seq % 10 === 0 ? 1 : 0) + (seq - events) / 1e9 : 0
          batch.time[i] = Math.floor(Math.min(1, seq / events) * days * day - lateDays * day)
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
