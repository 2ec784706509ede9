import type { JsonObject } from '../ports.ts'

// The elements of an autocaptured event, the innermost first: `a.button.primary:href="/pay"nth-child="2"text="Pay";div:id="main"`.

const attribute = /([^=":;]+)="((?:[^"\\]|\\.)*)"/gy

const own: Readonly<Record<string, (value: string) => JsonObject>> = {
  text: (text) => ({ text }),
  href: (href) => ({ href }),
  attr_id: (attr_id) => ({ attr_id }),
  'nth-child': (value) => ({ nth_child: Number(value) }),
  'nth-of-type': (value) => ({ nth_of_type: Number(value) }),
}

export function elementsOf(chain: string): readonly JsonObject[] {
  const elements: JsonObject[] = []
  for (let at = 0; at < chain.length; ) {
    const head = /[^:;]*/y
    head.lastIndex = at
    const [names = ''] = head.exec(chain) ?? []
    at += names.length
    const [tag = '', ...classes] = names.split('.')
    const known: Record<string, unknown> = {}
    const attributes: Record<string, string> = {}
    if (chain[at] === ':') at++
    attribute.lastIndex = at
    for (let match = attribute.exec(chain); match; match = attribute.exec(chain)) {
      const [, name = '', raw = ''] = match
      const value = raw.replace(/\\(.)/g, '$1')
      if (Object.hasOwn(own, name)) Object.assign(known, own[name]!(value))
      else attributes[name.replace(/^attr__/, '')] = value
      at = attribute.lastIndex
    }
    // What is not an attribute is left out up to the next element.
    while (at < chain.length && chain[at] !== ';') at++
    at++
    elements.push({
      ...(tag !== '' && { tag_name: tag }),
      ...(classes.length > 0 && { attr_class: classes.filter((one) => one !== '') }),
      ...known,
      order: elements.length,
      attributes,
    })
  }
  return elements
}
