import type { WaymarkError } from '../../../errors/errors.ts'
import { failures } from '../errors.ts'

export interface RequestBodyLimits {
  /** Bytes of all bodies that are being read or processed, compressed and decompressed. */
  readonly bytes: number
  /** The minimum speed of a sender, in bytes per second. */
  readonly bytesPerSecond: number
  /** Milliseconds over which the speed is measured. */
  readonly measuredMs: number
  /** Milliseconds for a whole body. */
  readonly longestMs: number
  /** If memory is short, a body that has been arriving for this many milliseconds is dropped for others. */
  readonly patienceMs: number
}

export const requestBodyDefaults: RequestBodyLimits = {
  bytes: 128 * 1024 * 1024,
  bytesPerSecond: 1_024,
  measuredMs: 10_000,
  longestMs: 120_000,
  patienceMs: 2_000,
}

/** Bodies up to this size are read as a whole: streaming them costs more than reading them. */
const small = 64 * 1024
const looksInMeasured = 8

/** The buffered bytes of one request. */
export class Body {
  bytes: Uint8Array = new Uint8Array()
  held = 0
  isArriving = true
  readonly since = performance.now()
  private failure: WaymarkError | null = null
  private measuredSince = this.since
  private measuredBytes = 0
  /** Ends the current read. */
  private stop: (failure: WaymarkError) => void = () => {}
  private readonly intake: RequestBodies

  constructor(intake: RequestBodies) {
    this.intake = intake
  }

  /** Counts additional memory of the body, and throws if there is not enough. */
  hold(bytes: number): void {
    this.intake.take(bytes, this)
  }

  release(): void {
    this.intake.forget(this)
  }

  cut(failure: WaymarkError): void {
    this.failure ??= failure
    this.stop(failure)
    this.release()
  }

  /** Whether the sender is too slow; a small body is measured only when it is complete. */
  isLate(now: number, { bytesPerSecond, measuredMs, longestMs }: RequestBodyLimits): boolean {
    if (now - this.since >= longestMs) return true
    if (now - this.measuredSince < measuredMs) return false
    if (this.measuredBytes < (measuredMs / 1000) * bytesPerSecond) return true
    this.measuredSince = now
    this.measuredBytes = 0
    return false
  }

  async read(request: Request, limit: number, tooLarge: () => Error): Promise<void> {
    const declared = Number(request.headers.get('content-length') ?? Number.NaN)
    if (declared > limit) throw tooLarge()
    if (Number.isNaN(declared) && request.body === null) return
    this.bytes = declared <= small ? await this.whole(request, declared) : await this.chunks(request, limit, tooLarge)
    if (this.bytes.length > limit) throw tooLarge()
    this.isArriving = false
  }

  private async whole(request: Request, declared: number): Promise<Uint8Array> {
    this.hold(declared)
    this.measuredBytes = declared // it is not seen before it is whole, so it has twice the time
    const read = request.arrayBuffer()
    read.catch(() => undefined)
    const stopped = new Promise<never>((_, reject) => {
      this.stop = reject
    })
    return new Uint8Array(await Promise.race([read, stopped]))
  }

  private async chunks(request: Request, limit: number, tooLarge: () => Error): Promise<Uint8Array> {
    if (request.body === null) return new Uint8Array()
    const reader = (request.body as ReadableStream<Uint8Array>).getReader()
    this.stop = () => {
      reader.cancel().catch(() => undefined)
    }
    const chunks: Uint8Array[] = []
    let size = 0
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (this.failure) throw this.failure
        if (done) break
        size += value.byteLength
        if (size > limit) throw tooLarge()
        this.hold(value.byteLength)
        this.measuredBytes += value.byteLength
        chunks.push(value)
      }
    } catch (error) {
      reader.cancel().catch(() => undefined)
      throw error
    }
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }
}

/** Reads request bodies within a limit of memory and time. */
export class RequestBodies {
  private readonly limits: RequestBodyLimits
  /** Oldest first. */
  private readonly bodies = new Set<Body>()
  /** Bytes of all bodies. */
  held = 0
  private watch: NodeJS.Timeout | null = null

  constructor(limits: Partial<RequestBodyLimits> = {}) {
    this.limits = { ...requestBodyDefaults, ...limits }
  }

  /** Must be released. */
  async read(request: Request, limit: number, tooLarge: () => Error): Promise<Body> {
    const body = new Body(this)
    if (request.method === 'GET' || request.method === 'HEAD') return body
    this.bodies.add(body)
    this.watch ??= setInterval(() => this.cutLate(), this.limits.measuredMs / looksInMeasured).unref()
    try {
      await body.read(request, limit, tooLarge)
      return body
    } catch (error) {
      body.release()
      throw error
    }
  }

  take(bytes: number, body: Body): void {
    if (this.held + bytes > this.limits.bytes) this.makeRoom(bytes, body)
    this.held += bytes
    body.held += bytes
  }

  /** Throws if the sender is too slow. */
  private makeRoom(bytes: number, asking: Body): void {
    const failure = failures.busy(this.limits.bytes)
    const now = performance.now()
    for (const body of this.bodies) {
      if (body === asking || !body.isArriving || now - body.since < this.limits.patienceMs) continue
      body.cut(failure)
      if (this.held + bytes <= this.limits.bytes) return
    }
    throw failure
  }

  forget(body: Body): void {
    this.held -= body.held
    body.held = 0
    this.bodies.delete(body)
    if (this.bodies.size > 0 || !this.watch) return
    clearInterval(this.watch)
    this.watch = null
  }

  private cutLate(): void {
    const now = performance.now()
    for (const body of this.bodies) if (body.isArriving && body.isLate(now, this.limits)) body.cut(failures.tooSlow(this.limits))
  }
}
