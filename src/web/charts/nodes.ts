import { type ComponentChild, h } from 'preact'
import type { Markup } from '../../service/pictures/markup.ts'

function nodeOf(markup: Markup, key: number, lit: ReadonlySet<string> | null): ComponentChild {
  if (typeof markup === 'string') return markup
  const attributes = Object.fromEntries(Object.entries(markup.attributes).filter(([, value]) => value !== null))
  const series = attributes['data-series']
  if (lit && series !== undefined && !lit.has(String(series))) attributes.class = `${attributes.class ?? ''} unlit`
  return h(
    markup.name,
    { ...attributes, key },
    markup.children.map((child, i) => nodeOf(child, i, lit)),
  )
}

/** What the pictures draw, as nodes of the page. */
export const nodesOf = (markup: Markup, key: number): ComponentChild => nodeOf(markup, key, null)
/** Of the shapes of series only some stand out. */
export const litNodes = (all: readonly Markup[], lit: ReadonlySet<string> | null): ComponentChild[] =>
  all.map((markup, key) => nodeOf(markup, key, lit))
