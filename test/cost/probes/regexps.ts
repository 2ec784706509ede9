import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { boundedPatterns } from '../../harness/bounded-patterns.ts'
import type { Probe } from '../probe.ts'
import { fill } from './shapes.ts'

// Every regular expression in the sources, on texts made of the characters it names, again and again, with an end that it does not want. An expression
// that backtracks is found here before anybody asks whether something from outside reaches it.

const src = join(import.meta.dirname, '../../../src')

interface Found {
  readonly place: string
  readonly source: string
  readonly flags: string
}

let read: readonly Found[] | undefined
const expressions = (): readonly Found[] => {
  read ??= expressionsOf(src)
  return read
}

function expressionsOf(folder: string): Found[] {
  const found: Found[] = []
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))) {
    const text = readFileSync(join(folder, file), 'utf8')
    if (!text.includes('/')) continue
    const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022)
    const visit = (node: ts.Node): void => {
      if (node.kind === ts.SyntaxKind.RegularExpressionLiteral) {
        const literal = (node as ts.RegularExpressionLiteral).text
        const end = literal.lastIndexOf('/')
        found.push({ place: relative(src, join(folder, file)), source: literal.slice(1, end), flags: literal.slice(end + 1) })
      }
      ts.forEachChild(node, visit)
    }
    visit(tree)
  }
  return found
}

const usual = [' ', 'a', '0', '-', '.', ',', '"', "'", '\\', '/', '=', '_', '\n', '[', '(', '{', '%', 'A', ':', ';', '<', '*']
/** Characters and short words that the expression names, so that its repetitions take them. */
function piecesOf(source: string): string[] {
  const plain = source.replace(/\\[dwsbDWSB]/g, ' ').replace(/\\(.)/g, '$1')
  const words = plain.match(/[A-Za-z0-9_$:@"'=;,.&-]{2,12}/g) ?? []
  return [...new Set([...usual, ...[...plain].filter((c) => /[\x20-\x7e]/.test(c)), ...words])]
}

const ends = ['\u0001', '', '!x']
const kilobyte = 1024

export function* regexpProbes(draw: () => number): Generator<Probe> {
  const seen = new Set<string>()
  const all = expressions()
    .filter(({ source, flags }) => !seen.has(`${source} ${flags}`) && seen.add(`${source} ${flags}`))
    // Without a repetition there is nothing to go back to.
    .filter(({ source }) => /[*+]|\{\d+,/.test(source))
    .map((one) => [draw(), one] as const)
    .sort(([a], [b]) => a - b)
  for (const [, { place, source, flags }] of all) yield regexpProbe(place, source, flags)
}

/** One probe tries them all: what it costs is what all of them cost. */
const longest = (place: string): number => boundedPatterns[place]?.most ?? 32 * kilobyte

const regexpProbe = (place: string, source: string, flags: string): Probe => ({
  name: `regexp of ${place}: /${source}/${flags}`,
  door: 'call',
  grows: 'input',
  from: Math.min(256, longest(place) / 8),
  most: longest(place),
  make(size) {
    const texts = piecesOf(source).flatMap((piece) => ends.map((end) => fill(piece, size) + end))
    return { to: 'call', call: 'regexp', given: { source, flags, texts }, bytes: texts.length * size }
  },
})
