import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LocalWaymark, open } from '../../src/engine.ts'
import type { HogQLAutocompleteResponse, HogQLMetadataResponse } from '../../src/index.ts'
import type { LocalProject } from '../../src/project.ts'

// Every example of docs/editor.md: the engine must say what the page says.

const page = readFileSync(join(import.meta.dirname, '../../docs/editor.md'), 'utf8')
const examplesOf = (kind: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\\n=> (.*)\\n\`\`\``, 'g'))].map(
    ([, query, answer]) => [query!, answer!] as const,
  )

let waymark: LocalWaymark
let project: LocalProject
beforeAll(async () => {
  waymark = await open({ dataDir: ':memory:' })
  project = await waymark.createProject({ name: 'editor' })
  await project.ingest({ batch: [{ event: 'signup', distinct_id: 'ana', properties: { $set: { email: 'a@example.com' } } }] })
})
afterAll(() => waymark.close())

test.each(examplesOf('metadata'))('%s', async (query, answer) => {
  const { errors, types } = (await project.answer({ kind: 'HogQLMetadata', language: 'hogQL', query })) as unknown as HogQLMetadataResponse
  const shown = errors.length > 0 ? errors.map(({ start, end, fix }) => `${start}-${end} ${fix}`) : types.map((pair) => pair.join(' '))
  expect(shown.join(', ')).toBe(answer)
})

test.each(examplesOf('complete'))('%s', async (marked, answer) => {
  const end = marked.indexOf('|')
  const start = end - /\w*$/.exec(marked.slice(0, end))![0].length
  const query = { kind: 'HogQLAutocomplete', language: 'hogQL', query: marked.replace('|', ''), startPosition: start, endPosition: end }
  const { suggestions } = (await project.answer(query)) as unknown as HogQLAutocompleteResponse
  const wanted = answer.split(', ')
  expect(suggestions.slice(0, wanted.length).map(({ label }) => label)).toEqual(wanted)
})

test('there are examples of both', () => {
  expect(examplesOf('metadata').length).toBeGreaterThan(2)
  expect(examplesOf('complete').length).toBeGreaterThan(3)
})
