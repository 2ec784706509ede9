import { isObject } from '../../lib/is-object.ts'
import type { OutboundRequest } from './ports.ts'

/** The request that `composeWebhook` returned. Throws with what is wrong with it. */
export function webhookOf(value: unknown): OutboundRequest {
  if (!isObject(value) || typeof value.url !== 'string') throw new Error('composeWebhook must return null or an object with url and body')
  const { url, method = 'POST', headers = {}, body } = value
  if (typeof method !== 'string') throw new Error('The method of a webhook must be a string')
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
  const given = Object.entries(isObject(headers) ? headers : {}).map(([name, content]) => [name.toLowerCase(), String(content)])
  return {
    url,
    method: method.toUpperCase(),
    headers: { 'content-type': 'application/json', ...Object.fromEntries(given) },
    body: Buffer.from(text),
  }
}

/** Answers that a later attempt can change. */
export const isPassingStatus = (status: number): boolean => status === 408 || status === 429 || status >= 500
