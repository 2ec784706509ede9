import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { numberText, timeText } from '../src/language/types/property-values.ts'
import { slownessOf } from './harness/backtracking.ts'
import { boundedPatterns } from './harness/bounded-patterns.ts'

// No regular expression that can take more than linear time sees outside input. The collector reads all of `src`; what is slow and harmless all the
// same stands here by name, with the reason.

const harmless: Readonly<Record<string, string>> = {}
/** Expressions that are put together while the program runs. */
const made: Readonly<Record<string, string>> = {
  'language/dialects/printer.ts': 'out of a number of its own',
  'errors/refusal-mark.ts': 'out of a text of its own, with lengths that are bounded',
  'doors/http/queries/draft-sql.ts': 'out of texts of its own, for prompts of at most 400 characters',
  'events/ingestion/properties/property-types.ts': 'out of the texts of language/types/property-values.ts, which are looked at below',
  'lib/text/linear-pattern.ts': 'for one character at a time',
  'engine/execution/blame.ts': 'is read, never matched',
  'queries/filters/operators.ts': 'out of the texts of language/types/property-values.ts, which are looked at below',
}

interface Found {
  readonly place: string
  readonly file: string
  /** Null: not known before the program runs. */
  readonly source: string | null
  readonly flags: string
}

const src = resolve(import.meta.dirname, '../src')

function expressionsOf(file: string): Found[] {
  const text = readFileSync(join(src, file), 'utf8')
  const found: Found[] = []
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  const visit = (node: ts.Node): void => {
    const place = `${file}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ place, file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
      const [source, flags] = (node.arguments ?? []).map((argument) => (ts.isStringLiteralLike(argument) ? argument.text : null))
      found.push({ place, file, source: flags === null ? null : (source ?? null), flags: flags ?? '' })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

const all = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => expressionsOf(file))

const slow = all.flatMap(({ source, ...rest }) => {
  const slowness = source === null ? null : slownessOf(source, rest.flags)
  return slowness === null ? [] : [{ ...rest, text: `/${source}/${rest.flags}`, slowness }]
})

test('no regular expression that can backtrack beyond linear time sees outside input', () => {
  const wrong = slow.filter(({ file, text }) => !(file in boundedPatterns) && !(text in harmless))
  expect(wrong.map(({ place, text, slowness }) => `${place} ${text} is ${slowness}`)).toEqual([])
  expect(slow.filter(({ slowness }) => slowness === 'exponential').map(({ place }) => place)).toEqual([])
})

test('no regular expression is made of texts that nobody looked at', () => {
  expect(all.filter(({ source, file }) => source === null && !(file in made)).map(({ place }) => place)).toEqual([])
})

test.each([numberText, timeText])('%s', (text) => {
  expect(slownessOf(`^(?:${text})$`, '')).toBeNull()
})

test('every exception is still needed', () => {
  expect(Object.keys(boundedPatterns).filter((name) => !slow.some(({ file }) => file === name))).toEqual([])
  expect(Object.keys(harmless).filter((name) => !slow.some(({ text }) => text === name))).toEqual([])
  expect(Object.keys(made).filter((name) => !all.some(({ file, source }) => source === null && file === name))).toEqual([])
})

describe('what is slow', () => {
  test.each<[RegExp, ReturnType<typeof slownessOf>]>([
    [/(a+)+$/, 'exponential'],
    [/^(?:a|a)*$/, 'exponential'],
    [/^(?:\w+\s?)*$/, 'exponential'],
    [/\s+$/, 'polynomial'],
    [/^\s*(\w*)\s*(\w*)!$/, 'polynomial'],
    [/^a*a*b/, 'polynomial'],
    [/"(?:[^"\\]|\\.)*"/, 'polynomial'],
    [/Z\s*(?:\(.*\))?$/, 'polynomial'],
    [/(?=\s*a)b/, 'polynomial'],
    [/(?:a*b)+/, 'polynomial'],
    [/x(?:\\.|[^x])*/, null],
    [/^\s+$/, null],
    [/^(?:[^"\\]|\\.)*"/, null],
    [/\s+/g, null],
    [/[^\w]*/, null],
    [/^[a-z]+(?:-[a-z]+)*$/, null],
    [/\s+$/y, null],
    [/a{1,20}b/, null],
    [/^\d+\.\d+$/, null],
  ])('%s: %s', ({ source, flags }, slowness) => {
    expect(slownessOf(source, flags)).toBe(slowness)
  })
})
