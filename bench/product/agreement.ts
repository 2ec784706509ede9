import type { Cell, Rows } from './contender.ts'
import type { Question } from './question.ts'

/** Sums of the same fractions in another order. */
const defaultTolerance = 1e-9

/** Some answers fill the gaps: a row whose number is 0 says as much as no row. */
const isGap = (row: readonly Cell[]) => row.length > 1 && !row.at(-1)

const compareCells = (a: Cell, b: Cell): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : Number(String(a) > String(b))
const compareRows = (a: readonly Cell[], b: readonly Cell[]): number => {
  for (const [i, cell] of a.entries()) {
    const order = compareCells(cell, b[i] ?? null)
    if (order !== 0) return order
  }
  return a.length - b.length
}
const inOrder = (rows: Rows): Rows => rows.filter((row) => !isGap(row)).toSorted(compareRows)

const isSame = (a: Cell | undefined, b: Cell | undefined, tolerance: number): boolean =>
  typeof a === 'number' && typeof b === 'number' ? Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a)) : a === b

/** The first row in which two answers differ, of each of them; null where they are the same. */
export function firstDifference(a: Rows, b: Rows, { tolerance = defaultTolerance }: Question): readonly [a: string, b: string] | null {
  const [left, right] = [inOrder(a), inOrder(b)]
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [one, other] = [left[i], right[i]]
    const isEqual = one?.length === other?.length && one?.every((cell, at) => isSame(cell, other?.[at], tolerance))
    if (!isEqual) return [shown(one, left, i), shown(other, right, i)]
  }
  return null
}
const shown = (row: readonly Cell[] | undefined, rows: Rows, at: number) =>
  `${row ? JSON.stringify(row) : 'no row'} (row ${at + 1} of ${rows.length})`

export interface Answered {
  readonly name: string
  /** One for each question; null where there is no answer. */
  readonly answers: readonly (Rows | null)[]
}

/** The first question that two contenders answer differently, with both answers; null where all agree. */
export function disagreement(contenders: readonly Answered[], questions: readonly Question[]): string | null {
  for (const [i, question] of questions.entries()) {
    const [first, ...others] = contenders.flatMap(({ name, answers }) => (answers[i] ? [{ name, rows: answers[i] }] : []))
    for (const other of others) {
      const difference = firstDifference(first!.rows, other.rows, question)
      if (difference)
        return `The contenders disagree about "${question.name}": ${first!.name} answers ${difference[0]}, ${other.name} answers ${difference[1]}.`
    }
  }
  return null
}
