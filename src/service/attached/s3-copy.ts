import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withinReserve } from '../../engine/storage/files/disk-reserve.ts'
import { CopyRefusal } from './copies.ts'
import { isTableFile } from './folder-tables.ts'
import { loadPackage } from './package.ts'

// Files of a bucket of Amazon S3, or of a server with its API: `s3://bucket/prefix?endpoint=URL&region=NAME`. Credentials are those of Amazon's tools.

type Api = typeof import('@aws-sdk/client-s3')

const attempts = 8
const mostObjects = 10_000
/** Of all files together. */
const mostBytes = 50e9

export async function copyBucket(address: string, folder: string, signal: AbortSignal): Promise<void> {
  const url = new URL(address)
  const api = await loadPackage<Api>('@aws-sdk/client-s3')
  const endpoint = url.searchParams.get('endpoint') ?? process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL
  const region = url.searchParams.get('region') ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1'
  const client = new api.S3Client({ region, maxAttempts: attempts, ...(endpoint ? { endpoint, forcePathStyle: true } : {}) })
  const Bucket = url.hostname
  const prefix = url.pathname.split('/').filter(Boolean).join('/')
  const start = prefix === '' ? '' : `${prefix}/`
  try {
    const objects: { readonly key: string; readonly name: string }[] = []
    let bytes = 0
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await client.send(new api.ListObjectsV2Command({ Bucket, Prefix: start, ContinuationToken }), { abortSignal: signal })
      for (const { Key: key = '', Size = 0 } of page.Contents ?? []) {
        const name = key.slice(start.length)
        if (!isRead(name)) continue
        objects.push({ key, name })
        bytes += Size
      }
      if (objects.length > mostObjects) throw new CopyRefusal(`There are more than ${mostObjects} files.`)
      if (bytes > mostBytes) throw new CopyRefusal(`The files have more than ${mostBytes / 1e9} GB together.`)
      if (!page.NextContinuationToken) break
      ContinuationToken = page.NextContinuationToken
    }
    await withinReserve(folder, signal, async (within) => {
      for (const { key, name } of objects) {
        const path = join(folder, name)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        const { Body } = await client.send(new api.GetObjectCommand({ Bucket, Key: key }), { abortSignal: within })
        await pipeline(Body as Readable, createWriteStream(path, { mode: 0o600 }), { signal: within })
      }
    })
  } finally {
    client.destroy()
  }
}

/** A file of the prefix itself, or of a folder in it; no key leads out of the copy. */
const isRead = (name: string): boolean => {
  const parts = name.split('/')
  return parts.length <= 2 && parts.every((part) => part !== '' && !part.startsWith('.')) && !/[\\\0]/.test(name) && isTableFile(name)
}
