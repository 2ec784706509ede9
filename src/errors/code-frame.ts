import type { Span } from './span.ts'

/** Line and column of an offset, both from 1. */
export function placeAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}

const maxWidth = 120

/**
 * The line of a position, the line above it, and a mark below:
 *
 *     1 | SELECT event
 *     2 | FROM evnts
 *       |      ^^^^^
 */
export function codeFrame(text: string, span: Span): string {
  const { line, column } = placeAt(text, span.start)
  const lines = text.split('\n')
  const width = String(line).length
  const numbered = (n: number, content: string) => `${String(n).padStart(width)} | ${content}`
  const current = lines[line - 1]!.replace(/\r$/, '')
  // A very long line is cut on both sides of the position.
  const from = column > maxWidth - 20 ? column - 1 - 40 : 0
  const shown = current.slice(from, from + maxWidth).replaceAll('\t', ' ')
  const length = Math.max(1, Math.min(span.end - span.start, current.length - column + 1, from + maxWidth - column + 1))
  return [
    ...(line > 1 ? [numbered(line - 1, lines[line - 2]!.replace(/\r$/, '').slice(0, maxWidth))] : []),
    numbered(line, shown),
    `${' '.repeat(width)} | ${' '.repeat(column - 1 - from)}${'^'.repeat(length)}`,
  ].join('\n')
}
