import { arrayOf, type SqlType, type TupleType } from './types.ts'

/** The tuple itself, or the tuple inside an array or nested arrays. */
export const tupleIn = (type: SqlType): TupleType | null =>
  type.kind === 'array' ? tupleIn(type.item) : type.kind === 'tuple' ? type : null

/** The position of an element, from 1, by its name or number; a negative number counts from the end. */
export function elementPosition({ items, names }: TupleType, key: string | number): number | null {
  const named = typeof key === 'string' ? (names?.indexOf(key) ?? -1) : -1
  const index = named >= 0 ? named + 1 : typeof key === 'number' || /^\d+$/.test(key) ? Number(key) : 0
  const position = index < 0 ? items.length + index + 1 : index
  return position >= 1 && position <= items.length ? position : null
}

/** The type of an element of a tuple; for an array of tuples, an array of it. */
export const elementType = (type: SqlType, position: number): SqlType | null =>
  type.kind === 'array' ? inArray(elementType(type.item, position)) : type.kind === 'tuple' ? (type.items[position - 1] ?? null) : null
const inArray = (item: SqlType | null): SqlType | null => item && arrayOf(item)

/** Unique names of elements, for readers that access them by name: unnamed ones are numbered, and a duplicate gets its position as a suffix. */
export function distinctNames(names: readonly (string | undefined)[]): readonly string[] {
  const taken = new Set(names)
  const given = new Set<string>()
  return names.map((wanted, i) => {
    let name = wanted || String(i + 1)
    if (given.has(name)) for (name = `${name}_${i + 1}`; taken.has(name) || given.has(name); ) name = `${name}_`
    given.add(name)
    return name
  })
}
