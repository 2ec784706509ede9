import { own, setOwn } from '../../lib/own.ts'
import type { JsonValue } from './rows.ts'

// The elements chain of an event, clicked element first, as a list of objects.

interface Element {
  readonly [key: string]: JsonValue
}

/** One element: tag and classes up to the colon, then `name="value"` without anything between. Quotes inside values are escaped. */
const elementPattern = /((?:[^;:"]|"(?:\\.|[^"\\])*")*)(?::((?:[\w-]+="(?:\\.|[^"\\])*")*))?(?:;|$)/gsy
const attributePattern = /([\w-]+)="((?:\\.|[^"\\])*)"/gsy

const known: Readonly<Record<string, string>> = { text: 'text', href: 'href', attr_id: 'attr_id' }
const counted: Readonly<Record<string, string>> = { 'nth-child': 'nth_child', 'nth-of-type': 'nth_of_type' }

export function elementsOf(chain: string): Element[] {
  const elements: Element[] = []
  for (const match of chain.matchAll(elementPattern)) {
    if (match[0] === '') continue
    elements.push(element(match[1]!, match[2] ?? '', elements.length))
  }
  return elements
}

function element(head: string, attributes: string, order: number): Element {
  const [tag, ...classes] = head.split('.')
  const fields: Record<string, JsonValue> = {
    text: null,
    tag_name: tag || null,
    attr_class: classes.length > 0 ? classes : null,
    href: null,
    attr_id: null,
    nth_child: null,
    nth_of_type: null,
    order,
  }
  const rest: Record<string, JsonValue> = {}
  for (const [, name, escaped] of attributes.matchAll(attributePattern)) {
    const value = escaped!.replace(/\\(.)/gs, '$1')
    const [text, count] = [own(known, name!), own(counted, name!)]
    if (text) fields[text] = value
    else if (count) fields[count] = Number(value)
    else setOwn(rest, name!, value)
  }
  return { ...fields, attributes: rest }
}
