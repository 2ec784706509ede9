import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as api from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExportRun } from '../../../src/service/exports/destinations/destination.ts'
import { s3 } from '../../../src/service/exports/destinations/s3.ts'
import { readSettings } from '../../../src/service/exports/settings.ts'
import { type S3Server, startS3, whyNoS3 } from '../../harness/s3-server.ts'
import { openShop, outside, type Shop } from './shop.ts'

const why = whyNoS3()
if (why) console.warn(`NOT RUN: exports to an S3 server: ${why}`)

let shop: Shop
beforeAll(async () => {
  shop = await openShop()
  await shop.ingest(1000)
})
afterAll(() => shop.close())

const credentials = { aws_access_key_id: 'key', aws_secret_access_key: 'secret' }

/** Counts and checksums of files, as DuckDB reads them. */
const sumsOf = async (files: readonly Uint8Array[], ending: string) => {
  const folder = join(shop.folder, 'read')
  await mkdir(folder, { recursive: true })
  const paths = await Promise.all(
    files.map(async (bytes, i) => {
      const path = join(folder, `${i}.${ending}`)
      await writeFile(path, bytes)
      return path
    }),
  )
  const list = `[${paths.map((path) => `'${path}'`).join()}]`
  const source = ending.startsWith('parquet') ? `read_parquet(${list})` : `read_json(${list}, format = 'newline_delimited')`
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const sql = `SELECT count(*)::INTEGER AS n, count(DISTINCT uuid)::INTEGER AS uuids, sum((properties->>'$.price')::INTEGER)::INTEGER AS total FROM ${source}`
    return (await connection.runAndReadAll(sql)).getRowObjectsJS()[0]
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
const sums = (n: number) => ({ n, uuids: n, total: (n * (n - 1)) / 2 })

describe.skipIf(why !== null)('a server with the API of S3', () => {
  let server: S3Server
  let client: api.S3Client
  const Bucket = 'exports'
  const config = (more: object = {}) => ({
    bucket_name: Bucket,
    region: 'us-east-1',
    prefix: 'shop/{year}/',
    endpoint_url: server.url,
    ...credentials,
    ...more,
  })
  beforeAll(async () => {
    server = await startS3()
    client = new api.S3Client({
      region: 'us-east-1',
      endpoint: server.url,
      forcePathStyle: true,
      credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    })
    await client.send(new api.CreateBucketCommand({ Bucket }))
  })
  afterAll(async () => {
    client?.destroy()
    await server?.stop()
  })
  const keys = async (Prefix: string) =>
    ((await client.send(new api.ListObjectsV2Command({ Bucket, Prefix }))).Contents ?? []).map(({ Key }) => Key!).sort()
  const bytesAt = async (Key: string) => (await client.send(new api.GetObjectCommand({ Bucket, Key }))).Body!.transformToByteArray()
  const uploads = async () => (await client.send(new api.ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []
  const interval = '2026-01-05T10:00:00+00:00-2026-01-05T11:00:00+00:00'

  test.each([
    ['JSONLines', null, 'jsonl'],
    ['JSONLines', 'gzip', 'jsonl.gz'],
    ['Parquet', 'zstd', 'parquet.zst'],
  ])('%s, compression %s: one object with all rows, also when the run is published twice', async (file_format, compression, ending) => {
    for (const _ of [1, 2]) {
      const done = await shop.run(s3, config({ prefix: `one/${ending}/{table}`, file_format, compression }))
      expect(done).toMatchObject({ total: 1000, rows: 1000 })
      const found = await keys(`one/${ending}/`)
      expect(found).toEqual([`one/${ending}/events/${interval}.${ending}`])
      expect(await sumsOf([await bytesAt(found[0]!)], ending)).toEqual(sums(1000))
    }
    expect(await uploads()).toEqual([])
  })

  test('several objects and a manifest; an earlier attempt with more objects leaves none behind', async () => {
    const several = config({ prefix: 'several', file_format: 'Parquet', max_file_size_mb: 0.02 })
    await client.send(new api.PutObjectCommand({ Bucket, Key: `several/${interval}-77.parquet`, Body: 'of an earlier attempt' }))
    await client.send(new api.PutObjectCommand({ Bucket, Key: `several/${interval}-77.parquet.txt`, Body: 'of somebody else' }))
    await shop.run(s3, several)
    const found = await keys('several/')
    expect(found).toContain(`several/${interval}-77.parquet.txt`)
    const manifest = JSON.parse(Buffer.from(await bytesAt(`several/${interval}.manifest.json`)).toString())
    const files = manifest.files.map(({ key }: { key: string }) => key)
    expect(found.filter((key) => key.endsWith('.parquet'))).toEqual([...files].sort())
    expect(manifest.files.reduce((sum: number, { rows }: { rows: number }) => sum + rows, 0)).toBe(1000)
    expect(await sumsOf(await Promise.all(files.map(bytesAt)), 'parquet')).toEqual(sums(1000))
  })

  test('large files are uploaded in parts', async () => {
    const path = join(shop.folder, 'large.jsonl')
    const content = Buffer.alloc(20 * 1024 ** 2, 'x')
    await writeFile(path, content)
    const run = {
      ...({} as ExportRun),
      id: 'r',
      export_id: 'e',
      model: 'events' as const,
      columns: [],
      start: null,
      end: new Date('2026-01-05T11:00:00Z'),
      isBackfill: true,
    }
    const { signal } = new AbortController()
    const sink = await s3.open(s3.config.parse(config({ prefix: 'large' })), run, outside, signal)
    await sink.write({ path, index: 0, rows: 1, bytes: content.length, format: 'JSONLines', compression: null }, signal)
    expect(await keys('large/'), 'nothing is visible before the end').toEqual([])
    expect(await uploads()).toHaveLength(1)
    await sink.publish(signal)
    const Key = 'large/START-2026-01-05T11:00:00+00:00-backfill.jsonl'
    expect(await keys('large/')).toEqual([Key])
    expect((await client.send(new api.HeadObjectCommand({ Bucket, Key, PartNumber: 1 }))).ContentLength).toBe(8 * 1024 ** 2)
    expect(Buffer.from(await bytesAt(Key)).equals(content)).toBe(true)
  })

  test('what a killed attempt left is removed by the next one, and what fails leaves nothing', async () => {
    const Key = `killed/${interval}.jsonl`
    await client.send(new api.CreateMultipartUploadCommand({ Bucket, Key }))
    await client.send(new api.CreateMultipartUploadCommand({ Bucket, Key: 'killed/other' }))
    await shop.run(s3, config({ prefix: 'killed' }))
    expect((await uploads()).map((one) => one.Key)).toEqual(['killed/other'])
    const stopped = new AbortController()
    const failing = {
      ...s3,
      open: async (...given: Parameters<typeof s3.open>) => {
        const sink = await s3.open(...given)
        return {
          ...sink,
          write: sink.write.bind(sink),
          discard: sink.discard.bind(sink),
          publish: async () => {
            throw new Error('killed')
          },
        }
      },
    }
    await expect(shop.run(failing, config({ prefix: 'failed' }), { signal: stopped.signal })).rejects.toThrow('killed')
    expect([await keys('failed/'), (await uploads()).map((one) => one.Key)]).toEqual([[], ['killed/other']])
  })

  test('encryption is asked for', async () => {
    await shop.run(s3, config({ prefix: 'locked', encryption: 'aws:kms', kms_key_id: 'alias/ours' }))
    const { ServerSideEncryption, SSEKMSKeyId } = await client.send(new api.HeadObjectCommand({ Bucket, Key: `locked/${interval}.jsonl` }))
    expect([ServerSideEncryption, SSEKMSKeyId]).toEqual(['aws:kms', 'alias/ours'])
  })

  test('the bucket is checked', async () => {
    const [step] = s3.steps(s3.config.parse(config()), outside)
    await step!.run(new AbortController().signal)
    const [wrong] = s3.steps(s3.config.parse(config({ bucket_name: 'nobody-has-this' })), outside)
    await expect(wrong!.run(new AbortController().signal)).rejects.toMatchObject({
      isRetryable: false,
      message: 'There is no bucket nobody-has-this. Create it, or change bucket_name.',
    })
    await expect(shop.run(s3, config({ bucket_name: 'nobody-has-this' }))).rejects.toThrow('There is no bucket nobody-has-this.')
  })
})

describe('a server that fails', () => {
  let server: Server
  let answer: { status: number; code: string } | 'drop' | 'nothing' = 'drop'
  const config = () => ({
    bucket_name: 'exports',
    region: 'us-east-1',
    prefix: 'x',
    endpoint_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...credentials,
  })
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume()
      if (answer === 'drop') return request.socket.destroy()
      if (answer === 'nothing') return
      response.writeHead(answer.status, { 'content-type': 'application/xml' })
      response.end(`<?xml version="1.0"?><Error><Code>${answer.code}</Code><Message>said so</Message></Error>`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test.each([
    [403, 'InvalidAccessKeyId', false, 'The access key does not exist. Check aws_access_key_id.'],
    [403, 'SignatureDoesNotMatch', false, 'The access key is refused. Check aws_secret_access_key.'],
    [403, 'AccessDenied', false, /^Access to the bucket exports is denied\. The access key needs s3:PutObject/],
    [301, 'PermanentRedirect', false, 'The bucket exports is not in the region us-east-1. Set region to that of the bucket.'],
    [507, 'XMinioStorageFull', true, /answered 507\. The storage of the server is full\.$/],
    [503, 'SlowDown', true, /answered 503\. S3 limits the rate of requests\.$/],
    [500, 'InternalError', true, /answered 500\. InternalError: said so$/],
  ])('%s %s', async (status, code, isRetryable, message) => {
    answer = { status, code }
    await expect(shop.run(s3, config())).rejects.toMatchObject({
      isRetryable,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  test('a connection that is closed or refused', async () => {
    answer = 'drop'
    const dropped = {
      isRetryable: true,
      message: expect.stringMatching(/^The S3 server at http:.* closed the connection before it had answered\.$/),
    }
    await expect(shop.run(s3, config())).rejects.toMatchObject(dropped)
    const refused = { isRetryable: true, message: expect.stringMatching(/refused the connection\. Check the host and the port/) }
    await expect(shop.run(s3, { ...config(), endpoint_url: 'http://127.0.0.1:1' })).rejects.toMatchObject(refused)
  })

  test('a server that does not answer is left when the run is cancelled', async () => {
    answer = 'nothing'
    const [step] = s3.steps(s3.config.parse(config()), outside)
    await expect(step!.run(AbortSignal.timeout(50))).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('without an access key, and at an address that is not allowed', async () => {
    await expect(shop.run(s3, { ...config(), aws_secret_access_key: null })).rejects.toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('aws_secret_access_key'),
    })
    const walled = {
      ...outside,
      mustBeAllowed: (host: string) => {
        throw new Error(`${host} is private`)
      },
    }
    const { signal } = new AbortController()
    await expect(s3.open(s3.config.parse(config()), {} as ExportRun, walled, signal)).rejects.toThrow()
    const [step] = s3.steps(s3.config.parse(config()), walled)
    await expect(step!.run(signal)).rejects.toThrow('127.0.0.1 is private')
    expect(() => readSettings('S3', { ...config(), endpoint_url: 'minio:9000' })).toThrow(
      'endpoint_url: Enter a URL such as https://s3.example.com. Change it in the settings of the export.',
    )
  })
})

test('formats and compressions that fit', () => {
  const read = (more: object) => s3.config.safeParse({ bucket_name: 'b', region: 'r', prefix: '', ...more }).success
  expect([
    read({}),
    read({ compression: 'gzip' }),
    read({ compression: 'zstd' }),
    read({ file_format: 'Parquet', compression: 'zstd' }),
    read({ encryption: 'none' }),
  ]).toEqual([true, true, false, true, false])
})
