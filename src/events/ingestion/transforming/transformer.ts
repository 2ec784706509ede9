import { type Deferred, deferred } from '../../../lib/flow/deferred.ts'
import { runInSlices } from '../../../lib/flow/run-in-slices.ts'
import { TextWriter } from '../../../lib/text/text-writer.ts'
import { Texts } from '../../../lib/text/texts.ts'
import { readPayloads } from '../decoding/decode-batch.ts'
import type { Work } from '../work.ts'
import type { PluginEvent, Transformations, TransformFile } from './ports.ts'
import type { Transform } from './transform.ts'
import { type EventWork, isEventWork, passing, payloadsOf, prepareTransformed } from './transform-batch.ts'

// Passes batches through the plugins, and keeps the results until the store has them. So a batch that is read from the log again is not transformed again.
// Records of an earlier process may have been transformed in it: their results are written to a file before they are applied.

interface Parts {
  readonly projectId: number
  readonly transformations: Transformations
  /** Null: nothing survives the process. */
  readonly file: TransformFile | null
}

/** The result of a batch. */
interface Kept {
  readonly firstSeq: number
  readonly lastSeq: number
  readonly payloads: Promise<Texts>
}

/** Preparing results yields to the event loop after this time. */
const sliceMs = 4

const lastOf = ({ firstSeq, count }: Pick<Work, 'firstSeq' | 'count'>) => firstSeq + count - 1

export class Transformer implements Transform {
  private readonly parts: Parts
  private readonly kept = new Map<number, Kept>()
  private readonly writer = new TextWriter()
  private preparing: Promise<unknown> = Promise.resolve()
  /** Records up to this one may have been transformed by an earlier process. */
  private earlierSeq = Number.POSITIVE_INFINITY

  constructor(parts: Parts) {
    this.parts = parts
    for (const { firstSeq, payloads } of parts.file?.results ?? [])
      this.kept.set(firstSeq, { firstSeq, lastSeq: firstSeq + payloads.length - 1, payloads: Promise.resolve(Texts.of(payloads)) })
  }

  /** The log ended with this record when the process opened it. */
  started(seq: number): void {
    this.earlierSeq = seq
  }

  isOn(): boolean {
    return this.kept.size > 0 || this.parts.transformations.isOn()
  }

  async transform(works: readonly Work[]): Promise<readonly Work[]> {
    const fresh: { readonly work: EventWork; readonly result: Deferred<EventWork> }[] = []
    const results = works.map((work) => {
      if (!isEventWork(work)) return work
      const known = this.find(work)
      if (known) return again(work, known)
      if (!this.parts.transformations.isOn()) return work
      const result = deferred<EventWork>()
      const payloads = result.promise.then(payloadsOf)
      payloads.catch(() => this.kept.delete(work.firstSeq)) // the next call tries again
      this.kept.set(work.firstSeq, { firstSeq: work.firstSeq, lastSeq: lastOf(work), payloads })
      fresh.push({ work, result })
      return result.promise
    })
    if (fresh.length > 0) await this.run(fresh)
    return Promise.all(results)
  }

  forget(seq: number): void {
    for (const { firstSeq, lastSeq } of this.kept.values()) if (lastSeq <= seq) this.kept.delete(firstSeq)
    this.parts.file?.forget(seq).catch((error: unknown) => this.parts.transformations.report(String(error)))
  }

  /** An earlier process ended during the second attempt. */
  private wasTwice({ firstSeq, count }: Work): boolean {
    return (this.parts.file?.begun ?? []).some((range) => range.firstSeq < firstSeq + count && firstSeq < range.firstSeq + range.count)
  }

  private find({ firstSeq, count }: Work): Kept | undefined {
    const known = this.kept.get(firstSeq)
    if (known) return known
    // The rest of a batch that is stored in part.
    for (const one of this.kept.values()) if (one.firstSeq <= firstSeq && firstSeq + count - 1 <= one.lastSeq) return one
    return undefined
  }

  private async run(fresh: readonly { readonly work: EventWork; readonly result: Deferred<EventWork> }[]): Promise<void> {
    try {
      const { projectId, transformations, file } = this.parts
      const siteUrl = transformations.siteUrl()
      const all = fresh.map(({ work, result }) => ({
        ...passing(work, projectId, siteUrl),
        result,
        isEarlier: file !== null && work.firstSeq <= this.earlierSeq,
        wasTwice: this.wasTwice(work),
      }))
      const again = all.filter(({ isEarlier, wasTwice }) => isEarlier && !wasTwice)
      if (again.length > 0) await file!.begin(again.map(({ work }) => work))
      const given = all.filter(({ wasTwice }) => !wasTwice).flatMap(({ events }) => [...events.values()].map(({ json }) => json))
      const values = given.length > 0 ? await transformations.run(given) : []
      let next = 0
      const results: { readonly work: EventWork; readonly payloads: Texts }[] = []
      for (const one of all) {
        const byIndex = new Map<number, PluginEvent | null | undefined>()
        for (const [i, { json }] of one.events) byIndex.set(i, one.wasTwice ? transformations.untouched(json) : values[next++])
        const transformed = await this.prepare(() => prepareTransformed(one, (i) => byIndex.get(i), transformations, this.writer))
        results.push({ work: withEvents(one.work, transformed), payloads: transformed.payloads })
      }
      if (again.length > 0) {
        const lines = results.flatMap(({ work, payloads }, i) =>
          again.includes(all[i]!) ? [{ firstSeq: work.firstSeq, payloads: [...payloads] }] : [],
        )
        // Without the line, the events pass untouched after the next crash: never a third time.
        await file!
          .write(lines)
          .catch((error: unknown) => transformations.report(`Results of transformations cannot be written to disk: ${String(error)}`))
      }
      for (const [i, { work }] of results.entries()) all[i]!.result.resolve(work)
    } catch (error) {
      for (const { result } of fresh) result.reject(error)
    }
  }

  /** One after another: the writer is shared. */
  private prepare<T>(steps: () => Generator<void, T>): Promise<T> {
    const turn = this.preparing.then(() => runInSlices(steps(), sliceMs))
    this.preparing = turn.catch(() => undefined)
    return turn
  }
}

const withEvents = (
  { content, ...work }: EventWork,
  { events, payloads }: { readonly events: EventWork['content']['events']; readonly payloads: Texts },
): EventWork => ({ ...work, content: { kind: 'event', events, bytes: payloads.bytes, duplicates: content.duplicates } })

/** The batch with results that are known. */
async function again(work: EventWork, { firstSeq, payloads }: Kept): Promise<EventWork> {
  const { receivedAt, sentAt, isHistorical, content, count } = work
  const all = await payloads
  const from = work.firstSeq - firstSeq
  const wanted = new Texts(all.bytes, all.offsets.subarray(from, from + count + 1))
  const uuids = content.events.map(({ uuid }) => uuid)
  return withEvents(work, readPayloads(wanted, uuids, { receivedAt: receivedAt / 1000, sentAt, isHistorical }))
}
