import type { ReceivedRequest } from '../ports.ts'
import type { PluginRuntime } from '../runtime.ts'
import type { Receiver, WebhookAddresses } from './addresses.ts'
import { AnswerError, type ReceivedAnswer, readAnswer } from './answer.ts'

// Gives requests that were sent to webhook addresses to `onRequest` of their plugin.

/** `busy`, `waiting`: the same request can succeed later. `absent`: the code has no such function. */
export type Received =
  | { readonly kind: 'answer'; readonly answer: ReceivedAnswer }
  | { readonly kind: 'failed' | 'busy' | 'waiting' | 'absent' }

export interface Receiving extends Pick<WebhookAddresses, 'receiver'> {
  give(receiver: Receiver, request: ReceivedRequest): Promise<Received>
  /** A line in the log of the plugin: its answer could not be used after all. */
  refuse(receiver: Receiver, reason: string): void
}

/** Requests of one config that its plugin may work on: a slow one keeps neither memory nor its thread from others. */
const mostAtOnce = 20

export function createReceiving(
  { receiver }: Pick<WebhookAddresses, 'receiver'>,
  runtime: Pick<PluginRuntime, 'request' | 'noteRequest'>,
  /** Reads what other servers have changed; null: there are none. */
  readChanges: (() => Promise<void>) | null = null,
  atOnce: number = mostAtOnce,
): Receiving {
  const running = new Map<number, number>()
  const note = ({ config }: Receiver, level: 'WARN' | 'ERROR', message: string) =>
    runtime.noteRequest(config.project_id, config.id, level, message)
  const failed = (to: Receiver, reason: string): Received => {
    note(to, 'ERROR', `onRequest failed: ${reason}`)
    return { kind: 'failed' }
  }
  const ask = async (to: Receiver, request: ReceivedRequest): Promise<Received> => {
    const { id, project_id } = to.config
    let result = await runtime.request(project_id, id, request)
    if (result === null && readChanges) {
      await readChanges()
      result = await runtime.request(project_id, id, request)
    }
    if (result === null || result.kind === 'deferred') return { kind: 'waiting' }
    if (result.kind === 'error') return { kind: result.isRetryable ? 'waiting' : 'failed' }
    if (result.kind === 'limit') return { kind: 'failed' }
    if (result.kind === 'absent') {
      note(to, 'WARN', 'A request came to the webhook address, but the plugin has no function onRequest')
      return { kind: 'absent' }
    }
    try {
      return { kind: 'answer', answer: readAnswer(id, result.json) }
    } catch (error) {
      if (error instanceof AnswerError) return failed(to, error.message)
      throw error
    }
  }
  return {
    receiver,
    async give(to, request) {
      const { id } = to.config
      const before = running.get(id) ?? 0
      if (before >= atOnce) {
        note(to, 'WARN', `A request was refused: ${atOnce} others are waiting for onRequest`)
        return { kind: 'busy' }
      }
      running.set(id, before + 1)
      try {
        return await ask(to, request)
      } finally {
        const left = running.get(id)! - 1
        if (left > 0) running.set(id, left)
        else running.delete(id)
      }
    },
    refuse: (to, reason) => note(to, 'ERROR', `onRequest failed: ${reason}`),
  }
}
