import fc from 'fast-check'
import { expect, test } from 'vitest'
import { elementsChain } from '../../../src/events/ingestion/decoding/elements.ts'
import { elementsOf } from '../../../src/queries/answers/elements.ts'
import { assertGenerated } from '../../harness/assert-generated.ts'

test('a chain comes back as its elements, clicked first', () => {
  const chain = elementsChain([
    { tag_name: 'a', href: '/x;y', attr_class: ['small', 'btn'], text: 'a "b"; c', nth_child: 1, nth_of_type: 0, attr__data: 'd' },
    { tag_name: 'div', attr_id: 'top' },
  ])
  expect(elementsOf(chain)).toEqual([
    {
      text: 'a "b"; c',
      tag_name: 'a',
      attr_class: ['btn', 'small'],
      href: '/x;y',
      attr_id: null,
      nth_child: 1,
      nth_of_type: 0,
      order: 0,
      attributes: { attr__data: 'd' },
    },
    {
      text: null,
      tag_name: 'div',
      attr_class: null,
      href: null,
      attr_id: 'top',
      nth_child: null,
      nth_of_type: null,
      order: 1,
      attributes: {},
    },
  ])
})

test('no chain, no elements', () => {
  expect(elementsOf('')).toEqual([])
})

test('texts of any kind come back', () => {
  const word = fc.stringMatching(/^[a-z]{1,5}$/)
  const text = fc.string({ minLength: 1, maxLength: 12 }).filter((s) => !s.includes('\\'))
  const element = fc.record({ tag_name: word, text, href: text, attr_id: text })
  assertGenerated(
    fc.property(fc.array(element, { minLength: 1, maxLength: 4 }), (elements) => {
      const read = elementsOf(elementsChain(elements)).map(({ tag_name, text, href, attr_id }) => ({ tag_name, text, href, attr_id }))
      expect(read).toEqual(elements)
    }),
  )
})
