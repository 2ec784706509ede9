import type { SomeColumn } from './columns.ts'
import { ListColumn } from './list-column.ts'
import type { ColumnPart, KeySpec, TakeColumns } from './ports.ts'
import { type ArrayType, sharedArray } from './shared-array.ts'

/** The key that values of what has no row of its own are read with. */
const absent = -1

/** A value of each text of a column of events, such as a property of the groups that it names. By the codes of that column. */
export class KeyValues {
  readonly column: ListColumn
  /** Up to this record of the log, the values are those of the events. */
  seq = 0
  private hasAbsent = false

  constructor({ type }: KeySpec) {
    this.column = new ListColumn(type, 1)
  }

  get bytes(): number {
    return this.column.bytes
  }

  /** Makes room for further keys, which have no row of their own until `read` finds one. The first place is that of no row. */
  private widen(keys: number): void {
    const { column } = this
    const before = column.values.length
    if (before >= keys + 1) return
    const longer = sharedArray(column.values.constructor as ArrayType<typeof column.values>, keys + 1)
    longer.set(column.values)
    longer.fill(column.values[0]!, before)
    column.values = longer
  }

  /** `read` passes the texts of the keys as the first part, and their values as the second. `keys`: all texts of the column. */
  async update(keys: readonly string[], read: (asked: 'absent' | 'keys', take: TakeColumns) => Promise<void>): Promise<void> {
    if (!this.hasAbsent) await read('absent', (_, parts) => this.column.write(parts[1]!, Int32Array.of(0)))
    this.hasAbsent = true
    this.widen(keys.length)
    const places = new Map(keys.map((text, code) => [text, code + 1]))
    await read('keys', (_, [names, values]) => {
      const { texts, values: codes } = names as Required<ColumnPart>
      this.column.write(
        values!,
        Int32Array.from(codes as Int32Array, (code) => places.get(texts[code]!) ?? absent),
      )
    })
  }

  /** Without the place of no row: by code. */
  get byCode(): SomeColumn {
    const { values, texts, numbers } = this.column
    return { values: values.subarray(1), texts, numbers }
  }
}
