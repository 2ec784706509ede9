import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open } from '../../src/engine.ts'
import { behaviours } from '../../src/queries/filters/cohort-definition.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/cohorts.md'), 'utf8')
const examples = (kind: string): unknown[] =>
  [...page.matchAll(new RegExp(`\`\`\`json ${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => JSON.parse(match[1]!))

describe('docs/cohorts.md', () => {
  const opening = open({ dataDir: ':memory:', clock: () => new Date('2026-02-01T00:00:00Z') })
  const making = opening.then((waymark) => waymark.createProject({ name: 'docs', timezone: 'UTC' }))
  afterAll(async () => (await opening).close())

  test('names every behaviour', () => {
    for (const name of behaviours) expect(page).toContain(`\`${name}\``)
  })

  test.each(examples('action'))('action %#', async (fields) => {
    const { id } = await (await making).createAction(fields as never)
    const answer = (await (await making).answer({ kind: 'TrendsQuery', series: [{ kind: 'ActionsNode', id }] })) as { results: unknown[] }
    expect(answer.results).toHaveLength(1)
  })

  test.each(examples('cohort'))('cohort %#', async (fields) => {
    const { id } = await (await making).createCohort(fields as never)
    expect(await (await making).cohorts.count(id)).toBe(0)
  })
})
