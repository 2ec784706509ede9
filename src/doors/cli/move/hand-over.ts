import { setTimeout as pause } from 'node:timers/promises'
import { readMark } from '../../../engine/storage/moving/mark.ts'
import { WaymarkError } from '../../../errors/errors.ts'
import { failureBody, failureOf } from '../../http/errors.ts'

type Answering = (request: Request, address: string | null, cut: () => void) => Promise<Response>

const lookMs = 200

/** A running server gives its directory to `waymark move`, and refuses requests from then on: clients send their events again, to the servers that have the data. */
export class HandOver {
  /** Resolves when a move asks for the directory. */
  readonly asked: Promise<void>
  private ask: () => void = () => undefined
  private hasBegun = false
  private to: string | null = null

  constructor() {
    this.asked = new Promise((resolve) => {
      this.ask = resolve
    })
  }

  begin(): void {
    this.hasBegun = true
    this.ask()
  }

  before(handler: Answering): Answering {
    return (request, ...connection) => (this.hasBegun ? this.refusal(request) : handler(request, ...connection))
  }

  /** Resolves when the directory has moved, or the stop was asked for. Rejects if the move ended otherwise. */
  async watch(dataDir: string, stopAsked: Promise<void>): Promise<void> {
    let isStopped = false
    void stopAsked.then(() => {
      isStopped = true
    })
    while (!isStopped) {
      const mark = await readMark(dataDir)
      if (mark === null)
        throw new WaymarkError('command-failed', {
          message: '`waymark move` took the directory and ended before it had moved. Start the server again: the directory is as it was.',
        })
      if (mark.state === 'moved') {
        this.to = mark.to
        return stopAsked
      }
      await Promise.race([pause(lookMs), stopAsked])
    }
  }

  private async refusal(request: Request): Promise<Response> {
    await request.body?.cancel().catch(() => undefined)
    const failure = failureOf(new WaymarkError('moving', { to: this.to }))
    const origin = request.headers.get('origin')
    const headers = {
      ...failure.headers,
      'content-type': 'application/json',
      ...(origin === null ? {} : { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' }),
    }
    return new Response(JSON.stringify(failureBody(failure)), { status: failure.status, headers })
  }
}
