import { AsyncByteQueue, type RecordBatch, RecordBatchReader, RecordBatchStreamWriter } from 'apache-arrow'

/** The bytes written since the last call. */
class Written extends AsyncByteQueue {
  private pieces: Uint8Array[] = []
  override write(value: Uint8Array): void {
    this.pieces.push(value)
  }
  take(): Uint8Array {
    return Buffer.concat(this.pieces.splice(0))
  }
}

/** Batches of one schema as an Arrow stream, one chunk for each. */
export async function* arrowBytes<R>(batches: AsyncGenerator<RecordBatch, R, undefined>): AsyncGenerator<Uint8Array, R, undefined> {
  const written = new Written()
  const writer = new RecordBatchStreamWriter()
  let isFirst = true
  try {
    for (;;) {
      const { done, value } = await batches.next()
      if (done) {
        writer.finish()
        yield written.take()
        return value
      }
      if (isFirst) writer.reset(written, value.schema)
      isFirst = false
      writer.write(value)
      yield written.take()
    }
  } finally {
    await batches.return(undefined as never)
  }
}

/** The batches of such a stream, read on demand. */
export async function* arrowBatches<R>(pieces: AsyncGenerator<Uint8Array, R, undefined>): AsyncGenerator<RecordBatch, R, undefined> {
  let end!: R
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await pieces.next()
      if (done) {
        end = value
        return
      }
      yield value
    }
  }
  const source = bytes()
  try {
    const reader = await RecordBatchReader.from(source)
    await reader.open()
    for await (const batch of reader) yield batch
    for await (const _ of source); // drains the bytes after the last batch
    return end
  } finally {
    await pieces.return(undefined as never)
  }
}
