import { request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'
import { WaymarkError } from '../../../errors/errors.ts'
import { isFault } from '../../../errors/faults.ts'
import type { PluginNetwork } from '../host-ports.ts'
import { ArchiveError, type ArchiveLimits } from './limits.ts'

const mostRedirects = 5
const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

export interface Download {
  readonly url: string
  /** Sent only to the host of `url`: redirects lead to other hosts. */
  readonly secretHeaders: Readonly<Record<string, string>>
}

/** The body of a GET. Every address on the way must be one that this server may connect to. */
export async function download({ url, secretHeaders }: Download, network: PluginNetwork, limits: ArchiveLimits): Promise<Buffer> {
  const first = new URL(url)
  let target = first
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const headers = { 'user-agent': 'waymark', accept: '*/*', ...(target.host === first.host ? secretHeaders : {}) }
    const answer = await get(target, headers, network, limits)
    if (answer.location === null) return answer.body
    target = new URL(answer.location, target)
    if (target.protocol !== 'https:' && target.protocol !== first.protocol)
      throw new ArchiveError(`${first.host} redirects to ${target.protocol}//${target.host}, which is not encrypted.`)
  }
  throw new ArchiveError(`${first.host} redirects more than ${mostRedirects} times.`)
}

const reasons: Readonly<Record<number, string>> = {
  401: 'it refuses the token. Check private_token',
  403: 'it refuses access, or limits the rate of requests',
  404: 'there is no such repository or package, or it is private. Add ?private_token=… to the URL of a private one',
  429: 'it limits the rate of requests. Try again later',
}

const get = (
  url: URL,
  headers: Readonly<Record<string, string>>,
  network: PluginNetwork,
  { archiveBytes, requestMs }: ArchiveLimits,
): Promise<{ readonly body: Buffer; readonly location: string | null }> =>
  new Promise((resolve, reject) => {
    network.mustBeAllowed(url.hostname)
    const send = url.protocol === 'https:' ? secureRequest : plainRequest
    const request = send(url, { headers, lookup: network.lookup, agent: false }, (response) => {
      const status = response.statusCode ?? 0
      if (isRedirect(status) && response.headers.location !== undefined) {
        response.resume()
        resolve({ body: Buffer.alloc(0), location: response.headers.location })
        return
      }
      if (status !== 200) {
        request.destroy(new ArchiveError(`${url.host} answered ${status}${status in reasons ? `: ${reasons[status]}` : ''}.`))
        return
      }
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        parts.push(part)
        if (size <= archiveBytes) return
        // Before the end, which may be here already.
        reject(new ArchiveError(`The archive has more than ${archiveBytes} bytes, the limit for plugins.`))
        request.destroy()
      })
      response.on('end', () => resolve({ body: Buffer.concat(parts), location: null }))
      response.on('error', (error) => reject(failure(error, url)))
    })
    const late = () => request.destroy(new ArchiveError(`${url.host} did not answer within ${requestMs / 1000} seconds.`))
    const timer = setTimeout(late, requestMs)
    request.on('close', () => clearTimeout(timer))
    request.on('error', (error) => reject(failure(error, url)))
    request.end()
  })

const failure = (error: Error, { host }: URL): Error =>
  error instanceof ArchiveError || error instanceof WaymarkError || isFault(error)
    ? error
    : new ArchiveError(`${host} cannot be reached: ${(error as NodeJS.ErrnoException).code ?? error.message}.`, { cause: error })
