import * as api from '@aws-sdk/client-s3'
import { afterAll, beforeAll, test } from 'vitest'
import { type Postgres, startPostgres, whyNoPostgres } from '../../harness/postgres.ts'
import { type S3Server, startS3, whyNoS3 } from '../../harness/s3-server.ts'
import { type KillTarget, killRounds } from './kill-rounds.ts'

// Killed on the way to servers that go on.

const why = whyNoPostgres() ?? whyNoS3()
if (why) console.warn(`NOT RUN: kills of exports to PostgreSQL and S3: ${why}`)

let database: Postgres
let storage: S3Server
let client: api.S3Client
const Bucket = 'kills'
beforeAll(async () => {
  if (why) return
  database = await startPostgres()
  storage = await startS3()
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  client = new api.S3Client({ region: 'us-east-1', endpoint: storage.url, forcePathStyle: true, credentials })
  await client.send(new api.CreateBucketCommand({ Bucket }))
})
afterAll(async () => {
  client?.destroy()
  await storage?.stop()
  await database?.stop()
})

const postgres = (): KillTarget => ({
  type: 'Postgres',
  config: { host: '127.0.0.1', port: database.port, user: 'waymark', password: 'any', database: 'postgres' },
  found: async () => {
    const [found] = await database.sql.rows<{ rows: number; uuids: number }>(
      'SELECT count(*)::int AS rows, count(DISTINCT uuid)::int AS uuids FROM events',
    )
    return found!
  },
})

const s3 = (): KillTarget => ({
  type: 'S3',
  config: {
    bucket_name: Bucket,
    region: 'us-east-1',
    prefix: 'rows',
    endpoint_url: storage.url,
    aws_access_key_id: 'key',
    aws_secret_access_key: 'secret',
  },
  found: async () => {
    const { Contents = [] } = await client.send(new api.ListObjectsV2Command({ Bucket }))
    const texts = await Promise.all(
      Contents.map(async ({ Key }) => (await client.send(new api.GetObjectCommand({ Bucket, Key }))).Body!.transformToString()),
    )
    const uuids = texts.flatMap((text) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { uuid: string }).uuid),
    )
    return { rows: uuids.length, uuids: new Set(uuids).size }
  },
})

test.skipIf(why !== null)('a process that is killed on the way to PostgreSQL and S3 exports each event exactly once', async () => {
  await killRounds(24, (kill, steps) => 1 + Math.floor(((kill + 0.5) * steps) / 24), [postgres(), s3()])
})
