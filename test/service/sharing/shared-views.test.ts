import { expect, test } from 'vitest'
import { Answer } from '../../../src/engine/admission/answer.ts'
import type { Insight, ProjectRecord, SharingLink } from '../../../src/service/accounts/records.ts'
import type { Saved } from '../../../src/service/saved/open-saved.ts'
import { createPages, createSharedViews, type SharedView } from '../../../src/service/sharing/shared-view.ts'

// What public links cost: answers are computed once for all readers of a minute, however large they are, however many read, and if they fail.

const world = (characters: number, fails = false) => {
  const start = new Date('2026-01-05T10:00:00Z')
  const made = { computed: 0, now: new Date('2026-01-05T10:00:00Z') }
  const insight = {
    id: 1,
    name: 'x',
    derived_name: null,
    description: '',
    query: { kind: 'TrendsQuery', series: [] },
    deleted: false,
    updated_at: made.now,
  } as unknown as Insight
  const tile = { layouts: {}, body: null } as never
  const saved = {
    insights: { find: async () => insight },
    dashboards: {
      find: async () => ({ id: 2, name: 'd', description: null, deleted: false, last_modified_at: made.now, created_at: made.now }),
      whole: async () => ({ tiles: Array.from({ length: 4 }, () => ({ tile, insight })) }),
    },
    answers: {
      ofAll: async (_: unknown, shown: readonly unknown[]) => {
        made.computed++
        await new Promise((resume) => setImmediate(resume))
        if (fails) throw new Error('the engine ended')
        return shown.map(() => ({ answer: Answer.ofText(`{"results":"${'x'.repeat(characters)}"}`), error: null }))
      },
    },
  } as unknown as Saved
  const views = createSharedViews(saved, () => made.now)
  const read = (link = 'one', isDashboard = true, project = 1) =>
    views.of(
      { id: project, timezone: 'UTC', updated_at: start } as unknown as ProjectRecord,
      { id: link, insight_id: isDashboard ? null : 1, dashboard_id: isDashboard ? 2 : null } as unknown as SharingLink,
    )
  return Object.assign(made, { read })
}
const errorsOf = (view: SharedView | undefined) => view!.tiles.map((one) => ('error' in one ? one.error : null))

test.each([
  ['small', 100],
  ['a megabyte', 1024 ** 2],
  ['larger than all views together', 40 * 1024 ** 2],
])('many readers at once and one after the other compute a dashboard once in a minute: %s', async (_, characters) => {
  const made = world(characters)
  await Promise.all(Array.from({ length: 20 }, () => made.read()))
  for (let i = 0; i < 5; i++) await made.read()
  expect(made.computed).toBe(1)
  made.now = new Date(made.now.getTime() + 61_000)
  await made.read()
  expect(made.computed).toBe(2)
})

test('tiles that do not fit are named, and what fits is shown', async () => {
  expect(errorsOf(await world(1.5 * 1024 ** 2).read())).toEqual([
    null,
    null,
    ...Array(2).fill('This answer is too large for a public link.'),
  ])
  expect(errorsOf(await world(9 * 1024 ** 2).read('one', false))).toEqual(['This answer is too large for a public link.'])
})

test('a failure is kept for some seconds', async () => {
  const made = world(1, true)
  for (let i = 0; i < 10; i++) await expect(made.read()).rejects.toThrow('the engine ended')
  expect(made.computed).toBe(1)
  made.now = new Date(made.now.getTime() + 6_000)
  await expect(made.read()).rejects.toThrow()
  expect(made.computed).toBe(2)
})

test('many or large links of one project take no place from those of others', async () => {
  const made = world(1024 ** 2)
  await made.read('victim', true, 7)
  for (let i = 0; i < 20; i++) await made.read(`large ${i}`)
  expect(made.computed).toBe(21)
  await made.read('victim', true, 7)
  expect(made.computed).toBe(21)
  const small = world(1)
  await small.read('victim', true, 7)
  for (let i = 0; i < 300; i++) await small.read(`small ${i}`)
  await small.read('victim', true, 7)
  expect(small.computed).toBe(301)
})

test('a page is made once for a view, and those that were made first go when there are too many', async () => {
  const made = world(1)
  const pages = createPages<{ size: number; text: string }>(10)
  let count = 0
  const page = (link: string) => async () => ({ size: 4, text: `${link} ${++count}` })
  const read = async (link: string) => (await pages((await made.read(link))!, 1, 'page', page(link))).text
  for (let i = 0; i < 5; i++) expect(await read('a')).toBe('a 1')
  expect(await read('b')).toBe('b 2')
  expect(await read('c')).toBe('c 3')
  expect(await read('c')).toBe('c 3')
  expect(await read('b')).toBe('b 2')
  expect(await read('a')).toBe('a 4')
})

test('one page that is larger than all together is still kept until the next', async () => {
  const view = (await world(1).read())!
  const pages = createPages<{ size: number }>(1)
  let count = 0
  for (let i = 0; i < 3; i++) await pages(view, 1, 'page', async () => ({ size: 100 + count++ }))
  expect(count).toBe(1)
})

test('pages are made one at a time, projects in turn; readers of one wait together, and beyond what may wait the answer is that it is busy', async () => {
  const pages = createPages<{ size: number }>()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (view: SharedView, project: number, name: string) =>
    pages(view, project, name, () => {
      begun.push(name)
      return new Promise((resolve) => ends.set(name, () => resolve({ size: 1 })))
    })
  const turn = () => new Promise((resume) => setImmediate(resume))
  const view = (await world(1).read())!
  const asked = Array.from({ length: 21 }, (_, i) => ask(view, 1, `a${i}`))
  const together = ask(view, 1, 'a3')
  const other = ask(view, 2, 'b0')
  await expect(ask(view, 1, 'a21')).rejects.toMatchObject({ code: 'busy' })
  await turn()
  expect(begun).toEqual(['a0'])
  for (let i = 0; i < 22; i++) {
    ends.get(begun.at(-1)!)!()
    await turn()
  }
  expect(begun).toEqual(['a0', 'a1', 'b0', ...Array.from({ length: 19 }, (_, i) => `a${i + 2}`)])
  expect(await together).toBe(await asked[3])
  expect(await other).toEqual({ size: 1 })
  await Promise.all(asked)
})
