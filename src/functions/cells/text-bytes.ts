import type { CellContext } from '../row.ts'
import { once } from './duckdb-values.ts'

// ClickHouse's text is bytes and DuckDB's is characters. Functions that cut or count bytes take the characters where both are the same
// (all ASCII) and go through a BLOB elsewhere; a cut inside of a character, which ClickHouse would show as a broken one, is not made.

export const upperLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
export const lowerLetters = 'abcdefghijklmnopqrstuvwxyz'

/** Capitals beyond ASCII: upper case but A to Z, title case, Roman numerals, letters in circles. */
export const capitalBeyondAscii = '[^\\P{Lu}A-Z]|[\\p{Lt}\\x{2160}-\\x{216F}\\x{24B6}-\\x{24CF}]'

/** The engine's own function knows the letters of all languages; translate, which puts up its letters anew for each text, takes twenty times as long. */
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

/** `onChars` where bytes are characters, else `onBytes` of the BLOB. */
export const inBytes = (context: CellContext, text: string, onChars: (text: string) => string, onBytes: (blob: string) => string): string =>
  once(
    context,
    text,
    (t) =>
      `CASE WHEN strlen(${t}) = length(${t}) THEN ${onChars(t)} ELSE coalesce(TRY(decode(${onBytes(`encode(${t})`)})), ${onChars(t)}) END`,
  )
