import * as z from 'zod'
import { QueryError, WaymarkError } from '../../errors/errors.ts'
import { tables as catalog } from '../../language/catalog/tables.ts'
import { own } from '../../lib/own.ts'
import type { AccountContext } from '../accounts/context.ts'
import { check, text } from '../accounts/fields.ts'
import { type Logged, type MemberInProject, note, writeIn } from '../accounts/project-writes.ts'
import { viewsOf } from '../accounts/projects/project-fields.ts'
import type { AccountStore, AccountTables, ProjectRecord, SavedQuery } from '../accounts/records.ts'
import { conflicting, invalid, mustFind } from '../accounts/refusals.ts'
import type { Condition, FindOptions, Json } from '../accounts/store.ts'
import type { QueryCaller } from '../asking/asking.ts'
import type { SavedHome } from './asked-project.ts'
import { cycleIn, readersOf, readsOf, tablesRead, viewStatement } from './view-statements.ts'

// Saved statements that can be read as tables. Their texts are stored with the settings of the project too, where every query finds them.

export const largestStatement = 50_000
export const mostViews = 500
/** Characters of all statements of a project: they travel with each of its queries. */
export const largestOfAll = 500_000
const mostTries = 5

const viewName = () =>
  text({ max: 128 })
    .refine((name) => /^[A-Za-z_]\w*$/.test(name), {
      error: 'The name of a view has letters, digits and underscores, and does not begin with a digit.',
    })
    .refine((name) => own(catalog, name) === undefined && !taken.has(name), {
      error: 'This name is taken by a table. Choose another name for the view.',
    })
/** Functions that are read as tables, and a name that no object has. */
const taken = new Set(['numbers', 'generateSeries', '__proto__'])

/** Without the semicolon at its end. */
const withoutEnd = (sql: string): string => {
  let text = sql.trimEnd()
  while (text.endsWith(';')) text = text.slice(0, -1).trimEnd()
  return text
}
const statement = z
  .object(
    {
      kind: z.enum(['HogQLQuery', 'SqlLikeQuery']).optional(),
      query: text({ max: largestStatement }).transform(withoutEnd),
      values: z.null().optional(),
      variables: z.null().optional(),
      filters: z.null().optional(),
    },
    { error: 'Expected a statement, as in {"kind": "HogQLQuery", "query": "select 1"}.' },
  )
  .meta({ description: 'A statement without placeholders: `{"kind": "HogQLQuery", "query": "select …"}`' })
export const viewInput = z.object({ name: viewName(), query: statement })
export const viewChange = viewInput.partial()

export interface ViewColumn {
  readonly name: string
  /** As ClickHouse spells it. */
  readonly type: string
}
export const columnsOf = (view: SavedQuery): readonly ViewColumn[] => view.columns as unknown as readonly ViewColumn[]

export interface ViewPage {
  readonly condition: Condition<SavedQuery>
  readonly orderBy?: NonNullable<FindOptions<SavedQuery>['orderBy']>
  readonly limit: number
  readonly offset: number
}

type Statements = Readonly<Record<string, string>>

const logged = ({ id, name, query }: SavedQuery): Logged => ({ id, name, fields: { name, query } })
const quoted = (name: string) => `\`${name}\``

const find = (tables: Pick<AccountStore['read'], 'saved_queries'>, project: ProjectRecord, id: string) =>
  mustFind(tables.saved_queries.first({ id, project_id: project.id }))
const current = async (tables: Pick<AccountStore['read'], 'projects'>, { id }: ProjectRecord): Promise<Statements> => {
  const project = await mustFind(tables.projects.first({ id }))
  return viewsOf(project.settings)
}

/** The columns of a view if these statements were those of the project. */
const columnsWith = async (
  home: SavedHome,
  project: ProjectRecord,
  views: Statements,
  order: readonly string[],
  name: string,
  asker: QueryCaller,
) => {
  const parts = order.slice(0, order.indexOf(name) + 1).map((one) => ({ before: `${quoted(one)} as (`, text: views[one]! }))
  const before = `with ${parts.map(({ before, text }) => `${before}${text}\n)`).join(', ')}`
  const query = `${before} select * from ${quoted(name)} limit 0`
  const data = await home.project(project)
  const asked = { query: { kind: 'HogQLQuery', query }, refresh: 'force_blocking', client_query_id: null, wantsStatus: false } as const
  try {
    const outcome = await data.ask(asked, asker)
    if (!('answer' in outcome)) throw new TypeError('a waiting query was answered with a status')
    const { types } = outcome.answer.object as { readonly types: readonly (readonly [name: string, type: string])[] }
    return types.map(([column, type]): ViewColumn => ({ name: column, type }))
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    const text = views[name]!
    const start = before.length - text.length - 2
    const { span } = error
    const isInside = span !== null && span.start >= start && span.end <= start + text.length + 1 && span.origin === undefined
    throw error.with({
      attr: 'query__query',
      ...(isInside ? { span: { start: span.start - start, end: span.end - start }, source: text } : { span: null }),
    })
  }
}

/** The columns of the views that a change concerns; refuses a change with which one of them could not be read. */
const checked = async (home: SavedHome, project: ProjectRecord, views: Statements, changed: string, asker: QueryCaller) => {
  const size = Object.values(views).reduce((sum, one) => sum + one.length, 0)
  if (size > largestOfAll)
    throw invalid(`The statements of all views of a project can have ${largestOfAll} characters in total. Remove unused views.`, 'query')
  const reads = readsOf(views)
  const cycle = cycleIn(reads)
  if (cycle) throw invalid(`The view would read itself: ${cycle}.`, 'query')
  const order = readersOf([changed], reads)
  const columns = new Map<string, readonly ViewColumn[]>()
  for (const name of order)
    try {
      columns.set(name, await columnsWith(home, project, views, order, name, asker))
    } catch (error) {
      if (name === changed || !(error instanceof WaymarkError)) throw error
      throw invalid(`The change would break the view ${name}, which reads this one: ${error.detail}`, 'query')
    }
  return columns
}

const keep = async (tables: AccountTables, { id }: ProjectRecord, views: Statements): Promise<void> => {
  const project = await mustFind(tables.projects.first({ id }))
  await tables.projects.update({ id }, { settings: { ...(project.settings as object), views } as Json })
}

/** A change that was checked with the views of the moment; when others have changed them meanwhile, it is checked again. */
const changing = async <T>(
  context: AccountContext,
  place: MemberInProject,
  prepare: (views: Statements) => Promise<{ readonly views: Statements; work(tables: AccountTables): Promise<T> }>,
): Promise<T> => {
  for (let tries = 0; tries < mostTries; tries++) {
    const before = await current(context.store.read, place.project)
    const { views, work } = await prepare(before)
    const done = await writeIn(context, place, async (tables) => {
      if (JSON.stringify(await current(tables, place.project)) !== JSON.stringify(before)) return null
      const result = await work(tables)
      await keep(tables, place.project, views)
      return { result }
    })
    if (done) return done.result
  }
  throw conflicting('Others are changing the views of this project. Try again.')
}

const noteColumns = async (
  tables: AccountTables,
  { id: project_id }: ProjectRecord,
  columns: ReadonlyMap<string, readonly ViewColumn[]>,
): Promise<void> => {
  for (const [name, list] of columns) await tables.saved_queries.update({ project_id, name }, { columns: list as unknown as Json })
}

const mustBeFree = (name: string, views: Statements) => {
  if (own(views, name) !== undefined) throw invalid(`The view ${name} already exists.`, 'name', 'unique')
}

function mustHaveNoReaders(name: string, views: Statements, what: 'renamed' | 'deleted'): void {
  const readers = [...readsOf(views)].flatMap(([other, read]) => (read.has(name) && other !== name ? [other] : []))
  if (readers.length > 0)
    throw invalid(`The view ${name} cannot be ${what}, because other views read it: ${readers.join(', ')}. Change them first.`, 'name')
}
const reads = ({ store }: AccountContext) => ({
  find: (project: ProjectRecord, id: string) => find(store.read, project, id),

  async list({ id: project_id }: ProjectRecord, { condition, ...page }: ViewPage) {
    const where = { project_id }
    const rows = await store.read.saved_queries.find(where, { orderBy: [{ column: 'name' }], ...condition, ...page })
    return { rows, count: await store.read.saved_queries.count(where, condition) }
  },

  /** What it reads: tables, and views; up to so many steps away. */
  async ancestors(project: ProjectRecord, { name }: SavedQuery, levels: number): Promise<string[]> {
    const views = await current(store.read, project)
    const above = (one: string): string[] => {
      const text = own(views, one)
      if (text === undefined) return []
      return [...tablesRead(text)].filter((other) => own(catalog, other) !== undefined || own(views, other) !== undefined)
    }
    return within(name, levels, above)
  },
  /** The views that read it. */
  async descendants(project: ProjectRecord, { name }: SavedQuery, levels: number): Promise<string[]> {
    const reads = readsOf(await current(store.read, project))
    return within(name, levels, (one) => [...reads].flatMap(([other, read]) => (read.has(one) ? [other] : [])))
  },
})

export const createViews = (context: AccountContext, home: SavedHome) => {
  const { store, clock } = context
  const { read } = store

  return {
    ...reads(context),

    async create(place: MemberInProject, body: unknown, asker: QueryCaller): Promise<SavedQuery> {
      const { name, query } = check(viewInput, body)
      viewStatement(query.query)
      const { project, by } = place
      return changing(context, place, async (before) => {
        mustBeFree(name, before)
        if (Object.keys(before).length >= mostViews)
          throw invalid(`A project can have at most ${mostViews} views. Remove unused ones.`, 'name')
        const views = { ...before, [name]: query.query }
        const columns = await checked(home, project, views, name, asker)
        const now = clock()
        const made: SavedQuery = {
          id: context.newId(),
          project_id: project.id,
          name,
          query: query.query,
          columns: (columns.get(name) ?? []) as unknown as Json,
          created_at: now,
          created_by_id: by.user.id,
          updated_at: now,
        }
        return {
          views,
          async work(tables) {
            await tables.saved_queries.insert(made)
            await note(context, tables, place, 'DataWarehouseSavedQuery', null, logged(made))
            return made
          },
        }
      })
    },

    async update(place: MemberInProject, id: string, body: unknown, asker: QueryCaller): Promise<SavedQuery> {
      const given = check(viewChange, body)
      if (given.query) viewStatement(given.query.query)
      const { project } = place
      return changing(context, place, async (before) => {
        const known = await find(read, project, id)
        const name = given.name ?? known.name
        const { [known.name]: old = known.query, ...others } = before
        if (name !== known.name) {
          mustBeFree(name, before)
          mustHaveNoReaders(known.name, before, 'renamed')
        }
        const views = { ...others, [name]: given.query?.query ?? old }
        const columns = await checked(home, project, views, name, asker)
        return {
          views,
          async work(tables) {
            const was = await find(tables, project, id)
            await tables.saved_queries.update({ id }, { name, query: views[name]!, updated_at: clock() })
            await noteColumns(tables, project, columns)
            const after = await find(tables, project, id)
            await note(context, tables, place, 'DataWarehouseSavedQuery', logged(was), logged(after))
            return after
          },
        }
      })
    },

    remove: (place: MemberInProject, id: string): Promise<void> =>
      changing(context, place, async (before) => {
        const known = await find(read, place.project, id)
        mustHaveNoReaders(known.name, before, 'deleted')
        const { [known.name]: _, ...views } = before
        return {
          views,
          async work(tables) {
            await tables.saved_queries.remove({ id })
            await note(context, tables, place, 'DataWarehouseSavedQuery', logged(known), null)
          },
        }
      }),
  }
}
export type Views = ReturnType<typeof createViews>

function within(name: string, levels: number, next: (name: string) => readonly string[]): string[] {
  const found = new Set<string>()
  let edge = [name]
  for (let level = 0; level < levels && edge.length > 0; level++) {
    edge = edge.flatMap(next).filter((one) => one !== name && !found.has(one))
    for (const one of edge) found.add(one)
  }
  return [...found].sort()
}
