// SVG and HTML as a tree, so that texts are escaped in one place.

export type Attributes = Readonly<Record<string, string | number | null>>

export interface Element {
  readonly name: string
  readonly attributes: Attributes
  readonly children: readonly Markup[]
}
export type Markup = Element | string

export const element = (name: string, attributes: Attributes = {}, ...children: readonly (Markup | readonly Markup[])[]): Element => ({
  name,
  attributes,
  children: children.flat(),
})

/** What XML cannot contain: most control characters, lone surrogates and two others. */
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const escaped = (text: string): string => text.replace(unprintable, '\ufffd').replace(/[&<>"']/g, (found) => entities[found]!)

/** Two decimals of a pixel are enough. */
const shown = (value: string | number): string => (typeof value === 'number' ? String(Math.round(value * 100) / 100) : escaped(value))

/** An attribute that is null is left out. */
export function render(markup: Markup): string {
  if (typeof markup === 'string') return escaped(markup)
  const { name, attributes, children } = markup
  const written = Object.entries(attributes).map(([key, value]) => (value === null ? '' : ` ${key}="${shown(value)}"`))
  const start = `<${name}${written.join('')}`
  return children.length === 0 ? `${start}/>` : `${start}>${children.map(render).join('')}</${name}>`
}
