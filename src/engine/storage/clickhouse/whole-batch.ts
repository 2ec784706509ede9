import { type Data, DataType, makeData, RecordBatch } from 'apache-arrow'

/** Concatenates several batches of one schema, so that each column is contiguous. */
export function wholeBatch(batches: readonly RecordBatch[]): RecordBatch {
  const [first] = batches
  if (batches.length === 1) return first!
  return new RecordBatch(first!.schema, joined(batches.map(({ data }) => data)) as RecordBatch['data'])
}

function joined(parts: readonly Data[]): Data {
  const [{ type }] = parts as readonly [Data]
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const common = { type, length, ...joinedNulls(parts, length) }
  if (DataType.isStruct(type))
    return makeData({ ...common, children: type.children.map((_, i) => joined(parts.map((part) => part.children[i]!))) } as never)
  if (DataType.isBool(type))
    return makeData({
      ...common,
      data: joinedBits(parts, length, (part, row) => bitAt(part.values as Uint8Array, row + part.offset)),
    } as never)
  if ('valueOffsets' in parts[0]! && parts[0].valueOffsets) {
    const valueOffsets = new Int32Array(length + 1)
    let row = 0
    let shift = 0
    for (const part of parts) {
      for (let i = 1; i <= part.length; i++) valueOffsets[row + i] = part.valueOffsets[i]! + shift
      row += part.length
      shift += part.valueOffsets[part.length]!
    }
    if (parts[0].children.length > 0)
      return makeData({ ...common, valueOffsets, child: joined(parts.map((part) => part.children[0]!)) } as never)
    return makeData({
      ...common,
      valueOffsets,
      data: joinedValues(parts.map((part) => [part.values as Uint8Array, part.valueOffsets[part.length]!])),
    } as never)
  }
  return makeData({ ...common, data: joinedValues(parts.map((part) => [part.values as Uint8Array, part.length * part.stride])) } as never)
}

function joinedValues(parts: readonly (readonly [values: Uint8Array, count: number])[]): Uint8Array {
  const ArrayType = parts[0]![0].constructor as Uint8ArrayConstructor
  const all = new ArrayType(parts.reduce((sum, [, count]) => sum + count, 0))
  let at = 0
  for (const [values, count] of parts) {
    all.set(values.subarray(0, count), at)
    at += count
  }
  return all
}

const bitAt = (bits: Uint8Array, at: number): boolean => ((bits[at >> 3]! >> (at & 7)) & 1) === 1

function joinedBits(parts: readonly Data[], length: number, isSet: (part: Data, row: number) => boolean): Uint8Array {
  const bits = new Uint8Array((length + 7) >> 3)
  let at = 0
  for (const part of parts) for (let row = 0; row < part.length; row++, at++) if (isSet(part, row)) bits[at >> 3]! |= 1 << (at & 7)
  return bits
}

function joinedNulls(parts: readonly Data[], length: number) {
  const nullCount = parts.reduce((sum, part) => sum + part.nullCount, 0)
  return { nullCount, nullBitmap: nullCount ? joinedBits(parts, length, (part, row) => part.getValid(row)) : undefined }
}
