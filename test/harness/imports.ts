import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

// The imports between the files of `src/`, read from their text. Paths are relative to `src/`.

const src = resolve(import.meta.dirname, '../../src')

export interface Import {
  readonly line: number
  readonly target: string
}

/** Joins the parts: it may name an engine, in the choice that open() takes. */
export const root = 'engine.ts'
/** The places that may name an engine. */
export const engineFiles = ['language/dialects/', 'engine/storage/', 'language/functions/']

export const files: readonly string[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => file.split(sep).join('/'))

export const sourceOf = (file: string): string => readFileSync(join(src, file), 'utf8')

const known = new Map<string, readonly Import[]>()
export function importsOf(file: string): readonly Import[] {
  const found = known.get(file)
  if (found) return found
  const imports = sourceOf(file)
    .split('\n')
    .flatMap((text, i) => {
      const match = /(?:from|import\()\s*'(\.[^']+)'/.exec(text) ?? /^import '(\.[^']+)'/.exec(text)
      const target = match && relative(src, resolve(src, dirname(file), match[1]!))
      return target ? [{ line: i + 1, target: target.split(sep).join('/') }] : []
    })
  known.set(file, imports)
  return imports
}

/** Files that reach each other, types included: each group of them is one module in several files. */
export function circles(): string[][] {
  const reached = (from: string): ReadonlySet<string> => {
    const met = new Set<string>()
    const open = importsOf(from).map(({ target }) => target)
    for (let file = open.pop(); file !== undefined; file = open.pop())
      if (!met.has(file)) {
        met.add(file)
        if (files.includes(file)) open.push(...importsOf(file).map(({ target }) => target))
      }
    return met
  }
  const all = new Map(files.map((file) => [file, reached(file)]))
  const inCircles = files.filter((file) => all.get(file)!.has(file))
  const groups = inCircles.map((file) => inCircles.filter((other) => all.get(file)!.has(other) && all.get(other)!.has(file)))
  return [...new Map(groups.map((group) => [group.join(), group])).values()]
}
