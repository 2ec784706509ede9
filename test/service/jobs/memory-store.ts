import type { AccountStore } from '../../../src/service/accounts/records.ts'

// An account store in memory, with the tables that a test names. Writes are one at a time, and none of one that fails is kept.

type Row = Readonly<Record<string, unknown>>
type Tables = Readonly<Record<string, readonly Row[]>>

const same = (a: unknown, b: unknown) => a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())
const holds = (row: Row, where: Row) =>
  Object.entries(where).every(([name, value]) => (Array.isArray(value) ? value : [value]).some((one) => same(row[name], one)))

interface Options {
  readonly between?: Readonly<Record<string, { readonly from?: Date; readonly to?: Date }>>
  readonly orderBy?: readonly { readonly column: string }[]
  readonly limit?: number
  readonly without?: readonly string[]
}
const arranged = (rows: readonly Row[], { between = {}, orderBy: [order] = [], limit, without = [] }: Options = {}): readonly Row[] => {
  const isWithin = (row: Row) =>
    Object.entries(between).every(([name, { from, to }]) => {
      const value = row[name] as Date
      return (!from || value >= from) && (!to || value < to)
    })
  const found = rows.filter(isWithin)
  const nothing = Object.fromEntries(without.map((name) => [name, null]))
  return (order ? found.sort((a, b) => Number(a[order.column]) - Number(b[order.column])) : found)
    .slice(0, limit)
    .map((row) => (without.length > 0 ? { ...row, ...nothing } : row))
}

export function memoryStore(names: readonly string[]): AccountStore {
  let committed: Tables = Object.fromEntries(names.map((name) => [name, []]))
  const tables = (current: () => Tables, replace: (name: string, rows: readonly Row[]) => void) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          find: async (where: Row, options?: Options) =>
            arranged(
              current()[name]!.filter((row) => holds(row, where)),
              options,
            ),
          first: async (where: Row) => current()[name]!.find((row) => holds(row, where)),
          count: async (where: Row) => current()[name]!.filter((row) => holds(row, where)).length,
          insert: async (row: Row) => {
            if ('id' in row && current()[name]!.some(({ id }) => id === row.id)) throw new Error(`${name} has ${String(row.id)} already`)
            replace(name, [...current()[name]!, row])
          },
          update: async (where: Row, change: Row) => {
            const found = current()[name]!.filter((row) => holds(row, where))
            replace(
              name,
              current()[name]!.map((row) => (found.includes(row) ? { ...row, ...change } : row)),
            )
            return found.length
          },
          remove: async (where: Row) => {
            const kept = current()[name]!.filter((row) => !holds(row, where))
            const removed = current()[name]!.length - kept.length
            replace(name, kept)
            return removed
          },
        },
      ]),
    )
  let turn: Promise<unknown> = Promise.resolve()
  const store = {
    read: tables(
      () => committed,
      () => {
        throw new TypeError('Tables are changed through write()')
      },
    ),
    write: (work: (given: unknown) => Promise<unknown>) => {
      const result = turn.then(async () => {
        let draft = committed
        const answer = await work(
          tables(
            () => draft,
            (name, rows) => {
              draft = { ...draft, [name]: rows }
            },
          ),
        )
        committed = draft
        return answer
      })
      turn = result.catch(() => undefined)
      return result
    },
  }
  return store as unknown as AccountStore
}
