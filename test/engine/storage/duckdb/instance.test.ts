import { getEventListeners } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultMemoryLimit, memoryBytes, serverMemory } from '../../../../src/engine/storage/duckdb/budget.ts'
import { BrokenFileError, type Instance, openInstance } from '../../../../src/engine/storage/duckdb/instance.ts'
import type { FileFormat } from '../../../../src/engine/storage/format.ts'
import { moreForLists } from '../../../../src/engine/storage/open-stores.ts'

let dataDir: string
let instance: Instance | null = null
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'waymark-instance-'))
  mkdirSync(join(dataDir, 'projects', '1'), { recursive: true })
})
afterEach(async () => {
  await instance?.close()
  instance = null
  rmSync(dataDir, { recursive: true, force: true })
})
const reopen = async (options: Partial<Parameters<typeof openInstance>[0]> = {}): Promise<Instance> => {
  await instance?.close()
  instance = await openInstance({ dataDir, memoryLimit: '256MB', threads: 2, ...options })
  return instance
}

const create = (version: number) => (database: string) => [
  `CREATE TABLE "${database}".main.meta (key VARCHAR, value VARCHAR)`,
  `INSERT INTO "${database}".main.meta VALUES ('format', '${version}')`,
]
const things: FileFormat = {
  version: 1,
  create: (database) => [...create(1)(database), `CREATE TABLE "${database}".main.things (a INTEGER)`],
  migrations: [],
}
const things3: FileFormat = {
  version: 3,
  create: create(3),
  migrations: [
    { to: 2, statements: (database) => [`ALTER TABLE "${database}".main.things ADD COLUMN b INTEGER DEFAULT 7`] },
    { to: 3, statements: (database) => [`UPDATE "${database}".main.things SET b = b + a`] },
  ],
}

describe('one instance for the directory', () => {
  test('budgets are set and cannot be changed by a statement', async () => {
    const db = await reopen()
    const [settings] = await db.rows(
      "SELECT current_setting('threads') AS threads, current_setting('memory_limit') AS memory, current_setting('temp_directory') AS temp, current_setting('TimeZone') AS zone",
    )
    expect(settings).toEqual({ threads: 2n, memory: '244.1 MiB', temp: join(dataDir, 'tmp'), zone: 'UTC' })
    await expect(db.run('SET threads = 1')).rejects.toThrow(/locked/)
    await expect(db.run("ATTACH '/var/tmp/elsewhere.duckdb' AS elsewhere")).rejects.toThrow(/disabled by configuration/)
    await expect(db.run("SELECT * FROM read_text('/etc/hostname')")).rejects.toThrow(/disabled by configuration/)
  })

  test('a file that is closed waits for its last transaction', async () => {
    const db = await reopen()
    const name = await db.attachProject(1)
    const insert = (key: string) => `INSERT INTO "${name}".main.meta VALUES ('${key}', 'x')`
    await db.run(insert('first'))
    const connection = await db.connect()
    await connection.run('BEGIN')
    await connection.run(`DELETE FROM "${name}".main.meta WHERE key = 'first'`)
    await connection.run(insert('last'))
    await connection.run(`CREATE TABLE "${name}".main.more (a INTEGER)`)
    await expect(db.checkpoint(name)).rejects.toThrow(/other write transactions/)
    let isClosed = false
    const closing = db.closeFile(name).then(() => {
      isClosed = true
    })
    await db.rows('SELECT 1')
    expect(isClosed).toBe(false)
    await connection.run('COMMIT')
    connection.closeSync()
    await closing
    await db.attachProject(1)
    expect(await db.rows(`SELECT key FROM "${name}".main.meta WHERE value = 'x' ORDER BY ALL`)).toEqual([{ key: 'last' }])
  })

  test('a project keeps its rows over a restart, a dropped one leaves nothing', async () => {
    let db = await reopen()
    const name = await db.attachProject(1)
    await db.run(`INSERT INTO ${name}.main.event_names (event_id, name, count) VALUES (1, $1, 5)`, ["it's"])
    db = await reopen()
    await db.attachProject(1)
    expect(await db.rows(`SELECT name, count FROM ${name}.main.event_names`)).toEqual([{ name: "it's", count: 5n }])
    await db.dropProject(1)
    expect(readdirSync(join(dataDir, 'projects'))).toEqual([])
  })

  test(':memory: puts nothing on disk', async () => {
    const db = await reopen({ dataDir: ':memory:' })
    const name = await db.attachProject(1)
    await db.run(`INSERT INTO ${name}.main.person_merges VALUES (1, 2)`)
    expect(await db.rows(`SELECT survivor FROM ${name}.main.person_merges`)).toEqual([{ survivor: 2 }])
    expect(existsSync(':memory:')).toBe(false)
  })

  test('a transaction is all or nothing, and leaves its connection clean', async () => {
    const db = await reopen({ connections: 1 })
    await db.attach('things', 'things.duckdb', things)
    const failing = db.transaction(async (sql) => {
      await sql.run('INSERT INTO things.main.things VALUES (1)')
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    await db.transaction((sql) => sql.run('INSERT INTO things.main.things VALUES (2)'))
    expect(await db.rows('SELECT a FROM things.main.things')).toEqual([{ a: 2 }])
  })
})

describe('formats', () => {
  test('an older file is migrated step by step, keeping its rows', async () => {
    let db = await reopen()
    await db.attach('things', 'things.duckdb', things)
    await db.run('INSERT INTO things.main.things VALUES (1), (2)')
    db = await reopen()
    await db.attach('things', 'things.duckdb', things3)
    expect(await db.rows('SELECT a, b FROM things.main.things ORDER BY a')).toEqual([
      { a: 1, b: 8 },
      { a: 2, b: 9 },
    ])
    expect(await db.rows('SELECT value FROM things.main.meta')).toEqual([{ value: '3' }])
  })

  test('a newer file is refused by name and left alone', async () => {
    let db = await reopen()
    await db.attach('things', 'things.duckdb', things3)
    db = await reopen()
    await expect(db.attach('things', 'things.duckdb', things)).rejects.toMatchObject({
      code: 'newer-format',
      data: { file: expect.stringMatching(/\/things\.duckdb$/), found: 3, supported: 1 },
    })
    await db.attach('things', 'things.duckdb', things3)
  })

  test('a step that fails leaves the version before it', async () => {
    let db = await reopen()
    await db.attach('things', 'things.duckdb', things)
    db = await reopen()
    const broken: FileFormat = {
      version: 3,
      create: create(3),
      migrations: [
        things3.migrations[0]!,
        { to: 3, statements: (database) => [`DROP TABLE "${database}".main.things`, 'SELECT * FROM nowhere'] },
      ],
    }
    await expect(db.attach('things', 'things.duckdb', broken)).rejects.toThrow(/nowhere/)
    await db.attach('things', 'things.duckdb', things3)
    expect(await db.rows('SELECT count(*)::INTEGER AS n FROM things.main.things')).toEqual([{ n: 0 }])
  })

  const damages: readonly [string, (file: string) => void][] = [
    ['empty', (file) => truncateSync(file, 0)],
    ['cut', (file) => truncateSync(file, 9000)],
    ['not a database', (file) => writeFileSync(file, Buffer.alloc(50_000, 7))],
  ]
  test.each(damages)('a file that is %s is broken, and stays as it is for the rescue', async (_, damage) => {
    let db = await reopen()
    await db.attach('things', 'things.duckdb', things)
    await db.close()
    instance = null
    damage(join(dataDir, 'things.duckdb'))
    db = await reopen()
    await expect(db.attach('things', 'things.duckdb', things)).rejects.toThrow(BrokenFileError)
    expect(existsSync(join(dataDir, 'things.duckdb'))).toBe(true)
  })
})

describe('connections', () => {
  const endless = 'SELECT count(*) FROM range(100000000000) a, range(1000) b'

  test('an aborted signal interrupts the statement and frees its connection', async () => {
    const db = await reopen({ connections: 1 })
    const stop = new AbortController()
    const running = db.use((connection) => connection.run(endless), stop.signal)
    setImmediate(() => stop.abort())
    await expect(running).rejects.toMatchObject({ code: 'query-cancelled' })
    expect(await db.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('users beyond the pool wait their turn, and an abort takes them out of the queue', async () => {
    const db = await reopen({ connections: 1 })
    const held = await db.acquire()
    const stop = new AbortController()
    const order: string[] = []
    const leaves = db.use(async () => order.push('never'), stop.signal)
    const stays = db.use(async () => order.push('stays'))
    stop.abort()
    await expect(leaves).rejects.toMatchObject({ code: 'query-cancelled' })
    db.release(held)
    await stays
    expect(order).toEqual(['stays'])
  })

  test('users with one signal share one listener, and an abort takes all of them out of the queue', async () => {
    const db = await reopen({ connections: 1 })
    const held = await db.acquire()
    const stop = new AbortController()
    const users = Array.from({ length: 50 }, () => db.use(async () => 'never', stop.signal))
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1)
    stop.abort()
    for (const result of await Promise.allSettled(users)) expect(result).toMatchObject({ reason: { code: 'query-cancelled' } })
    db.release(held)
    expect(await db.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('closing refuses those who wait and those who come', async () => {
    const db = await reopen({ connections: 1 })
    const held = await db.acquire()
    const waits = expect(db.acquire()).rejects.toMatchObject({ code: 'closed' })
    const closed = db.close()
    instance = null
    await waits
    await expect(db.acquire()).rejects.toMatchObject({ code: 'closed' })
    db.release(held)
    await closed
  })
})

test.each([
  [1024 ** 3, 429_496_729],
  [64 * 1024 ** 3, 2 * 1024 ** 3],
])('of %d bytes of machine the default budget is %d', (machine, limit) => {
  expect(defaultMemoryLimit(machine)).toBe(limit)
})

const gib = 1024 ** 3
test.each([
  [1, 0.4, 0.1],
  [4, 1.6, 0.4],
  [8, 2, 1],
  [10, 2, 1.5],
  [24, 4.8, 5],
  [64, 12.8, 15],
])('of %d GiB of machine a server takes %d GiB for stores and %d for lists', (machine, stores, lists) => {
  const { memoryLimit, listMemory } = serverMemory(machine * gib)
  expect(memoryLimit / gib).toBeCloseTo(stores, 6)
  expect(listMemory / gib).toBeCloseTo(lists, 6)
})

test.each([
  [undefined, 0],
  [0, 0],
  ['512MiB', 0],
  ['3GiB', 2.5],
])('the engine process may use what lists of %s take beyond a quarter of 2 GiB', (listMemory, more) => {
  expect(moreForLists(2 * gib, listMemory) / gib).toBe(more)
})

test('blocks of files leave memory when they are not in use, and the limit stays', async () => {
  const db = await reopen({ memoryLimit: '512MB' })
  await db.attach('big', 'big.duckdb', things)
  await db.run('CREATE TABLE big.main.numbers AS SELECT hash(range)::VARCHAR || hash(range * 3)::VARCHAR AS a FROM range(1000000)')
  await db.checkpoint('big')
  const limit = async () => (await db.rows("SELECT current_setting('memory_limit') AS value"))[0]!.value
  const before = await limit()
  await db.rows('SELECT max(a) FROM big.main.numbers')
  const full = await db.counted()
  await db.releaseMemory(4e6)
  expect(full).toBeGreaterThan(15e6)
  expect(await db.counted()).toBeLessThan(full / 4)
  expect(await limit()).toBe(before)
})

test.each([
  ['512MB', 512e6],
  ['1.5 GiB', 1.5 * 1024 ** 3],
  [1e9, 1e9],
])('memoryLimit %s is %d bytes', (value, bytes) => {
  expect(memoryBytes(value)).toBe(bytes)
})
test.each(['lots', '12', '1MB', -1, Number.NaN])('memoryLimit %s is refused', (value) => {
  expect(() => memoryBytes(value)).toThrow(/memoryLimit/)
})
