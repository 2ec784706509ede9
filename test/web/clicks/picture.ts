import type { Page } from 'playwright-core'

// What a person sees, as a text that can be compared: without times that pass, and without the tips of what has the pointer or the focus.

export interface Picture {
  /** The address behind #. */
  readonly address: string
  readonly hasDialog: boolean
  readonly text: string
}

const look = `(() => {
  const main = document.querySelector('main') ?? document.body
  const shown = (one) => one.getBoundingClientRect().width > 0 && one.checkVisibility()
  const fields = [...main.querySelectorAll('input, select, textarea')].filter(shown)
    .map((one) => (one.getAttribute('aria-label') ?? one.name) + ' = ' + (/checkbox|radio/.test(one.type) ? one.checked : one.value))
  const chosen = [...main.querySelectorAll('[aria-selected=true], [aria-current]')].map((one) => 'chosen: ' + one.innerText)
  const tips = [...main.querySelectorAll('.tip')]
  const textOf = (element) => {
    for (const tip of tips) tip.hidden = true
    const text = element.innerText
    for (const tip of tips) tip.hidden = false
    return text
  }
  return {
    address: location.hash,
    hasDialog: document.querySelector('dialog[open]') !== null,
    text: [document.title, textOf(main), ...fields, ...chosen].join('\\n'),
  }
})()`

const steady = (text: string): string =>
  text
    .replace(/just now|\b\d+ (?:s|min|h|d) ago/g, 'some time ago')
    .replace(/\b[\d,.]+ ms\b/g, 'some ms')
    .replace(/as of [\d-]+ [\d:]+/g, 'as of some time')
    .replace(/[ \t]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim()

export async function pictureOf(page: Page): Promise<Picture> {
  await page.mouse.move(0, 0)
  const seen = await page.evaluate<Picture>(look)
  return { ...seen, text: steady(seen.text) }
}

/** The first lines that differ. */
export function difference(a: string, b: string): string {
  const [left, right] = [a.split('\n'), b.split('\n')]
  const at = left.findIndex((line, i) => line !== right[i])
  const from = at < 0 ? left.length : at
  const part = (lines: readonly string[]) =>
    JSON.stringify(
      lines
        .slice(Math.max(0, from - 1), from + 3)
        .join(' | ')
        .slice(0, 300),
    )
  return `${part(left)} and ${part(right)}`
}
