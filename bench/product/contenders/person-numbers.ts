import type { Rows } from '../contender.ts'
import type { Question } from '../question.ts'

/** Pairs of a person's own id and one of the distinct ids, whose number is the person's. */
export type PersonNumbers = readonly (readonly [id: string, distinctId: string])[]

/** Rows in which persons have the numbers that the generator gave them. */
export async function inNumbers(rows: Rows, { personColumn }: Question, persons: () => Promise<PersonNumbers>): Promise<Rows> {
  if (personColumn === undefined) return rows
  const numbers = new Map((await persons()).map(([id, distinctId]) => [id, Number(distinctId.replace(/^\D+/, ''))]))
  return rows.map((row) => row.map((cell, i) => (i === personColumn ? (numbers.get(String(cell)) ?? cell) : cell)))
}
