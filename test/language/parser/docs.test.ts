import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { print } from '../../../src/language/ast/print.ts'
import { maxDepth } from '../../../src/language/parser/grammar-base.ts'
import { binaryOperators } from '../../../src/language/parser/operators.ts'
import { parseExpr } from '../../../src/language/parser/parse.ts'

const page = readFileSync(new URL('../../../docs/language.md', import.meta.url), 'utf8')
const examples = [...page.matchAll(/```language\n(.*?)```/gs)].flatMap(([, block]) => block!.trim().split('\n'))

test.each(examples)('docs/language.md: %s', (line) => {
  const [written, printed] = line.split(' => ')
  expect(print(parseExpr(written!))).toBe(printed)
})

test('the page has every operator on its level', () => {
  const levels = new Map(
    [...page.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(([, level, text]) => [Number(level), text!.replaceAll('\\|', '|')]),
  )
  for (const [token, row] of binaryOperators) {
    const text = typeof token.PATTERN === 'string' ? token.PATTERN : token.name
    expect(levels.get(row.level), text).toContain(`\`${text}\``)
  }
  expect(page).toContain(`nested more than ${maxDepth} levels deep`)
})
