import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { expect, test } from 'vitest'
import { webSnippets } from '../../src/web/live/snippets.ts'

// docs/posthog-js.md has what Settings shows. test/clients/snippets.long.test.ts runs it in a browser.

const page = await readFile(join(import.meta.dirname, '../../docs/posthog-js.md'), 'utf8')
const snippets = webSnippets('phc_…', 'https://analytics.example.com')

test.each(snippets.filter(({ title }) => title !== 'WordPress').map(({ title, code }) => [title, code]))(
  '%s is in the document',
  (_, code) => {
    expect(page).toContain(`\n${code}\n`)
  },
)

test('the snippet for WordPress is that for HTML in its frame', () => {
  const [html, wordPress] = ['HTML', 'WordPress'].map((title) => snippets.find((one) => one.title === title)!.code)
  const lines = wordPress!.split('\n')
  expect([lines[0], lines.at(-1)]).toEqual(["add_action('wp_head', function () { ?>", '<?php });'])
  expect(lines.slice(1, -1).map((line) => line.trim())).toEqual(html!.split('\n').map((line) => line.trim()))
})

test('examples in JavaScript are valid', async () => {
  const blocks = [...page.matchAll(/```(jsx?)\n([\s\S]*?)```/g)]
  expect(blocks.length).toBeGreaterThan(2)
  for (const [, loader, code] of blocks) await transform(code!, { loader: loader as 'js' | 'jsx', format: 'esm' })
})
