import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { passes } from '../../../src/language/plan/passes.ts'
import { openTestProject, type TestProject } from '../../harness/duckdb.ts'

const plan = join(import.meta.dirname, '../../../src/language/plan')
const fileOf = (name: string): string => `${name.replaceAll(' ', '-')}.ts`

test('no pass runs another: what a pass makes, those behind it see', () => {
  const files = new Set(passes.map(({ name }) => fileOf(name)))
  expect(files.size).toBe(passes.length)
  const wrong = [...files].flatMap((file) =>
    [...readFileSync(join(plan, file), 'utf8').matchAll(/from '\.\/([^']+)'/g)]
      .filter(([, target]) => files.has(target!))
      .map(([line]) => `${file}: ${line}`),
  )
  expect(wrong).toEqual([])
})

let project: TestProject
beforeAll(async () => {
  project = await openTestProject()
})
afterAll(() => project.close())

// The events behind a session are read as a statement would read them.
for (const [name, statement] of [
  ['sessions', "select count() from sessions where $entry_utm_source = 'x' and $pageview_count > 1"],
  ['the session of an event', 'select session.$entry_pathname, session.$pageview_count from events'],
  [
    'both, and sessions joined with themselves',
    'select s.$pageview_count, t.duration, e.session.$autocapture_count from sessions s join sessions t on s.session_id = t.session_id join events e on e.$session_id = s.session_id',
  ],
] as const)
  test(`every pass sees the events behind ${name}`, async () => {
    const { sql } = (await project.compile(statement)).printed
    expect(sql).toContain('session_id')
    // Names of events are compared by number: no name is joined, and no document is read whole.
    expect(sql).not.toContain('event_names')
    expect(sql).not.toMatch(/properties AS "properties"/)
    await project.rows(statement)
  })
