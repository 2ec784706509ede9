import type { Arg, CellContext } from '../row.ts'
import { folded, onceAll } from './duckdb-values.ts'

// DuckDB's LIKE backtracks: with n characters and k times % it takes up to n^k steps, which neither the time limit nor an interrupt ends. So only
// patterns with a single % before the last one use it. Others are matched part by part, or by RE2.

type Operator = 'LIKE' | 'ILIKE'

/** Whether a text matches a pattern of % and _. A backslash is literal unless % _ or \ follows. */
export function likeText(operator: Operator, text: string, pattern: Arg, context: CellContext): string {
  if (typeof pattern.constant !== 'string') return likeColumn(operator, text, pattern.sql, context)
  const parts = partsOf(pattern.constant)
  if (searches(parts) < 2) return likeConstant(operator, text, pattern, context)
  const [folded, read] = operator === 'LIKE' ? [parts, text] : [parts.map(lower), `lower(${text})`]
  // A literal without escapes is split at each % once, for all rows.
  if (parts.every((part) => part !== '_' && part[0] !== '\\')) return `(${read} LIKE ${context.literal(folded.join(''))})`
  return `regexp_full_match(${read}, ${context.literal(folded.map(regexpOf).join(''))}, 's')`
}

const partsOf = (pattern: string): readonly string[] => pattern.match(/\\[%_\\]|./gsu) ?? []
/** Runs of % that are not at the end. */
const searches = (parts: readonly string[]): number =>
  parts.filter((part, i) => part === '%' && parts[i + 1] !== '%' && i < parts.length - 1).length
const lower = (part: string): string => {
  const folded = part.toLowerCase()
  return folded.length === part.length ? folded : part
}
const regexpOf = (part: string): string => {
  if (part === '%') return '.*'
  if (part === '_') return '.'
  const character = part.length > 1 && part[0] === '\\' ? part[1]! : part
  return /^[\w\s]$|[^\x00-\x7f]/.test(character) ? character : `\\${character}`
}

function likeConstant(operator: Operator, text: string, pattern: Arg, context: CellContext): string {
  const constant = pattern.constant as string
  if (!constant.includes('\\')) return `(${text} ${operator} ${pattern.sql})`
  const escaped = constant.replace(/\\([%_\\])|\\/g, (all, next?: string) => (next ? all : '\\\\'))
  return `(${text} ${operator} ${escaped === constant ? pattern.sql : context.bind(escaped)} ESCAPE '\\')`
}

function likeColumn(operator: Operator, text: string, pattern: string, context: CellContext): string {
  return onceAll(context, [text, pattern], (t, p) => {
    const part = context.fresh()
    const parts = `regexp_extract_all(${p}, '\\\\[%_\\\\]|[^\\\\%_]+|.', 0, 's')`
    const made = (how: string) => `array_to_string(list_transform(${parts}, lambda ${part}: ${how}), '')`
    const escaped = `CASE WHEN contains(${p}, '\\') THEN ${made(`CASE WHEN ${part} = '\\' THEN '\\\\' ELSE ${part} END`)} ELSE ${p} END`
    const regexp = made(
      `CASE ${part} WHEN '%' THEN '.*' WHEN '_' THEN '.' WHEN '\\%' THEN '%' WHEN '\\_' THEN '_' WHEN '\\\\' THEN '\\\\' ELSE regexp_escape(${part}) END`,
    )
    const [read, folded] = operator === 'LIKE' ? [t, regexp] : [`lower(${t})`, `lower(${regexp})`]
    return `CASE WHEN regexp_matches(${p}, '${manySearches}', 's') THEN regexp_full_match(${read}, CASE WHEN strlen(${p}) > ${longestOfRow} THEN ${tooLong(context)} ELSE ${folded} END, 's') ELSE (${t} ${operator} ${escaped} ESCAPE '\\') END`
  })
}

/** The longest pattern that is compiled for each row, in bytes. */
const longestOfRow = 1_000
const tooLong = (context: CellContext): string =>
  context.refuse(
    context.literal(
      `A pattern that differs by row is compiled for each row, and can have at most ${longestOfRow} characters. Use a constant, or a shorter pattern`,
    ),
  )
/** A text that becomes a part of a pattern. */
export const smallPattern = (text: Arg, context: CellContext): string =>
  text.constant === undefined ? `CASE WHEN strlen(${text.sql}) > ${longestOfRow} THEN ${tooLong(context)} ELSE ${text.sql} END` : text.sql

/** Two runs of %, the second of them not at the end. */
const manySearches = '%[^%]+%+[^%]'

/** Characters of a text that are taken apart at a time: a list of them takes more than twenty times the bytes. */
const apart = 1024

/** Whether a text has the characters of another one in that order. */
export function hasInOrder(text: string, needle: string, isConstant: boolean, context: CellContext): string {
  const [c, met, at, before] = [context.fresh(), context.fresh(), context.fresh(), context.fresh()]
  if (isConstant) {
    const escaped = `list_transform(string_split(${needle}, ''), lambda ${c}: regexp_escape(${c}))`
    return `regexp_full_match(${text}, '.*' || array_to_string(${escaped}, '.*') || '.*', 's')`
  }
  // RE2 would compile the needle of each row, and take a step per character of it for each character of the text.
  const codes = (sql: string) => `list_transform(string_split(${sql}, ''), lambda ${c}: CAST(unicode(${c}) AS BIGINT))`
  return onceAll(context, [text, `list_filter(${codes(needle)}, lambda ${c}: ${c} >= 0)`], (t, needles) => {
    const next = `CASE WHEN ${c} = ${needles}[${met} + 1] THEN ${met} + 1 ELSE ${met} END`
    const inPart = folded(codes(`substr(${t}, ${at} + 1, ${apart})`), [met, c], next, before)
    return `(${folded(`range(0, length(${t}), ${apart})`, [before, at], inPart, '0')} = len(${needles}))`
  })
}
