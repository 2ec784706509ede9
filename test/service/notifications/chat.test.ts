import { expect, test } from 'vitest'
import type { NoticeContent } from '../../../src/service/notifications/records.ts'
import { chatMessage, chatOf } from '../../../src/service/notifications/sinks/chat.ts'

test.each([
  ['https://hooks.slack.com/services/T/B/x', 'slack'],
  ['https://discord.com/api/webhooks/1/x', 'discord'],
  ['https://acme.webhook.office.com/webhookb2/x', 'teams'],
  ['https://prod-1.westeurope.logic.azure.com/workflows/x', 'teams'],
  ['https://chat.example.com/hooks/x#slack', 'slack'],
  ['https://hooks.example.com/in', null],
  ['https://hooks.slack.com.evil.test/x', null],
  ['https://evil.test/?hooks.slack.com', null],
])('%s is %s', (address, chat) => {
  expect(chatOf(address)).toBe(chat)
})

const item = (title: string, rows: readonly (readonly string[])[]) => ({
  title,
  description: '',
  insight: { id: 1, short_id: 'abc', name: title },
  url: 'https://w.test/#/project/1/insights/abc',
  kind: 'Line chart',
  columns: ['Interval', 'Sign-ups'],
  rows,
  leftOut: [],
  svg: '<svg/>',
  error: null,
})
const content = (given: Partial<NoticeContent> = {}): NoticeContent => ({
  type: 'alert.firing',
  subject: 'Sign-ups <below> 10 & falling',
  lines: ['Sign-ups were 3, below 10.'],
  url: 'https://w.test/#/project/1/alerts',
  timezone: 'UTC',
  items: [item('Sign-ups', [['1 Jan', '3']])],
  source: {},
  ...given,
})
const textOf = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).toString('utf8')
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47])

test('Slack: a header, the lines, the numbers and a button; what is markup there is text', () => {
  const { text, blocks } = JSON.parse(textOf(chatMessage('slack', content(), [])))
  expect(text).toBe('Sign-ups &lt;below&gt; 10 &amp; falling')
  expect(blocks.map(({ type }: { type: string }) => type)).toEqual(['header', 'section', 'section', 'section', 'actions'])
  expect(blocks[2].text.text).toBe('*<https://w.test/#/project/1/insights/abc|Sign-ups>*')
  expect(blocks[3].text.text).toBe('```\nInterval  Sign-ups\n1 Jan     3\n```')
  expect(blocks[4].elements[0].url).toBe('https://w.test/#/project/1/alerts')
})

test('Discord: the picture is a file of the message, and nobody is mentioned', () => {
  const { headers, body } = chatMessage('discord', content({ subject: '@everyone' }), [png])
  const boundary = /boundary=(\S+)/.exec(headers['content-type']!)![1]!
  const text = Buffer.from(body).toString('latin1')
  expect(text.split(`--${boundary}`)).toHaveLength(4)
  expect(text).toContain('name="files[0]"; filename="0.png"\r\ncontent-type: image/png\r\n\r\n\u0089PNG\r\n')
  const payload = JSON.parse(/application\/json\r\n\r\n(.*)\r\n/.exec(text)![1]!)
  expect([payload.allowed_mentions, payload.embeds[1].image]).toEqual([{ parse: [] }, { url: 'attachment://0.png' }])
  const without = textOf(chatMessage('discord', content(), [null]))
  expect(without).toContain('1 Jan     3')
})

test('Teams: a card with the picture, or with the numbers where it would be too large', () => {
  const bodyOf = (picture: Uint8Array) => JSON.parse(textOf(chatMessage('teams', content(), [picture]))).attachments[0].content.body
  expect(bodyOf(png).at(-1)).toMatchObject({ type: 'Image', url: `data:image/png;base64,${Buffer.from(png).toString('base64')}` })
  expect(bodyOf(new Uint8Array(30_000)).at(-1)).toMatchObject({ type: 'TextBlock', text: expect.stringContaining('1 Jan     3') })
})

test.each(['slack', 'discord', 'teams'] as const)('%s: much of everything stays within its limits', (chat) => {
  const row = ['x'.repeat(500), 'y'.repeat(500)]
  const much = content({
    subject: 's'.repeat(5_000),
    lines: Array.from({ length: 200 }, () => 'l'.repeat(1_000)),
    items: Array.from({ length: 40 }, () =>
      item(
        't'.repeat(1_000),
        Array.from({ length: 500 }, () => row),
      ),
    ),
  })
  expect(chatMessage(chat, much, []).body.length).toBeLessThan({ slack: 40_000, discord: 30_000, teams: 250_000 }[chat])
})
