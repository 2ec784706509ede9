import type { CellContext } from '../row.ts'
import { once } from './duckdb-values.ts'

// ClickHouse's text is bytes and DuckDB's is characters. Functions that cut or count bytes use characters if the text is ASCII, otherwise a
// BLOB. A cut inside a character, which ClickHouse would show as a broken one, is avoided.

const upperLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const lowerLetters = 'abcdefghijklmnopqrstuvwxyz'

/** Capitals beyond A to Z: upper case, title case, Roman numerals, circled letters. */
export const capitalBeyondAscii = '[^\\P{Lu}A-Z]|[\\p{Lt}\\x{2160}-\\x{216F}\\x{24B6}-\\x{24CF}]'

/** The engine's function supports all languages; translate rebuilds its table for each text and takes twenty times as long. */
export const asciiLower = (text: string, context: CellContext): string =>
  once(
    context,
    text,
    (t) =>
      `CASE WHEN strlen(${t}) = length(${t}) THEN lower(${t}) WHEN NOT regexp_matches(${t}, '${capitalBeyondAscii}') THEN lower(${t}) ELSE translate(${t}, '${upperLetters}', '${lowerLetters}') END`,
  )
export const asciiUpper = (text: string, context: CellContext): string =>
  once(
    context,
    text,
    (t) => `CASE WHEN strlen(${t}) = length(${t}) THEN upper(${t}) ELSE translate(${t}, '${lowerLetters}', '${upperLetters}') END`,
  )

/** `onChars` if the text is ASCII, else `onBytes` of the BLOB. */
export const inBytes = (context: CellContext, text: string, onChars: (text: string) => string, onBytes: (blob: string) => string): string =>
  once(
    context,
    text,
    (t) =>
      `CASE WHEN strlen(${t}) = length(${t}) THEN ${onChars(t)} ELSE coalesce(TRY(decode(${onBytes(`encode(${t})`)})), ${onChars(t)}) END`,
  )
