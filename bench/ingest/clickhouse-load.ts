import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { openChdb } from '../../test/clickhouse/chdb.ts'
import { EventMaker, type Shape } from './shapes.ts'

// How fast does ClickHouse load the same events from files: JSON lines and Parquet, with the properties as text and without any rules about persons?

export interface Loaded {
  /** Events a second. */
  readonly json: number
  readonly parquet: number
}

const batchSize = 1_000
const table = `(event LowCardinality(String), timestamp DateTime64(6, 'UTC'), distinct_id String, properties String CODEC(ZSTD(1)))
  ENGINE = MergeTree ORDER BY (toDate(timestamp), event, cityHash64(distinct_id))`

export async function loadClickHouse(wanted: {
  readonly shape: Shape
  readonly persons: number
  readonly events: number
}): Promise<Loaded> {
  const folder = mkdtempSync(join(tmpdir(), 'waymark-load-'))
  const [lines, parquet] = [join(folder, 'events.jsonl'), join(folder, 'events.parquet')]
  try {
    const maker = new EventMaker(wanted.shape, wanted.persons, wanted.events)
    const made = function* () {
      for (let done = 0; done < wanted.events; done += batchSize)
        yield `${maker
          .batch(Math.min(batchSize, wanted.events - done))
          .map((event) => JSON.stringify(event))
          .join('\n')}\n`
    }
    await pipeline(made, createWriteStream(lines))
    const instance = await DuckDBInstance.create()
    const connection = await instance.connect()
    await connection.run(
      `COPY (SELECT event, distinct_id, timestamp, properties::VARCHAR AS properties FROM read_json('${lines}', format = 'newline_delimited',
        columns = {event: 'VARCHAR', distinct_id: 'VARCHAR', timestamp: 'VARCHAR', properties: 'JSON'})) TO '${parquet}' (FORMAT parquet)`,
    )
    connection.closeSync()
    instance.closeSync()
    mkdirSync(join(folder, 'clickhouse'))
    const client = await openChdb(join(folder, 'clickhouse'))
    const load = async (from: string): Promise<number> => {
      await client.command({ query: `CREATE TABLE events ${table}` })
      const begun = performance.now()
      await client.command({
        query: `INSERT INTO events SELECT event, parseDateTime64BestEffort(timestamp, 6, 'UTC'), distinct_id, properties FROM ${from}`,
      })
      const seconds = (performance.now() - begun) / 1_000
      const answer = await client.query({ query: 'SELECT toUInt32(count()) AS n FROM events', format: 'JSONEachRow' })
      const [counted] = (await answer.json()) as [{ n: number }]
      if (counted.n !== wanted.events) throw new Error(`ClickHouse has ${counted.n} events instead of ${wanted.events}`)
      await client.command({ query: 'DROP TABLE events SYNC' })
      return Math.round(wanted.events / seconds)
    }
    const columns = 'event String, distinct_id String, timestamp String, properties String'
    const loaded = {
      json: await load(`file('${lines}', JSONEachRow, '${columns}')`),
      parquet: await load(`file('${parquet}', Parquet, '${columns}')`),
    }
    await client.close()
    return loaded
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
