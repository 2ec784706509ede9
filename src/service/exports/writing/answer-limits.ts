import { pipeline, Transform } from 'node:stream'
import { DestinationError, type Limits } from '../destinations/destination.ts'

// Answers of destinations are about a run, never its rows: a server that goes on and on takes neither the memory of this process nor a slot of the scheduler.

/** Of one answer. */
export const mostAnswerBytes = 4 * 1024 ** 2
/** Times the limit for silence: a server that takes or answers a few bytes at a time must not keep a run for ever. */
const longRequest = 10

/** Of one request with its answer. */
export const longestRequestMs = ({ silentMs }: Pick<Limits, 'silentMs'>): number => silentMs * longRequest

export const tooLongAnswer = (what: string): DestinationError =>
  new DestinationError(`${what} answered with more than ${mostAnswerBytes / 1024 ** 2} MiB.`, { isRetryable: true })

export const lateAnswer = (what: string, ms: number): DestinationError =>
  new DestinationError(`${what} did not answer within ${ms / 1000} seconds.`, { isRetryable: true })

/** The body of an answer, which fails when it is too long, or takes too long. */
export function withinLimits(body: NodeJS.ReadableStream, what: string, limits: Pick<Limits, 'silentMs'>): Transform {
  let bytes = 0
  const counted = new Transform({
    transform(part: Buffer, _, done) {
      bytes += part.length
      if (bytes > mostAnswerBytes) done(tooLongAnswer(what))
      else done(null, part)
    },
  })
  const most = longestRequestMs(limits)
  const timer = setTimeout(() => counted.destroy(lateAnswer(what, most)), most)
  pipeline(body, counted, () => clearTimeout(timer))
  return counted
}
