import type { RecordBatch } from 'apache-arrow'
import { instantOf } from '../translation/texts.ts'
import { readersOf } from '../types/arrow-values.ts'
import { oidOf, sizeOf, type TypeName } from '../types/pg-types.ts'
import { binaryOf, textOf, type Value } from '../types/values.ts'
import type { ColumnOnWire, Outgoing } from '../wire/outgoing.ts'

// The rows of a statement on their way to the client: some at a time, no faster than they are read.

export interface ResultColumn {
  readonly name: string
  readonly type: TypeName
}

export type Row = (column: number) => Value

/** Rows in groups that the engine has made together. */
export type Groups = AsyncGenerator<{ readonly count: number; readonly value: (row: number, column: number) => Value }, void, undefined>

export async function* groupsOfArrow(batches: AsyncIterable<RecordBatch>, columns: readonly ResultColumn[], zone: string): Groups {
  const types = columns.map(({ type }) => type)
  for await (const batch of batches) {
    const readers = readersOf(batch, types, (wall) => instantOf(wall, zone))
    yield { count: batch.numRows, value: (row, column) => readers[column]!(row) }
  }
}

export async function* groupsOfChunks(chunks: AsyncIterable<readonly (readonly Value[])[]>): Groups {
  for await (const rows of chunks) yield* groupsOfRows(rows)
}

export async function* groupsOfRows(rows: readonly (readonly Value[])[]): Groups {
  yield { count: rows.length, value: (row, column) => rows[row]![column] ?? null }
}

export const onWire = (columns: readonly ResultColumn[], formats: readonly number[]): ColumnOnWire[] =>
  columns.map(({ name, type }, i) => ({
    name,
    table: 0,
    attribute: 0,
    oid: oidOf(type),
    size: sizeOf(type),
    isBinary: (formats.length === 1 ? formats[0] : (formats[i] ?? 0)) === 1,
  }))

export class Answer {
  readonly columns: readonly ResultColumn[]
  private readonly groups: Groups
  private current: Awaited<ReturnType<Groups['next']>> | null = null
  private at = 0
  private isOver = false
  private readonly zone: string

  constructor(columns: readonly ResultColumn[], groups: Groups, zone: string) {
    this.columns = columns
    this.groups = groups
    this.zone = zone
  }

  /** Writes at most so many rows; tells whether there may be more, and how many were written. */
  async write(out: Outgoing, formats: readonly number[], most: number): Promise<{ readonly count: number; readonly isSuspended: boolean }> {
    const wire = onWire(this.columns, formats)
    let count = 0
    while (count < most) {
      const group = await this.group()
      if (!group) return { count, isSuspended: false }
      while (this.at < group.count && count < most) {
        this.row(out, group.value, wire)
        this.at++
        count++
        if (out.isFull) await out.flush()
      }
    }
    return { count, isSuspended: !this.isOver }
  }

  /** Goes over rows without writing them. */
  async skip(most: number): Promise<number> {
    let count = 0
    while (count < most) {
      const group = await this.group()
      if (!group) break
      const step = Math.min(group.count - this.at, most - count)
      this.at += step
      count += step
    }
    return count
  }

  private async group() {
    while (!this.isOver && (this.current === null || this.at >= this.current.value!.count)) {
      this.current = await this.groups.next()
      this.at = 0
      if (this.current.done) this.isOver = true
    }
    return this.isOver ? null : this.current!.value!
  }

  private row(out: Outgoing, value: (row: number, column: number) => Value, wire: readonly ColumnOnWire[]): void {
    out.begin('D').int16(wire.length)
    for (const [i, { isBinary }] of wire.entries()) {
      const found = value(this.at, i)
      const { type } = this.columns[i]!
      out.value(found === null ? null : isBinary ? binaryOf(found, type, this.zone) : textOf(found, type, this.zone))
    }
    out.end()
  }

  async end(): Promise<void> {
    this.isOver = true
    await this.groups.return().catch(() => undefined)
  }
}
