import { type ComponentChild, h } from 'preact'
import type { Markup } from '../../service/pictures/markup.ts'

/** What the pictures draw, as nodes of the page. */
export function nodesOf(markup: Markup, key: number): ComponentChild {
  if (typeof markup === 'string') return markup
  const attributes = Object.fromEntries(Object.entries(markup.attributes).filter(([, value]) => value !== null))
  return h(markup.name, { ...attributes, key }, markup.children.map(nodesOf))
}
