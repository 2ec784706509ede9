import { Worker } from 'node:worker_threads'
import { InternalError } from '../../errors/errors.ts'
import { type Deferred, deferred } from '../../lib/flow/deferred.ts'

// A PNG of an SVG that Waymark has drawn, for those who show no SVG: agents, chats. In a thread of its own, which ends when nobody needs it.

export interface ToDraw {
  readonly id: number
  readonly svg: string
  readonly scale: number
}
export type Drawn = { readonly id: number; readonly png: Uint8Array } | { readonly id: number; readonly error: string }

/** The thread holds some 80 MB. */
const idleMs = 30_000
/** Pixels of the bitmap for one of the picture: legible on a dense screen. */
const usualScale = 1.5

/** The program is beside this file, with the same extension: TypeScript when run from the sources. */
function launch(): Worker {
  const extension = /\.(ts|mjs)$/.exec(import.meta.url)?.[0] ?? '.js'
  const program = new URL(`./png-worker${extension}`, import.meta.url)
  if (extension !== '.ts') return new Worker(program, { execArgv: [] })
  // Node 20 does not load TypeScript as the main program of a thread.
  const code = `import('tsx/esm/api').then(({ register }) => (register(), import('${program}')))`
  return new Worker(code, { eval: true, execArgv: [] })
}

class PngThread {
  private readonly worker = launch()
  private readonly waiting = new Map<number, Deferred<Uint8Array>>()
  private lastId = 0
  private idle: NodeJS.Timeout | null = null
  private readonly onEnd: () => void

  constructor(onEnd: () => void) {
    this.onEnd = onEnd
    this.worker.unref()
    this.worker.on('message', (drawn: Drawn) => this.answered(drawn))
    this.worker.on('error', (error) => this.end(error))
    this.worker.on('exit', () => this.end(new Error('the thread that draws bitmaps has ended')))
  }

  draw(svg: string, scale: number): Promise<Uint8Array> {
    if (this.idle) clearTimeout(this.idle)
    const answer = deferred<Uint8Array>()
    const id = ++this.lastId
    this.waiting.set(id, answer)
    this.worker.ref()
    this.worker.postMessage({ id, svg, scale } satisfies ToDraw)
    return answer.promise
  }

  private answered(drawn: Drawn): void {
    const waiting = this.waiting.get(drawn.id)
    this.waiting.delete(drawn.id)
    if (this.waiting.size === 0) this.rest()
    if ('png' in drawn) waiting?.resolve(drawn.png)
    else waiting?.reject(new InternalError(`A picture could not be drawn as a bitmap: ${drawn.error}`))
  }

  /** It keeps no process alive, and ends after a while. */
  private rest(): void {
    this.worker.unref()
    this.idle = setTimeout(() => {
      this.onEnd()
      void this.worker.terminate()
    }, idleMs)
    this.idle.unref()
  }

  private end(cause: Error): void {
    this.onEnd()
    const error = new InternalError('A picture could not be drawn as a bitmap.', { cause })
    for (const waiting of this.waiting.values()) waiting.reject(error)
    this.waiting.clear()
  }
}

let thread: PngThread | null = null

/** The picture as a PNG, in Inter, on its own background. */
export function pngOf(svg: string, scale = usualScale): Promise<Uint8Array> {
  if (thread === null) {
    const made: PngThread = new PngThread(() => {
      if (thread === made) thread = null
    })
    thread = made
  }
  return thread.draw(svg, scale)
}
