import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { machine } from '../measure.ts'

// Lines that a document quotes, as the bench printed them.

export interface KeptLine {
  readonly command: string
  readonly date: string
  readonly line: { readonly bench: string; readonly machine: ReturnType<typeof machine> } & Readonly<Record<string, unknown>>
}

const file = join(import.meta.dirname, 'lines.jsonl')

export const keptLines = (): readonly KeptLine[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as KeptLine)
    : []

/** Fields that tell what was measured; the other ones are figures. */
const identity = ({ line }: KeptLine): string =>
  JSON.stringify(['bench', 'part', 'question', 'processes', 'shape', 'people'].map((field) => line[field] ?? null))

/** Keeps the printed lines in place of earlier ones about the same. */
export const keepLines = (printed: string, command: string, now = new Date()): void => {
  const added = printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): KeptLine => ({ command, date: now.toISOString().slice(0, 10), line: JSON.parse(line) }))
  const replaced = new Set(added.map(identity))
  const lines = [...keptLines().filter((line) => !replaced.has(identity(line))), ...added]
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
