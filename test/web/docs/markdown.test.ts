import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { docSections } from '../../../src/web/docs/doc-list.ts'
import { blocksOf, inlineOf, searchIn } from '../../../src/web/docs/markdown.ts'

const text = `# Trends

A [line](queries.md#dates) of
two lines.

| a | b |
|---|---|
| \`x\\|y\` | **z** |

- one
  more
- two

1. first

\`\`\`sql
# not a heading
\`\`\`

## The range, and \`more\`
`

test('blocks', () => {
  expect(blocksOf(text)).toEqual([
    { kind: 'heading', level: 1, text: 'Trends', anchor: 'trends' },
    { kind: 'paragraph', text: 'A [line](queries.md#dates) of two lines.' },
    { kind: 'table', head: ['a', 'b'], rows: [['`x|y`', '**z**']] },
    { kind: 'list', isNumbered: false, items: ['one more', 'two'] },
    { kind: 'list', isNumbered: true, items: ['first'] },
    { kind: 'code', text: '# not a heading' },
    { kind: 'heading', level: 2, text: 'The range, and `more`', anchor: 'the-range-and-more' },
  ])
})

test.each([
  ['plain', [{ kind: 'text', text: 'plain' }]],
  [
    'a `b` c',
    [
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b' },
      { kind: 'text', text: ' c' },
    ],
  ],
  ['**b**', [{ kind: 'strong', text: 'b' }]],
  ['[`a`](b.md#c)', [{ kind: 'link', text: 'a', to: 'b.md#c' }]],
  ['`[a](b)`', [{ kind: 'code', text: '[a](b)' }]],
  ['an open ` or ** or [ stays', [{ kind: 'text', text: 'an open ` or ** or [ stays' }]],
])('%s', (markdown, parts) => {
  expect(inlineOf(markdown)).toEqual(parts)
})

test('a search finds all words in a part, with its heading', () => {
  expect(searchIn(text, 'two line')).toEqual([{ heading: 'Trends', anchor: 'trends', excerpt: 'A line of two lines.' }])
  expect(searchIn(text, 'ine')).toEqual([])
  expect(searchIn(text, 'lin')).toHaveLength(1)
  expect(searchIn(text, 'nothing like this')).toEqual([])
})

describe('documents', () => {
  test.each(docSections.filter(({ name }) => name !== 'api').map(({ name }) => name))('%s is there, and whole', (name) => {
    const markdown = readFileSync(join(import.meta.dirname, '../../../docs', `${name}.md`), 'utf8')
    const blocks = blocksOf(markdown)
    expect(blocks[0]).toMatchObject({ kind: 'heading', level: 1 })
    for (const block of blocks)
      if (block.kind === 'table') for (const row of block.rows) expect(row.length, row.join(' | ')).toBe(block.head.length)
  })
})
