import { randomBytes } from 'node:crypto'
import { clipped } from '../../pictures/chart.ts'
import type { NoticeContent, NoticeItem } from '../records.ts'
import type { WebhookRequest } from './webhook.ts'

// A notice in the form of a chat. Which one is known by the address; `#slack`, `#discord` or `#teams` at its end says so for others that take the same form.

const chats = ['slack', 'discord', 'teams'] as const
export type Chat = (typeof chats)[number]

const hosts: Readonly<Record<Chat, RegExp>> = {
  slack: /^hooks\.slack(-gov)?\.com$/,
  discord: /^(?:ptb\.|canary\.)?discord(?:app)?\.com$/,
  teams: /\.(?:webhook\.office\.com|logic\.azure\.com|powerplatform\.com)$/,
}

/** Null: a program, which gets the signed form. */
export function chatOf(address: string): Chat | null {
  const { hostname, hash } = new URL(address)
  return chats.find((chat) => hash === `#${chat}`) ?? chats.find((chat) => hosts[chat].test(hostname)) ?? null
}

/** A drawing of an item, if there is one. */
export type Picture = Uint8Array | null

/** Items of one message; the page has all of them. */
const most = { items: 10, rows: 12, columns: 6, cell: 40, line: 300 }

/** The numbers of an item in letters of one width. */
function numbersOf({ columns, rows, error }: NoticeItem): string {
  if (error !== null) return `No answer: ${clipped(error, most.line)}`
  const shown = [columns, ...rows.slice(-most.rows)].map((row) => row.slice(0, most.columns).map((cell) => clipped(cell, most.cell)))
  const widths = columns.slice(0, most.columns).map((_, i) => Math.max(...shown.map((row) => [...(row[i] ?? '')].length)))
  const text = shown.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  )
  const left = rows.length - Math.min(rows.length, most.rows)
  return [...text, ...(left > 0 ? [`… ${left} earlier rows`] : [])].join('\n')
}
const fenced = (text: string) => `\`\`\`\n${text.replaceAll('```', "'''")}\n\`\`\``

const json = (body: object): WebhookRequest => ({
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
})

/** Three characters are markup there. */
const forSlack = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Slack takes pictures by public addresses only: it gets the numbers and a link. */
function slackMessage({ subject, lines, items, url }: NoticeContent): WebhookRequest {
  const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text: text.slice(0, 3_000) } })
  return json({
    text: forSlack(clipped(subject, most.line)),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: clipped(subject, 150) } },
      ...(lines.length > 0 ? [section(forSlack(lines.map((line) => clipped(line, most.line)).join('\n')).slice(0, 2_900))] : []),
      ...items
        .slice(0, most.items)
        .flatMap((item) => [
          section(`*<${item.url}|${forSlack(clipped(item.title, 100))}>*`),
          section(forSlack(fenced(numbersOf(item)).slice(0, 2_900))),
        ]),
      { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open in Waymark' }, url }] },
    ],
  })
}

function discordMessage({ subject, lines, items, url }: NoticeContent, pictures: readonly Picture[]): WebhookRequest {
  const shown = items.slice(0, most.items)
  const payload = {
    content: clipped(subject, 1_900),
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: 'Open in Waymark',
        url,
        description: lines
          .map((line) => clipped(line, most.line))
          .join('\n')
          .slice(0, 2_000),
      },
      ...shown.slice(0, most.items - 1).map((item, i) => ({
        title: clipped(item.title, 200),
        url: item.url,
        ...(pictures[i] ? { image: { url: `attachment://${i}.png` } } : { description: fenced(numbersOf(item)).slice(0, 1_500) }),
      })),
    ],
  }
  const boundary = `waymark-${randomBytes(12).toString('hex')}`
  const part = (about: string, type: string, body: Uint8Array) => [
    Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; ${about}\r\ncontent-type: ${type}\r\n\r\n`),
    body,
    Buffer.from('\r\n'),
  ]
  const files = pictures
    .slice(0, most.items - 1)
    .flatMap((png, i) => (png ? part(`name="files[${i}]"; filename="${i}.png"`, 'image/png', png) : []))
  const parts = [
    ...part('name="payload_json"', 'application/json', Buffer.from(JSON.stringify(payload))),
    ...files,
    Buffer.from(`--${boundary}--\r\n`),
  ]
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body: Buffer.concat(parts) }
}

/** Teams refuses a message of more than 28 kB. */
const largestCard = 27_000

function teamsMessage({ subject, lines, items, url }: NoticeContent, pictures: readonly Picture[]): WebhookRequest {
  const block = (text: string, more = {}) => ({ type: 'TextBlock', text: clipped(text, 1_000), wrap: true, ...more })
  const itemOf = (item: NoticeItem, png: Picture, withPicture: boolean) => [
    block(item.title, { weight: 'Bolder' }),
    png && withPicture
      ? { type: 'Image', url: `data:image/png;base64,${Buffer.from(png).toString('base64')}`, altText: clipped(item.title, 100) }
      : { type: 'TextBlock', text: numbersOf(item).slice(0, 1_500), fontType: 'Monospace', wrap: true },
  ]
  const cardOf = (withPictures: boolean) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            block(subject, { size: 'Medium', weight: 'Bolder' }),
            ...lines.map((line) => block(line)),
            ...items.slice(0, most.items).flatMap((item, i) => itemOf(item, pictures[i] ?? null, withPictures)),
          ],
          actions: [{ type: 'Action.OpenUrl', title: 'Open in Waymark', url }],
        },
      },
    ],
  })
  const whole = json(cardOf(true))
  return whole.body.length <= largestCard ? whole : json(cardOf(false))
}

/** Pixels of the bitmap for one of the drawing. */
export const pictureScale: Readonly<Record<Chat, number>> = { slack: 0, discord: 1.5, teams: 0.75 }

export function chatMessage(chat: Chat, content: NoticeContent, pictures: readonly Picture[]): WebhookRequest {
  if (chat === 'slack') return slackMessage(content)
  return chat === 'discord' ? discordMessage(content, pictures) : teamsMessage(content, pictures)
}
