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

  /** A place for each key: those behind the first `known` ones have no row until one is read. The first place is that of no row. */
  private prepare(keys: number, known: number): void {
    const { column } = this
    const before = column.values
    if (before.length === keys + 1 && known === keys) return
    // Those who read the values meanwhile keep theirs.
    const values = sharedArray(before.constructor as ArrayType<typeof before>, keys + 1)
    values.set(before.subarray(0, known + 1))
    values.fill(before[0]!, known + 1)
    column.values = values
  }

  /**
   * `read` passes the texts of keys as the first part, and their values as the second. `keys`: all texts of the column. `isWhole`: those that are not
   * read have no row.
   */
  async update(
    keys: readonly string[],
    isWhole: boolean,
    read: (asked: 'absent' | 'keys', take: TakeColumns) => Promise<void>,
  ): Promise<void> {
    if (!this.hasAbsent) await read('absent', (_, parts) => this.column.write(parts[1]!, Int32Array.of(0)))
    this.hasAbsent = true
    this.prepare(keys.length, isWhole ? 0 : this.column.values.length - 1)
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
