import fc from 'fast-check'
import { expect, test } from 'vitest'
import { QueryError } from '../../../src/errors/errors.ts'
import { print } from '../../../src/language/ast/print.ts'
import { collectExpr, collectQuery } from '../../../src/language/parser/parse.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'
import { expressions, statements } from './forms.ts'

/** Whatever goes in: a tree that prints and can be read again, or problems with places. */
function check(text: string) {
  for (const collect of [collectQuery, collectExpr]) {
    const { ast, errors } = collect(text)
    if (ast) expect(collect(print(ast)).errors).toEqual([])
    else expect(errors.length).toBeGreaterThan(0)
    for (const error of errors) {
      expect(error).toBeInstanceOf(QueryError)
      expect(error.span!.start).toBeGreaterThanOrEqual(0)
      expect(error.span!.end).toBeGreaterThan(error.span!.start)
    }
  }
}

test('random bytes', () => {
  assertGenerated(fc.property(fc.oneof(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80, unit: 'binary' })), check), {
    numRuns: 500,
  })
})

const forms = [...expressions.map(([text]) => `select ${text} from events`), ...statements.map(([text]) => text)]
const pieces = forms.flatMap((text) => text.match(/[\w$]+|\s+|'[^']*'|./gs) ?? [])

test('statements with pieces taken out, put in and swapped', () => {
  const mutation = fc.record({ at: fc.nat(200), take: fc.nat(3), put: fc.array(fc.constantFrom(...pieces), { maxLength: 3 }) })
  assertGenerated(
    fc.property(fc.constantFrom(...forms), fc.array(mutation, { minLength: 1, maxLength: 4 }), (form, mutations) => {
      const tokens: string[] = form.match(/[\w$]+|\s+|'[^']*'|./gs) ?? []
      for (const { at, take, put } of mutations) tokens.splice(at % (tokens.length + 1), take, ...put)
      check(tokens.join(''))
    }),
    { numRuns: 1000 },
  )
})

test('random words', () => {
  assertGenerated(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 25 }), (words) => check(words.join(' '))),
    { numRuns: 500 },
  )
})
