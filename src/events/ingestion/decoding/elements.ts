import { cut } from './text.ts'

// The clicked element and its ancestors as one text, clicked first: `tag.class1.class2:attr="v"nth-child="1"text="…";tag…`.
// Attributes are sorted by name, quotes inside values are escaped, classes are sorted.

const textLimit = 400

const escapeQuotes = (text: string): string => text.replace(/"/g, '\\"')
const asText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

function classesOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value.map(asText) : typeof value === 'string' ? value.split(/\s+/) : []
  return list.filter((name) => name !== '').sort()
}

function elementText(element: Readonly<Record<string, unknown>>): string {
  const attributes = new Map<string, string>()
  const put = (name: string, value: unknown) => {
    if (value !== undefined && value !== null && value !== '') attributes.set(name, asText(value))
  }
  const text = element.$el_text ?? element.text
  put('text', text === undefined || text === null ? undefined : cut(asText(text), textLimit))
  put('href', element.attr__href ?? element.href)
  put('attr_id', element.attr__id ?? element.attr_id)
  put('nth-child', element.nth_child)
  put('nth-of-type', element.nth_of_type)
  for (const [name, value] of Object.entries(element)) if (name.startsWith('attr__')) put(name, value)

  const classes = classesOf(element.attr__class ?? element.attr_class)
  const tag = element.tag_name === undefined || element.tag_name === null ? '' : asText(element.tag_name)
  const list = [...attributes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}="${escapeQuotes(value)}"`)
  return [tag, ...classes.map((name) => `.${name.replace(/"/g, '')}`)].join('') + (list.length ? `:${list.join('')}` : '')
}

export function elementsChain(elements: unknown): string {
  if (!Array.isArray(elements)) return ''
  return elements
    .filter((element): element is Record<string, unknown> => element !== null && typeof element === 'object' && !Array.isArray(element))
    .map(elementText)
    .join(';')
}
