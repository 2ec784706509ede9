import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tools } from '../../src/doors/agents/tools/registry.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/agents.md'), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `'))
const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

test('docs/agents.md has every tool with its scope', () => {
  const said = rows.flatMap((row) => {
    const [, names = '', , scopes = ''] = row.split('|')
    const [first, ...others] = codes(scopes)
    return codes(names).map((name, i) => [name, (others.length > 0 ? [first, ...others][i] : first) ?? ''])
  })
  expect(said.sort()).toEqual(tools.map(({ name, scope }) => [name, scope]).sort())
})

test('the configuration of a client is JSON', () => {
  const [, text = ''] = /```json mcp\n([\s\S]*?)```/.exec(page) ?? []
  expect(JSON.parse(text)).toMatchObject({ mcpServers: { waymark: { type: 'http' } } })
})
