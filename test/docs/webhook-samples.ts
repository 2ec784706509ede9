import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// The samples of docs/plugins.md that take webhooks, and how the services sign what they send.

export interface WebhookSample {
  readonly name: string
  readonly code: string
  readonly config: Readonly<Record<string, string>>
  readonly sends: object
  readonly stores: Readonly<Record<string, unknown>>
}

const page = readFileSync(join(import.meta.dirname, '../../docs/plugins.md'), 'utf8')

export const webhookSamples: readonly WebhookSample[] = [
  ...page.matchAll(/```js\n\/\/ ([\w-]+)\n([\s\S]*?)```\n\n```json\n([\s\S]*?)```/g),
].flatMap(([, name = '', code = '', json = '']) => {
  const given = JSON.parse(json)
  return 'sends' in given ? [{ name, code, ...given }] : []
})

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')
const seconds = () => Math.floor(Date.now() / 1000)

export const stripeHeaders = (secret: string, body: string, time = seconds()) => ({
  'stripe-signature': `t=${time},v1=${hmac(secret, `${time}.${body}`)},v0=${'0'.repeat(64)}`,
})
export const githubHeaders = (secret: string, body: string, delivery: string, event = 'issues') => ({
  'x-hub-signature-256': `sha256=${hmac(secret, body)}`,
  'x-github-event': event,
  'x-github-delivery': delivery,
})
