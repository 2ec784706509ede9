import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { signature } from '../../src/service/exports/destinations/http.ts'
import { destinations } from '../../src/service/exports/destinations/registry.ts'
import { usualColumns } from '../../src/service/exports/writing/columns.ts'
import { withHome } from '../doors/http/conversation.ts'

// The examples and tables of the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/batch-exports.md'), 'utf8')
const blocks = (language: string) => [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!)

const held = withHome()
beforeAll(async () => {
  const { world, owner, organization, project } = held.home
  const current = { current_organization_id: organization.id, current_project_id: project.id }
  await world.accounts.context.store.write((tables) => tables.users.update({ id: owner.id }, current))
})

/** The path and the body of a curl command. */
const requestOf = (command: string) => ({
  path: /http:\/\/127\.0\.0\.1:8000(\S+)/.exec(command)![1]!,
  body: JSON.parse(/-d '([^']*)'/.exec(command)![1]!) as object,
})

test('every request of the page is answered as the page says', async () => {
  const { call, owner } = held.home
  const [create, backfill] = blocks('sh').map(requestOf)
  const made = await call('POST', create!.path, { as: owner, body: create!.body })
  expect(made).toMatchObject({ status: 201, body: create!.body })
  const begun = await call('POST', backfill!.path.replace('<ID>', made.body.id), { as: owner, body: backfill!.body })
  expect(begun).toMatchObject({ status: 200, body: { backfill_id: expect.stringContaining('-Backfill-2026-01-01T00:00:00') } })
  const query = JSON.parse(blocks('json')[0]!) as object
  const changed = await call('PATCH', `${create!.path}${made.body.id}/`, { as: owner, body: query })
  expect(changed.body.schema.fields.map(({ alias }: { alias: string }) => alias)).toEqual([
    'uuid',
    'timestamp',
    'event',
    'person_id',
    'plan',
    'email',
  ])
})

test('the check of a signature accepts what is sent, and nothing else', async () => {
  const [example] = blocks('js')
  const isFromWaymark = new Function('createHmac', `${example!.replace(/^import .*\n/gm, '')}\nreturn isFromWaymark`)(
    (await import('node:crypto')).createHmac,
  ) as (header: string, body: string, token: string) => boolean
  const header = signature('secret', 1_767_600_000, Buffer.from('{"a":1}\n'))
  expect(isFromWaymark(header, '{"a":1}\n', 'secret')).toBe(true)
  expect(isFromWaymark(header, '{"a":2}\n', 'secret')).toBe(false)
  expect(isFromWaymark(header, '{"a":1}\n', 'other')).toBe(false)
})

const rowOf = (name: string) => page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? ''

test('every destination has a row with its settings', () => {
  for (const type of destinations.keys()) expect(rowOf(type), type).not.toBe('')
})

test.each(['events', 'persons'] as const)('the columns of %s are listed', (model) => {
  const named = [...rowOf(model).matchAll(/`([^`]+)`/g)].map((match) => match[1]!).slice(1)
  expect(named).toEqual(usualColumns[model].map(({ alias }) => alias))
})
