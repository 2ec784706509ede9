import { Readable } from 'node:stream'
import { onCluster, shardTable } from './layout.ts'
import type { ClickHouseClient, Settings } from './requests.ts'

// Events that are divided among shards by the number of their person. `events` is a distributed table over all of them, which reads as one; what changes rows goes to
// the table of each shard. All other tables have all their rows on every server, so joins with them stay where the events are.

interface Shards {
  readonly cluster: string
  /** Their number. */
  readonly count: number
}

const shardSettings: Settings = {
  /** What a question asks of events within another one is answered by all shards first. */
  distributed_product_mode: 'global',
  /** An INSERT ends when the shards have its rows. */
  distributed_foreground_insert: 1,
}

const insertOfEvents = /^INSERT INTO events \((?:.|\n)*FORMAT JSONCompactEachRow\s*$/
/** The number of the person in a row as it is sent: after the project, the name, the uuid and the time. */
const personOfRow = /^\[\d+,"(?:[^"\\]|\\.)*","[^"]*","[^"]*",(\d+),/

/** The rows of each shard, as lines. */
function divided(lines: readonly string[], { count }: Shards): readonly (readonly string[])[] {
  const parts = Array.from({ length: count }, (): string[] => [])
  for (const line of lines) {
    const person = personOfRow.exec(line)?.[1] ?? String((JSON.parse(line) as unknown[])[4])
    parts[Math.abs(Number(person)) % count]!.push(line)
  }
  return parts
}

/** The statements that do on all shards what one does on a single server. */
export function onEachShard(query: string, cluster: string): readonly string[] {
  const everywhere = onCluster(cluster)
  const [, change] = /^(DELETE FROM|ALTER TABLE|TRUNCATE TABLE) events(?!\w)/.exec(query) ?? []
  if (change === undefined) return [query]
  const rest = query.slice(`${change} events`.length)
  const ofShards = `${change} ${shardTable}${everywhere}${rest}`
  // A reader has to know of new columns, too.
  return change === 'ALTER TABLE' && /^ ADD COLUMN /.test(rest) ? [ofShards, `ALTER TABLE events${everywhere}${rest}`] : [ofShards]
}

type Request = Parameters<ClickHouseClient['exec']>[0]
const nothing = { stream: (async function* () {})() }

/** The same client for events in shards. */
export function onShards(client: ClickHouseClient, shards: Shards): ClickHouseClient {
  const settled = <R extends { readonly clickhouse_settings?: Settings }>(request: R): R => ({
    ...request,
    clickhouse_settings: { ...shardSettings, ...request.clickhouse_settings },
  })
  const drained = async (request: Request): Promise<void> => {
    for await (const _ of (await client.exec(request)).stream);
  }
  /** Each shard has a token of its own: what it has, it does not take again, whatever the others have. */
  const insert = async (request: Request): Promise<void> => {
    const { insert_deduplication_token: token, ...settings } = request.clickhouse_settings ?? {}
    const lines = (await textOf(request.values!)).split('\n').filter((line) => line !== '')
    const ended = await Promise.allSettled(
      divided(lines, shards).map((part, i) => {
        const place = `${i + 1} of ${shards.count}`
        const own = { insert_shard_id: i + 1, ...(token !== undefined && { insert_deduplication_token: `${token} ${place}` }) }
        return part.length === 0
          ? undefined
          : drained({
              ...request,
              ...(request.query_id !== undefined && { query_id: `${request.query_id}-${i + 1}` }),
              values: Readable.from([part.join('\n')], { objectMode: false }),
              clickhouse_settings: { ...settings, ...own },
            })
      }),
    )
    // When none is on its way any more: what follows a failure looks at what is there.
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }
  const alone = async (query: string, run: (one: string) => Promise<unknown>): Promise<void> => {
    for (const one of onEachShard(query, shards.cluster)) await run(one)
  }
  return {
    async exec(request) {
      if (request.values && insertOfEvents.test(request.query)) {
        await insert(settled(request))
        return nothing
      }
      const statements = onEachShard(request.query, shards.cluster)
      for (const query of statements.slice(0, -1)) await drained(settled({ ...request, query }))
      return client.exec(settled({ ...request, query: statements.at(-1)! }))
    },
    command: (request) => alone(request.query, (query) => client.command(settled({ ...request, query }))),
    close: () => client.close(),
    layout: { cluster: shards.cluster, isSharded: true },
  }
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array))
  return Buffer.concat(chunks).toString()
}
