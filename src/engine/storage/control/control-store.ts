import type * as ports from '../../../lib/rows/ports.ts'
import type { ColumnKind, Kinds, Shape, Shapes, Store, WritableRows, WriteAll } from '../../../lib/rows/ports.ts'
import type { Sql, SqlRow, SqlValue } from '../sql.ts'

// Account data as rows of `control.<table>`: a database of that name in DuckDB, a schema in PostgreSQL. The statements work on both. One process
// owns the file, so short tables are also held in memory: reads use the memory, and writes replace a table's rows there in one step, after their
// commit.

type Kind = keyof Kinds
type Row = Readonly<Record<string, unknown>>
type Condition = ports.Condition<Row>
type FindOptions = ports.FindOptions<Row>
type Where = ports.Where<Row>

const sqlTypes: Readonly<Record<Kind, string>> = {
  text: 'VARCHAR',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
  json: 'VARCHAR',
}
const kindOf = (column: ColumnKind) => column.replace('?', '') as Kind

/** Where the tables are. */
export interface ControlPlace {
  readonly schema: string
  /** A column by which rows keep the order in which they were inserted, with its type. Null: the database keeps it. */
  readonly rowNumber: { readonly name: string; readonly type: string } | null
}
const ownFile: ControlPlace = { schema: 'control', rowNumber: null }

const createTable = (table: string, shape: Shape, { schema, rowNumber } = ownFile): string => {
  const columns = Object.entries(shape).map(
    ([name, column]) => `${name} ${sqlTypes[kindOf(column)]}${column.endsWith('?') ? '' : ' NOT NULL'}`,
  )
  if (rowNumber) columns.push(`${rowNumber.name} ${rowNumber.type}`)
  return `CREATE TABLE ${schema}.${table} (${columns.join(', ')})`
}

/** Columns that older rows do not have: they are null there, so a new column must be nullable. */
const addColumns = (table: string, shape: Shape, known: ReadonlySet<string>, schema: string): string[] =>
  Object.entries(shape)
    .filter(([name]) => !known.has(name))
    .map(([name, column]) => {
      if (!column.endsWith('?')) throw new TypeError(`${table}.${name} is new and does not allow null`)
      return `ALTER TABLE ${schema}.${table} ADD COLUMN ${name} ${sqlTypes[kindOf(column)]}`
    })

/** The statements that create missing tables and columns, by table. */
const missing = async (sql: Sql, shapes: Shapes, place: ControlPlace): Promise<ReadonlyMap<string, readonly string[]>> => {
  const columns = new Map<string, Set<string>>()
  const { schema } = place
  // On a server, the database may have the name of the schema.
  const columnsOf = place === ownFile ? `'${schema}' IN (table_catalog, table_schema)` : `table_schema = '${schema}'`
  const text = `SELECT table_name, column_name FROM information_schema.columns WHERE ${columnsOf}`
  for (const row of await sql.rows(text)) {
    const table = String(row.table_name)
    columns.set(table, (columns.get(table) ?? new Set()).add(String(row.column_name)))
  }
  const statements = Object.entries(shapes).map(([name, shape]) => {
    const known = columns.get(name)
    return [name, known ? addColumns(name, shape, known, schema) : [createTable(name, shape, place)]] as const
  })
  return new Map(statements.filter(([, list]) => list.length > 0))
}

const noChanges: Awaited<ReturnType<typeof missing>> = new Map()

const toSql = (value: unknown, kind: Kind): SqlValue => {
  if (kind === 'json') return JSON.stringify(value ?? null)
  return value instanceof Date ? value.toISOString().slice(0, -1) : (value as SqlValue)
}
const fromSql = (value: unknown, kind: Kind): unknown => {
  if (value === null || value === undefined) return null
  if (kind === 'time') return new Date(`${String(value).replace(' ', 'T')}Z`)
  if (kind === 'integer') return Number(value)
  return kind === 'json' ? JSON.parse(String(value)) : value
}

const likeText = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** `a = $1 AND b IN ($2, $3)`, numbered after the parameters already used. */
const condition = (where: Where, shape: Shape, params: SqlValue[], { search = [], between = {} }: Condition = {}): string => {
  const next = (value: SqlValue): string => `$${params.push(value)}`
  const time = (value: Date): string => `CAST(${next(toSql(value, 'time'))} AS TIMESTAMP)`
  const searched = search.map(({ text, in: columns }) => {
    if (columns.length === 0) return '1 = 0'
    const pattern = next(likeText(text))
    return `(${columns.map((name) => `${name} ILIKE ${pattern} ESCAPE '\\'`).join(' OR ')})`
  })
  const ranges = Object.entries(between).flatMap(([name, range]) => [
    ...(range?.from ? [`${name} >= ${time(range.from)}`] : []),
    ...(range?.to ? [`${name} < ${time(range.to)}`] : []),
  ])
  const equal = Object.entries(where).map(([name, value]) => {
    const kind = kindOf(shape[name]!)
    const parameter = (one: unknown) => {
      params.push(toSql(one, kind))
      return kind === 'time' ? `CAST($${params.length} AS TIMESTAMP)` : `$${params.length}`
    }
    if (Array.isArray(value)) {
      const others = value.filter((one) => one !== null)
      const parts = [
        ...(others.length > 0 ? [`${name} IN (${others.map(parameter).join(', ')})`] : []),
        ...(others.length < value.length ? [`${name} IS NULL`] : []),
      ]
      return parts.length > 0 ? `(${parts.join(' OR ')})` : '1 = 0'
    }
    return value === null ? `${name} IS NULL` : `${name} = ${parameter(value)}`
  })
  const parts = [...equal, ...searched, ...ranges]
  return parts.length > 0 ? ` WHERE ${parts.join(' AND ')}` : ''
}

/** The columns of an order, the last of them unique. */
const orderOf = ({ newestFirst, orderBy }: FindOptions, hasId = true): NonNullable<FindOptions['orderBy']> => {
  const asked = orderBy ?? (newestFirst ? [{ column: newestFirst, isDescending: true }] : [])
  const last = asked.at(-1)
  return last && hasId && last.column !== 'id' ? [...asked, { column: 'id', isDescending: last.isDescending === true }] : asked
}

/** One table, accessed by statements only. */
class SqlTable implements WritableRows<Row> {
  private readonly table: string
  constructor(
    private readonly sql: Sql,
    name: string,
    readonly shape: Shape,
    private readonly place: ControlPlace,
  ) {
    this.table = `${place.schema}.${name}`
  }

  async find(where: Where, options: FindOptions = {}): Promise<Row[]> {
    const params: SqlValue[] = []
    const columns = Object.entries(this.shape).map(([name, kind]) => {
      if (options.without?.includes(name)) return `NULL AS ${name}`
      return kindOf(kind) === 'time' ? `CAST(${name} AS VARCHAR) AS ${name}` : name
    })
    // Qualified: a time is selected as text under the name of its column.
    const order = orderOf(options, 'id' in this.shape).map(
      ({ column, isDescending }) => `${this.table}.${column}${isDescending ? ' DESC' : ''} NULLS LAST`,
    )
    if (this.place.rowNumber && order.length === 0) order.push(this.place.rowNumber.name)
    const ordered = order.length > 0 ? ` ORDER BY ${order.join(', ')}` : ''
    const limit = options.limit === undefined ? '' : ` LIMIT ${Math.trunc(options.limit)} OFFSET ${Math.trunc(options.offset ?? 0)}`
    const text = `SELECT ${columns.join(', ')} FROM ${this.table}${condition(where, this.shape, params, options)}${ordered}${limit}`
    return (await this.sql.rows(text, params)).map((row) => this.read(row))
  }

  async first(where: Where): Promise<Row | undefined> {
    return (await this.find(where, { limit: 1 }))[0]
  }

  async count(where: Where, more: Condition = {}): Promise<number> {
    const params: SqlValue[] = []
    const text = `SELECT count(*) AS n FROM ${this.table}${condition(where, this.shape, params, more)}`
    const rows = await this.sql.rows(text, params)
    return Number(rows[0]?.n)
  }

  async insert(row: Row): Promise<void> {
    const names = Object.keys(this.shape)
    const placeholders = names.map((name, i) => (kindOf(this.shape[name]!) === 'time' ? `CAST($${i + 1} AS TIMESTAMP)` : `$${i + 1}`))
    const params = names.map((name) => toSql(row[name] ?? null, kindOf(this.shape[name]!)))
    await this.sql.run(`INSERT INTO ${this.table} (${names.join(', ')}) VALUES (${placeholders.join(', ')})`, params)
  }

  async update(where: Where, change: Row): Promise<number> {
    const params: SqlValue[] = []
    const sets = Object.entries(change).map(([name, value]) => {
      const kind = kindOf(this.shape[name]!)
      params.push(toSql(value ?? null, kind))
      return `${name} = ${kind === 'time' ? `CAST($${params.length} AS TIMESTAMP)` : `$${params.length}`}`
    })
    if (sets.length === 0) return this.count(where)
    return this.sql.run(`UPDATE ${this.table} SET ${sets.join(', ')}${condition(where, this.shape, params)}`, params)
  }

  async remove(where: Where): Promise<number> {
    const params: SqlValue[] = []
    return this.sql.run(`DELETE FROM ${this.table}${condition(where, this.shape, params)}`, params)
  }

  private read(row: SqlRow): Row {
    return Object.fromEntries(Object.entries(this.shape).map(([name, kind]) => [name, fromSql(row[name], kindOf(kind))]))
  }
}

const same = (a: unknown, b: unknown) => a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())
const holds = (row: Row, where: Where) =>
  Object.entries(where).every(([name, value]) =>
    Array.isArray(value) ? value.some((one) => same(row[name], one)) : same(row[name], value),
  )

/** A snapshot of a table's rows. The index of a column is built when it is first used. */
class Snapshot {
  private readonly indexes = new Map<string, Map<unknown, Row[]>>()
  constructor(readonly rows: readonly Row[]) {}

  matching(where: Where): readonly Row[] {
    const [first, ...others] = Object.entries(where)
    if (!first) return this.rows
    const [name, value] = first
    // The index does not find equal times.
    if ([value].flat().some((one) => one instanceof Date)) return this.rows.filter((row) => holds(row, where))
    const index = this.index(name)
    const found = Array.isArray(value) ? [...new Set(value)].flatMap((one) => index.get(one) ?? []) : (index.get(value) ?? [])
    return others.length > 0 ? found.filter((row) => holds(row, where)) : found
  }

  private index(name: string): Map<unknown, Row[]> {
    const known = this.indexes.get(name)
    if (known) return known
    const index = new Map<unknown, Row[]>()
    for (const row of this.rows) {
      const group = index.get(row[name])
      if (group) group.push(row)
      else index.set(row[name], [row])
    }
    this.indexes.set(name, index)
    return index
  }
}

const isIn = (row: Row, { search = [], between = {} }: Condition): boolean =>
  search.every(({ text, in: columns }) => columns.some((name) => textOf(row[name]).toLowerCase().includes(text.toLowerCase()))) &&
  Object.entries(between).every(([name, range]) => {
    const value = row[name]
    if (!range?.from && !range?.to) return true
    return value instanceof Date && !(range?.from && value < range.from) && !(range?.to && value >= range.to)
  })
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

const compared = (a: unknown, b: unknown, isDescending: boolean): number => {
  if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0)
  const [x, y] = [a, b].map((one) => (one instanceof Date ? one.getTime() : (one as number | string))) as [number, number]
  return (x < y ? -1 : x > y ? 1 : 0) * (isDescending ? -1 : 1)
}
const arrange = (found: readonly Row[], options: FindOptions = {}): readonly Row[] => {
  const { search, between, limit, offset = 0, without = [] } = options
  const rows = search || between ? found.filter((row) => isIn(row, options)) : found
  const order = orderOf(options)
  const compare = (a: Row, b: Row) => {
    for (const { column, isDescending = false } of order) {
      const difference = compared(a[column] ?? null, b[column] ?? null, isDescending)
      if (difference !== 0) return difference
    }
    return 0
  }
  const ordered = order.length > 0 ? [...rows].sort(compare) : rows
  const asked = limit === undefined && offset === 0 ? ordered : ordered.slice(offset, limit === undefined ? undefined : offset + limit)
  if (without.length === 0) return asked
  const nothing = Object.fromEntries(without.map((name) => [name, null]))
  return asked.map((row) => ({ ...row, ...nothing }))
}

/** A short table: writes use statements, reads use memory. `current` returns the rows that the reader sees. */
class HeldTable implements WritableRows<Row> {
  constructor(
    private readonly table: SqlTable,
    private readonly current: () => Snapshot,
    private readonly replace: (rows: readonly Row[]) => void,
  ) {}

  find = async (where: Where, options?: FindOptions) => arrange(this.current().matching(where), options)
  first = async (where: Where) => this.current().matching(where)[0]
  count = async (where: Where, more: Condition = {}) => arrange(this.current().matching(where), more).length

  insert = async (row: Row) => {
    await this.table.insert(row)
    this.replace([...this.current().rows, row])
  }
  update = async (where: Where, change: Row) => {
    const found = new Set(this.current().matching(where))
    if (found.size > 0) await this.table.update(where, change)
    if (found.size > 0) this.replace(this.current().rows.map((row) => (found.has(row) ? { ...row, ...change } : row)))
    return found.size
  }
  remove = async (where: Where) => {
    const found = new Set(this.current().matching(where))
    if (found.size > 0) await this.table.remove(where)
    if (found.size > 0) this.replace(this.current().rows.filter((row) => !found.has(row)))
    return found.size
  }
}

/** The statements that create all tables. */
export const createTables = (shapes: Shapes): string[] => Object.entries(shapes).map(([name, shape]) => createTable(name, shape))

export interface ControlOptions {
  /** All tables have just been created. */
  readonly isNew?: boolean
  /** Tables that are accessed by statements only. */
  readonly long?: readonly string[]
  /** Called after tables were created or changed. */
  readonly onChange?: () => Promise<void>
  /** Default: the tables are those of a file of this process. */
  readonly place?: ControlPlace
  /** Read-only: missing tables, and tables that lack a column, are empty. */
  readonly isReadOnly?: boolean
}

/** Opens the tables of `shapes`, and creates missing tables and columns. */
export async function openControl<S extends Shapes>(sql: Sql, shapes: S, options: ControlOptions = {}): Promise<Store<S>> {
  const long = new Set(options.long)
  const { place = ownFile } = options
  const committed = new Map<string, Snapshot>()
  const changes = options.isNew ? noChanges : await missing(sql, shapes, place)
  if (!options.isReadOnly) {
    for (const statement of [...changes.values()].flat()) await sql.run(statement)
    if (changes.size > 0) await options.onChange?.()
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const isEmpty = options.isNew || (options.isReadOnly && changes.has(name))
    if (!long.has(name)) committed.set(name, new Snapshot(isEmpty ? [] : await new SqlTable(sql, name, shape, place).find({})))
  }

  const tables = (on: Sql, seen: (name: string) => Snapshot, replace: (name: string, rows: readonly Row[]) => void) =>
    Object.fromEntries(
      Object.entries(shapes).map(([name, shape]): [string, WritableRows<Row>] => {
        const table = new SqlTable(on, name, shape, place)
        return [
          name,
          long.has(name)
            ? table
            : new HeldTable(
                table,
                () => seen(name),
                (rows) => replace(name, rows),
              ),
        ]
      }),
    ) as WriteAll<S> // their columns are those of the shapes

  const readOnly = () => {
    throw new TypeError('Tables are changed through write()')
  }
  let turn: Promise<unknown> = Promise.resolve()
  return {
    read: tables(sql, (name) => committed.get(name)!, readOnly),
    write: (work) => {
      const result = turn.then(async () => {
        const changed = new Map<string, Snapshot>()
        const answer = await sql.transaction((on) =>
          work(
            tables(
              on,
              (name) => changed.get(name) ?? committed.get(name)!,
              (name, rows) => changed.set(name, new Snapshot(rows)),
            ),
          ),
        )
        for (const [name, rows] of changed) committed.set(name, rows)
        return answer
      })
      turn = result.catch(() => undefined)
      return result
    },
  }
}
