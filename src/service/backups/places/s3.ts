import type { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { WaymarkError } from '../../../errors/errors.ts'
import type { Place } from './place.ts'

// A bucket of Amazon S3, or of a server with its API. Credentials and region are those of Amazon's tools: environment, files, or the role of the machine.

const attempts = 8

type Api = typeof import('@aws-sdk/client-s3')
/** Installed only where it is used, so it is not put into the program. */
const packageName: string = '@aws-sdk/client-s3'

/** `s3://bucket/prefix`, with `?endpoint=URL` and `&region=NAME` for other servers. */
export async function s3Place(url: URL): Promise<Place> {
  const api = await loadApi()
  const bucket = url.hostname
  const prefix = url.pathname.split('/').filter(Boolean).join('/')
  const endpoint = url.searchParams.get('endpoint') ?? process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL
  const region = url.searchParams.get('region') ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? 'us-east-1'
  const client = new api.S3Client({ region, maxAttempts: attempts, ...(endpoint ? { endpoint, forcePathStyle: true } : {}) })
  return bucketPlace(api, client, bucket, prefix)
}

async function loadApi(): Promise<Api> {
  try {
    return (await import(packageName)) as Api
  } catch (cause) {
    const message = `Backups in S3 need the package ${packageName}. Install it beside Waymark: npm install ${packageName}`
    throw new WaymarkError('command-failed', { message }, { cause })
  }
}

const statusOf = (error: unknown): number => (error as Partial<S3ServiceException>).$metadata?.httpStatusCode ?? 0
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '')

function bucketPlace(api: Api, client: S3Client, bucket: string, prefix: string): Place {
  const keyOf = (name: string) => (prefix === '' ? name : `${prefix}/${name}`)
  const shown = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  const failed = (error: unknown): never => {
    const reason = nameOf(error) === 'NoSuchBucket' ? 'there is no such bucket' : error instanceof Error ? error.message : String(error)
    throw new WaymarkError('command-failed', { message: `${shown}: ${reason}` }, { cause: error })
  }

  const read: Place['read'] = async (name, range) => {
    const Range = range && `bytes=${range.from}-${range.from + range.bytes - 1}`
    try {
      const { Body } = await client.send(new api.GetObjectCommand({ Bucket: bucket, Key: keyOf(name), ...(Range ? { Range } : {}) }))
      return Buffer.from(await Body!.transformToByteArray())
    } catch (error) {
      if (nameOf(error) === 'NoSuchKey' || (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket')) return null
      return failed(error)
    }
  }

  return {
    name: shown,
    read,

    async create(name, bytes) {
      for (let attempt = 1; ; attempt++) {
        try {
          await client.send(new api.PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: bytes, IfNoneMatch: '*' }))
          return true
        } catch (error) {
          // Two writers at the same moment: S3 asks one of them to try again.
          if (statusOf(error) === 409 && attempt < attempts) continue
          if (statusOf(error) !== 412) return failed(error)
          // Written by an attempt of this call whose answer was lost, or by somebody else.
          return (await read(name))?.equals(bytes) ?? false
        }
      }
    },

    async list(folder) {
      const names: string[] = []
      const start = keyOf(`${folder}/`)
      try {
        for (let ContinuationToken: string | undefined; ; ) {
          const asked = new api.ListObjectsV2Command({ Bucket: bucket, Prefix: start, ContinuationToken })
          const { Contents = [], NextContinuationToken } = await client.send(asked)
          names.push(...Contents.map(({ Key }) => `${folder}/${Key!.slice(start.length)}`))
          if (!NextContinuationToken) return names.sort()
          ContinuationToken = NextContinuationToken
        }
      } catch (error) {
        return failed(error)
      }
    },

    async remove(name) {
      await client.send(new api.DeleteObjectCommand({ Bucket: bucket, Key: keyOf(name) })).catch(failed)
    },

    close: async () => client.destroy(),
  }
}
