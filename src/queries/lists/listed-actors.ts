import { noSpan } from '../../errors/span.ts'
import { alias, call, field, literal, select } from '../../language/ast/build.ts'
import type { Expr, Query } from '../../language/ast/nodes.ts'

/** A separator that no text and no number contains: keys of groups are external input. */
const separatorFor = (columns: readonly (readonly string[])[]): string => {
  const usual = '\u0001'
  if (!columns.some((texts) => texts.some((text) => text.includes(usual)))) return usual
  const used = new Set('0123456789')
  for (const texts of columns) for (const text of texts) for (const character of text) used.add(character)
  let code = 2
  while (used.has(String.fromCodePoint(code))) code++
  return String.fromCodePoint(code)
}

/**
 * A list of actors found by a fold, as a statement with a column `actor` and those of `columns`. Each column is sent as one text that the engine
 * splits, so that a million persons are a few values. Columns of `counts` are numbers.
 */
export function listedActors(
  actors: readonly (number | string)[],
  columns: Readonly<Record<string, readonly string[]>> = {},
  counts: Readonly<Record<string, Int32Array>> = {},
): Query {
  const isNumber = actors.every((actor) => typeof actor === 'number')
  const countTexts = Object.entries(counts).map(([name, values]) => [`${name}_text`, Array.from(values, String)] as const)
  const texts = { actor_text: actors.map(String), ...columns, ...Object.fromEntries(countTexts) }
  const separator = separatorFor(isNumber ? Object.values(columns) : [texts.actor_text, ...Object.values(columns)])
  const lists = Object.entries(texts).map(([name, values]) =>
    alias(call('splitByChar', literal(separator), literal(values.join(separator))), name),
  )
  const actor: Expr = isNumber ? call('toInt', field('actor_text')) : field('actor_text')
  return select({
    columns: [
      alias(actor, 'actor'),
      ...Object.keys(columns).map((name) => field(name)),
      ...Object.keys(counts).map((name) => alias(call('_toUInt64', field(`${name}_text`)), name)),
    ],
    arrayJoin: { kind: 'arrayJoin', left: false, items: lists, span: noSpan },
    where: actors.length === 0 ? literal(false) : null,
  })
}
