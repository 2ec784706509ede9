import type { Mail } from '../../accounts/context.ts'
import { clipped } from '../../pictures/chart.ts'
import { element, type Markup, render } from '../../pictures/markup.ts'
import type { NoticeContent, NoticeItem } from '../records.ts'

// A notice as a mail: the numbers as text and as tables, and each picture as a file, since most mail programs do not show SVG in the text.

const textOfItem = ({ title, url, columns, rows, leftOut, error }: NoticeItem): string => {
  const widths = columns.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)))
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return [
    title,
    ...(error === null ? [lineOf(columns), ...rows.map(lineOf)] : [`No answer: ${error}`]),
    ...(leftOut.length > 0 ? [`Not shown: ${leftOut.join(', ')}.`] : []),
    url,
  ].join('\n')
}

const cellStyle = 'padding:4px 12px 4px 0;border-bottom:1px solid #d9e0e7;text-align:left'

const htmlOfItem = ({ title, url, columns, rows, leftOut, error }: NoticeItem): Markup[] => [
  element('h2', { style: 'font-size:16px;margin:24px 0 6px' }, element('a', { href: url }, title)),
  ...(error === null
    ? [
        element(
          'table',
          { style: 'border-collapse:collapse;font-size:14px' },
          element(
            'tr',
            {},
            columns.map((name) => element('th', { style: cellStyle }, name)),
          ),
          rows.map((row) =>
            element(
              'tr',
              {},
              row.map((cell) => element('td', { style: cellStyle }, cell)),
            ),
          ),
        ),
      ]
    : [element('p', {}, `No answer: ${error}`)]),
  ...(leftOut.length > 0 ? [element('p', { style: 'color:#5b6b7b' }, `Not shown: ${leftOut.join(', ')}.`)] : []),
]

/** Only these letters are safe as a name of a file everywhere. */
const fileName = (title: string, index: number): string => {
  const words = title.split(/[^a-z0-9]/i).filter((word) => word !== '')
  return `${words.join('-').slice(0, 60) || 'picture'}-${index + 1}.svg`
}

/** `messageId`: the same at every attempt. */
export function mailOf(content: NoticeContent, to: string, messageId: string, unsubscribe: string): Mail {
  const { subject, lines, items, url } = content
  const html = element(
    'div',
    { style: 'font-family:system-ui,sans-serif;font-size:14px;color:#1c2733' },
    lines.map((text) => element('p', {}, text)),
    items.flatMap(htmlOfItem),
    element('p', { style: 'color:#5b6b7b;margin-top:24px' }, element('a', { href: url }, 'Open in Waymark'), `. ${unsubscribe}`),
  )
  return {
    to,
    subject: clipped(subject, 200),
    text: [...lines, '', ...items.flatMap((item) => [textOfItem(item), '']), `Open: ${url}`, unsubscribe].join('\n'),
    html: render(html),
    attachments: items.flatMap(({ svg, title }, i) =>
      svg === null ? [] : [{ filename: fileName(title, i), contentType: 'image/svg+xml', content: svg }],
    ),
    messageId,
  }
}
