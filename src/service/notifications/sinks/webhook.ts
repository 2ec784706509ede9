import { createHmac } from 'node:crypto'
import type { Json } from '../../accounts/store.ts'
import type { NoticeContent } from '../records.ts'

// A notice as a webhook, signed as https://www.standardwebhooks.com describes it, so that receivers can use a library to verify it.

export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** `whsec_…` is base64, any other secret is taken as it is. */
const keyOf = (secret: string): Buffer => (secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret))

const signatureOf = (secret: string, id: string, seconds: number, body: string): string =>
  `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')}`

export function webhookBody(
  content: NoticeContent,
  notice: { readonly id: string; readonly project_id: number; readonly due_at: Date; readonly created_at: Date },
): Json {
  const { type, subject, lines, url, timezone, items, source } = content
  return {
    id: notice.id,
    type,
    timestamp: notice.created_at.toISOString(),
    data: {
      project_id: notice.project_id,
      due_at: notice.due_at.toISOString(),
      timezone,
      subject,
      messages: lines,
      url,
      [type.startsWith('alert') ? 'alert' : 'subscription']: source,
      insights: items.map(({ insight, url: link, kind, columns, rows, leftOut, svg, error }) => ({
        ...insight,
        url: link,
        kind,
        columns,
        rows,
        left_out: leftOut,
        picture: svg,
        error,
      })),
    },
  }
}

/** `id`: of the delivery, the same at every attempt, so that receivers can leave out what they have already. */
export function webhookRequest(body: Json, id: string, secret: string, now: Date): WebhookRequest {
  const text = JSON.stringify(body)
  const seconds = Math.floor(now.getTime() / 1000)
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf(secret, id, seconds, text),
      'idempotency-key': id,
    },
    body: Buffer.from(text),
  }
}
