import type { Answer, Query } from '../lib/api.ts'

// An answer as a picture in a file.

export type PictureFormat = 'png' | 'svg'

export interface Pictured {
  readonly query: Query
  readonly answer: Answer
  readonly title: string
  readonly description: string
  readonly timezone: string
}

/** Pixels of a PNG for each of the picture: sharp on dense screens and in slides. */
const density = 2
const width = 1000

const nameOf = (title: string, extension: string): string =>
  `${
    title
      .replace(/[^\p{L}\p{N} _.-]+/gu, ' ')
      .trim()
      .slice(0, 80) || 'insight'
  }.${extension}`

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob)
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

async function pngOf(svg: string): Promise<Blob> {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.naturalWidth * density
  canvas.height = image.naturalHeight * density
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not make a picture of this size.'))), 'image/png'),
  )
}

/** An SVG follows the reader's light or dark mode; a PNG is light. */
export async function downloadPicture({ query, answer, title, description, timezone }: Pictured, format: PictureFormat): Promise<void> {
  const { pictureOf } = await import('../../service/pictures/picture.ts')
  const asOf = answer.last_refresh === undefined ? null : new Date(answer.last_refresh)
  const svg = pictureOf(query, answer, { title, description, timezone, asOf, width, isLight: format === 'png' })
  const blob = format === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await pngOf(svg)
  save(blob, nameOf(title, format))
}
