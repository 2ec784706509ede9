import type { Transform } from '../../events/ingestion/transforming/transform.ts'
import { readBatch, writeBatch } from '../../events/ingestion/wire-batch.ts'
import type { Work } from '../../events/ingestion/work.ts'
import type { TransformAnswer, TransformArgs } from './protocol.ts'

interface Parts {
  readonly project: number
  isOn(): boolean
  ask(args: TransformArgs): Promise<TransformAnswer>
}

/** Asks the process that has the plugins. Batches that it sent itself are only named. */
export class EngineTransform implements Transform {
  private readonly parts: Parts
  private readonly received = new WeakSet<Work>()

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** The batch comes from the process that has the plugins. */
  receives(work: Work): Work {
    this.received.add(work)
    return work
  }

  isOn(): boolean {
    return this.parts.isOn()
  }

  async transform(works: readonly Work[]): Promise<readonly Work[]> {
    const known = await this.ask(works, (work) => this.received.has(work))
    const results = known ?? (await this.ask(works, () => false))!
    return works.map((work, i) => withDuplicates(readBatch(results[i]!), work))
  }

  /** The other process follows what is applied. */
  forget(): void {}

  private ask(works: readonly Work[], isKnown: (work: Work) => boolean): Promise<TransformAnswer> {
    const batches = works.map((work) => ({
      firstSeq: work.firstSeq,
      count: work.count,
      duplicates: work.content.kind === 'event' ? [...work.content.duplicates] : [],
      batch: isKnown(work) ? null : writeBatch(work),
    }))
    return this.parts.ask({ project: this.parts.project, batches })
  }
}

const withDuplicates = (result: Work, { content }: Work): Work => {
  if (result.content.kind === 'event' && content.kind === 'event') result.content.duplicates = content.duplicates
  return result
}
