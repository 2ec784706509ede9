/** Values of a list, or characters of a text, that one call of a function may make. */
export const mostMade = 1_000_000

const refusal = `error('A function may make at most ${mostMade} values or characters in one call')`

/** A size as it is. Without a bound one number in a statement takes all the memory there is, past every budget and before anybody can stop it. */
export const atMost = (size: string): string => `CASE WHEN ${size} > ${mostMade} THEN ${refusal} ELSE ${size} END`

/** What is made, unless it has more than so many parts. */
export const boundedBy = (parts: string, made: string): string => `CASE WHEN ${parts} > ${mostMade} THEN ${refusal} ELSE ${made} END`

/** Whole numbers from one to below another, as `range` of the engine makes them. */
export function boundedRange(from: string, to: string, step?: string): string {
  const count = `(CAST(${to} AS DOUBLE) - CAST(${from} AS DOUBLE))${step === undefined ? '' : ` / nullif(CAST(${step} AS DOUBLE), 0)`}`
  return boundedBy(count, `range(${from}, ${to}${step === undefined ? '' : `, ${step}`})`)
}
