import type { CellContext } from '../row.ts'
import { once } from './duckdb-values.ts'

// ClickHouse's text is bytes and DuckDB's is characters. Functions that cut or count bytes take the characters where both are the same
// (all ASCII) and go through a BLOB elsewhere; a cut inside of a character, which ClickHouse would show as a broken one, is not made.

export const upperLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
export const lowerLetters = 'abcdefghijklmnopqrstuvwxyz'

/** The engine's own function knows the letters of all languages; translate, which puts up its letters anew for each text, takes twenty times as long. */
const inAscii =
  (whole: 'lower' | 'upper', from: string, to: string) =>
  (text: string, context: CellContext): string =>
    once(context, text, (t) => `CASE WHEN strlen(${t}) = length(${t}) THEN ${whole}(${t}) ELSE translate(${t}, '${from}', '${to}') END`)
export const asciiLower = inAscii('lower', upperLetters, lowerLetters)
export const asciiUpper = inAscii('upper', lowerLetters, upperLetters)

/** `onChars` where bytes are characters, else `onBytes` of the BLOB. */
export const inBytes = (context: CellContext, text: string, onChars: (text: string) => string, onBytes: (blob: string) => string): string =>
  once(
    context,
    text,
    (t) =>
      `CASE WHEN strlen(${t}) = length(${t}) THEN ${onChars(t)} ELSE coalesce(TRY(decode(${onBytes(`encode(${t})`)})), ${onChars(t)}) END`,
  )
