import type { LocalWaymark } from '../../engine.ts'
import { newSecret } from '../../service/directory/announcement.ts'
import { type DownloadInput, directoryCommands, downloadFrom } from '../http/commands/directory-commands.ts'
import { type LocalCommands, type LocalDownloads, withLocalCommands } from '../http/commands/local-commands.ts'

type Answering = (request: Request, address?: string | null, cut?: () => void) => Promise<Response>

/** Commands of the command line, which the server takes while it has the directory: `server.json` says where. */
export class CommandsOfOwner {
  private readonly secret = newSecret()
  private readonly onError: (error: unknown) => void
  private waymark: LocalWaymark | null = null
  private url: string | null = null
  private retract: (() => Promise<void>) | null = null

  constructor(onError: (error: unknown) => void) {
    this.onError = onError
  }

  /** This process has the directory. The answer ends that. */
  async owned(waymark: LocalWaymark): Promise<() => Promise<void>> {
    this.waymark = waymark
    await this.announce()
    return () => this.end()
  }

  /** The server listens. */
  async reachableAt(url: string): Promise<void> {
    this.url = url
    await this.announce()
  }

  async end(): Promise<void> {
    this.waymark = null
    await this.retract?.()
    this.retract = null
  }

  /** A handler that takes commands before all else. */
  before(handler: Answering): Answering {
    return (request, ...connection) => {
      const { waymark, secret, onError } = this
      if (!waymark) return handler(request, ...connection)
      const downloads: LocalDownloads = { start: (input, signal) => downloadFrom(waymark, input as DownloadInput, signal), onError }
      return withLocalCommands(handler, workOf(waymark), downloads, secret)(request, ...connection)
    }
  }

  private async announce(): Promise<void> {
    if (this.waymark && this.url !== null) this.retract = await this.waymark.announce({ url: this.url, secret: this.secret })
  }
}

const workOf = (waymark: LocalWaymark): LocalCommands =>
  Object.fromEntries(Object.entries(directoryCommands).map(([name, command]) => [name, (input) => command(waymark, input as never)]))
