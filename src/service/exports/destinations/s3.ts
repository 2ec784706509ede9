import { open } from 'node:fs/promises'
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Readable } from 'node:stream'
import type { CompletedPart, S3Client } from '@aws-sdk/client-s3'
import * as z from 'zod'
import { isWebAddress } from '../../../lib/web/web-address.ts'
import { choice, flag, text } from '../../accounts/fields.ts'
import { longestRequestMs, withinLimits } from '../writing/answer-limits.ts'
import { compressionMustFit, fileSettings, fileWish } from '../writing/file-settings.ts'
import { networkFailure } from '../writing/network-failure.ts'
import { baseKey, extension, fieldsMustBeKnown, fileKey, isFileKey } from '../writing/object-key.ts'
import { optionalPackage } from '../writing/optional-package.ts'
import { DestinationError, defineDestination, type ExportRun, type Outside, type RowFile, type Sink, usualLimits } from './destination.ts'

const optional = () => text({ blank: true }).nullable().default(null)

const config = z
  .object({
    bucket_name: text(),
    region: text(),
    prefix: text({ blank: true }).superRefine(fieldsMustBeKnown),
    aws_access_key_id: optional(),
    aws_secret_access_key: optional(),
    encryption: choice(['AES256', 'aws:kms']).nullable().default(null),
    kms_key_id: optional(),
    endpoint_url: optional().refine((url) => !url || isWebAddress(url), { error: 'Enter a URL such as https://s3.example.com.' }),
    use_virtual_style_addressing: flag().nullable().default(false),
    ...fileSettings,
  })
  .superRefine(compressionMustFit)
type Config = z.infer<typeof config>

/** Objects in a bucket of Amazon S3, or of a server with its API. They appear when their multipart uploads are completed, at the end of a run. */
export const s3 = defineDestination<Config>({
  type: 'S3',
  summary: 'JSONLines or Parquet files in a bucket of Amazon S3 or a compatible server.',
  config,
  secrets: ['aws_access_key_id', 'aws_secret_access_key'],
  sentTo: ['endpoint_url'],
  places: ({ endpoint_url }) => (endpoint_url ? [['endpoint_url', new URL(endpoint_url).hostname]] : []),
  files: fileWish,
  steps: (settings, outside) => [
    {
      name: 'Check S3 bucket exists',
      description: 'Ensure that the bucket exists, and that the credentials have access to it.',
      run: (signal) =>
        withBucket(settings, outside, async ({ api, client }) => {
          await client.send(new api.HeadBucketCommand({ Bucket: settings.bucket_name }), { abortSignal: signal })
        }),
    },
  ],
  open: async (settings, run, outside, signal) => {
    const sink = new S3Sink(settings, run, outside)
    await sink.begin(signal)
    return sink
  },
})

type Api = typeof import('@aws-sdk/client-s3')
interface Bucket {
  readonly api: Api
  readonly client: S3Client
}

/** An upload that is not completed: nobody sees the object yet. */
interface Upload {
  readonly Key: string
  readonly UploadId: string
  readonly parts: readonly CompletedPart[]
  readonly rows: number
  readonly bytes: number
}

/** S3 takes parts of 5 MiB to 5 GiB, 10,000 for an object. */
const mostParts = 10_000
const partBytes = 8 * 1024 ** 2
const mediaTypes = { JSONLines: 'application/x-ndjson', Parquet: 'application/vnd.apache.parquet', CSV: 'text/csv' } as const

class S3Sink implements Sink {
  private readonly base: string
  private readonly ending: string
  private readonly isNumbered: boolean
  private readonly uploads: Upload[] = []
  private readonly settings: Config
  private readonly run: ExportRun
  private readonly outside: Outside

  constructor(settings: Config, run: ExportRun, outside: Outside) {
    this.settings = settings
    this.run = run
    this.outside = outside
    this.base = baseKey(settings.prefix, run)
    const { format, compression, maxFileBytes } = fileWish(settings)
    this.ending = extension(format, compression)
    this.isNumbered = maxFileBytes !== null
  }

  /** Removes what an attempt that was killed has left. */
  begin(signal: AbortSignal): Promise<void> {
    return this.inBucket((bucket) => this.abortUploads(bucket, signal))
  }

  write(file: RowFile, signal: AbortSignal): Promise<void> {
    return this.inBucket(async ({ api, client }) => {
      const Bucket = this.settings.bucket_name
      const Key = fileKey(this.base, this.isNumbered ? file.index : null, this.ending)
      const options = { abortSignal: signal }
      const created = new api.CreateMultipartUploadCommand({ Bucket, Key, ContentType: mediaTypes[file.format], ...this.encryption })
      const { UploadId } = await client.send(created, options)
      const size = Math.max(partBytes, Math.ceil(file.bytes / mostParts))
      const parts: CompletedPart[] = []
      for await (const Body of partsOf(file.path, size)) {
        const PartNumber = parts.length + 1
        const { ETag } = await client.send(new api.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }), options)
        parts.push({ ETag, PartNumber })
      }
      this.uploads.push({ Key, UploadId: UploadId!, parts, rows: file.rows, bytes: file.bytes })
    })
  }

  publish(signal: AbortSignal): Promise<void> {
    return this.inBucket(async (bucket) => {
      const { api, client } = bucket
      const Bucket = this.settings.bucket_name
      const options = { abortSignal: signal }
      for (const { Key, UploadId, parts } of this.uploads) {
        const MultipartUpload = { Parts: [...parts] }
        await client.send(new api.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }), options)
      }
      const keys = new Set(this.uploads.map(({ Key }) => Key))
      for (const Key of await this.published(bucket, signal))
        if (!keys.has(Key)) await client.send(new api.DeleteObjectCommand({ Bucket, Key }), options)
      if (this.isNumbered && keys.size > 0) await client.send(new api.PutObjectCommand({ Bucket, ...this.manifest() }), options)
      this.uploads.length = 0
    })
  }

  discard(signal: AbortSignal): Promise<void> {
    return this.inBucket((bucket) => this.abortUploads(bucket, signal)).catch(() => undefined)
  }

  private inBucket<T>(work: (bucket: Bucket) => Promise<T>): Promise<T> {
    return withBucket(this.settings, this.outside, work)
  }

  private get encryption() {
    const { encryption, kms_key_id } = this.settings
    if (encryption === null) return {}
    return { ServerSideEncryption: encryption, ...(encryption === 'aws:kms' && kms_key_id ? { SSEKMSKeyId: kms_key_id } : {}) }
  }

  /** Written last: a reader that waits for it finds all objects. */
  private manifest() {
    const files = this.uploads.map(({ Key, rows, bytes }) => ({ key: Key, rows, bytes }))
    const { export_id, id, model, columns, start, end } = this.run
    const content = { export_id, run_id: id, model, data_interval_start: start, data_interval_end: end, columns, files }
    return { Key: `${this.base}.manifest.json`, Body: JSON.stringify(content), ContentType: 'application/json', ...this.encryption }
  }

  private async abortUploads({ api, client }: Bucket, abortSignal: AbortSignal): Promise<void> {
    const Bucket = this.settings.bucket_name
    const { Uploads = [] } = await client.send(new api.ListMultipartUploadsCommand({ Bucket, Prefix: this.base }), { abortSignal })
    for (const { Key, UploadId } of Uploads)
      if (Key && isFileKey(this.base, Key))
        await client.send(new api.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal })
    this.uploads.length = 0
  }

  /** Objects that this run, or an earlier attempt, has published. */
  private async published({ api, client }: Bucket, signal: AbortSignal): Promise<readonly string[]> {
    const found: string[] = []
    let pages = 0
    for (let ContinuationToken: string | undefined; ; ) {
      const asked = new api.ListObjectsV2Command({ Bucket: this.settings.bucket_name, Prefix: this.base, ContinuationToken })
      const { Contents = [], NextContinuationToken } = await client.send(asked, { abortSignal: signal })
      found.push(...Contents.map(({ Key }) => Key!).filter((key) => isFileKey(this.base, key)))
      if (++pages > mostPages)
        throw final(`The bucket ${this.settings.bucket_name} lists more than ${mostPages} pages of objects that begin with ${this.base}.`)
      if (!NextContinuationToken) return found
      ContinuationToken = NextContinuationToken
    }
  }
}

async function* partsOf(path: string, size: number): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (;;) {
      const buffer = Buffer.allocUnsafe(size)
      let filled = 0
      while (filled < size) {
        const { bytesRead } = await file.read(buffer, filled, size - filled)
        if (bytesRead === 0) break
        filled += bytesRead
      }
      if (filled > 0) yield buffer.subarray(0, filled)
      if (filled < size) return
    }
  } finally {
    await file.close()
  }
}

/** Of the objects of one run, a thousand each: a server that lists for ever does not keep the run for ever. */
const mostPages = 100

const connectionMs = 10_000

async function withBucket<T>(settings: Config, outside: Outside, work: (bucket: Bucket) => Promise<T>): Promise<T> {
  const { region, endpoint_url, use_virtual_style_addressing, aws_access_key_id, aws_secret_access_key } = settings
  // Without keys the SDK would take those of the server itself.
  if (!aws_access_key_id || !aws_secret_access_key)
    throw final('S3 needs an access key. Set aws_access_key_id and aws_secret_access_key in the settings of the destination.')
  if (endpoint_url !== null) outside.mustBeAllowed(new URL(endpoint_url).hostname)
  const api = await optionalPackage<Api>('@aws-sdk/client-s3', 'Exports to S3')
  const { lookup, limits = usualLimits } = outside
  const client = new api.S3Client({
    region,
    credentials: { accessKeyId: aws_access_key_id, secretAccessKey: aws_secret_access_key },
    ...(endpoint_url === null ? {} : { endpoint: endpoint_url, forcePathStyle: use_virtual_style_addressing !== true }),
    requestHandler: {
      connectionTimeout: connectionMs,
      socketTimeout: limits.silentMs,
      requestTimeout: longestRequestMs(limits),
      throwOnRequestTimeout: true,
      httpAgent: new HttpAgent({ lookup, keepAlive: true }),
      httpsAgent: new HttpsAgent({ lookup, keepAlive: true }),
    },
    // Servers with the API of S3 do not know newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
  })
  // Before the SDK reads an answer, which it keeps as a whole.
  client.middlewareStack.add(
    (next) => async (sent) => {
      const got = await next(sent)
      const response = got.response as { body?: unknown } | undefined
      if (response?.body instanceof Readable) response.body = withinLimits(response.body, nameOf(settings), limits)
      return got
    },
    { step: 'deserialize', priority: 'low', name: 'answersWithinLimits' },
  )
  try {
    return await work({ api, client })
  } catch (error) {
    throw failureOf(error, settings)
  } finally {
    client.destroy()
  }
}

const final = (message: string, cause?: unknown) => new DestinationError(message, { isRetryable: false, cause })

type Words = (settings: Config) => string
const regionWords: Words = ({ bucket_name, region }) =>
  `The bucket ${bucket_name} is not in the region ${region}. Set region to that of the bucket.`
const deniedWords: Words = ({ bucket_name }) =>
  `Access to the bucket ${bucket_name} is denied. The access key needs s3:PutObject, s3:DeleteObject, s3:ListBucket, s3:ListBucketMultipartUploads and s3:AbortMultipartUpload.`
const words: Readonly<Record<string, Words>> = {
  NoSuchBucket: ({ bucket_name }) => `There is no bucket ${bucket_name}. Create it, or change bucket_name.`,
  AccessDenied: deniedWords,
  InvalidAccessKeyId: () => 'The access key does not exist. Check aws_access_key_id.',
  SignatureDoesNotMatch: () => 'The access key is refused. Check aws_secret_access_key.',
  PermanentRedirect: regionWords,
  AuthorizationHeaderMalformed: regionWords,
  'KMS.NotFoundException': ({ kms_key_id }) => `There is no KMS key ${kms_key_id}. Check kms_key_id.`,
}
/** An answer to HEAD has no body that would name the error. */
const wordsOfStatus: Readonly<Record<number, Words>> = { 301: regionWords, 403: deniedWords, 404: words.NoSuchBucket! }
const fullWords: Readonly<Record<string, string>> = {
  SlowDown: 'S3 limits the rate of requests.',
  XMinioStorageFull: 'The storage of the server is full.',
  QuotaExceeded: 'The quota of the bucket is used up.',
}

/** For messages. */
const nameOf = ({ endpoint_url, region }: Config) => (endpoint_url === null ? `S3 in ${region}` : `The S3 server at ${endpoint_url}`)

function failureOf(error: unknown, settings: Config): unknown {
  const { name, message, $metadata } = error as { name?: string; message?: string; $metadata?: { httpStatusCode?: number } }
  // The SDK adds a hint for those who use it.
  if (error instanceof DestinationError) return new DestinationError(error.message.split('\n')[0]!, error)
  if (name === 'AbortError') return error
  const what = nameOf(settings)
  const lost = networkFailure(error, what)
  if (lost) return lost
  if (!$metadata?.httpStatusCode) return error
  const status = $metadata.httpStatusCode
  const known =
    words[name ?? ''] ??
    (name === 'UnknownError' || !message || /^\d+$/.test(name ?? '') || name === 'NotFound' ? wordsOfStatus[status] : undefined)
  if (known) return final(known(settings), error)
  const said = fullWords[name ?? ''] ?? (status === 507 ? 'The storage of the server is full.' : `${name}: ${message}`)
  return new DestinationError(`${what} answered ${status}. ${said}`, {
    isRetryable: status >= 500 || status === 429 || name! in fullWords,
    cause: error,
  })
}
