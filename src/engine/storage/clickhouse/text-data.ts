import { type Data, makeData, Utf8, vectorFromArray } from 'apache-arrow'

/** A text column computed from another column, with nulls in the same rows. */
export function textData(of: Data, textAt: (row: number) => string): Data {
  const texts = Array.from({ length: of.length }, (_, row) => (of.getValid(row) ? textAt(row) : null))
  return texts.length > 0
    ? vectorFromArray(texts, new Utf8()).data[0]!
    : makeData({ type: new Utf8(), length: 0, valueOffsets: new Int32Array(1) })
}
