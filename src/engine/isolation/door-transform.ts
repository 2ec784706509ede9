import { Transformer } from '../../events/ingestion/transforming/transformer.ts'
import { readBatch, writeBatch } from '../../events/ingestion/wire-batch.ts'
import type { Work } from '../../events/ingestion/work.ts'
import type { TransformAnswer, TransformArgs } from './protocol.ts'

/** The transformations of a project whose batches another process applies. That process names the records; most of them are still in memory here. */
export class DoorTransform {
  private readonly transformer: Transformer
  /** Batches that the engine was sent, until it asks about them or has applied them. */
  private readonly sent = new Map<number, Work>()

  constructor(parts: ConstructorParameters<typeof Transformer>[0]) {
    this.transformer = new Transformer(parts)
  }

  get isOn(): boolean {
    return this.transformer.isOn()
  }

  started(seq: number): void {
    this.transformer.started(seq)
    this.applied(seq)
  }

  sends(work: Work): void {
    if (this.isOn && work.content.kind === 'event') this.sent.set(work.firstSeq, work)
  }

  applied(seq: number): void {
    for (const firstSeq of this.sent.keys()) {
      if (firstSeq > seq) break
      this.sent.delete(firstSeq)
    }
    this.transformer.forget(seq)
  }

  engineEnded(): void {
    this.sent.clear()
  }

  async transform({ batches }: TransformArgs): Promise<TransformAnswer> {
    const works: Work[] = []
    for (const { firstSeq, count, duplicates, batch } of batches) {
      const sent = this.sent.get(firstSeq)
      const work = batch ? readBatch(batch) : sent?.count === count ? sent : undefined
      if (work?.content.kind !== 'event') return null
      works.push({ ...work, content: { ...work.content, duplicates: new Set(duplicates) } })
    }
    for (const { firstSeq } of batches) this.sent.delete(firstSeq)
    return (await this.transformer.transform(works)).map((work) => writeBatch(work)!)
  }
}
