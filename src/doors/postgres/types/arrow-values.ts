import { type Data, DataType, type RecordBatch, type Vector } from 'apache-arrow'
import { columnValues } from '../../../queries/answers/rows.ts'
import { isTime, type TypeName } from './pg-types.ts'
import type { Value } from './values.ts'

// Columns of a batch as values. Times keep their microseconds, and numbers what has no JSON.

type Read = (row: number) => Value

const nullable = (data: Data, read: Read): Read => (data.nullCount === 0 ? read : (row) => (data.getValid(row) ? read(row) : null))

function ofData(data: Data, vector: Vector, type: TypeName): Read {
  const arrow = data.type as DataType
  if (DataType.isTimestamp(arrow)) {
    const micros = data.values as unknown as BigInt64Array
    return nullable(data, (row) => Number(micros[row]))
  }
  if (DataType.isDate(arrow)) {
    const days = data.values as Int32Array
    return nullable(data, isTime(type) ? (row) => days[row]! * 86_400_000_000 : (row) => days[row]!)
  }
  if (DataType.isFloat(arrow)) {
    const numbers = data.values as Float64Array
    return nullable(data, (row) => numbers[row]!)
  }
  if (DataType.isInt(arrow)) {
    const numbers = data.values as unknown as ArrayLike<number | bigint>
    return nullable(data, type === 'bool' ? (row) => Boolean(Number(numbers[row])) : (row) => numbers[row]!)
  }
  const values = columnValues(vector, 'UTC') as Value[]
  return type === 'bool' ? (row) => (values[row] === null ? null : Boolean(values[row])) : (row) => values[row]!
}

/** `midnight`: the instant of a day's beginning, where a day of the engine is shown as a time. */
export function readersOf(batch: RecordBatch, types: readonly TypeName[], midnight: (dayMicros: number) => number): Read[] {
  return types.map((type, i) => {
    const vector = batch.getChildAt(i)!
    const [data] = vector.data
    if (!data) return () => null
    const read = ofData(data, vector, type)
    if (!isTime(type) || !DataType.isDate(data.type as DataType)) return read
    return (row) => {
      const value = read(row)
      return value === null ? null : midnight(value as number)
    }
  })
}
