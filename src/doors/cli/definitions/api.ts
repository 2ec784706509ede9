import { setTimeout } from 'node:timers/promises'
import { WaymarkError } from '../../../errors/errors.ts'
import { isObject } from '../../../lib/is-object.ts'
import { callServer } from '../call-server.ts'

// A project of a server, by its API and a personal key: where definitions come from, and where they go.

export type Row = Readonly<Record<string, unknown>>

/** A request that a server refuses as such: where it is about one record, others go on. */
export class RecordRefused extends Error {
  /** `reason`: in the words of the server. */
  constructor(
    message: string,
    readonly reason: string,
  ) {
    super(message)
  }
}

const mostTries = 8
const longestWaitSeconds = 60
const rowsPerPage = 100
const mostPages = 10_000

export class ProjectApi {
  private readonly url: string
  private readonly key: string
  private readonly project: string

  constructor(url: string, key: string, project: string) {
    this.url = url
    this.key = key
    this.project = project
  }

  /** `path` is below the project, such as `cohorts/`. */
  async get(path: string): Promise<Row> {
    return this.answered('GET', path)
  }

  /** All rows of a list, page by page. */
  async *rows(path: string): AsyncGenerator<Row, void, void> {
    let query = `limit=${rowsPerPage}`
    const [name, given] = path.split('?') as [string, string | undefined]
    for (let page = 0; page < mostPages; page++) {
      const { results, next } = await this.answered('GET', `${name}?${query}${given && page === 0 ? `&${given}` : ''}`)
      if (!Array.isArray(results))
        throw new WaymarkError('command-failed', { message: `${this.url} has no list at ${this.pathOf(name)}: is it an API of projects?` })
      for (const row of results) if (isObject(row)) yield row
      // Only what the address asks for: a server may name itself as its proxy sees it, and the key goes nowhere else.
      const following = typeof next === 'string' && URL.canParse(next, this.url) ? new URL(next, this.url).search.slice(1) : ''
      if (following === '' || following === query) return
      query = following
    }
  }

  /** `once`: the same text for the same record, so that a repeated request makes none twice. Throws `RecordRefused`. */
  async create(path: string, body: object, once: string): Promise<Row> {
    return this.answered('POST', path, body, once)
  }

  async change(path: string, body: object): Promise<Row> {
    return this.answered('PATCH', path, body)
  }

  async post(path: string, body: object): Promise<Row> {
    return this.answered('POST', path, body)
  }

  private pathOf(path: string): string {
    return path.startsWith('/') ? path : `/api/projects/${encodeURIComponent(this.project)}/${path}`
  }

  private async answered(method: string, path: string, body?: object, once?: string): Promise<Row> {
    for (let tries = 1; ; tries++) {
      const response = await callServer(this.url, this.pathOf(path), {
        method,
        redirect: 'error',
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...(once !== undefined && { 'idempotency-key': once }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const answer: unknown = await response.json().catch(() => null)
      if (response.ok) return isObject(answer) ? answer : {}
      const isBusy = response.status === 429 || response.status >= 502
      if (isBusy && tries < mostTries) {
        const wished = Number(response.headers.get('retry-after') ?? Number.NaN)
        await setTimeout(1000 * Math.min(longestWaitSeconds, Number.isFinite(wished) ? wished : 2 ** tries))
        continue
      }
      const detail = isObject(answer) && typeof answer.detail === 'string' ? answer.detail : response.statusText
      const message = `${this.url} refused ${method} ${this.pathOf(path)} (${response.status}): ${detail}`
      const isOfRecord = response.status === 400 || response.status === 404 || response.status === 409
      throw isOfRecord ? new RecordRefused(message, detail) : new WaymarkError('command-failed', { message })
    }
  }
}
