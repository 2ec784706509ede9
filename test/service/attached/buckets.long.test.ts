import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { open } from '../../../src/engine.ts'
import { startS3, whyNoS3 } from '../../harness/s3-server.ts'

// Files of a real server with the API of S3 (moto) beside the events.

const missing = whyNoS3()
if (missing) console.log(`SKIPPED  buckets beside the events: ${missing}`)

let s3: Awaited<ReturnType<typeof startS3>>
let root: string
beforeAll(async () => {
  if (missing) return
  s3 = await startS3()
  process.env.AWS_ACCESS_KEY_ID = 'test'
  process.env.AWS_SECRET_ACCESS_KEY = 'test'
  root = await mkdtemp(join(tmpdir(), 'waymark-bucket-'))
  const { CreateBucketCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
  const client = new S3Client({ endpoint: s3.url, region: 'us-east-1', forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: 'shop' }))
  const put = (Key: string, Body: string) => client.send(new PutObjectCommand({ Bucket: 'shop', Key, Body }))
  await put('billing/plans.csv', 'company,plan\nacme,pro\nglobex,free\n')
  await put('billing/notes.jsonl', '{"company":"acme","note":1}\n')
  await put('billing/deep/er/no.csv', 'a\n1\n')
  await put('billing/../../escape.csv', 'a\n1\n')
  await put('billing/readme.md', 'no rows')
  await put('elsewhere.csv', 'a\n1\n')
  client.destroy()
})
afterAll(async () => {
  await s3?.stop()
  if (root) await rm(root, { recursive: true, force: true })
})

test.skipIf(missing)('the files of a prefix are tables', async () => {
  const attach = { billing: `s3://shop/billing?endpoint=${s3.url}`, gone: `s3://nothing/here?endpoint=${s3.url}` }
  const reports: string[] = []
  await using waymark = await open({ dataDir: join(root, 'data'), attach, onError: (error) => reports.push(String(error)) })
  const project = await waymark.createProject({ name: 'Shop' })
  await waymark.attachedCopied()
  const sql = async (query: string) => (await project.query({ kind: 'SqlLikeQuery', query })).results
  const joined = 'select plan, note from billing.plans p left join billing.notes n on n.company = p.company order by plan'
  expect(await sql(joined)).toEqual([
    ['free', null],
    ['pro', 1],
  ])
  const names = (await sql('show tables')).map(([name]) => String(name)).filter((name) => name.includes('.'))
  expect(names).toEqual(['billing.notes', 'billing.plans'])
  await expect(sql('select * from gone.plans')).rejects.toMatchObject({ code: 'attached-unreadable' })
  expect(reports).toEqual([expect.stringContaining('The attached gone cannot be copied')])
})
