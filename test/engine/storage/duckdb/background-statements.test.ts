import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { BackgroundStatements } from '../../../../src/engine/storage/duckdb/background-statements.ts'

const withConnections = async (threads: number, work: (first: DuckDBConnection, second: DuckDBConnection) => Promise<void>) => {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(threads) })
  const [first, second] = [await instance.connect(), await instance.connect()]
  await first.run('CREATE TABLE source AS SELECT range AS n FROM range(100000)')
  await first.run('CREATE TABLE target (n BIGINT)')
  await work(first, second)
  first.closeSync()
  second.closeSync()
  instance.closeSync()
}
const counted = async (connection: DuckDBConnection) =>
  Number((await connection.runAndReadAll('SELECT count(*) FROM target')).getRows()[0]![0])
const insert = 'INSERT INTO target SELECT n FROM source'

describe('a statement in the background', () => {
  test('is part of the transaction of its connection', () =>
    withConnections(2, async (first, second) => {
      const statements = new BackgroundStatements(() => false)
      await first.run('BEGIN')
      await statements.run(first, insert)
      expect(await counted(second)).toBe(0)
      await first.run('COMMIT')
      expect(await counted(second)).toBe(100_000)
    }))

  test('is executed as soon as others need the threads of the engine: of a single thread it would never get one', () =>
    withConnections(1, async (first) => {
      let checks = 0
      await new BackgroundStatements(() => ++checks > 3).run(first, insert)
      expect(checks).toBe(4)
      expect(await counted(first)).toBe(100_000)
    }))

  test('fails with its own error, whoever executed it', () =>
    withConnections(2, async (first) => {
      for (const isShared of [false, true]) {
        const statements = new BackgroundStatements(() => isShared)
        const failing = statements.run(
          first,
          "INSERT INTO target SELECT CASE WHEN n = 90000 THEN error('row 90000') ELSE n END FROM source",
        )
        await expect(failing).rejects.toThrow(/^Invalid Input Error: row 90000$/)
        await statements.run(first, insert)
      }
    }))

  test('does not wait for another one', () =>
    withConnections(1, async (first, second) => {
      const statements = new BackgroundStatements(() => false)
      await Promise.all([statements.run(first, insert), statements.run(second, insert)])
      expect(await counted(first)).toBe(200_000)
    }))

  test('rejects with the error of the engine, when it is prepared and while it runs', () =>
    withConnections(2, async (first) => {
      const statements = new BackgroundStatements(() => false)
      await expect(statements.run(first, 'INSERT INTO nowhere SELECT n FROM source')).rejects.toThrow('nowhere')
      await expect(
        statements.run(first, "INSERT INTO target SELECT CASE WHEN n > 90000 THEN error('too many') END FROM source"),
      ).rejects.toThrow('too many')
      await statements.run(first, insert)
      expect(await counted(first)).toBe(100_000)
    }))

  test('ends when it is interrupted', () =>
    withConnections(2, async (first) => {
      const statements = new BackgroundStatements(() => false)
      const endless = statements.run(first, 'INSERT INTO target SELECT a.n FROM source a, source b WHERE a.n + b.n < 0')
      const interrupting = setInterval(() => first.interrupt(), 20)
      await expect(endless).rejects.toThrow('INTERRUPT')
      clearInterval(interrupting)
    }))
})
