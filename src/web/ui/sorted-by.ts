// Rows in the order of a column.

export type SortValue = string | number | null | undefined

const compared = (one: SortValue, other: SortValue): number =>
  typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other), 'en', { numeric: true })

/** Equal rows keep their order; those without a value come last, whichever way it goes. */
export function sortedBy<T>(rows: readonly T[], of: (row: T) => SortValue, isDown: boolean): readonly T[] {
  const isNothing = (value: SortValue) => value === null || value === undefined || value === ''
  return rows
    .map((row) => ({ row, value: of(row) }))
    .toSorted((one, other) => {
      const [first, second] = [isNothing(one.value), isNothing(other.value)]
      if (first || second) return Number(first) - Number(second)
      return (isDown ? -1 : 1) * compared(one.value, other.value)
    })
    .map(({ row }) => row)
}
