import type * as z from 'zod'
import { pageSchema } from '../answers/pages.ts'
import { pageWith, paging } from './requests/pages.ts'
import { type Definition, defineResource, type Reach, type Resource, type Row, type RowMaker, type Visits } from './resource.ts'

// A resource of records of one kind. Its usual rows have their usual methods, paths and names; their handlers return records, and `present` makes the answers.

/** What a row adds, or has otherwise. */
type Given<D extends Reach, R> = Partial<Omit<Row<D>, 'summary' | 'handle' | 'reach'>> & {
  readonly summary: string
  handle(visit: Visits[D]): Promise<R>
}

export interface RecordRows<D extends Reach, T> {
  readonly row: RowMaker<D>
  /** The handler returns all records, callers get a page. */
  list(given: Given<D, readonly T[]>): Row
  /** The handler returns the records of a page, and the number of all. */
  page(given: Given<D, { readonly rows: readonly T[]; readonly count: number }>): Row
  create(given: Given<D, T>): Row
  retrieve(given: Given<D, T>): Row
  update(given: Given<D, T>): Row
  replace(given: Given<D, T>): Row
  remove(given: Given<D, unknown>): Row
  /** Any other route that answers a record. */
  one(given: Given<D, T> & Pick<Row, 'method' | 'path' | 'name'>): Row
}

interface RecordDefinition<D extends Reach, T, S extends z.ZodType> extends Omit<Definition<D>, 'rows'> {
  readonly answer: S
  present(visit: Visits[D], record: T): z.output<S> | Promise<z.output<S>>
  /** Of a list, if its records are shorter or what belongs to them is read at once. */
  presentAll?(visit: Visits[D], records: readonly T[]): Promise<readonly z.output<S>[]>
  rows(make: RecordRows<D, T>): readonly Row[]
}

export const defineRecords = <D extends Reach, T, S extends z.ZodType>({
  answer,
  present,
  presentAll = (visit, records) => Promise.all(records.map((one) => present(visit, one))),
  rows,
  ...definition
}: RecordDefinition<D, T, S>): Resource =>
  defineResource<D>({
    ...definition,
    rows: (row) => {
      const make = row as unknown as (given: object) => Row
      const one = ({ handle, ...given }: Given<D, T>) =>
        make({ answer, ...given, handle: async (visit: Visits[D]) => present(visit, await handle(visit)) })
      return rows({
        row,
        one,
        list: ({ handle, ...given }) =>
          make({
            method: 'GET',
            name: 'list',
            answer: pageSchema(answer),
            isPaged: true,
            ...given,
            handle: async (visit: Visits[D]) => presentAll(visit, await handle(visit)),
          }),
        page: ({ handle, queryParameters, ...given }) =>
          make({
            method: 'GET',
            name: 'list',
            answer: pageSchema(answer),
            queryParameters: { ...paging, ...queryParameters },
            ...given,
            handle: async (visit: Visits[D]) => {
              const { rows, count } = await handle(visit)
              return pageWith(await presentAll(visit, rows), count, visit)
            },
          }),
        create: (given) => one({ method: 'POST', name: 'create', status: 201, ...given }),
        retrieve: (given) => one({ method: 'GET', path: ':id', name: 'retrieve', ...given }),
        update: (given) => one({ method: 'PATCH', path: ':id', name: 'update', ...given }),
        replace: (given) => one({ method: 'PUT', path: ':id', name: 'replace', ...given }),
        remove: (given) => make({ method: 'DELETE', path: ':id', name: 'remove', ...given }),
      })
    },
  })
