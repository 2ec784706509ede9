import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { open } from '../../src/engine.ts'
import type { WebOverviewResponse, WebTableResponse } from '../../src/index.ts'

// Every example of docs/web.md: the engine must say what the page says.

const page = readFileSync(join(import.meta.dirname, '../../docs/web.md'), 'utf8')
const examples = [...page.matchAll(/```web\n([\s\S]*?)```/g)].map(([, text]) => read(text!))
const waymark = open({ dataDir: ':memory:', clock: () => new Date('2026-01-10T00:00:00Z') })
afterAll(async () => (await waymark).close())

function read(text: string) {
  const lines = text.trim().split('\n')
  const setting = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  return {
    range: setting('range')!.split(' to '),
    goal: setting('goal'),
    by: setting('by'),
    events: lines.flatMap((line) => {
      const match = /^(\w+) {2}(?:A(\d)|--) {2}(\S+) (\S+) {2}(\S+)(?: {2}(\S+)=(\S+))?$/.exec(line)
      if (!match) return []
      const [, distinct_id, session, day, time, event, key, value] = match
      const id = session && { $session_id: `019b0000-0000-7000-8000-00000000000${session}` }
      const properties = { ...id, ...(key ? { [key]: value } : {}) }
      return [{ event, distinct_id, timestamp: `${day}T${time}Z`, properties }]
    }),
    answer: lines.find((line) => line.startsWith('=> '))!.slice(3),
  }
}

describe('docs/web.md', () => {
  test.each(examples.map((example, i) => [`example ${i + 1}`, example] as const))(
    '%s',
    async (name, { range, goal, by, events, answer }) => {
      const project = await (await waymark).createProject({ name })
      await project.ingest({ batch: events as never })
      const [date_from, date_to] = range
      const query = { dateRange: { date_from, date_to }, ...(goal ? { conversionGoal: { customEventName: goal } } : {}) }
      if (by) {
        const { results } = (await project.answer({ kind: 'WebStatsTableQuery', breakdownBy: by, ...query })) as unknown as WebTableResponse
        const shown = results.map(([value, ...pairs]) => [value, ...pairs.slice(0, 2).map((pair) => (pair as number[])[0])].join(' '))
        expect(shown.join(', ')).toBe(answer)
        return
      }
      const { results } = (await project.answer({ kind: 'WebOverviewQuery', ...query })) as unknown as WebOverviewResponse
      expect(results.map(({ key, value }) => `${key} ${value === null ? 'null' : Number(value.toFixed(2))}`).join(', ')).toBe(answer)
    },
  )

  test('has examples', () => expect(examples.length).toBeGreaterThan(3))

  test('names every breakdown', async () => {
    const { breakdowns } = await import('../../src/queries/web/schema.ts')
    for (const name of breakdowns) expect(page).toContain(`\`${name}\``)
  })
})
